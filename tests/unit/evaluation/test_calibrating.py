"""Fitting what a search's signals mean."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError
from lrwr.core.retrieval.confidence import (
    SIGNAL_NAMES,
    RankingSignals,
    estimate_probability,
    index_calibrations,
)
from lrwr.pipeline.evaluation.calibration import (
    DOUBTED_SHARE,
    LEAST,
    CalibrationExample,
    CalibrationTarget,
    describe_missing_examples,
    estimate_with_calibration,
    fit_calibration,
    try_calibrations,
)
from lrwr.pipeline.evaluation.calibration_figures import compute_calibration_figures
from tests.fakes.suite import examples
from tests.unit.evaluation.examples import example, told_by, told_by_nothing

WHO = CalibrationTarget("off/words", Pipeline.AGENTIC, "a test")

EXAMPLES = st.lists(
    st.builds(
        CalibrationExample,
        st.sampled_from("abcdefg"),
        st.builds(RankingSignals, *[st.floats(0, 1)] * len(SIGNAL_NAMES)),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


def test_what_a_signal_tells_is_learned_and_holds_for_others() -> None:
    fitted, tried = fit_calibration(told_by("covered"), WHO)
    found = compute_calibration_figures(tried, fitted.threshold).found
    assert found is not None and found.low > 0.98
    assert fitted.auroc == found.value
    weights = {term.signal: term.weight for term in fitted.terms}
    assert max(weights, key=lambda signal: weights[signal]) == "covered"


def test_a_signal_that_never_changes_is_left_out() -> None:
    fitted, _ = fit_calibration(told_by("covered"), WHO)
    assert {term.signal for term in fitted.terms} <= {"covered", "margin"}


def test_nothing_is_learned_from_noise() -> None:
    fitted, tried = fit_calibration(told_by_nothing(), WHO)
    figures = compute_calibration_figures(tried, fitted.threshold)
    assert fitted.auroc < 0.65
    assert figures.brier > figures.plain_brier - 0.02


def test_with_nothing_known_no_signal_counts_against_the_passages() -> None:
    fitted, _ = fit_calibration(told_by("covered", upside_down=True), WHO)
    assert all(term.weight >= 0 for term in fitted.terms)


def test_what_was_known_can_be_turned_round_by_enough_questions() -> None:
    known, _ = fit_calibration(told_by("covered"), WHO)
    fitted, tried = fit_calibration(told_by("covered", upside_down=True), WHO, known)
    assert fitted.auroc > 0.9
    weights = {term.signal: term.weight for term in fitted.terms}
    assert weights["covered"] < 0
    assert len(tried) == 90


def test_few_questions_change_little_of_what_was_known() -> None:
    known, _ = fit_calibration(told_by("covered"), WHO)
    few = told_by("covered", upside_down=True)[:3]
    fitted, _ = fit_calibration(few, WHO, known)
    sure = example(0, found=True, covered=1.0).signals
    assert estimate_probability(sure, fitted) > 0.5


def test_at_most_one_found_answer_in_twenty_is_doubted() -> None:
    examples = [*told_by("covered"), *told_by_nothing()]
    fitted, tried = fit_calibration(examples, WHO)
    doubted = compute_calibration_figures(tried, fitted.threshold).doubted
    assert doubted.found is not None
    assert doubted.found <= DOUBTED_SHARE


@settings(max_examples=examples(30))
@given(EXAMPLES)
def test_whatever_is_fitted_gives_probabilities(
    examples: list[CalibrationExample],
) -> None:
    fitted, tried = fit_calibration(examples, WHO)
    assert len(tried) == len(examples)
    for one in (*tried, *estimate_with_calibration(examples, fitted)):
        assert 0.0 <= one.estimate <= 1.0


def test_too_few_questions_are_refused_with_what_is_missing() -> None:
    with pytest.raises(
        LrwrError, match=f"at least {LEAST} questions are needed, and there are 39"
    ) as no:
        try_calibrations(
            {"off/words": told_by("covered")[:39]}, Pipeline.AGENTIC, {}, "a test"
        )
    assert "a quarter" in no.value.hint
    with pytest.raises(LrwrError, match="no question"):
        try_calibrations({}, Pipeline.AGENTIC, {}, "a test")


@pytest.mark.parametrize(
    ("found", "answerable", "said"),
    [
        (False, True, "questions, and finds 0"),
        (True, True, "unanswerable, and 0 of 60 are"),
        (False, False, "questions, and finds 0"),
    ],
)
def test_questions_that_are_all_alike_are_refused(
    found: bool, answerable: bool, said: str
) -> None:
    alike = [example(n, found=found, answerable=answerable) for n in range(60)]
    assert said in describe_missing_examples(alike)


def test_a_ranking_with_too_few_questions_is_judged_and_not_fitted() -> None:
    known, _ = fit_calibration(told_by("covered"), WHO)
    few = dataclasses.replace(known, ranking="people/words")
    trials = try_calibrations(
        {"people/words": told_by("covered")[:5], "off/words": told_by("covered")},
        Pipeline.AGENTIC,
        index_calibrations([known, few]),
        "a test",
    )
    assert [trial.ranking for trial in trials] == ["off/words", "people/words"]
    assert trials[0].calibration is not None and not trials[0].short_of
    assert trials[0].own is not None and not trials[0].chance
    assert trials[1].calibration is None and trials[1].short_of
    assert trials[1].shipped is not None
    assert trials[1].own is None


def test_a_fit_that_may_be_chance_says_so() -> None:
    (trial,) = try_calibrations(
        {"r": told_by_nothing()}, Pipeline.AGENTIC, {}, "a test"
    )
    assert trial.chance
