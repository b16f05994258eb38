"""What is claimed of two arms, and what is not."""

import random
import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.pipeline.evaluation.comparison import (
    HEADLINE,
    ArmComparison,
    compare_arms,
    describe_comparison,
    group_means_by_kind,
    is_lower_better,
)
from lrwr.pipeline.evaluation.outcomes import QuestionOutcome
from lrwr.pipeline.evaluation.questions import QuestionKind
from tests.fakes.suite import examples

FIGURES = (
    HEADLINE, "precision@1000", "iou@1000", "hit@1", "hit@5", "mrr", "ndcg@10", "leak",
    "seconds", "tokens", "dollars", "resolved", "citation_precision",
    "citation_recall", "quotes", "gap", "false_gap", "invented", "correctness",
    "faithfulness", "context_precision", "context_recall",
)  # fmt: skip


def arm(
    name: str,
    values: Sequence[float | None],
    figure: str = HEADLINE,
    *,
    kinds: Sequence[QuestionKind] = (QuestionKind.FACT,),
) -> list[QuestionOutcome]:
    """An outcome for each value; None is a figure that failed."""
    return [
        QuestionOutcome(
            arm=name,
            question=str(n),
            kind=kinds[n % len(kinds)],
            figures={} if value is None else {figure: value},
            failed={figure: "The judge gave no answer."} if value is None else {},
        )
        for n, value in enumerate(values)
    ]


def noisy(number: int, mean: float, *, seed: int = 0) -> list[float]:
    drawn = random.Random(seed)
    return [min(1.0, max(0.0, drawn.gauss(mean, 0.2))) for _ in range(number)]


def one(
    a: Sequence[float | None], b: Sequence[float | None], figure: str = HEADLINE
) -> ArmComparison:
    return compare_arms(arm("A", a, figure), arm("B", b, figure), [figure])[0]


def test_a_better_arm_is_said_to_be_better_with_all_its_numbers() -> None:
    base = noisy(112, 0.4)
    better = [min(1.0, value + 0.1 + n % 3 * 0.02) for n, value in enumerate(base)]
    comparison = one(base, better)
    assert comparison.claimed
    assert re.fullmatch(
        r"B finds more of the answer in 1,000 tokens: 0\.\d\d against 0\.\d\d,"
        r" \+0\.\d\d \[\+0\.\d\d, \+0\.\d\d\] on 112 questions\.",
        describe_comparison(comparison),
    )
    turned = describe_comparison(one(better, base))
    assert turned == describe_comparison(comparison).replace("B finds", "A finds")


def test_a_difference_within_chance_is_not_claimed() -> None:
    said = describe_comparison(one(noisy(100, 0.5, seed=1), noisy(100, 0.51, seed=2)))
    assert said.startswith(
        "No significant difference in how much of the answer is found in 1,000 tokens:"
    )
    assert re.search(r"about [\d,]+ questions", said)


def test_few_questions_are_too_few_whatever_they_show() -> None:
    comparison = one([0.0] * 19, [1.0] * 19)
    assert not comparison.claimed
    assert describe_comparison(comparison) == (
        "Too few questions to compare how much of the answer is found in 1,000 tokens:"
        " 19, and at least 20 are needed. So far: 1.00 (B) against 0.00 (A)."
    )


def test_a_judge_that_fails_often_is_told_and_nothing_claimed() -> None:
    b = [None if n % 2 else 0.9 for n in range(120)]
    comparison = one([0.1] * 120, b, "faithfulness")
    assert (comparison.questions, comparison.failed_a, comparison.failed_b) == (
        60,
        0,
        60,
    )
    assert not comparison.claimed
    said = describe_comparison(comparison)
    assert "too many questions failed" in said
    assert said.endswith("Left out: 60 of 120 questions, which failed (A: 0, B: 60).")


def test_a_few_failures_are_told_beside_the_claim() -> None:
    said = describe_comparison(
        one([0.1] * 50, [None, None, *[0.9] * 48], "correctness")
    )
    assert said.startswith("B answers more correctly: 0.90 against 0.10")
    assert said.endswith("Left out: 2 of 50 questions, which failed (A: 0, B: 2).")


def test_nothing_is_said_where_no_question_has_the_figure() -> None:
    said = describe_comparison(one([None] * 30, [None] * 30, "faithfulness"))
    assert said.startswith("No result for faithfulness")
    assert "Left out: 30 of 30 questions" in said


def test_what_is_alike_on_every_question_is_said_to_come_out_the_same() -> None:
    values = noisy(40, 0.5)
    said = describe_comparison(one(values, values))
    assert said.endswith("0.00 [0.00, 0.00] on 40 questions; both are equal.")


@pytest.mark.parametrize("figure", FIGURES)
def test_the_better_arm_is_the_one_that_has_less_where_less_is_better(
    figure: str,
) -> None:
    said = describe_comparison(one([0.0, 0.0, 1.0] * 40, [1.0, 0.0, 1.0] * 40, figure))
    less = is_lower_better(figure)
    assert said.startswith("A " if less else "B ")
    assert (", −" in said) is less
    assert "has more" not in said
    assert "{" not in said


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("seconds", "A is faster: 0.20 s against 0.45 s, −0.25 s [−0.25 s, −0.25 s]"),
        ("dollars", "A costs less: $0.20 against $0.45, −$0.25 [−$0.25, −$0.25]"),
        (
            "leak",
            "A retrieves less text from after the point of the story that a question allows",
        ),
        ("hit@1", "B ranks the answer first more often"),
        ("hit@5", "B finds the answer in the first 5 more often"),
    ],
)
def test_figures_are_told_in_their_units(figure: str, said: str) -> None:
    shares = figure in ("leak", "hit@1", "hit@5")
    a, b = ([0.0] * 30, [1.0] * 30) if shares else ([0.2] * 30, [0.45] * 30)
    assert describe_comparison(one(a, b, figure)).startswith(said)


def test_a_difference_that_is_not_nothing_never_looks_like_nothing() -> None:
    base = noisy(60, 0.5)
    said = describe_comparison(one(base, [value + 0.001 for value in base], "mrr"))
    assert "+0.001 [+0.001, +0.001]" in said


def test_mcnemar_is_asked_where_figures_are_yes_or_no() -> None:
    a, b = [1.0] * 2 + [0.0] * 38, [0.0] * 2 + [1.0] * 10 + [0.0] * 28
    assert one(a, b, "hit@5").mcnemar == pytest.approx(158 / 4096)
    assert one([0.5, *a], [0.25, *b], "recall@500").mcnemar is None


def both(name: str, values: Mapping[str, Sequence[float]]) -> list[QuestionOutcome]:
    """Outcomes with several figures each."""
    number = len(next(iter(values.values())))
    return [
        QuestionOutcome(
            name,
            str(n),
            QuestionKind.FACT,
            {figure: own[n] for figure, own in values.items()},
        )
        for n in range(number)
    ]


def test_a_figure_looked_at_also_is_held_to_more_than_the_headline() -> None:
    a = [0.0] * 40
    b = [1.0] * 9 + [0.0] * 29 + [-1.0] * 2  # by itself a difference: p is about .03
    names = [HEADLINE, *(f"mrr{n}" for n in range(5))]
    found = compare_arms(
        both("A", dict.fromkeys(names, a)), both("B", dict.fromkeys(names, b)), names
    )
    assert [comparison.claimed for comparison in found] == [True, *[False] * 5]
    assert all(comparison.apart for comparison in found)
    assert "among 5 secondary figures, a difference like this may be" in (
        describe_comparison(found[1])
    )
    alone = compare_arms(both("A", {"mrr0": a}), both("B", {"mrr0": b}), ["mrr0"])
    assert alone[0].claimed


def test_questions_of_one_file_are_worth_less_than_as_many_of_many() -> None:
    a, b = [0.5] * 120, []
    drawn = random.Random(4)
    for _ in range(12):
        b += [0.5 + drawn.gauss(0.04, 0.15)] * 10
    groups = {str(n): f"chapters/{n // 10}.md" for n in range(120)}
    apart = compare_arms(arm("A", a), arm("B", b), [HEADLINE])[0]
    alike = compare_arms(arm("A", a), arm("B", b), [HEADLINE], groups=groups)[0]
    assert alike.difference.low < apart.difference.low
    assert alike.needed > apart.needed


def test_only_questions_that_both_were_asked_are_compared() -> None:
    a, b = arm("A", noisy(50, 0.5)), arm("B", noisy(30, 0.5, seed=1))
    assert compare_arms(a, b, [HEADLINE])[0].questions == 30
    assert compare_arms(a, list(reversed(b)), [HEADLINE]) == compare_arms(
        a, b, [HEADLINE]
    )


def test_kinds_stand_in_a_table_with_how_many_there_are() -> None:
    kinds = (QuestionKind.SEVERAL, QuestionKind.FACT)
    arms = {
        "A": arm("A", [0.0, 1.0, 1.0, None], kinds=kinds),
        "B": arm("B", [0.5, 1.0, 0.5, 1.0], kinds=kinds),
    }
    rows = group_means_by_kind(arms, HEADLINE)
    assert [row.kind for row in rows] == [QuestionKind.FACT, QuestionKind.SEVERAL, None]
    told = [[(c.arm, c.questions, c.mean) for c in row.cells] for row in rows]
    assert told == [
        [("A", 1, 1.0), ("B", 2, 1.0)],
        [("A", 2, 0.5), ("B", 2, 0.5)],
        [("A", 3, pytest.approx(2 / 3)), ("B", 4, 0.75)],
    ]
    assert group_means_by_kind(arms, "leak")[0].cells[0].mean is None


@settings(max_examples=examples(25))
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.sampled_from(FIGURES),
)
def test_nothing_is_claimed_that_the_bounds_do_not_allow(
    pairs: list[tuple[float, float]], figure: str
) -> None:
    comparison = one([a for a, _ in pairs], [b for _, b in pairs], figure)
    said = describe_comparison(comparison)
    assert said.endswith(".")
    if comparison.claimed:
        assert comparison.questions >= 20
        assert not comparison.difference.low <= 0 <= comparison.difference.high
        assert said.startswith(("A ", "B "))
    else:
        assert said.startswith(("No significant difference", "Too few", "Nothing"))
