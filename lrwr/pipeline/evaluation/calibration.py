"""Fitting what a search's signals mean, on questions whose answers are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy as np

from lrwr.core.model.chunks import Pipeline
from lrwr.core.retrieval.confidence import (
    SIGNAL_NAMES,
    Calibration,
    RankingSignals,
    SignalTerm,
    estimate_probability,
)
from lrwr.pipeline.evaluation.figures import (
    EstimatedQuestion,
    auroc,
    find_doubt_threshold,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 3.0
"""How strongly weights are held back to what was known before, or to nothing."""

FOLDS = 5

DOUBTED_SHARE = 0.02
"""The share of found answers whose evidence may be called weak: one in fifty. On other
books it is more; see decision 013."""

LEFT_OUT = frozenset({"top"})
"""Signals that no model is fitted on: a reranker's scores compare within one search."""

LIKELY = 0.5
"""Evidence that is likelier to hold the answer than not is never weak."""

_STEPS = 60
_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class CalibrationExample:
    """A question that was searched for, and whether the first passages hold it."""

    group: str
    signals: RankingSignals
    found: bool
    answerable: bool

    def tried(self, estimate: float) -> EstimatedQuestion:
        """Return the question with what was estimated."""
        return EstimatedQuestion(self.group, self.found, self.answerable, estimate)


@dataclass(frozen=True, slots=True)
class CalibrationTarget:
    """Whose signals are fitted. `source` says what made the questions."""

    name: str
    pipeline: Pipeline
    source: str


def fit_calibration(
    examples: Sequence[CalibrationExample],
    ranking: CalibrationTarget,
    base: Calibration | None = None,
) -> tuple[Calibration, list[EstimatedQuestion]]:
    """Fit a model; return it, and each question estimated by a model of the others.

    The threshold is the highest up to `LIKELY` that doubts at most `DOUBTED_SHARE` of what
    was found, by the estimates of models that had not seen the question. Where a `base` model is given
    the fit starts from it, and few questions change little.
    """
    estimated_questions = cross_validate(examples, base)
    outcomes = [estimated.found for estimated in estimated_questions]
    area = auroc([estimated.estimate for estimated in estimated_questions], outcomes)
    bias, terms = _fit(examples, base)
    return (
        Calibration(
            ranking=ranking.name,
            pipeline=ranking.pipeline,
            bias=bias,
            terms=terms,
            threshold=min(
                LIKELY, find_doubt_threshold(estimated_questions, DOUBTED_SHARE)
            ),
            questions=len(examples),
            auroc=0.5 if area is None else area,
            source=ranking.source,
        ),
        estimated_questions,
    )


def cross_validate(
    examples: Sequence[CalibrationExample], base: Calibration | None = None
) -> list[EstimatedQuestion]:
    """Estimate each question by a model that was fitted without its group."""
    folds = _folds(examples)
    estimates: dict[int, float] = {}
    for fold in range(FOLDS):
        training = [
            e
            for e, example_fold in zip(examples, folds, strict=True)
            if example_fold != fold
        ]
        held_out = [n for n, example_fold in enumerate(folds) if example_fold == fold]
        if not held_out:
            continue
        bias, terms = _fit(training, base)
        for n in held_out:
            model = _bare(bias, terms)
            estimates[n] = estimate_probability(examples[n].signals, model)
    return [example.tried(estimates[n]) for n, example in enumerate(examples)]


def estimate_with_calibration(
    examples: Sequence[CalibrationExample], calibration: Calibration
) -> list[EstimatedQuestion]:
    """Estimate each question with an existing calibration."""
    return [
        example.tried(estimate_probability(example.signals, calibration))
        for example in examples
    ]


def _folds(examples: Sequence[CalibrationExample]) -> list[int]:
    """Assign each example a fold, keeping groups together and found shares balanced."""
    outcomes_by_group: dict[str, list[bool]] = {}
    for example in examples:
        outcomes_by_group.setdefault(example.group, []).append(example.found)
    ordered_groups = sorted(
        outcomes_by_group, key=lambda group: (fmean(outcomes_by_group[group]), group)
    )
    part = {group: n % FOLDS for n, group in enumerate(ordered_groups)}
    return [part[example.group] for example in examples]


def _fit(
    examples: Sequence[CalibrationExample], base: Calibration | None
) -> tuple[float, tuple[SignalTerm, ...]]:
    """Return the bias and the terms.

    Without a `base` model, a signal that would count against the passages although
    it should count for them is left out: it is a proxy for another.
    """
    if not examples:  # every question is of one group: nothing is left to fit on
        return (base.bias, base.terms) if base else (0.0, ())
    if base is not None:
        bias, weights = _solved(examples, base.terms, base.bias)
        return bias, _with(base.terms, weights)
    terms = _plain_terms(examples)
    while True:
        bias, weights = _solved(examples, terms, None)
        worst = min(range(len(terms)), key=lambda n: weights[n], default=None)
        if worst is None or weights[worst] >= 0:
            return bias, _with(terms, weights)
        terms = (*terms[:worst], *terms[worst + 1 :])


def _plain_terms(examples: Sequence[CalibrationExample]) -> tuple[SignalTerm, ...]:
    """Return a term for each signal that tells something no other before it tells."""
    terms: dict[tuple[float, ...], SignalTerm] = {}
    for name in SIGNAL_NAMES:
        column = tuple(float(getattr(example.signals, name)) for example in examples)
        scale = pstdev(column)
        if name not in LEFT_OUT and scale > 1e-9:
            terms.setdefault(column, SignalTerm(name, 0.0, fmean(column), scale))
    return tuple(terms.values())


def _with(
    terms: Sequence[SignalTerm], weights: Sequence[float]
) -> tuple[SignalTerm, ...]:
    return tuple(
        SignalTerm(term.signal, float(weight), term.mean, term.scale)
        for term, weight in zip(terms, weights, strict=True)
    )


def _bare(bias: float, terms: tuple[SignalTerm, ...]) -> Calibration:
    return Calibration("", Pipeline.AGENTIC, bias, terms, 0.0, 0, 0.5, "")


def _solved(
    examples: Sequence[CalibrationExample],
    terms: Sequence[SignalTerm],
    bias: float | None,
) -> tuple[float, list[float]]:
    """Return bias and weights of most likelihood; `bias` None: start from nothing."""
    rows = [
        [1.0, *(t.standing(getattr(e.signals, t.signal)) for t in terms)]
        for e in examples
    ]
    truth = np.array([float(example.found) for example in examples])
    start = np.array([bias or 0.0, *(term.weight for term in terms)])
    penalties = np.full(len(start), RIDGE)
    penalties[0] = 1e-3 if bias is None else RIDGE / 10
    solved = _newton(np.array(rows), truth, start, penalties)
    return float(solved[0]), [float(weight) for weight in solved[1:]]


def _newton(
    rows: "NDArray[np.float64]",
    truth: "NDArray[np.float64]",
    start: "NDArray[np.float64]",
    penalties: "NDArray[np.float64]",
) -> "NDArray[np.float64]":
    """Minimise the logistic loss plus `penalties` on each weight's distance from its start."""

    def loss(weights: "NDArray[np.float64]") -> float:
        logits = rows @ weights
        likely = np.logaddexp(0.0, logits) - truth * logits
        return float(likely.sum() + (penalties * (weights - start) ** 2).sum() / 2)

    weights, current_loss = start.copy(), loss(start)
    for _ in range(_STEPS):
        estimates = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (estimates - truth) + penalties * (weights - start)
        curvature = (rows * (estimates * (1 - estimates))[:, None]).T @ rows
        step = np.linalg.solve(curvature + np.diag(penalties), slope)
        for _ in range(_HALVINGS):
            step_loss = loss(weights - step)
            if step_loss <= current_loss:
                break
            step = step / 2
        weights, improvement, current_loss = (
            weights - step,
            current_loss - step_loss,
            step_loss,
        )
        if improvement < 1e-10:
            break
    return weights
