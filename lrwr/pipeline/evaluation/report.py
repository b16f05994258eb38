"""The report on an evaluation run: arms, comparisons and alarms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from lrwr.pipeline.evaluation.comparison import (
    HEADLINE,
    LEAST,
    ArmComparison,
    KindRow,
    compare_arms,
    group_means_by_kind,
)
from lrwr.pipeline.evaluation.intervals import MeanEstimate, bootstrap_mean
from lrwr.pipeline.evaluation.judgements import MOST_FAILED, is_single_try_figure
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import QuestionKind
from lrwr.pipeline.evaluation.runs import EvalRun, RunOverlap, match_runs

MISSES_ALL = "hit@10"
"""The figure that is 0.0 for every question if an arm finds nothing."""
ALWAYS = ("resolved", "quotes")
"""Figures that must be 1.0."""
NEVER = ("leak", "answer_leak")
"""Figures that must be 0.0."""


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The results of one arm (way of retrieving text).

    `questions` is their number. `means` are by figure (measured value), over the
    questions that have it; `failed` counts, by figure, the questions for which it
    failed. The means of figures in `unreliable` must not be trusted: too many of their
    measurements failed. `median_seconds` and `p95_seconds` are the median and the 95th
    percentile of the search time; None if it was not measured.
    """

    name: str
    description: str
    questions: int
    means: Mapping[str, MeanEstimate]
    failed: Mapping[str, int]
    unreliable: frozenset[str]
    median_seconds: float | None = None
    p95_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class EvalAlarm:
    """A result that must not happen, such as a spoiler, in `questions` of `of`
    questions.

    `arm` is the way of retrieving text, `figure` the measured value that shows it. If
    `reason` is not empty, measurements failed for that reason: `figure` then lists all
    figures that failed so, joined by ", ", and both counts are of measurements.
    """

    arm: str
    figure: str
    questions: int
    of: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The report on an evaluation run, for the user.

    `headline` is the figure (measured value) chosen before the run; `figures` are all,
    the headline first. `arms` are the results of each way of retrieving text, in the
    order of the plan. `kinds` maps the headline to its rows by kind of question.
    `pairs` has, for each compared pair of arms, one comparison per figure, in the order
    of `figures`. `alarms` are results that must not happen, by arm.
    """

    run: EvalRun
    headline: str
    figures: tuple[str, ...]
    arms: tuple[ArmReport, ...]
    kinds: Mapping[str, tuple[KindRow, ...]]
    pairs: tuple[tuple[ArmComparison, ...], ...]
    alarms: tuple[EvalAlarm, ...]


def build_eval_report(run: EvalRun, *, pairs: Sequence[tuple[str, str]]) -> EvalReport:
    """Return the report on a run, which may be incomplete.

    `pairs` are names of arms (ways of retrieving text) to compare: the difference is
    the second minus the first. Pairs of which the run lacks an arm are skipped.
    """
    headline = choose_headline_figure(run.plan.budgets)
    by_arm = {arm.name: _outcomes(run, arm.name) for arm in run.plan.arms}
    present = {name: outcomes for name, outcomes in by_arm.items() if outcomes}
    figures = _figures(run.outcomes, headline)
    groups = {question.id: question.group for question in run.plan.questions}

    def against(a: str, b: str, names: Sequence[str]) -> tuple[ArmComparison, ...]:
        return tuple(
            compare_arms(
                present[a],
                present[b],
                names,
                groups=groups,
                headline=headline,
                seed=run.plan.seed,
            )
        )

    both = [(a, b) for a, b in pairs if a in present and b in present]
    arms = tuple(
        _build_arm_report(arm.name, arm.told, present[arm.name], groups, run.plan.seed)
        for arm in run.plan.arms
        if arm.name in present
    )
    return EvalReport(
        run=run,
        headline=headline,
        figures=figures,
        arms=arms,
        kinds={name: tuple(group_means_by_kind(present, name)) for name in (headline,)},
        pairs=tuple(against(a, b, figures) for a, b in both),
        alarms=tuple(
            alarm for name, rows in present.items() for alarm in _alarms(name, rows)
        ),
    )


def choose_headline_figure(budgets: Sequence[int]) -> str:
    """Return the name of the headline figure: recall at 1,000 tokens, if `budgets` has
    that; else at the middle one.

    `budgets` are in tokens; for an even number, the lower of the two middle ones is
    used.
    """
    preferred_budget = int(HEADLINE.partition("@")[2])
    ordered = sorted(budgets)
    budget = (
        preferred_budget
        if preferred_budget in ordered
        else ordered[(len(ordered) - 1) // 2]
    )
    return f"recall@{budget}"


def _outcomes(run: EvalRun, arm: str) -> tuple[QuestionOutcome, ...]:
    return tuple(outcome for outcome in run.outcomes if outcome.arm == arm)


def _figures(outcomes: Sequence[QuestionOutcome], headline: str) -> tuple[str, ...]:
    """Return all figures of the outcomes, failed ones too, the headline first."""
    names = dict.fromkeys(
        name for outcome in outcomes for name in (*outcome.figures, *outcome.failed)
    )
    other_names = [
        name for name in names if name != headline and not is_single_try_figure(name)
    ]
    return (headline, *other_names) if headline in names else tuple(other_names)


def _build_arm_report(
    name: str,
    description: str,
    outcomes: Sequence[QuestionOutcome],
    groups: Mapping[str, str],
    seed: int,
) -> ArmReport:
    means, failed, unreliable = {}, {}, set()
    for figure in _figures(outcomes, ""):
        measured = [outcome for outcome in outcomes if figure in outcome.figures]
        failures = _failed_outcomes(outcomes, figure)
        if measured:
            values = [outcome.figures[figure] for outcome in measured]
            outcome_groups = [groups[outcome.question] for outcome in measured]
            means[figure] = bootstrap_mean(values, outcome_groups, seed=seed)
        if failures:
            failed[figure] = len(failures)
        if _failure_share(outcomes, figure) > MOST_FAILED:
            unreliable.add(figure)
    seconds = sorted(_values(outcomes, "seconds"))
    return ArmReport(
        name=name,
        description=description,
        questions=len(outcomes),
        means=means,
        failed=failed,
        unreliable=frozenset(unreliable),
        median_seconds=_percentile(seconds, 0.5),
        p95_seconds=_percentile(seconds, 0.95),
    )


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least `share` of the values do not exceed."""
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, ceil(share * len(ordered)) - 1)]


def _failed_outcomes(
    outcomes: Sequence[QuestionOutcome], figure: str
) -> list[QuestionOutcome]:
    return [outcome for outcome in outcomes if figure in outcome.failed]


def _failure_share(outcomes: Sequence[QuestionOutcome], figure: str) -> float:
    """Return the share of failed tries of a figure.

    If single tries are stored, each counts.
    """
    good = bad = 0
    for outcome in outcomes:
        tries = [
            n for n in (*outcome.figures, *outcome.failed) if n.startswith(f"{figure}#")
        ]
        names = tries or [figure]
        good += sum(name in outcome.figures for name in names)
        bad += sum(name in outcome.failed for name in names)
    return bad / (good + bad) if good + bad else 0.0


def _alarms(arm: str, outcomes: Sequence[QuestionOutcome]) -> Iterator[EvalAlarm]:
    """Yield the alarms of an arm, gravest first."""
    for figure in NEVER:
        values = _values(outcomes, figure)
        if bad := sum(value > 0 for value in values):
            yield EvalAlarm(arm, figure, bad, len(values))
    invented = _values(outcomes, "invented")
    if bad := sum(value > 0 for value in invented):
        yield EvalAlarm(arm, "invented", bad, len(invented))
    for figure in ALWAYS:
        values = _values(outcomes, figure)
        if bad := sum(value < 1 for value in values):
            yield EvalAlarm(arm, figure, bad, len(values))
    hits = _values(outcomes, MISSES_ALL)
    if len(hits) >= LEAST and not any(hits):
        yield EvalAlarm(arm, MISSES_ALL, len(hits), len(hits))
    yield from _failures(arm, outcomes)


def _failures(arm: str, outcomes: Sequence[QuestionOutcome]) -> Iterator[EvalAlarm]:
    """Yield an alarm for each set of figures with the same counts and reason."""
    alike: dict[tuple[int, int, str], list[str]] = {}
    for figure in _figures(outcomes, ""):
        tried = [
            why for outcome in outcomes for why in _failure_reasons(outcome, figure)
        ]
        if bad := [why for why in tried if why]:
            key = (len(bad), len(tried), max(set(bad), key=bad.count))
            alike.setdefault(key, []).append(figure)
    for (number, of, reason), figures in alike.items():
        yield EvalAlarm(arm, ", ".join(figures), number, of, reason)


def _failure_reasons(outcome: QuestionOutcome, figure: str) -> list[str]:
    """Return the reason of each try of a figure, empty if it succeeded."""
    names = [*outcome.figures, *outcome.failed]
    tries = [name for name in names if name.startswith(f"{figure}#")]
    try_names = tries or [figure] * (figure in names)
    return [outcome.failed.get(name, "") for name in try_names]


def _values(outcomes: Sequence[QuestionOutcome], figure: str) -> list[float]:
    return [
        outcome.figures[figure] for outcome in outcomes if figure in outcome.figures
    ]


def count_questions_by_kind(run: EvalRun) -> list[tuple[QuestionKind, int]]:
    """Return the number of questions of each kind present, in the order of `QuestionKind`."""
    kinds = [question.kind for question in run.plan.questions]
    return [(kind, kinds.count(kind)) for kind in QuestionKind if kind in kinds]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs compared on their common questions.

    `matched` says what the runs have in common. `arms` has, for each arm (way of
    retrieving text) in both runs, one comparison per figure: the second run minus the
    first.
    """

    matched: RunOverlap
    arms: tuple[tuple[ArmComparison, ...], ...]


def compare_eval_runs(eval_run: EvalRun, other: EvalRun) -> RunComparison:
    """Compare two runs on their common questions: `other` minus `eval_run`.

    Without common questions, no arms are compared.
    """
    runs = match_runs(eval_run, other)
    before, after = runs.outcomes
    names = [arm.name for arm in eval_run.plan.arms]
    groups = {question.id: question.group for question in eval_run.plan.questions}
    headline = choose_headline_figure(eval_run.plan.budgets)
    arms = []
    for name in names:
        a, b = (
            _outcomes_of_arm(before, name, "then"),
            _outcomes_of_arm(after, name, "now"),
        )
        if a and b:
            shared = [
                figure for figure in _across_figures(a) if figure in _across_figures(b)
            ]
            arms.append(
                tuple(compare_arms(a, b, shared, groups=groups, headline=headline))
            )
    return RunComparison(runs, tuple(arms))


def _outcomes_of_arm(
    outcomes: Sequence[QuestionOutcome], arm: str, when: str
) -> list[QuestionOutcome]:
    return [
        replace(outcome, arm=f"{arm} {when}")
        for outcome in outcomes
        if outcome.arm == arm
    ]


def _across_figures(outcomes: Sequence[QuestionOutcome]) -> list[str]:
    names = dict.fromkeys(
        name for outcome in outcomes for name in (*outcome.figures, *outcome.failed)
    )
    return [name for name in names if not is_single_try_figure(name)]
