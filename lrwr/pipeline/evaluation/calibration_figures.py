"""Figures on how good estimated probabilities are."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from lrwr.pipeline.evaluation.intervals import Interval

RESAMPLED = 300
"""Number of bootstrap resamples."""
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.5, 0.3)
BANDS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class EstimatedQuestion:
    """A question with the estimated probability that search finds its answer, and the
    truth.

    `estimate` is 0.0 to 1.0. `found` says whether the first passages hold the answer,
    `answerable` whether the text answers the question. Questions of one `group` (file)
    are resampled together.
    """

    group: str
    found: bool
    answerable: bool
    estimate: float


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The result of answering only some questions: the share `coverage` of all that has
    the highest estimates.

    `right` is the share of these whose answer was found. Both are 0.0 to 1.0.
    """

    coverage: float
    right: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The questions whose estimate is in `[low, high)`; the last bin includes 1.0.

    `questions` is their number, `estimated` their mean estimate, `found` the share
    whose answer was found, both 0.0 to 1.0.
    """

    low: float
    high: float
    questions: int
    estimated: float
    found: float


@dataclass(frozen=True, slots=True)
class DoubtRates:
    """The share of questions, 0.0 to 1.0, that are doubtful (estimate below the
    threshold), by true result.

    Of `found` questions the first passages hold the answer; of `missed` ones they do
    not, although the text answers them; `unanswerable` ones have no answer in the text.
    A share is None without such questions.
    """

    found: float | None
    missed: float | None
    unanswerable: float | None


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """How good the estimates of a set of questions are.

    `found` and `answerable` are areas under the ROC curve for these two outcomes; 0.5
    is chance, None if all outcomes are equal. `brier` is the mean squared error of the
    estimates, `plain_brier` that of one constant estimate, the share found. `bands`
    groups questions by estimate, ascending. A question is doubtful if its estimate is
    below `threshold`; `doubted` has the shares of doubtful questions.
    """

    questions: int
    found: Interval | None
    answerable: Interval | None
    brier: float
    plain_brier: float
    coverage: tuple[CoveragePoint, ...]
    bands: tuple[CalibrationBin, ...]
    threshold: float
    doubted: DoubtRates


def compute_calibration_figures(
    estimated_questions: Sequence[EstimatedQuestion], threshold: float, *, seed: int = 0
) -> CalibrationFigures:
    """Compute the figures of at least one estimated question.

    A question whose estimate is below `threshold` is doubtful. `seed` is for
    resampling.
    """
    rate = fmean(estimated_question.found for estimated_question in estimated_questions)
    return CalibrationFigures(
        questions=len(estimated_questions),
        found=estimate_auroc_interval(
            estimated_questions, lambda question: question.found, seed=seed
        ),
        answerable=estimate_auroc_interval(
            estimated_questions, lambda question: question.answerable, seed=seed
        ),
        brier=fmean(
            (estimated_question.estimate - estimated_question.found) ** 2
            for estimated_question in estimated_questions
        ),
        plain_brier=rate * (1 - rate),
        coverage=tuple(
            _coverage_point(estimated_questions, coverage) for coverage in COVERAGES
        ),
        bands=_calibration_bins(estimated_questions),
        threshold=threshold,
        doubted=_doubt_rates(estimated_questions, threshold),
    )


def auroc(scores: Sequence[float], outcomes: Sequence[bool]) -> float | None:
    """Return the area under the ROC curve: the probability that a positive scores above
    a negative.

    `outcomes` says which of `scores` are positive, in the same order. A tie counts
    half. None if all outcomes are equal.
    """
    positives, negatives = sum(outcomes), len(outcomes) - sum(outcomes)
    if not positives or not negatives:
        return None
    pairs = sorted(zip(scores, outcomes, strict=True))
    below = wins = 0.0
    at = 0
    while at < len(pairs):
        end = at
        while end < len(pairs) and pairs[end][0] == pairs[at][0]:
            end += 1
        tied_outcomes = [outcome for _, outcome in pairs[at:end]]
        tied_negatives = len(tied_outcomes) - sum(tied_outcomes)
        wins += sum(tied_outcomes) * (below + tied_negatives / 2)
        below += tied_negatives
        at = end
    return wins / (positives * negatives)


def estimate_auroc_interval(
    estimated_questions: Sequence[EstimatedQuestion],
    is_positive: Callable[[EstimatedQuestion], bool],
    *,
    seed: int = 0,
) -> Interval | None:
    """Return the area under the ROC curve of the estimates, with a 95 % bootstrap
    interval over groups.

    `is_positive` says which questions are positive. `seed` is for resampling. None if
    all outcomes are equal.
    """
    value = _question_auroc(estimated_questions, is_positive)
    if value is None:
        return None
    groups = defaultdict[str, list[EstimatedQuestion]](list)
    for estimated_question in estimated_questions:
        groups[estimated_question.group].append(estimated_question)
    random_source, names = random.Random(seed), sorted(groups)
    areas = []
    for _ in range(RESAMPLED):
        drawn_names = random_source.choices(names, k=len(names))
        area = _question_auroc(
            [question for name in drawn_names for question in groups[name]], is_positive
        )
        if area is not None:
            areas.append(area)
    areas.sort()
    if not areas:
        return Interval(value, 0.0, 1.0)
    return Interval(value, _quantile(areas, 0.025), _quantile(areas, 0.975))


def find_doubt_threshold(
    estimated_questions: Sequence[EstimatedQuestion], doubted: float
) -> float:
    """Return the highest threshold, 0.0 to 1.0, that makes at most the share `doubted`
    of the found questions doubtful.

    A question is found if the first passages hold its answer, doubtful if its estimate
    is below the threshold. 0.0 if none is found.
    """
    found_estimates = sorted(
        estimated_question.estimate
        for estimated_question in estimated_questions
        if estimated_question.found
    )
    return (
        found_estimates[
            min(int(len(found_estimates) * doubted), len(found_estimates) - 1)
        ]
        if found_estimates
        else 0.0
    )


def _question_auroc(
    estimated_questions: Sequence[EstimatedQuestion],
    is_positive: Callable[[EstimatedQuestion], bool],
) -> float | None:
    return auroc(
        [estimated_question.estimate for estimated_question in estimated_questions],
        [is_positive(estimated_question) for estimated_question in estimated_questions],
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _coverage_point(
    estimated_questions: Sequence[EstimatedQuestion], coverage: float
) -> CoveragePoint:
    ranked = sorted(estimated_questions, key=lambda question: -question.estimate)
    covered = ranked[: max(1, round(coverage * len(ranked)))]
    return CoveragePoint(coverage, fmean(question.found for question in covered))


def _calibration_bins(
    estimated_questions: Sequence[EstimatedQuestion],
) -> tuple[CalibrationBin, ...]:
    bands = []
    for low, high in pairwise(BANDS):
        inside = [
            estimated_question
            for estimated_question in estimated_questions
            if low <= estimated_question.estimate < high
            or (estimated_question.estimate == high == BANDS[-1])
        ]
        if inside:
            estimated = fmean(question.estimate for question in inside)
            found_share = fmean(question.found for question in inside)
            bands.append(CalibrationBin(low, high, len(inside), estimated, found_share))
    return tuple(bands)


def _doubt_rates(
    estimated_questions: Sequence[EstimatedQuestion], threshold: float
) -> DoubtRates:
    def share(questions: list[EstimatedQuestion]) -> float | None:
        return (
            fmean(question.estimate < threshold for question in questions)
            if questions
            else None
        )

    return DoubtRates(
        found=share(
            [
                estimated_question
                for estimated_question in estimated_questions
                if estimated_question.found
            ]
        ),
        missed=share(
            [
                estimated_question
                for estimated_question in estimated_questions
                if estimated_question.answerable and not estimated_question.found
            ]
        ),
        unanswerable=share(
            [
                estimated_question
                for estimated_question in estimated_questions
                if not estimated_question.answerable
            ]
        ),
    )
