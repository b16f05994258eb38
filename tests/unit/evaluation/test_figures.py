"""What estimates are worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.pipeline.evaluation.calibration_figures import (
    COVERAGES,
    EstimatedQuestion,
    auroc,
    compute_calibration_figures,
    estimate_auroc_interval,
    find_doubt_threshold,
)

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=40)


def tried(
    *estimates: tuple[float, bool], answerable: bool = True
) -> list[EstimatedQuestion]:
    return [
        EstimatedQuestion(f"g{n}", found, answerable or found, estimate)
        for n, (estimate, found) in enumerate(estimates)
    ]


@given(PAIRS)
def test_the_area_is_the_share_of_pairs_in_the_right_order(
    pairs: list[tuple[int, bool]],
) -> None:
    yes = [score for score, so in pairs if so]
    no = [score for score, so in pairs if not so]
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in yes for b in no]
    area = auroc([score for score, _ in pairs], [so for _, so in pairs])
    assert area == (pytest.approx(sum(wins) / len(wins)) if wins else None)


@given(PAIRS)
def test_figures_lie_within_their_bounds(pairs: list[tuple[int, bool]]) -> None:
    figures = compute_calibration_figures(
        tried(*((score / 9, so) for score, so in pairs)), 0.4
    )
    assert figures.questions == len(pairs) == sum(b.questions for b in figures.bands)
    assert 0 <= figures.brier <= 1
    assert [shown.coverage for shown in figures.coverage] == [*COVERAGES]
    rate = sum(so for _, so in pairs) / len(pairs)
    assert figures.coverage[0].right == pytest.approx(rate)
    if figures.found is not None:
        assert 0 <= figures.found.low <= figures.found.high <= 1


@given(PAIRS, st.sampled_from([0.0, 0.05, 0.2]))
def test_a_threshold_doubts_no_more_of_what_is_found_than_allowed(
    pairs: list[tuple[int, bool]], doubted: float
) -> None:
    asked = tried(*((score / 9, so) for score, so in pairs))
    threshold = find_doubt_threshold(asked, doubted)
    found = [one.estimate for one in asked if one.found]
    assert sum(one < threshold for one in found) <= doubted * len(found)


def test_estimates_that_are_right_have_an_area_of_one_and_no_risk() -> None:
    figures = compute_calibration_figures(
        tried(*[(0.9, True)] * 6, *[(0.1, False)] * 4), 0.5
    )
    assert figures.found is not None
    assert (figures.found.value, figures.found.low, figures.found.high) == (1, 1, 1)
    assert figures.coverage[-1].right == 1.0
    assert (figures.doubted.found, figures.doubted.missed) == (0.0, 1.0)
    assert figures.doubted.unanswerable is None
    assert figures.brier == pytest.approx(0.01)
    assert figures.plain_brier == pytest.approx(0.24)


def test_few_questions_leave_the_area_open() -> None:
    many = [(0.1 * n % 1, n % 3 == 0) for n in range(200)]
    wide = estimate_auroc_interval(tried(*many[:12]), lambda one: one.found)
    narrow = estimate_auroc_interval(tried(*many), lambda one: one.found)
    assert wide is not None and narrow is not None
    assert wide.high - wide.low > narrow.high - narrow.low


def test_the_same_questions_have_the_same_figures() -> None:
    asked = tried(*((n * 7 % 10 / 10, n % 2 == 0) for n in range(30)))
    assert compute_calibration_figures(asked, 0.3) == compute_calibration_figures(
        asked, 0.3
    )
