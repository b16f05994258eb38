"""Passages for the words of a card: what is searched, and what is shown."""

import pytest

from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.story_passages import (
    MAX_PASSAGE_CHARS,
    extend_passage,
    find_closest_part,
    find_last_mentions,
    join_related,
    list_related_queries,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
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


def test_a_long_paragraph_is_cut_after_a_sentence_or_a_word() -> None:
    text = "The keys. " * 500
    span = find_closest_part(text, "keys")
    assert MAX_PASSAGE_CHARS - 10 < len(span) <= MAX_PASSAGE_CHARS
    assert text[span.start : span.end].endswith("The keys.")
    words = "keys and " * 500
    span = find_closest_part(words, "keys")
    assert words[span.start : span.end].endswith((" keys", " and"))


@pytest.mark.parametrize(
    ("text", "closest", "shown"),
    [
        (f"{FIRST} {SECOND}", SECOND, f"{FIRST} {SECOND}"),
        (f"{FIRST * 12} {SECOND} {FIRST}", SECOND, f"{SECOND} {FIRST}"),
        (
            "“How far is it?” said Nell.\n\n“Nine miles,” said Hob.\n\nThey sat.",
            "How far",
            "“How far is it?” said Nell.\n\n“Nine miles,” said Hob.",
        ),
        ("“It is far,” said Nell.\n\nThey sat.", "far", "“It is far,” said Nell."),
    ],
    ids=["paragraph", "sentences", "answer", "no answer"],
)
def test_a_passage_is_whole_sentences_with_the_answer(
    text: str, closest: str, shown: str
) -> None:
    start = text.index(closest)
    span = extend_passage(text, Span(start, start + len(closest)))
    assert text[span.start : span.end] == shown


def test_the_last_mention_of_a_thing_is_found_and_common_words_are_not() -> None:
    texts = {
        DocumentId("1.md"): f"Nell hung the slate up. {'The tide came. ' * 40}",
        DocumentId("2.md"): f"Hob broke the slate.\n\n{'The tide went. ' * 40}",
    }
    wording = "Nell looked for the slate in the tide, and for Hob’s hat."
    (passage,) = find_last_mentions(wording, texts, 5)
    assert passage.document == DocumentId("2.md")
    text = texts[passage.document]
    assert text[passage.span.start : passage.span.end] == "Hob broke the slate."
    assert find_last_mentions(wording, texts, 5, without=frozenset({"slate"})) == []


def test_the_best_passage_of_each_query_comes_first() -> None:
    third = "Hob rang the bell."
    book = Book({"1.md": f"# One\n\n{FIRST}\n\n{SECOND}\n\n{third}\n"})
    lamp, keys, bell = (passage(book, "1.md", row) for row in (FIRST, SECOND, third))
    related = join_related(["the lamp", "keys"], [[lamp, bell], [keys, lamp]])
    text = book.documents[DocumentId("1.md")].text
    shown = [text[row.span.start : row.span.end] for row in related]
    assert shown == [FIRST, SECOND, third]
