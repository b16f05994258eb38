"""Which rows are meant by what is typed."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.rows import Row, Rows

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
    assert Rows(CAST).ranked("  ") == CAST


def test_the_beginning_of_a_word_goes_before_its_middle() -> None:
    assert names(Rows(CAST).ranked("tal")) == ["A tall man", "Nell Tallow"][::-1]


def test_another_name_finds_its_bearer() -> None:
    assert names(Rows(CAST).ranked("soot")) == ["Nell Tallow"]
    assert names(Rows(CAST).ranked("mags"))[0] == "OchraMags"


def test_a_slip_of_the_keyboard_is_understood() -> None:
    assert names(Rows(CAST).ranked("tallwo"))[0] == "Nell Tallow"
    assert names(Rows(CAST).ranked("ochrmags")) == ["OchraMags"]


def test_accents_and_case_do_not_matter() -> None:
    assert names(Rows(CAST).ranked("ELOISE")) == ["Éloïse Vale"]


def test_what_is_like_nothing_finds_nothing() -> None:
    assert Rows(CAST).ranked("zzzz") == []


def test_rows_in_order_keep_the_headings_over_them() -> None:
    one, two = Row("", "Chapter 1", heading=True), Row("", "Chapter 2", heading=True)
    lamp, fog = Row("a", "Nell lit the lamp", "Nell"), Row("b", "Fog came", "")
    rows = [one, lamp, two, fog]
    assert Rows(rows).holding("") == rows
    assert Rows(rows).holding("fog") == [two, fog]
    assert Rows(rows).holding("nell lamp") == [one, lamp]
    assert Rows(rows).holding("nell fog") == []


@given(texts, cast)
def test_every_found_row_is_one_of_the_rows(wanted: str, rows: list[Row]) -> None:
    for found in (Rows(rows).ranked(wanted), Rows(rows).holding(wanted)):
        left = list(rows)
        for row in found:
            left.remove(row)


@given(st.integers(0, 11), cast)
def test_a_whole_name_finds_its_row_first(at: int, rows: list[Row]) -> None:
    if at < len(rows) and rows[at].name.strip():
        first = Rows(rows).ranked(rows[at].name)
        assert rows[at] in first
        assert rows[at] in Rows(rows).holding(rows[at].name)
