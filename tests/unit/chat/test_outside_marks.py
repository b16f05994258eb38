"""Marks of the web stand apart from the numbers of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.ports.sources import WebPage
from lrwr.core.web.citations import (
    WEB_HEAD,
    find_web_citations,
    normalize_web_marks,
    parse_web_marks,
    strip_mark_lookalikes,
    strip_web_part,
)

PAGES = (
    WebPage("Hamlet", "https://example.org/h", "A prince sees a ghost."),
    WebPage("Lear", "https://example.org/l", "A king gives his land away."),
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("A ghost [w1].", "A ghost [w1]."),
        ("A ghost [W1].", "A ghost [w1]."),
        ("A ghost [w1, w2].", "A ghost [w1][w2]."),
        ("A ghost [w1-w2].", "A ghost [w1][w2]."),
        ("A ghost [1, w2].", "A ghost [1][w2]."),
        ("A ghost [w9].", "A ghost."),
        ("A ghost [w1, w9].", "A ghost [w1]."),
        ("A ghost [[w9]w8].", "A ghost."),
        ("A ghost [w99999999].", "A ghost."),
        ("A ghost [1] and [wolf] and [2, 3].", "A ghost [1] and [wolf] and [2, 3]."),
    ],
)
def test_a_mark_that_stands_for_nothing_is_taken_out(said: str, kept: str) -> None:
    assert normalize_web_marks(said, {1, 2}) == kept


@given(st.text(alphabet="[]w12 ,-a."))
def test_no_strange_mark_is_left(text: str) -> None:
    assert set(parse_web_marks(normalize_web_marks(text, {1}))) <= {1}


@given(st.text(alphabet="[]wW12 ,;-a."))
def test_a_page_has_no_number_of_ours(text: str) -> None:
    bare = strip_mark_lookalikes(text)
    assert parse_web_marks(bare) == []
    assert "[1]" not in bare
    assert "[1, 2]" not in bare


def test_what_an_answer_has_from_the_web_is_what_it_marks() -> None:
    (one,) = find_web_citations("A king [w2]. Nell [1].", PAGES)
    assert (one.number, one.title, one.url) == (2, "Lear", "https://example.org/l")
    assert one.text == "A king gives his land away."
    assert find_web_citations("A king.", PAGES) == ()


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("Nell waits [1]. Hamlet sees a ghost [w1].", "Nell waits [1]."),
        ("Hamlet sees a ghost. [w1] Nell waits [1].", "Nell waits [1]."),
        ("Hamlet says “A ghost. It walks.” [w1] Nell waits.", "Nell waits."),
        ("Nell waits, unlike Hamlet [1][w1].", ""),
        (f"Nell waits.\n\n{WEB_HEAD}\n\nHamlet: “A ghost. It.” [w1]", "Nell waits."),
        ("Nell waits [1].\n\nNo more.", "Nell waits [1].\n\nNo more."),
    ],
)
def test_without_the_web_only_the_books_own_part_is_left(said: str, own: str) -> None:
    assert strip_web_part(said) == own
