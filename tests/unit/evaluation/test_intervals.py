"""How far a figure of some questions is chance."""

import random
from math import comb, inf
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.pipeline.evaluation.intervals import (
    bootstrap_mean,
    correct_p_values,
    estimate_questions_needed,
    mcnemar_p_value,
)
from tests.fakes.suite import examples

CHANCES = st.lists(st.floats(0, 1), max_size=12)
ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def alone(number: int) -> list[str]:
    return [f"chapters/{n}.md" for n in range(number)]


def in_books(books: int, each: int, *, seed: int) -> tuple[list[float], list[str]]:
    """Differences that are 0 on average, and alike within a book."""
    drawn, values, groups = random.Random(seed), [], []
    for book in range(books):
        lean = drawn.gauss(0, 0.3)
        values += [lean + drawn.gauss(0, 0.1) for _ in range(each)]
        groups += [f"book {book}"] * each
    return values, groups


@settings(max_examples=examples(25))
@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.sampled_from("abcdef")), min_size=2, max_size=30
    )
)
def test_a_mean_lies_within_its_bounds(pairs: list[tuple[float, str]]) -> None:
    values, groups = [value for value, _ in pairs], [group for _, group in pairs]
    mean = bootstrap_mean(values, groups)
    assert mean.interval.value == pytest.approx(fmean(values))
    assert mean.interval.low <= mean.interval.value <= mean.interval.high
    assert mean.interval.low >= min(values) - 1e-9
    assert mean.interval.high <= max(values) + 1e-9
    assert 0 <= mean.chance <= 1
    assert mean.spread >= 0


def test_the_same_questions_have_the_same_bounds() -> None:
    values, groups = in_books(12, 4, seed=1)
    assert bootstrap_mean(values, groups) == bootstrap_mean(values, groups)
    other = bootstrap_mean(values, groups, seed=1)
    assert other.interval.low == pytest.approx(
        bootstrap_mean(values, groups).interval.low, abs=0.02
    )


def test_bounds_of_independent_questions_are_those_of_the_textbook() -> None:
    values = [1.0] * 60 + [0.0] * 40
    mean = bootstrap_mean(values, alone(100))
    assert mean.interval.low == pytest.approx(0.6 - 1.984 * 0.0492, abs=0.015)
    assert mean.interval.high == pytest.approx(0.6 + 1.984 * 0.0492, abs=0.015)
    assert mean.spread == pytest.approx(0.49, abs=0.02)
    assert mean.chance < 1e-6


def test_the_chance_is_that_of_students_t() -> None:
    values = [0.1] * 7 + [-0.1] * 3  # t = 0.04 / (0.0966 / sqrt 10) = 1.31, p = .223
    assert bootstrap_mean(values, alone(10)).chance == pytest.approx(0.223, abs=0.01)


def test_questions_that_are_alike_are_worth_fewer() -> None:
    values, groups = in_books(12, 8, seed=3)
    alike, single = (
        bootstrap_mean(values, groups),
        bootstrap_mean(values, alone(len(values))),
    )
    wide = alike.interval.high - alike.interval.low
    assert wide > 1.5 * (single.interval.high - single.interval.low)
    assert alike.chance > single.chance
    assert alike.spread > single.spread


def test_where_nothing_differs_few_bounds_say_that_something_does() -> None:
    missed = 0
    for seed in range(60):
        interval = bootstrap_mean(*in_books(6, 5, seed=seed)).interval
        missed += not interval.low <= 0 <= interval.high
    assert missed <= 7


def test_a_manuscript_of_one_file_still_has_bounds() -> None:
    values = [0.0, 0.5, 1.0, 0.2] * 10
    whole = bootstrap_mean(values, ["novel.md"] * 40)
    assert whole == bootstrap_mean(values, alone(40))
    assert whole.interval.low < whole.interval.value < whole.interval.high


def test_of_one_question_nothing_is_known() -> None:
    mean = bootstrap_mean([0.4], ["a.md"])
    assert (mean.interval.low, mean.interval.high, mean.chance) == (-inf, inf, 1.0)


@pytest.mark.parametrize(("value", "chance"), [(0.0, 1.0), (0.1, 0.0)])
def test_what_never_varies_is_certain(value: float, chance: float) -> None:
    mean = bootstrap_mean([value] * 30, alone(30))
    assert mean.interval.low == pytest.approx(value)
    assert mean.interval.high == pytest.approx(value)
    assert mean.chance == pytest.approx(chance)


@given(ANSWERS)
def test_mcnemar_adds_up_splits_as_uneven_or_more(
    answers: list[tuple[bool, bool]],
) -> None:
    a, b = [one for one, _ in answers], [other for _, other in answers]
    only = sum(one and not other for one, other in answers)
    number = sum(one != other for one, other in answers)
    uneven = abs(2 * only - number)
    ways = sum(
        comb(number, k) for k in range(number + 1) if abs(2 * k - number) >= uneven
    )
    assert mcnemar_p_value(a, b) == pytest.approx(ways / 2**number)
    assert mcnemar_p_value(a, b) == mcnemar_p_value(b, a)


def test_mcnemar_has_the_value_of_the_table() -> None:
    a = [True] * 10 + [False] * 2 + [True] * 50
    b = [False] * 10 + [True] * 2 + [True] * 50
    assert mcnemar_p_value(a, b) == pytest.approx(
        158 / 4096
    )  # 2 * (1 + 12 + 66) / 2**12


def test_mcnemar_bears_thousands_of_questions() -> None:
    assert (
        mcnemar_p_value([True] * 2000 + [False] * 500, [False] * 2000 + [True] * 500)
        > 0
    )


def test_p_values_are_multiplied_by_their_number() -> None:
    assert correct_p_values([0.01, 0.04, 0.03, 0.005]) == pytest.approx(
        [0.04, 0.16, 0.12, 0.02]
    )


@given(CHANCES)
def test_looking_at_more_figures_never_makes_one_surer(chances: list[float]) -> None:
    after = correct_p_values(chances)
    assert len(after) == len(chances)
    assert all(one <= other <= 1 for one, other in zip(chances, after, strict=True))
    order = sorted(range(len(chances)), key=lambda n: chances[n])
    assert [after[n] for n in order] == sorted(after)


def test_so_many_questions_show_a_difference_four_times_in_five() -> None:
    assert estimate_questions_needed(0.1, 0.5) == pytest.approx(196.2, abs=0.1)
    assert estimate_questions_needed(-0.05, 0.5) == pytest.approx(784.9, abs=0.2)
    assert estimate_questions_needed(0.0, 0.5) == inf
