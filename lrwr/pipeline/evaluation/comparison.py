"""Comparison of two arms on the same questions, with intervals.

An arm is one way of retrieving text; a figure is a measured value, such as recall.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from lrwr.pipeline.evaluation.intervals import (
    LEVEL,
    Interval,
    bootstrap_mean,
    correct_p_values,
    estimate_questions_needed,
    mcnemar_p_value,
)
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import QuestionKind

HEADLINE = "recall@1000"
"""The figure chosen before the run. P-values of all others are corrected."""

LEAST = 20
"""Fewer questions support no claim."""

MOST_LOST = 0.2
"""If a larger share of the questions failed in either arm, nothing is claimed."""


_MOST_NEEDED = 100_000


_LOWER_IS_BETTER = frozenset(
    {
        *("seconds", "tokens", "dollars", "leak", "false_gap", "invented"),
        *("answer_seconds", "answer_tokens", "answer_leak"),
    }
)

_PHRASES: Mapping[str, tuple[str, str]] = {
    "recall": ("finds more of the answer in {n} tokens", "how much of the answer is found in {n} tokens"),
    "precision": ("retrieves less unrelated text in {n} tokens", "precision in {n} tokens"),
    "iou": ("overlaps more with the answer in {n} tokens", "intersection over union in {n} tokens"),
    "hit": ("finds the answer in the first {n} more often", "hits in the first {n}"),
    "mrr": ("ranks the answer higher", "rank of the first answer (MRR)"),
    "ndcg": ("ranks all parts of the answer higher in the first {n}", "rank of all parts of the answer (nDCG) in the first {n}"),
    "leak": ("retrieves less text from after the point of the story that a question allows", "retrieved text from after the point of the story that a question allows"),
    "seconds": ("is faster", "search time"),
    "tokens": ("retrieves fewer tokens", "retrieved tokens"),
    "dollars": ("costs less", "cost"),
    "resolved": ("cites the text verbatim more often", "citations that match the text"),
    "citation_precision": ("cites answering passages more often", "citation precision"),
    "citation_recall": ("cites more of the answer", "citation recall"),
    "quotes": ("quotes the text verbatim more often", "verbatim quotations"),
    "gap": ("says more often that the text has no answer", "answers that say that the text has none"),
    "false_gap": ("misses fewer answers that are in the text", "missed answers that are in the text"),
    "invented": ("invents answers less often", "invented answers"),
    "doubted": ("warns of low confidence more often", "warnings of low confidence"),
    "word_overlap": ("shares more words with the known answer", "words shared with the known answer"),
    "answer_seconds": ("answers faster", "answer time"),
    "answer_tokens": ("takes fewer tokens for an answer", "tokens of an answer"),
    "answer_leak": ("reveals less from after the point of the story that a question allows", "spoilers in answers"),
    "correctness": ("answers more correctly", "correctness of answers"),
    "faithfulness": ("is more faithful to its passages, by the judge", "faithfulness, by the judge"),
    "context_precision": ("ranks useful passages higher, by the judge", "context precision, by the judge"),
    "context_recall": ("retrieves more of what the answer needs, by the judge", "context recall, by the judge"),
}  # fmt: skip
"""For each figure, what the better arm does, and what the figure is about."""


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """One figure (measured value) of two arms (ways of retrieving text), `a` and `b`.

    It covers the questions for which both have the figure. `difference` is b minus a.
    `chance` is the p-value of that difference, and `mcnemar` that of McNemar's exact
    test, None unless the figure is always 0 or 1. `corrected` is the greater of the
    two, corrected for the number of secondary figures; the headline figure is not
    corrected. `needed` is the number of questions that would show a difference of this
    size, infinite if there is no difference. `failed_a`, `failed_b` and `lost` count
    questions where the figure failed in a, in b, and in either. `also` is the number of
    secondary figures. Means are 0.0 without questions.
    """

    figure: str
    a: str
    b: str
    questions: int
    mean_a: float
    mean_b: float
    difference: Interval
    chance: float
    mcnemar: float | None
    corrected: float
    needed: float
    failed_a: int
    failed_b: int
    lost: int
    headline: bool
    also: int

    @property
    def enough(self) -> bool:
        """Whether there are at least `LEAST` (20) questions, and for at most the share
        `MOST_LOST` (0.2) of them the figure failed in an arm.
        """
        tried = self.questions + self.lost
        return self.questions >= LEAST and self.lost <= MOST_LOST * tried

    @property
    def apart(self) -> bool:
        """Whether the 95 % interval of the difference excludes zero."""
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def claimed(self) -> bool:
        """Whether the report may say that the arms differ.

        True if there are enough questions, the 95 % interval of the difference excludes
        zero, and the corrected p-value is below `LEVEL` (0.05).
        """
        return self.enough and self.apart and self.corrected < LEVEL


@dataclass(frozen=True, slots=True)
class ArmMean:
    """The mean of a figure (measured value) of one arm (way of retrieving text).

    `questions` counts the questions that have the figure; the mean is None if none has.
    """

    arm: str
    questions: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class KindRow:
    """The mean of each arm (way of retrieving text) for one kind of question.

    `kind` None means all questions. `cells` are in the order of the compared arms.
    """

    kind: QuestionKind | None
    cells: tuple[ArmMean, ...]


def compare_arms(
    outcomes_a: Sequence[QuestionOutcome],
    outcomes_b: Sequence[QuestionOutcome],
    figures: Sequence[str],
    *,
    groups: Mapping[str, str] | None = None,
    headline: str = HEADLINE,
    seed: int = 0,
) -> list[ArmComparison]:
    """Compare two arms (ways of retrieving text) question by question, in each of
    `figures`.

    `outcomes_a` and `outcomes_b` are the results of the arms, at least one and at most
    one per question. The result is in the order of `figures`, which are names of
    measured values. `groups` maps question ids to groups (files), which are resampled
    together; a question without one is its own group. P-values of all figures except
    `headline` are corrected together. `seed` is for resampling.
    """
    groups = groups or {}
    comparisons = [
        _compare_figure(name, outcomes_a, outcomes_b, groups, seed)
        for name in dict.fromkeys(figures)
    ]
    secondary = [
        comparison
        for comparison in comparisons
        if comparison.figure != headline and comparison.questions
    ]
    corrected_p_values = dict(
        zip(
            (comparison.figure for comparison in secondary),
            correct_p_values([comparison.corrected for comparison in secondary]),
            strict=True,
        )
    )
    return [
        replace(
            comparison,
            corrected=corrected_p_values.get(comparison.figure, comparison.corrected),
            headline=comparison.figure == headline,
            also=len(secondary),
        )
        for comparison in comparisons
    ]


def group_means_by_kind(
    arms: Mapping[str, Sequence[QuestionOutcome]], figure: str
) -> list[KindRow]:
    """Return the mean of a figure for each arm and kind of question.

    `figure` is the name of a measured value; `arms` maps names of arms (ways of
    retrieving text) to outcomes. Rows are in the order of `QuestionKind`, only kinds
    that occur, then one for all questions. A cell covers the questions that have the
    figure. Nothing is tested by kind.
    """
    present_kinds = {outcome.kind for outcomes in arms.values() for outcome in outcomes}
    kinds: list[QuestionKind | None] = [
        kind for kind in QuestionKind if kind in present_kinds
    ]
    return [
        KindRow(
            kind,
            tuple(
                _mean_cell(arm, outcomes, figure, kind)
                for arm, outcomes in arms.items()
            ),
        )
        for kind in [*kinds, None]
    ]


def describe_comparison(comparison: ArmComparison) -> str:
    """Describe in one or two sentences what a comparison supports.

    If the arms differ, the better one is named first and the difference is its value
    minus the other's; otherwise the difference is b minus a.
    """
    if not comparison.questions:
        statement = (
            f"No result for {_about(comparison)}: no question has a value for both arms"
        )
        return f"{statement}.{_describe_failures(comparison)}"
    if comparison.claimed:
        return f"{_describe_claim(comparison)}.{_describe_failures(comparison)}"
    numbers = (
        f"{_mean(comparison, comparison.mean_b)} ({comparison.b}) against"
        f" {_mean(comparison, comparison.mean_a)} ({comparison.a})"
    )
    if comparison.questions < LEAST:
        return (
            f"Too few questions to compare {_about(comparison)}: {comparison.questions},"
            f" and at least {LEAST} are needed. So far: {numbers}."
            f"{_describe_failures(comparison)}"
        )
    numbers += f", {_difference(comparison, comparison.difference)}"
    if not comparison.enough:
        return (
            f"No claim about {_about(comparison)}: too many questions failed. Of the"
            f" others: {numbers}.{_describe_failures(comparison)}"
        )
    return (
        f"No significant difference in {_about(comparison)}: {numbers};"
        f" {_describe_missing(comparison)}.{_describe_failures(comparison)}"
    )


def _describe_claim(comparison: ArmComparison) -> str:
    more = comparison.difference.low > 0
    first_is_b = more is not is_lower_better(comparison.figure)
    means = (comparison.mean_b, comparison.mean_a)
    name, difference = comparison.b, comparison.difference
    if not first_is_b:
        name, means = comparison.a, means[::-1]
        difference = Interval(-difference.value, -difference.high, -difference.low)
    first, second = (_mean(comparison, mean) for mean in means)
    does, _ = _figure_phrases(comparison.figure)
    return f"{name} {does}: {first} against {second}, {_difference(comparison, difference)}"


def _describe_missing(comparison: ArmComparison) -> str:
    """Return why no difference is claimed, and how many questions could show one."""
    if comparison.apart:
        among = f"among {comparison.also} secondary figures, "
        return f"{'' if comparison.headline else among}a difference like this may be chance"
    if not comparison.difference.value:
        return "both are equal"
    if comparison.needed > _MOST_NEEDED:
        return f"showing a difference this small takes over {_MOST_NEEDED:,} questions"
    questions = f"{_round_up(comparison.needed):,} questions"
    return f"showing a difference of this size takes about {questions}"


def _describe_failures(comparison: ArmComparison) -> str:
    if not comparison.lost:
        return ""
    return (
        f" Left out: {comparison.lost} of {comparison.questions + comparison.lost}"
        f" questions, which failed ({comparison.a}: {comparison.failed_a},"
        f" {comparison.b}: {comparison.failed_b})."
    )


def _round_up(number: float) -> int:
    """Round a number of questions up to two significant digits."""
    step = 10 ** max(0, len(str(int(number))) - 2)
    return int(-(-number // step) * step)


def _about(comparison: ArmComparison) -> str:
    return describe_figure(comparison.figure)


def _mean(comparison: ArmComparison, value: float) -> str:
    return format_figure(comparison.figure, value, _digits(comparison))


def _difference(comparison: ArmComparison, interval: Interval) -> str:
    digits = _digits(comparison)

    def signed(value: float) -> str:
        if abs(value) == float("inf"):
            return "unknown"
        shown = format_figure(comparison.figure, abs(value), digits)
        return f"{'−' if value < 0 else '+' if value else ''}{shown}"

    low, high = signed(interval.low), signed(interval.high)
    number = comparison.questions
    return (
        f"{signed(interval.value)} [{low}, {high}] on {number:,}"
        f" question{'' if number == 1 else 's'}"
    )


def _digits(comparison: ArmComparison) -> int:
    """Return how many decimals keep nonzero values from printing as 0, at most five."""
    difference = comparison.difference
    least = 0 if comparison.figure == "tokens" else 2
    ends = [abs(value) for value in (difference.value, difference.low, difference.high)]
    smallest = min((end for end in ends if end), default=1.0)
    digits = least
    while digits < 5 and smallest < 0.5 * 10**-digits:
        digits += 1
    return digits


def _compare_figure(
    figure: str,
    outcomes_a: Sequence[QuestionOutcome],
    outcomes_b: Sequence[QuestionOutcome],
    groups: Mapping[str, str],
    seed: int,
) -> ArmComparison:
    of_b = {
        question_outcome.question: question_outcome for question_outcome in outcomes_b
    }
    both = [(a, of_b[a.question]) for a in outcomes_a if a.question in of_b]
    got = [(a, b) for a, b in both if figure in a.figures and figure in b.figures]
    bare = ArmComparison(
        figure=figure,
        a=outcomes_a[0].arm,
        b=outcomes_b[0].arm,
        questions=len(got),
        mean_a=0.0,
        mean_b=0.0,
        difference=Interval(0.0, float("-inf"), float("inf")),
        chance=1.0,
        mcnemar=None,
        corrected=1.0,
        needed=float("inf"),
        failed_a=sum(figure in a.failed for a, _ in both),
        failed_b=sum(figure in b.failed for _, b in both),
        lost=sum(figure in a.failed or figure in b.failed for a, b in both),
        headline=False,
        also=0,
    )
    own = [groups.get(a.question, f"question {a.question}") for a, _ in got]
    return _estimate_difference(bare, got, own, seed) if got else bare


def _estimate_difference(
    bare: ArmComparison,
    outcome_pairs: Sequence[tuple[QuestionOutcome, QuestionOutcome]],
    groups: Sequence[str],
    seed: int,
) -> ArmComparison:
    of_a = [a.figures[bare.figure] for a, _ in outcome_pairs]
    of_b = [b.figures[bare.figure] for _, b in outcome_pairs]
    mean = bootstrap_mean(
        [b - a for a, b in zip(of_a, of_b, strict=True)], groups, seed=seed
    )
    exact = None
    if {*of_a, *of_b} <= {0.0, 1.0}:
        exact = mcnemar_p_value(
            [value == 1.0 for value in of_a], [value == 1.0 for value in of_b]
        )
    return replace(
        bare,
        mean_a=fmean(of_a),
        mean_b=fmean(of_b),
        difference=mean.interval,
        chance=mean.chance,
        mcnemar=exact,
        corrected=max(mean.chance, exact or 0.0),
        needed=estimate_questions_needed(mean.interval.value, mean.spread),
    )


def _mean_cell(
    arm: str,
    outcomes: Sequence[QuestionOutcome],
    figure: str,
    kind: QuestionKind | None,
) -> ArmMean:
    values = [
        outcome.figures[figure]
        for outcome in outcomes
        if figure in outcome.figures and kind in (None, outcome.kind)
    ]
    return ArmMean(arm, len(values), fmean(values) if values else None)


def is_lower_better(figure: str) -> bool:
    """Return whether a lower value of `figure`, a measured value such as `seconds`, is
    better.
    """
    return figure.partition("@")[0] in _LOWER_IS_BETTER


def describe_figure(figure: str) -> str:
    """Return a description of `figure`, the name of a measured value, for the middle of
    a sentence.
    """
    return _figure_phrases(figure)[1]


def format_figure(figure: str, value: float, digits: int) -> str:
    """Return a measured value with `digits` decimals and its unit.

    The unit depends on the name `figure`: "$" for dollars, "s" for seconds, else none.
    """
    shown = f"{value:,.{digits}f}"
    if figure == "dollars":
        return f"${shown}"
    return f"{shown} s" if figure.endswith("seconds") else shown


def _figure_phrases(figure: str) -> tuple[str, str]:
    if figure == "hit@1":
        return "ranks the answer first more often", "hits at rank 1"
    name, _, number = figure.partition("@")
    does, about = _PHRASES.get(name, (f"has more {name}", name))
    shown = f"{int(number):,}" if number.isdecimal() else number
    return does.format(n=shown), about.format(n=shown)
