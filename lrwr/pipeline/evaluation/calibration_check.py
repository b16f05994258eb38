"""What was known, held against what a writer's own questions say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError
from lrwr.core.retrieval.confidence import Calibration, CalibrationTable
from lrwr.pipeline.evaluation.calibration import (
    CalibrationExample,
    CalibrationTarget,
    estimate_with_calibration,
    fit_calibration,
)
from lrwr.pipeline.evaluation.figures import (
    CalibrationFigures,
    compute_calibration_figures,
)

LEAST = 40
LEAST_FOUND = 10
UNANSWERABLE = 0.25
"""Fewer questions, found answers or unanswerable ones than these teach nothing."""


@dataclass(frozen=True, slots=True)
class CalibrationTrial:
    """Questions whose passages were ranked in one way.

    `shipped` are the figures of what lrwr ships, None where it ships nothing for the
    ranking. `own` are those of models fitted on the others of these questions, and
    `calibration` is fitted on all of them; both None where `describe_missing_examples` says what is
    missing.
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
        """Whether the fitted model may be no better than guessing."""
        area = self.own.found if self.own else None
        return area is None or area.low <= 0.5


def try_calibrations(
    examples: Mapping[str, Sequence[CalibrationExample]],
    pipeline: Pipeline,
    shipped: CalibrationTable,
    source: str,
) -> list[CalibrationTrial]:
    """Fit each ranking that has enough questions, those with most questions first.

    Raises:
        LrwrError: None has.
    """
    trials = [
        _trial(
            CalibrationTarget(name, pipeline, source),
            group_examples,
            shipped.get((name, pipeline)),
        )
        for name, group_examples in sorted(
            examples.items(), key=lambda pair: -len(pair[1])
        )
    ]
    if not any(trial.calibration for trial in trials):
        reason = (
            trials[0].short_of if trials else "there is no question that was searched"
        )
        raise LrwrError(
            f"Too little to fit: {reason}",
            hint=f"Write at least {LEAST} questions: a quarter that your text does not"
            f" answer, and enough others that {LEAST_FOUND} are found.",
        )
    return trials


def describe_missing_examples(examples: Sequence[CalibrationExample]) -> str:
    """Describe what is missing for a fit; empty if nothing is missing."""
    number, found_count = len(examples), sum(example.found for example in examples)
    unanswerable = sum(not example.answerable for example in examples)
    if number < LEAST:
        return f"{_count(number, 'question')}, and {LEAST} are needed"
    if found_count < LEAST_FOUND:
        return (
            f"the first passages hold the answer of {_count(found_count, 'question')}, and"
            f" {LEAST_FOUND} are needed"
        )
    if unanswerable < UNANSWERABLE * number:
        return (
            f"{_count(unanswerable, 'question')} of {number} cannot be answered, and a"
            " quarter is needed"
        )
    return ""


def _trial(
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
    return trial if trial.short_of else _fitted(trial, ranking, examples, base)


def _fitted(
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
