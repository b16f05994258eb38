"""A reader sees a book up to a position, and nothing of what comes after it."""

import pytest

from lrwr.core.adapters.source.epub import read_epub
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.documents import DocumentId, DocumentOutline
from lrwr.core.reading.bounded_book import (
    BookChapterStart,
    BoundedBook,
    build_horizon_text,
    find_next_position,
)
from lrwr.core.retrieval.story import (
    build_search_scope,
    build_story_order,
    is_at_or_before_horizon,
    parse_horizon,
)
from tests.unit.source.epub_files import build_epub

BODIES = {
    "one": (
        "<h1>Chapter 1. Ebb</h1><p>Nell lit the lamp.</p>"
        '<p>It burned<a epub:type="noteref" href="#n">1</a>.</p>'
        '<aside epub:type="footnote" id="n"><p>With oil.</p></aside>'
    ),
    "two": "<h1>Chapter 2. Drowned</h1><p>Mags drowned it.</p>",
}
NAV = '<li><a href="one.xhtml">Chapter 1. Ebb</a></li><li><a href="two.xhtml">Chapter 2. Drowned</a></li>'
LATE = ("drowned", "Drowned")


def open_at(position: int) -> BoundedBook:
    parsed = read_epub(build_epub(BODIES, nav=NAV), "book.epub")
    chapters = [BookChapterStart(1, "Ebb", 0), BookChapterStart(2, "Drowned", 3)]
    return BoundedBook(parsed.outline, chapters, parsed.layout.text, position)


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_nothing_after_the_position_is_shown(position: int) -> None:
    book = open_at(position)
    shown = [*book.paragraphs(0, 99), *book.page(), *book.contents(), *book.chapters()]
    assert not any(word in repr(shown) for word in LATE)
    assert len(book.paragraphs(0, 99)) == position


def test_a_footnote_is_shown_with_the_paragraph_that_refers_to_it() -> None:
    assert "oil" not in repr(open_at(2).page())
    assert open_at(3).page()[-1].notes == ("[note 1] With oil.",)


def test_a_page_ends_with_its_chapter() -> None:
    book = open_at(3)
    chapters = [BookChapterStart(1, "", 0), BookChapterStart(2, "", 3)]
    assert find_next_position(book.outline, chapters, 0) == 3
    assert find_next_position(book.outline, chapters, 3) == 5
    assert find_next_position(book.outline, chapters, 5) == 5


def test_the_position_is_a_horizon_at_its_character() -> None:
    content = build_epub(BODIES, nav=NAV)
    document = parse_document(DocumentId("book.epub"), content)
    outline = DocumentOutline(
        document.id, document.type, document.title, 9, None, document.chapters
    )
    order = build_story_order([outline], ())
    for position in range(6):
        book = open_at(position)
        horizon = parse_horizon(build_horizon_text(book), order)
        scope = build_search_scope(order, types=(), horizon=horizon, kinds=())
        if position:
            assert scope.until == {document.id: book.end}
        else:
            assert scope.documents == frozenset() or scope.until == {document.id: 0}


def test_answers_from_further_on_are_later() -> None:
    outline = DocumentOutline(
        DocumentId("book.epub"),
        (document := parse_document(DocumentId("book.epub"), build_epub(BODIES))).type,
        "Lanterns", 9, None, document.chapters,
    )  # fmt: skip
    order = build_story_order([outline], ())
    horizon = parse_horizon("ch1@30", order)
    assert is_at_or_before_horizon("ch1@30", horizon, order)
    assert is_at_or_before_horizon("ch1@29", horizon, order)
    assert not is_at_or_before_horizon("ch1@31", horizon, order)
    assert not is_at_or_before_horizon("ch1", horizon, order)
    assert not is_at_or_before_horizon("ch2@31", horizon, order)
    assert is_at_or_before_horizon("ch1@31", parse_horizon("ch1", order), order)
