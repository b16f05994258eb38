"""Sentences are picked whole, and what is no sentence is not."""

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.chat.extractive.sentence_ranker import (
    SentenceQuery,
    SentenceQuote,
    select_best_sentences,
    weigh_question_words,
)
from lrwr.core.model.text import extract_content_words
from tests.fakes.chatting import a_shelf, passage
from tests.fakes.stories import Book

LISTED = """# Corin Vale

- Role: ferryman of the fen
- Also called: the Heron
- Talks most with Nell Tallow

| Day | Ferry of the fen |
"""

ASKED = """# One

Who keeps the ferry of the fen? The ferry of the fen was kept by Corin Vale.
"""


async def picked(text: str, question: str) -> list[SentenceQuote]:
    book = Book({"1.md": text})
    whole = passage(book, "1.md", text)
    shelf = a_shelf(book)
    weights = await weigh_question_words(extract_content_words(question), shelf)
    sought = SentenceQuery(question, weights, lambda _: 1.0)
    return await select_best_sentences(sought, [whole], shelf, lambda _: None)


async def test_an_item_of_a_list_is_quoted_without_its_neighbours() -> None:
    quotes = await picked(LISTED, "Who is the ferryman of the fen?")
    assert quotes[0].text.strip() == "- Role: ferryman of the fen"
    assert not any("|" in quote.text for quote in quotes)


async def test_a_question_is_no_answer_to_a_question() -> None:
    first, *_ = await picked(ASKED, "Who kept the ferry of the fen?")
    assert first.text.endswith("Corin Vale.")
    assert find_sentence_spans(first.text)


async def test_a_sentence_that_is_worth_more_comes_first() -> None:
    text = "# One\n\nThe ferry is old as the fen.\n\nThe ferry is as old as Ivo.\n\n"
    text += "Nobody had asked him anything.\n"
    book = Book({"1.md": text})
    shelf = a_shelf(book)
    weights = await weigh_question_words(["ferry", "old"], shelf)
    sought = SentenceQuery(
        "How old is the ferry?", weights, lambda t: 1.0 + ("Ivo" in t)
    )
    whole = passage(book, "1.md", text)
    first, *_ = await select_best_sentences(sought, [whole], shelf, lambda _: None)
    assert first.text == "The ferry is as old as Ivo."
