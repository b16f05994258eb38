"""Figures drawn in characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.app.presenters.plots import (
    NARROWEST,
    WIDEST,
    DotPlotRow,
    draw_dot_plot,
    is_plot_encodable,
)
from lrwr.pipeline.evaluation.figures import Interval

FLOATS = st.one_of(
    st.floats(-1, 1),
    st.floats(-1e7, 1e7),
    st.sampled_from([float("inf"), -float("inf")]),
)
INTERVALS = st.tuples(st.floats(-1e7, 1e7), FLOATS, FLOATS).map(
    lambda ends: Interval(ends[0], min(ends), max(ends))
)
ROWS = st.lists(
    st.builds(DotPlotRow, st.text(max_size=30), st.none() | INTERVALS), max_size=6
)
LADDER = [
    DotPlotRow("A", Interval(0.48, 0.39, 0.57)),
    DotPlotRow("A and words", Interval(0.52, 0.43, 0.60)),
    DotPlotRow("B, all of it", Interval(0.62, 0.54, 0.70)),
]


@given(ROWS, st.integers(NARROWEST, 140), st.booleans(), st.booleans())
def test_no_line_is_wider_than_asked(
    rows: list[DotPlotRow], width: int, ascii_only: bool, signed: bool
) -> None:
    lines = draw_dot_plot(rows, width=width, ascii_only=ascii_only, signed=signed)
    assert len(lines) in (len(rows), len(rows) + 2)
    assert all(len(line) <= min(width, WIDEST) for line in lines)
    assert not any("\n" in line for line in lines)


@given(ROWS, st.integers(60, WIDEST), st.booleans())
def test_a_typed_plot_holds_nothing_but_ascii(
    rows: list[DotPlotRow], width: int, signed: bool
) -> None:
    lines = draw_dot_plot(rows, width=width, ascii_only=True, signed=signed)
    assert all(line.isascii() for line in lines)


@given(
    st.lists(INTERVALS, min_size=1, max_size=5), st.integers(60, WIDEST), st.booleans()
)
def test_bounds_are_within_the_axis(
    intervals: list[Interval], width: int, signed: bool
) -> None:
    lines = draw_dot_plot(
        [DotPlotRow("it", one) for one in intervals], width=width, signed=signed
    )
    if len(lines) == len(intervals):
        return  # numbers so long that nothing is drawn
    axis = lines[-2]
    first, last = axis.index("┴"), axis.rindex("┴")
    for line, interval in zip(lines, intervals, strict=False):
        drawn = [n for n, sign in enumerate(line) if sign in "├┤●─"]
        assert first <= min(drawn) <= line.index("●") <= max(drawn) <= last
        assert line.count("●") == 1
        assert ("├" in line or "┤" in line) <= (interval.low < interval.high)


def test_a_ladder_is_drawn_on_one_axis() -> None:
    assert draw_dot_plot(LADDER, width=72) == [
        "A                 ├─────────●─────────┤                0.48 [0.39, 0.57]",
        "A and words            ├────────●────────┤             0.52 [0.43, 0.60]",
        "B, all of it                       ├───────●────────┤  0.62 [0.54, 0.70]",
        "              ┴────┴─────┴────┴─────┴────┴─────┴────┴",
        "                 0.40       0.50       0.60      0.70",
    ]


def test_a_ladder_is_typed_where_it_cannot_be_drawn() -> None:
    assert draw_dot_plot(LADDER, width=72, ascii_only=True) == [
        "A                 |---------o---------|                0.48 [0.39, 0.57]",
        "A and words            |--------o--------|             0.52 [0.43, 0.60]",
        "B, all of it                       |-------o--------|  0.62 [0.54, 0.70]",
        "              +----+-----+----+-----+----+-----+----+",
        "                 0.40       0.50       0.60      0.70",
    ]


def test_differences_stand_on_either_side_of_a_mark_at_nothing() -> None:
    rows = [
        DotPlotRow("words", Interval(0.04, -0.02, 0.1)),
        DotPlotRow("names", Interval(0.06, 0.03, 0.12)),
    ]
    assert draw_dot_plot(rows, width=64, signed=True) == [
        "words  ├────┼─────────●─────────────┤       +0.04 [−0.02, +0.10]",
        "names       ┊      ├──────●──────────────┤  +0.06 [+0.03, +0.12]",
        "       ┴────┴────┴────┴───┴────┴────┴────┴",
        "          0.00      0.04     0.08     0.12",
    ]


def test_where_there_is_no_room_names_and_numbers_are_left() -> None:
    assert draw_dot_plot(LADDER, width=40)[2] == "B, all of it  0.62 [0.54, 0.70]"
    assert draw_dot_plot(LADDER, width=20)[2] == "B, al…  0.62"


def test_what_is_not_known_is_not_drawn() -> None:
    one = Interval(0.5, float("-inf"), float("inf"))
    rows = [DotPlotRow("none", None), DotPlotRow("one", one), *LADDER]
    lines = draw_dot_plot(rows, width=80)
    assert lines[0] == "none"
    assert "├" not in lines[1]
    assert lines[1].endswith("0.50 [?, ?]")
    assert draw_dot_plot([DotPlotRow("none", None)], width=80) == ["none"]
    assert draw_dot_plot([], width=80) == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.25, "0.25 [0.20, 0.30]"),
        (0.003, "0.0030 [0.0024, 0.0036]"),
        (900, "900 [720, 1,080]"),
    ],
)
def test_numbers_have_the_digits_that_their_axis_can_show(
    value: float, told: str
) -> None:
    interval = Interval(value, value * 0.8, value * 1.2)
    assert draw_dot_plot([DotPlotRow("it", interval)], width=80)[0].endswith(told)


@pytest.mark.parametrize(
    ("encoding", "so"),
    [
        ("utf-8", True),
        (None, True),
        ("ascii", False),
        ("cp1252", False),
        ("none", False),
    ],
)
def test_an_encoding_can_show_the_signs_or_not(encoding: str | None, so: bool) -> None:
    assert is_plot_encodable(encoding) is so
