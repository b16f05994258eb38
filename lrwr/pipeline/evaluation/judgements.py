"""Judgements of answers by language models: repeated, with failures counted
separately.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import AnswerJudge, GroundedAnswer, JudgeResult, JudgeSample
from lrwr.pipeline.evaluation.questions import EvalQuestion

REPEATS = 3
"""Tries for each answer: judges gave the same samples .57 and .67."""

MOST_FAILED = 0.2
"""Share of failed tries above which a figure has no value."""

_TRY = "#"
"""Separator between a figure's name and the number of a try in stored results."""


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """A judge's repeated scores of one answer for one figure, such as faithfulness.

    A try is one request to the judge. Each of `tries` is its score from 0.0 to 1.0, or
    a sentence that says why there is none (a failed try).
    """

    tries: tuple[float | str, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The scores, 0.0 to 1.0, in the order of `tries`, without the reasons of
        failures.
        """
        return tuple(score for score in self.tries if not isinstance(score, str))

    @property
    def failed(self) -> tuple[str, ...]:
        """The sentences in `tries`, which say why a request to the judge gave no
        score.
        """
        return tuple(score for score in self.tries if isinstance(score, str))

    @property
    def mean(self) -> float | None:
        """The mean of the scores, 0.0 to 1.0; None if there is no score."""
        return fmean(self.values) if self.values else None

    @property
    def spread(self) -> float:
        """The highest score minus the lowest; 0.0 if there is no score."""
        return max(self.values) - min(self.values) if self.values else 0.0


@dataclass(frozen=True, slots=True)
class JudgePanelResult:
    """The scores of all judges for one answer, and the judges' usage of language
    models.

    `figures` maps names of figures (measured values such as faithfulness) to scores.
    `usages` has the usage of each judgement with the name of its judge, which sets its
    price.
    """

    figures: Mapping[str, JudgeScores]
    usages: tuple[tuple[Usage, str], ...] = ()

    @property
    def usage(self) -> Usage:
        """The usage of all judgements together."""
        return sum((usage for usage, _ in self.usages), Usage())


@dataclass(frozen=True, slots=True)
class JudgeFigureSummary:
    """One judged figure, such as faithfulness, over many answers.

    Each answer is scored several times, 0.0 to 1.0; each time is a try. `value` is the
    mean of the answers' mean scores; None if all tries failed, or more than the share
    that `summarize_panel_results` allows. `answers`, `tries` and `failed` (tries
    without a score) are numbers. `spread` is the mean over scored answers of the
    highest minus the lowest score. `reasons` are pairs of a reason of failure and its
    count, most frequent first.
    """

    figure: str
    value: float | None
    answers: int
    tries: int
    failed: int
    spread: float
    reasons: tuple[tuple[str, int], ...] = ()


def build_judge_sample(question: EvalQuestion, answered: GroundedAnswer) -> JudgeSample:
    """Return the input of a judge: question, answer, contexts and the known answer.

    The known answer is empty for a question that the text does not answer.
    """
    return JudgeSample(
        question=question.text,
        answer=answered.text,
        contexts=answered.contexts,
        reference=question.answer if question.answerable else "",
        says_gap=answered.says_gap,
    )


async def judge_answer(
    judges: Sequence[AnswerJudge], sample: JudgeSample, *, repeats: int = REPEATS
) -> JudgePanelResult:
    """Have every judge score an answer `repeats` times, concurrently.

    A request without a valid score is recorded as a failed try with its reason.
    """
    async with asyncio.TaskGroup() as together:
        tasks = [
            together.create_task(judge.judge(sample))
            for judge in judges
            for _ in range(repeats)
        ]
    results = [task.result() for task in tasks]
    names = (judge.name for judge in judges for _ in range(repeats))
    usages = tuple((r.usage, name) for r, name in zip(results, names, strict=True))
    return JudgePanelResult(_collect_scores(results), usages)


def panel_result_to_figures(
    opinion: JudgePanelResult,
) -> tuple[dict[str, float], dict[str, str]]:
    """Convert the judges' scores of an answer to two mappings for storage: scores, and
    the reasons of failures.

    A figure such as faithfulness has its mean score, or a reason if every try (request
    to the judge) failed. Each try is added under the figure's name, `#` and its number
    from 1, as in `faithfulness#2`. `panel_result_from_figures` restores the scores.
    """
    figures: dict[str, float] = {}
    failed: dict[str, str] = {}
    for name, scores in opinion.figures.items():
        mean = scores.mean
        if mean is None:
            failed[name] = scores.failed[0]
        else:
            figures[name] = mean
        for number, score in enumerate(scores.tries, start=1):
            if isinstance(score, str):
                failed[f"{name}{_TRY}{number}"] = score
            else:
                figures[f"{name}{_TRY}{number}"] = score
    return figures, failed


def is_single_try_figure(name: str) -> bool:
    """Return whether a stored figure called `name` is one score of a judge, such as
    `faithfulness#2`, not the mean of its scores.
    """
    return _TRY in name


def panel_result_from_figures(
    figures: Mapping[str, float], failed: Mapping[str, str]
) -> JudgePanelResult:
    """Rebuild the judges' scores of an answer from stored figures; usage is not
    restored.

    `figures` and `failed` are results of `panel_result_to_figures`.
    """
    scores_by_figure: dict[str, dict[int, float | str]] = {}
    everything: dict[str, float | str] = {**figures, **failed}
    for name, score in everything.items():
        figure, mark, number = name.rpartition(_TRY)
        if mark:
            scores_by_figure.setdefault(figure, {})[int(number)] = score
    return JudgePanelResult(
        {
            figure: JudgeScores(tuple(tries[number] for number in sorted(tries)))
            for figure, tries in scores_by_figure.items()
        }
    )


def summarize_panel_results(
    opinions: Iterable[JudgePanelResult], *, most_failed: float = MOST_FAILED
) -> list[JudgeFigureSummary]:
    """Return a summary of each judged figure over many answers, in the order of first
    occurrence.

    If more than the share `most_failed`, 0.0 to 1.0, of a figure's tries (requests to
    the judge) failed, its value is None.
    """
    by_figure: dict[str, list[JudgeScores]] = {}
    for opinion in opinions:
        for name, scores in opinion.figures.items():
            by_figure.setdefault(name, []).append(scores)
    return [
        _summarize_figure(name, tries, most_failed) for name, tries in by_figure.items()
    ]


def _collect_scores(judge_results: Sequence[JudgeResult]) -> dict[str, JudgeScores]:
    scores_by_figure: dict[str, list[float | str]] = {}
    for judge_result in judge_results:
        for name, value in judge_result.values.items():
            scores_by_figure.setdefault(name, []).append(_validate_score(value))
        for name, reason in judge_result.failed.items():
            scores_by_figure.setdefault(name, []).append(reason)
    return {
        name: JudgeScores(tuple(scores)) for name, scores in scores_by_figure.items()
    }


def _validate_score(value: float) -> float | str:
    """Return a score in [0.0, 1.0], or why it is invalid."""
    if not isfinite(value):
        return "The judge gave no number"
    if not 0.0 <= value <= 1.0:
        return f"The judge gave {value:g}, which is not between 0 and 1"
    return value


def _summarize_figure(
    figure: str, scores_by_answer: Sequence[JudgeScores], most_failed: float
) -> JudgeFigureSummary:
    try_count = sum(len(judge_scores.tries) for judge_scores in scores_by_answer)
    failed = sum(len(judge_scores.failed) for judge_scores in scores_by_answer)
    means = [
        mean
        for judge_scores in scores_by_answer
        if (mean := judge_scores.mean) is not None
    ]
    trusted = bool(means) and failed <= most_failed * try_count
    reasons = Counter(
        reason for judge_scores in scores_by_answer for reason in judge_scores.failed
    )
    return JudgeFigureSummary(
        figure=figure,
        value=fmean(means) if trusted else None,
        answers=len(scores_by_answer),
        tries=try_count,
        failed=failed,
        spread=fmean(
            judge_scores.spread
            for judge_scores in scores_by_answer
            if judge_scores.values
        )
        if means
        else 0.0,
        reasons=tuple(reasons.most_common()),
    )
