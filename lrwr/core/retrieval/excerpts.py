"""Quotes the passages that a search found: the part that fits a question best, with its
best sentence.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from lrwr.core.model.chunks import Chunk, Passage, Pipeline
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.text import LineRange, SentenceSplitter, Span
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.models import Reranker, SentenceRating
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.retrievers import WordWeights

MAX_QUOTED_PASSAGES = 5
"""Passages quoted at most."""

MAX_PASSAGES_BESIDE_FACTS = 3
"""Passages quoted below facts that may answer the question."""

MAX_QUOTE_CHARS = 700
"""Characters quoted of one passage, unless a single sentence is longer."""

RATING_SHARPNESS = 8.0
"""How much one good sentence counts more than several fair ones: the factor of ratings
in a sum of exponentials (decision 037)."""


@dataclass(frozen=True, slots=True)
class PassageExcerpt:
    """Consecutive sentences of a text at `span`; `best` is the one that fits best."""

    span: Span
    best: Span


@dataclass(frozen=True, slots=True)
class PassageQuote:
    """Consecutive sentences of a passage, verbatim.

    `text` is the text of the passage's document at `span`, which is on `lines`; `best`
    is the place in `text` of the sentence that fits the question best.
    """

    text: str
    span: Span
    best: Span
    lines: LineRange
    passage: Passage


@dataclass(frozen=True, slots=True)
class PassageSource:
    """The parts of a library that are needed to quote passages.

    `store` has the texts, `lexical` the word frequencies, `sentences` splits a text
    into sentences. `reranker` is None if words alone decide. `pipeline` is the one
    whose passages are searched.
    """

    store: PassageStore
    lexical: LexicalIndex
    reranker: Reranker | None
    sentences: SentenceSplitter
    pipeline: Pipeline


async def weigh_question_words(
    words: Sequence[str], passage_source: PassageSource
) -> WordWeights:
    """Return `words` with weights that add up to 1.0: the rarer a word is in the
    library, the higher.

    Raises:
        StoreProblem: The library cannot be read.
    """
    counts, total = await passage_source.lexical.document_frequencies(
        words, pipeline=passage_source.pipeline
    )
    return WordWeights.of(words, counts, total)


async def select_passage_quotes(
    question: str,
    words: WordWeights,
    passages: Sequence[Passage],
    passage_source: PassageSource,
) -> list[PassageQuote]:
    """Return a quotation of each of the first `MAX_QUOTED_PASSAGES` of `passages`, in
    their order: the consecutive sentences that fit `question`, or its `words`, best.

    Passages that the stored text no longer contains are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    chosen = passages[:MAX_QUOTED_PASSAGES]
    excerpts = await select_excerpts(
        question,
        [passage.chunk for passage in chosen],
        words,
        passage_source.sentences,
        passage_source.reranker,
        limit=MAX_QUOTE_CHARS,
    )
    quotes = [
        await _quote(passage, excerpt, passage_source.store)
        for passage, excerpt in zip(chosen, excerpts, strict=True)
    ]
    return [quote for quote in quotes if quote is not None]


async def _quote(
    passage: Passage, excerpt: PassageExcerpt, store: PassageStore
) -> PassageQuote | None:
    """Return the excerpt of a passage as a quotation; None if the stored text does not
    contain it, character for character.
    """
    chunk, start = passage.chunk, passage.chunk.span.start
    span = Span(start + excerpt.span.start, start + excerpt.span.end)
    text = chunk.text[excerpt.span.start : excerpt.span.end]
    try:
        document_text = await store.text(chunk.document)
    except NotFound:  # deleted since the search
        return None
    if not text or document_text.text[span.start : span.end] != text:
        return None
    best = Span(
        excerpt.best.start - excerpt.span.start, excerpt.best.end - excerpt.span.start
    )
    lines = document_text.lines.lines_of(span)
    return PassageQuote(text, span, best, lines, passage)


async def select_excerpts(
    question: str,
    chunks: Sequence[Chunk],
    words: WordWeights,
    sentences: SentenceSplitter,
    reranker: Reranker | None,
    *,
    limit: int,
) -> list[PassageExcerpt]:
    """Return the excerpt of each chunk that fits `question` best, in their order; spans
    are places in the chunk's text.

    An excerpt has at most `limit` characters, unless its only sentence is longer.
    Sentences are rated by `reranker` from what is stored for them, or by the share of
    `words`, the question's words with their weights, if that is not possible.
    """
    ratings: list[list[SentenceRating]] = [[] for _ in chunks]
    if reranker is not None:
        # The search has already said that its reranker failed.
        with suppress(ServiceUnavailable):
            ratings = await reranker.rate_sentences(
                question,
                [chunk.text for chunk in chunks],
                [chunk.text_hash for chunk in chunks],
            )
    return [
        cut_excerpt(
            chunk.text, rated or _rate_by_words(chunk.text, words, sentences), limit
        )
        for chunk, rated in zip(chunks, ratings, strict=True)
    ]


def cut_excerpt(
    text: str, ratings: Sequence[SentenceRating], limit: int
) -> PassageExcerpt:
    """Return the consecutive sentences of `text` with the best `ratings`.

    The excerpt has at most `limit` characters, unless its only sentence is longer; a
    text that fits is returned whole. Headings and table rows are never the best
    sentence if there is another.
    """
    places = [
        (_strip_span(text, rating.span), rating.score)
        for rating in ratings
        if text[rating.span.start : rating.span.end].strip()
    ]
    if not places:
        whole = _strip_span(text, Span(0, len(text)))
        return PassageExcerpt(whole, whole)
    readable = [
        (span, score) for span, score in places if text[span.start] not in "#|"
    ] or places
    windows = (_extend_window(readable, first, limit) for first in range(len(readable)))
    window = max(windows, key=_score_window)
    best = max(window, key=lambda place: place[1])[0]
    return PassageExcerpt(Span(window[0][0].start, window[-1][0].end), best)


def _extend_window(
    places: Sequence[tuple[Span, float]], first: int, limit: int
) -> Sequence[tuple[Span, float]]:
    last = first
    while (
        last + 1 < len(places)
        and places[last + 1][0].end - places[first][0].start <= limit
    ):
        last += 1
    return places[first : last + 1]


def _score_window(window: Sequence[tuple[Span, float]]) -> float:
    return sum(math.exp(RATING_SHARPNESS * score) for _, score in window)


def _rate_by_words(
    text: str, words: WordWeights, sentences: SentenceSplitter
) -> list[SentenceRating]:
    return [
        SentenceRating(span, words.coverage(text[span.start : span.end]))
        for span in sentences(text)
    ]


def _strip_span(text: str, span: Span) -> Span:
    """Return `span` without the white space at its ends."""
    words = text[span.start : span.end]
    start = span.start + len(words) - len(words.lstrip())
    return Span(start, max(start, span.start + len(words.rstrip())))
