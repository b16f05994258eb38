"""Calibration of search confidence on questions with known answers.

The signals of a search (properties of its ranking) are mapped to the probability that
its first passages hold the answer, by logistic regression with a ridge penalty.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy as np

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.confidence import (
    FIRST_PASSAGES,
    SIGNAL_NAMES,
    Calibration,
    CalibrationTable,
    RankingSignals,
    SignalTerm,
    estimate_probability,
)
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.pipeline.evaluation.calibration_figures import (
    CalibrationFigures,
    EstimatedQuestion,
    auroc,
    compute_calibration_figures,
    find_doubt_threshold,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion, has_gold
from lrwr.pipeline.evaluation.search_measures import locate_gold

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 3.0
"""Ridge penalty on the distance of a weight from the base calibration, or from 0."""
FOLDS = 5
DOUBTED_SHARE = 0.02
"""Share of found answers whose evidence may be called weak. It is larger on other books;
see decision 013."""
LEFT_OUT = frozenset({"top"})
"""Signals that are not fitted: a reranker's scores compare only within one search."""
LIKELY = 0.5
"""Evidence with a higher estimate is never called weak."""
_STEPS = 60
_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class CalibrationExample:
    """A question that was searched, with its ranking signals and its result.

    `signals` are the figures of the search from which confidence is estimated. `found`
    says whether the first passages hold the answer, `answerable` whether the text
    answers the question. Questions of one `group` (file) are in the same fold of a
    cross-validation.
    """

    group: str
    signals: RankingSignals
    found: bool
    answerable: bool

    def with_estimate(self, estimate: float) -> EstimatedQuestion:
        """Return the question with `estimate`, its estimated probability, 0.0 to
        1.0.
        """
        return EstimatedQuestion(self.group, self.found, self.answerable, estimate)


@dataclass(frozen=True, slots=True)
class CalibrationTarget:
    """The ranking that is calibrated: its `name` and its pipeline.

    `source` names the set of questions.
    """

    name: str
    pipeline: Pipeline
    source: str


def fit_calibration(
    examples: Sequence[CalibrationExample],
    ranking: CalibrationTarget,
    base: Calibration | None = None,
) -> tuple[Calibration, list[EstimatedQuestion]]:
    """Fit a calibration on all `examples`, and estimate each question by
    cross-validation.

    Return the calibration and the estimates, in the order of `examples`. A question is
    found if the first passages hold its answer, doubtful if its estimate is below the
    threshold of the calibration. The threshold is the highest one, at most `LIKELY`
    (0.5), that makes at most the share `DOUBTED_SHARE` (0.02) of the found questions
    doubtful. With a `base` calibration the fit starts from its weights, so that few
    questions change them little. `ranking` says what is calibrated.
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
    """Estimate each question by a model fitted without its fold, in the order of
    `examples`.

    With a `base` calibration the fits start from its weights.
    """
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
            model = _unnamed_calibration(bias, terms)
            estimates[n] = estimate_probability(examples[n].signals, model)
    return [example.with_estimate(estimates[n]) for n, example in enumerate(examples)]


def estimate_with_calibration(
    examples: Sequence[CalibrationExample], calibration: Calibration
) -> list[EstimatedQuestion]:
    """Estimate each question with an existing calibration, in the order of
    `examples`.
    """
    return [
        example.with_estimate(estimate_probability(example.signals, calibration))
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
    if not examples:  # all questions are in one group, so the training set is empty
        return (base.bias, base.terms) if base else (0.0, ())
    if base is not None:
        bias, weights = _solve(examples, base.terms, base.bias)
        return bias, _set_weights(base.terms, weights)
    terms = _plain_terms(examples)
    while True:
        bias, weights = _solve(examples, terms, None)
        worst = min(range(len(terms)), key=lambda n: weights[n], default=None)
        if worst is None or weights[worst] >= 0:
            return bias, _set_weights(terms, weights)
        terms = (*terms[:worst], *terms[worst + 1 :])


def _plain_terms(examples: Sequence[CalibrationExample]) -> tuple[SignalTerm, ...]:
    """Return a term for each signal that varies and does not duplicate another."""
    terms: dict[tuple[float, ...], SignalTerm] = {}
    for name in SIGNAL_NAMES:
        column = tuple(float(getattr(example.signals, name)) for example in examples)
        scale = pstdev(column)
        if name not in LEFT_OUT and scale > 1e-9:
            terms.setdefault(column, SignalTerm(name, 0.0, fmean(column), scale))
    return tuple(terms.values())


def _set_weights(
    terms: Sequence[SignalTerm], weights: Sequence[float]
) -> tuple[SignalTerm, ...]:
    return tuple(
        SignalTerm(term.signal, float(weight), term.mean, term.scale)
        for term, weight in zip(terms, weights, strict=True)
    )


def _unnamed_calibration(bias: float, terms: tuple[SignalTerm, ...]) -> Calibration:
    return Calibration("", Pipeline.AGENTIC, bias, terms, 0.0, 0, 0.5, "")


def _solve(
    examples: Sequence[CalibrationExample],
    terms: Sequence[SignalTerm],
    bias: float | None,
) -> tuple[float, list[float]]:
    """Return bias and weights of maximum likelihood; `bias` None starts from zero."""
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


LEAST = 40
LEAST_FOUND = 10
UNANSWERABLE = 0.25
"""Minimum of questions, of found ones, and of the share of unanswerable ones."""


@dataclass(frozen=True, slots=True)
class CalibrationTrial:
    """The result of calibrating one ranking.

    `questions` is the number of questions: `found` ones have their answer in the first
    passages, `unanswerable` ones have none in the text. `shipped` are the figures of
    the calibration that lrwr ships, None if there is none. `own` are cross-validated
    figures of a new fit, and `calibration` is that fit on all questions; both are None
    if `short_of` names what is missing for it.
    """

    ranking: str
    questions: int
    found: int
    unanswerable: int
    shipped: CalibrationFigures | None
    own: CalibrationFigures | None = None
    calibration: Calibration | None = None
    short_of: str = ""

    @property
    def chance(self) -> bool:
        """Whether the fitted model may be no better than guessing.

        True if the 95 % interval of its area under the ROC curve begins at 0.5 or
        below, and without a fit.
        """
        area = self.own.found if self.own else None
        return area is None or area.low <= 0.5


def try_calibrations(
    examples: Mapping[str, Sequence[CalibrationExample]],
    pipeline: Pipeline,
    shipped: CalibrationTable,
    source: str,
) -> list[CalibrationTrial]:
    """Calibrate each ranking, the one with most questions first.

    `examples` maps ids of rankings to questions. `shipped` are the calibrations that
    lrwr ships. `source` names the set of questions. A ranking with too few questions is
    in the result without a fit; its `short_of` says what is missing.

    Raises:
        LrwrError: No ranking has enough questions.
    """
    trials = [
        _try_calibration(
            CalibrationTarget(name, pipeline, source),
            group_examples,
            shipped.get((name, pipeline)),
        )
        for name, group_examples in sorted(
            examples.items(), key=lambda pair: -len(pair[1])
        )
    ]
    if not any(trial.calibration for trial in trials):
        reason = trials[0].short_of if trials else "no question was searched"
        raise LrwrError(
            f"Not enough questions to calibrate: {reason}",
            hint=f"Write at least {LEAST} questions: a quarter or more about things that your"
            f" text does not say, and {LEAST_FOUND} or more of which search finds the"
            " answers.",
        )
    return trials


def describe_missing_examples(examples: Sequence[CalibrationExample]) -> str:
    """Return what is missing for a fit on `examples`, as a clause; empty if nothing is
    missing.
    """
    number, found_count = len(examples), sum(example.found for example in examples)
    unanswerable = sum(not example.answerable for example in examples)
    if number < LEAST:
        return f"at least {LEAST} questions are needed, and there are {number:,}"
    if found_count < LEAST_FOUND:
        return (
            f"search must find the answers to at least {LEAST_FOUND} questions, and finds"
            f" {found_count:,}"
        )
    if unanswerable < UNANSWERABLE * number:
        return (
            "at least a quarter of the questions must be unanswerable, and"
            f" {unanswerable:,} of {number:,} are"
        )
    return ""


def _try_calibration(
    ranking: CalibrationTarget,
    examples: Sequence[CalibrationExample],
    base: Calibration | None,
) -> CalibrationTrial:
    shipped = None
    if base is not None:
        shipped = compute_calibration_figures(
            estimate_with_calibration(examples, base), base.threshold
        )
    trial = CalibrationTrial(
        ranking=ranking.name,
        questions=len(examples),
        found=sum(example.found for example in examples),
        unanswerable=sum(not example.answerable for example in examples),
        shipped=shipped,
        short_of=describe_missing_examples(examples),
    )
    return trial if trial.short_of else _fit_trial(trial, ranking, examples, base)


def _fit_trial(
    trial: CalibrationTrial,
    ranking: CalibrationTarget,
    examples: Sequence[CalibrationExample],
    base: Calibration | None,
) -> CalibrationTrial:
    fitted, estimated_questions = fit_calibration(examples, ranking, base)
    return replace(
        trial,
        own=compute_calibration_figures(estimated_questions, fitted.threshold),
        calibration=fitted,
    )


@dataclass(slots=True)
class CalibrationExamples:
    """Questions that were searched, by the id of the ranking that search used.

    `remarks` are sentences on questions that were left out.
    """

    examples: defaultdict[str, list[CalibrationExample]] = field(
        default_factory=lambda: defaultdict(list)
    )
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExampleCollector:
    """Searches one library for questions and records ranking signals and results."""

    finder: PassageFinder
    store: PassageStore
    pipeline: Pipeline
    order: StoryOrder

    async def ask(
        self, questions: Sequence[EvalQuestion], advance: Callable[[int], None]
    ) -> CalibrationExamples:
        """Search for each question and check whether the first passages hold its
        answer.

        A question whose gold quote no longer occurs in the text, or for which nothing
        is found, is left out with a remark. `advance` is called with 1 after each
        question.

        Raises:
            StoreProblem: The library cannot be read.
        """
        calibration_examples = CalibrationExamples()
        for question in questions:
            try:
                await self._collect(question, calibration_examples)
            except NotFound as problem:
                calibration_examples.remarks.append(
                    f"Left out {question.id}: {problem}."
                )
            advance(1)
        return calibration_examples

    async def _collect(
        self, question: EvalQuestion, calibration_examples: CalibrationExamples
    ) -> None:
        gold = [await locate_gold(self.store, self.order, o) for o in question.gold]
        request = SearchRequest(question.text, self.pipeline, FIRST_PASSAGES)
        if question.as_of:
            horizon = parse_horizon(question.as_of, self.order)
            request = replace(request, horizon=horizon)
        result = await self.finder.find(request, self.order)
        judged = result.judgement
        if judged is None or judged.signals is None:
            raise NotFound("search finds no passages for this question")
        first = [passage.chunk for passage in result.passages]
        is_found = has_gold(first, gold, every=question.every)
        calibration_examples.examples[judged.ranking].append(
            CalibrationExample(
                question.group, judged.signals, is_found, question.answerable
            )
        )
