from collections.abc import Sequence
from itertools import combinations

import pytest

from lrwr.core.adapters.sentences import sentence_spans
from lrwr.core.chat.companion import QUOTES, Companion, QuotedAnswer
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.story import Horizon
from lrwr.core.ports.reranker import Reranker
from lrwr.core.retrieval.search import SearchRequest
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder
from tests.unit.source.word_files import paragraphs

REFRAIN = "The marsh keeps what the marsh is given."

ONE = f"""---
title: One
---
# One

Mags opened the ledger and looked at the page for a long time. “Twelve cans,” she
said. {REFRAIN}

PurpleFrog lit the lantern at dusk, as she had every night for eleven hundred days.

***

Nobody came over the stones. {REFRAIN}
"""


class Wordless:
    """A reranker that does not answer."""

    name = "wordless"

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Fail."""
        raise ServiceUnavailable("The reranker is away.")


@pytest.fixture
async def book(desk: Desk) -> Desk:
    desk.write("chapters/1.md", ONE)
    desk.write("chapters/2.docx", paragraphs("Two", "The pony drowned in the fog."))
    desk.write("chapters/3.md", "# Three\n\nThe secret was under Gull Post all along.")
    await desk.ingest()
    return desk


async def ask(
    desk: Desk,
    question: str,
    *,
    reranker: Reranker | None = None,
    horizon: Horizon | None = None,
    embedder: WordEmbedder | None = None,
) -> QuotedAnswer:
    companion = Companion(
        finder=desk.finder(reranker=reranker, embedder=embedder),
        store=desk.library.passages,
        lexical=desk.library.words,
        reranker=reranker,
        sentences=sentence_spans,
    )
    request = SearchRequest(
        question=question, pipeline=Pipeline.NAIVE, limit=8, horizon=horizon
    )
    return await companion.answer(request)


QUESTIONS = [
    "When did PurpleFrog light the lantern?",
    "What did Mags open?",
    "What does the marsh keep?",
    "What happened to the pony in the fog?",
    "Who?",
]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_every_quote_stands_in_the_text_word_for_word(
    book: Desk, question: str
) -> None:
    answer = await ask(book, question)
    assert 0 < len(answer.quotes) <= QUOTES
    for quote in answer.quotes:
        kept = await book.library.passages.text(quote.passage.chunk.document)
        assert kept.text[quote.span.start : quote.span.end] == quote.text
        assert kept.lines.lines_of(quote.span) == quote.lines
        assert quote.passage.chunk.span.holds(quote.span)
        assert quote.text == quote.text.strip()


@pytest.mark.parametrize("question", QUESTIONS)
async def test_no_sentence_is_quoted_twice(book: Desk, question: str) -> None:
    quotes = (await ask(book, question)).quotes
    for one, two in combinations(quotes, 2):
        same = one.passage.chunk.document == two.passage.chunk.document
        apart = one.span.end <= two.span.start or two.span.end <= one.span.start
        assert apart or not same


async def test_the_sentence_that_answers_is_quoted_with_its_place(book: Desk) -> None:
    answer = await ask(book, "When did PurpleFrog light the lantern?")
    best = answer.quotes[0]
    assert "PurpleFrog lit the lantern at dusk" in best.text
    assert (best.passage.chapter, best.passage.scene) == (1, 1)
    assert best.lines.last == 9
    assert not answer.silent


async def test_quotes_of_a_word_file_resolve_to_its_paragraphs(book: Desk) -> None:
    answer = await ask(book, "What happened to the pony in the fog?")
    best = answer.quotes[0]
    assert "The pony drowned in the fog." in best.text
    assert best.passage.chunk.document == "chapters/2.docx"
    assert best.lines.last == 2


@pytest.mark.parametrize(
    "question",
    ["What colour is Annabel’s bicycle?", "Xylophone quartz?", "Is Zoltan kind?"],
)
async def test_the_text_is_silent_on_what_it_does_not_name(
    book: Desk, question: str
) -> None:
    answer = await ask(book, question)
    assert answer.silent
    assert answer.unknown


async def test_nothing_later_than_the_horizon_is_quoted(book: Desk) -> None:
    question = "What was the secret under Gull Post?"
    late = await ask(book, question)
    assert "secret" in late.quotes[0].text
    early = await ask(book, question, horizon=Horizon(2))
    assert all("secret" not in quote.text for quote in early.quotes)
    assert all(quote.passage.chapter in {1, 2} for quote in early.quotes)


async def test_without_a_reranker_that_answers_words_decide_and_it_is_said(
    book: Desk,
) -> None:
    answer = await ask(book, QUESTIONS[0], reranker=Wordless())
    assert "PurpleFrog" in answer.quotes[0].text
    assert len(answer.remarks) == 2
    assert all("The reranker is away." in remark for remark in answer.remarks)


async def test_without_an_embedder_that_answers_the_quotes_still_come(
    book: Desk,
) -> None:
    answer = await ask(book, QUESTIONS[0], embedder=WordEmbedder(patience=0))
    assert "PurpleFrog" in answer.quotes[0].text
    assert answer.remarks == ("Searched by words alone. The model is away.",)


async def test_an_empty_library_is_silent(desk: Desk) -> None:
    answer = await ask(desk, "Who is Mags?")
    assert (answer.quotes, answer.silent) == ((), True)


async def test_answers_are_the_same_every_time(book: Desk) -> None:
    assert await ask(book, QUESTIONS[2]) == await ask(book, QUESTIONS[2])
