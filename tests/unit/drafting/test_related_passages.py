"""Passages for the words of a card: what is searched, and what is shown."""

import pytest

from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.related_passages import (
    MAX_PASSAGE_CHARS,
    find_closest_part,
    join_related,
    list_related_queries,
)
from lrwr.core.model.documents import DocumentId
from tests.fakes.chatting import passage
from tests.fakes.stories import Book

FIRST = "Nell lit the lamp and sat down."
SECOND = "The keys hung on a loop of tape beside the door."


@pytest.mark.parametrize(
    ("card", "queries"),
    [
        (
            SceneCard("a", "The bell", summary="Nell rings.", beats=("Hob hears it",)),
            ["Hob hears it", "Nell rings."],
        ),
        (SceneCard("a", "The bell"), ["The bell"]),
        (SceneCard("a", "Chapter 12"), []),
        (SceneCard("a", "Scene II", beats=("It is",)), []),
    ],
)
def test_beats_and_summary_are_searched_else_the_title(
    card: SceneCard, queries: list[str]
) -> None:
    assert list_related_queries(card) == queries


def test_the_part_with_the_words_of_the_query_is_shown() -> None:
    text = f"{FIRST}\n\n{'So it went on. ' * 80}\n\n{SECOND}\n"
    span = find_closest_part(text, "Mags hands over the keys on their tape")
    assert text[span.start : span.end] == SECOND
    assert find_closest_part(text, "a zebra").start == 0


def test_a_long_paragraph_is_cut() -> None:
    text = "The keys. " * 500
    assert len(find_closest_part(text, "keys")) == MAX_PASSAGE_CHARS


def test_the_best_passage_of_each_query_comes_first() -> None:
    third = "Hob rang the bell."
    book = Book({"1.md": f"# One\n\n{FIRST}\n\n{SECOND}\n\n{third}\n"})
    lamp, keys, bell = (passage(book, "1.md", row) for row in (FIRST, SECOND, third))
    related = join_related(["the lamp", "keys"], [[lamp, bell], [keys, lamp]])
    text = book.documents[DocumentId("1.md")].text
    shown = [text[row.span.start : row.span.end] for row in related]
    assert shown == [FIRST, SECOND, third]
