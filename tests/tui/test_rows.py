"""Which rows are meant by what is typed."""

from hypothesis import given
from hypothesis import strategies as st

from lrwr.tui.widgets.lists import ListRow, SearchableRows

NELL = ListRow("1", "Nell Tallow", "87 times", ("Wren", "SootWren"))
MAGS = ListRow("2", "OchraMags", "66 times", ("Mags", "Aunt Mags"))
TALL = ListRow("3", "A tall man", "")
ELOISE = ListRow("4", "Éloïse Vale", "")
CAST = [MAGS, NELL, TALL, ELOISE]

texts = st.text(max_size=12)
cast = st.lists(st.builds(ListRow, texts, texts, texts), max_size=12)


def names(rows: list[ListRow]) -> list[str]:
    return [row.name for row in rows]


def test_nothing_typed_leaves_everybody_in_place() -> None:
    assert SearchableRows(CAST).rank("  ") == CAST


def test_the_beginning_of_a_word_goes_before_its_middle() -> None:
    assert (
        names(SearchableRows(CAST).rank("tal")) == ["A tall man", "Nell Tallow"][::-1]
    )


def test_another_name_finds_its_bearer() -> None:
    assert names(SearchableRows(CAST).rank("soot")) == ["Nell Tallow"]
    assert names(SearchableRows(CAST).rank("mags"))[0] == "OchraMags"


def test_a_slip_of_the_keyboard_is_understood() -> None:
    assert names(SearchableRows(CAST).rank("tallwo"))[0] == "Nell Tallow"
    assert names(SearchableRows(CAST).rank("ochrmags")) == ["OchraMags"]


def test_accents_and_case_do_not_matter() -> None:
    assert names(SearchableRows(CAST).rank("ELOISE")) == ["Éloïse Vale"]


def test_what_is_like_nothing_finds_nothing() -> None:
    assert SearchableRows(CAST).rank("zzzz") == []


def test_rows_in_order_keep_the_headings_over_them() -> None:
    one, two = (
        ListRow("", "Chapter 1", heading=True),
        ListRow("", "Chapter 2", heading=True),
    )
    lamp, fog = ListRow("a", "Nell lit the lamp", "Nell"), ListRow("b", "Fog came", "")
    rows = [one, lamp, two, fog]
    assert SearchableRows(rows).filter("") == rows
    assert SearchableRows(rows).filter("fog") == [two, fog]
    assert SearchableRows(rows).filter("nell lamp") == [one, lamp]
    assert SearchableRows(rows).filter("nell fog") == []


@given(texts, cast)
def test_every_found_row_is_one_of_the_rows(wanted: str, rows: list[ListRow]) -> None:
    for found in (
        SearchableRows(rows).rank(wanted),
        SearchableRows(rows).filter(wanted),
    ):
        left = list(rows)
        for row in found:
            left.remove(row)


@given(st.integers(0, 11), cast)
def test_a_whole_name_finds_its_row_first(at: int, rows: list[ListRow]) -> None:
    if at < len(rows) and rows[at].name.strip():
        first = SearchableRows(rows).rank(rows[at].name)
        assert rows[at] in first
        assert rows[at] in SearchableRows(rows).filter(rows[at].name)
