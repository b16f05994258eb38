"""Which rows are meant by what is typed."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.rows import Row, holding, ranked

NELL = Row("1", "Nell Tallow", "87 times", ("Wren", "SootWren"))
MAGS = Row("2", "OchraMags", "66 times", ("Mags", "Aunt Mags"))
TALL = Row("3", "A tall man", "")
ELOISE = Row("4", "Éloïse Vale", "")
CAST = [MAGS, NELL, TALL, ELOISE]

texts = st.text(max_size=12)
cast = st.lists(st.builds(Row, texts, texts, texts), max_size=12)


def names(rows: list[Row]) -> list[str]:
    return [row.name for row in rows]


def test_nothing_typed_leaves_everybody_in_place() -> None:
    assert ranked("  ", CAST) == CAST


def test_the_beginning_of_a_word_goes_before_its_middle() -> None:
    assert names(ranked("tal", CAST)) == ["A tall man", "Nell Tallow"][::-1]


def test_another_name_finds_its_bearer() -> None:
    assert names(ranked("soot", CAST)) == ["Nell Tallow"]
    assert names(ranked("mags", CAST))[0] == "OchraMags"


def test_a_slip_of_the_keyboard_is_understood() -> None:
    assert names(ranked("tallwo", CAST))[0] == "Nell Tallow"
    assert names(ranked("ochrmags", CAST)) == ["OchraMags"]


def test_accents_and_case_do_not_matter() -> None:
    assert names(ranked("ELOISE", CAST)) == ["Éloïse Vale"]


def test_what_is_like_nothing_finds_nothing() -> None:
    assert ranked("zzzz", CAST) == []


def test_rows_in_order_keep_the_headings_over_them() -> None:
    one, two = Row("", "Chapter 1", heading=True), Row("", "Chapter 2", heading=True)
    lamp, fog = Row("a", "Nell lit the lamp", "Nell"), Row("b", "Fog came", "")
    rows = [one, lamp, two, fog]
    assert holding("", rows) == rows
    assert holding("fog", rows) == [two, fog]
    assert holding("nell lamp", rows) == [one, lamp]
    assert holding("nell fog", rows) == []


@given(texts, cast)
def test_every_found_row_is_one_of_the_rows(wanted: str, rows: list[Row]) -> None:
    for found in (ranked(wanted, rows), holding(wanted, rows)):
        left = list(rows)
        for row in found:
            left.remove(row)


@given(st.integers(0, 11), cast)
def test_a_whole_name_finds_its_row_first(at: int, rows: list[Row]) -> None:
    if at < len(rows) and rows[at].name.strip():
        first = ranked(rows[at].name, rows)
        assert rows[at] in first
        assert rows[at] in holding(rows[at].name, rows)
