"""A miss is never hidden."""

import pytest

from bench.report import Line, Sense, skipped, summary, table


@pytest.mark.parametrize(
    ("value", "sense", "verdict"),
    [
        (1.0, "<=", "met"),
        (1.01, "<=", "NOT MET"),
        (1.0, ">=", "met"),
        (0.99, ">=", "NOT MET"),
        (None, "<=", "not measured"),
    ],
)
def test_a_goal_is_met_or_not(value: float | None, sense: Sense, verdict: str) -> None:
    assert Line("p", "n", value, goal=1.0, sense=sense).verdict == verdict


def test_a_line_without_a_goal_has_no_verdict() -> None:
    assert Line("p", "n", 3.0).verdict == ""
    assert skipped("p", "no novels here")[0].verdict == "skipped"


def test_the_summary_names_what_is_not_met() -> None:
    lines = [Line("p", "good", 1.0, goal=2.0), Line("p", "bad", 3.0, goal=2.0)]
    assert summary(lines) == "1 of 2 goals met. Not met: p: bad."


def test_a_goal_that_was_not_measured_is_not_met() -> None:
    assert "p: lost" in summary([Line("p", "lost", None, goal=2.0)])


def test_the_table_shows_figures_goals_and_what_belongs_to_them() -> None:
    line = Line("p", "n", 1234.5, "MB", 450, note="noted", also={"mrr": 0.7})
    last = table([line]).splitlines()[-1]
    assert last.split()[2:8] == ["1,234", "MB", "≤", "450", "NOT", "MET"]
    assert last.endswith("mrr 0.700, noted")
