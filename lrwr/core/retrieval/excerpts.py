"""Quotes the passages that a search found: the part that fits a question best, with its
best sentence.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.text import (
    WORD_PATTERN,
    LineRange,
    SentenceSplitter,
    Span,
)
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.models import Reranker, SentenceRating
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.query_words import extract_quoted_phrases, extract_search_words
from lrwr.core.retrieval.retrievers import WordWeights
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.story_matches import is_story_sentence

MAX_QUOTED_PASSAGES = 5
"""Passages quoted at most."""

MAX_PASSAGES_BESIDE_FACTS = 3
"""Passages quoted below facts that may answer the question."""

MAX_QUOTE_CHARS = 900
"""Characters quoted of one passage, unless a single sentence is longer."""

MAX_SEARCH_CHARS = 500
"""Characters that a search shows of a passage: about six lines of 80 columns."""

RATING_SHARPNESS = 8.0
"""How much one good sentence counts more than several fair ones: the factor of ratings
in a sum of exponentials (decision 037)."""


PHRASE_BONUS = 2.0
"""Added to the rating of a sentence with a quoted phrase; other ratings are below 1.5."""


FAVORED_BONUS = 0.5
"""Added to the rating of a sentence that is likely to answer: as much as the best sentence
of a passage rates above its average one."""


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


WordSearch = Callable[[str, Horizon | None], Awaitable[Sequence[Passage]]]
"""Returns the passages up to a horizon that have most of some words, best first."""


@dataclass(frozen=True, slots=True)
class PassageSource:
    """The parts of a library that are needed to quote passages.

    `store` has the texts, `lexical` the word frequencies, `sentences` splits a text
    into sentences. `reranker` is None if words alone decide. `pipeline` is the one
    whose passages are searched. `search_words` is None if only the passages at hand may
    be quoted.
    """

    store: PassageStore
    lexical: LexicalIndex
    reranker: Reranker | None
    sentences: SentenceSplitter
    pipeline: Pipeline
    search_words: WordSearch | None = None


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


def list_quotable_texts(passages: Sequence[Passage]) -> list[str]:
    """Return the texts of the first `MAX_QUOTED_PASSAGES` of `passages`."""
    return [passage.chunk.text for passage in passages[:MAX_QUOTED_PASSAGES]]


async def select_passage_quotes(
    question: str,
    words: WordWeights,
    passages: Sequence[Passage],
    passage_source: PassageSource,
    find_favored: Callable[[str], Sequence[Span]] = lambda _: (),
) -> list[PassageQuote]:
    """Return a quotation of each of the first `MAX_QUOTED_PASSAGES` of `passages`, in
    their order: the consecutive sentences that fit `question`, or its `words`, best.

    `find_favored` returns the sentences of a text that are likely to answer. Passages
    that the stored text no longer contains are left out.

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
        find_favored=find_favored,
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
    closes_speech: bool = False,
    find_favored: Callable[[str], Sequence[Span]] = lambda _: (),
) -> list[PassageExcerpt]:
    """Return the excerpt of each chunk that fits `question` best, in their order; spans
    are places in the chunk's text.

    An excerpt has at most `limit` characters, unless its only sentence is longer. With
    `closes_speech`, it does not end inside a speech if fewer sentences, or as many
    others, that contain the best one end outside.
    Sentences are rated by `reranker` from what is stored for them, or by the share of
    `words`, the question's words with their weights, if that is not possible. A sentence
    with a phrase that the question puts in quotation marks is better than any without;
    one that `find_favored` returns for the text is better than most others.
    """
    phrases = extract_quoted_phrases(question)
    ratings: list[list[SentenceRating]] = [[] for _ in chunks]
    if reranker is not None:
        # The search has already said that its reranker failed.
        with suppress(ServiceUnavailable):
            ratings = await reranker.rate_sentences(
                question,
                [chunk.text for chunk in chunks],
                [chunk.text_hash for chunk in chunks],
            )
    excerpts = []
    for chunk, rated in zip(chunks, ratings, strict=True):
        scored = rated or _rate_by_words(chunk.text, words, sentences)
        favored = _favor_spans(
            _favor_phrases(chunk.text, scored, phrases), find_favored(chunk.text)
        )
        excerpts.append(
            cut_excerpt(chunk.text, favored, limit, closes_speech=closes_speech)
        )
    return excerpts


def select_opening(
    chunk: Chunk, title: str, sentences: SentenceSplitter, *, limit: int
) -> Span:
    """Return the span, in its document, of the first sentences of a chunk after its
    heading: at most `limit` characters, unless the first sentence is longer.

    `title` is that of the chapter; a sentence that ends with it is taken for a heading.
    """
    places = [
        SentenceRating(span, 0.0)
        for span in sentences(chunk.text)
        if is_story_sentence(chunk.text[span.start : span.end], title)
    ]
    if not places:
        return chunk.span
    # The first sentence alone is rated, so that the excerpt begins with it.
    places[0] = SentenceRating(places[0].span, 1.0)
    excerpt = cut_excerpt(chunk.text, places, limit, closes_speech=True)
    return _move(excerpt.span, chunk)


def select_matching_sentences(
    chunk: Chunk, matches: Sequence[Span], sentences: SentenceSplitter
) -> list[Span]:
    """Return the spans, in the chunk's document, of the sentences that contain
    `matches`, in text order; one for each match, unless sentences are the same.

    `matches` are spans in the document; the last may end beyond the chunk.
    """
    places = [_move(_strip_span(chunk.text, s), chunk) for s in sentences(chunk.text)]
    spans: list[Span] = []
    for match in sorted(matches):
        touched = [s for s in places if s.start < match.end and match.start < s.end]
        start = min([match.start, *(s.start for s in touched)])
        end = max([match.end, *(s.end for s in touched)])
        if spans and start < spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
        else:
            spans.append(Span(start, end))
    return spans


async def select_search_excerpts(
    request: SearchRequest,
    result: SearchResult,
    sentences: SentenceSplitter,
    reranker: Reranker | None,
) -> list[list[Span]]:
    """Return the parts of each passage that a search shows, as spans in its document.

    They are the sentences of each exact match, the sentences that fit the question
    best, or without a question the first ones. Each part has at most
    `MAX_SEARCH_CHARS` characters, unless its only sentence, or one with a match, is longer.
    """
    chunks = [passage.chunk for passage in result.passages]
    if request.exact:
        return [
            select_matching_sentences(chunk, result.matches[chunk.id], sentences)
            for chunk in chunks
        ]
    if not request.question:
        return [
            [
                select_opening(
                    p.chunk, p.chapter_title, sentences, limit=MAX_SEARCH_CHARS
                )
            ]
            for p in result.passages
        ]
    words = WordWeights.of(extract_search_words(request.question), {}, 1)
    excerpts = await select_excerpts(
        request.question,
        chunks,
        words,
        sentences,
        reranker,
        limit=MAX_SEARCH_CHARS,
        closes_speech=True,
    )
    return [
        [_move(excerpt.span, chunk)]
        for excerpt, chunk in zip(excerpts, chunks, strict=True)
    ]


def _move(span: Span, chunk: Chunk) -> Span:
    return Span(chunk.span.start + span.start, chunk.span.start + span.end)


def cut_excerpt(
    text: str,
    ratings: Sequence[SentenceRating],
    limit: int,
    *,
    closes_speech: bool = False,
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
    if closes_speech:
        window = _close_speech(text, readable, window, best, limit)
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


def _close_speech(
    text: str,
    places: Sequence[tuple[Span, float]],
    window: Sequence[tuple[Span, float]],
    best: Span,
    limit: int,
) -> Sequence[tuple[Span, float]]:
    """Return the consecutive `places` with the highest ratings that contain `best`, have
    at most `limit` characters and do not end inside a speech; `window` if none do, or
    if it does not.
    """
    if not _ends_in_speech(text, window):
        return window
    at = next(i for i, (span, _) in enumerate(places) if span == best)
    candidates = [
        places[first : last + 1]
        for first in range(at + 1)
        for last in range(at, len(places))
        if places[last][0].end - places[first][0].start <= limit
    ]
    closed = [part for part in candidates if not _ends_in_speech(text, part)]
    return max(closed, key=_score_window, default=window)


def _ends_in_speech(text: str, window: Sequence[tuple[Span, float]]) -> bool:
    words = text[window[0][0].start : window[-1][0].end]
    if '"' in words:
        return words.count('"') % 2 == 1
    return words.rfind("“") > words.rfind("”")


def _score_window(window: Sequence[tuple[Span, float]]) -> float:
    return sum(math.exp(RATING_SHARPNESS * score) for _, score in window)


def _rate_by_words(
    text: str, words: WordWeights, sentences: SentenceSplitter
) -> list[SentenceRating]:
    return [
        SentenceRating(span, words.coverage(text[span.start : span.end]))
        for span in sentences(text)
    ]


def _favor_phrases(
    text: str, ratings: Sequence[SentenceRating], phrases: Sequence[str]
) -> list[SentenceRating]:
    """Raise the rating of sentences with one of `phrases` above all others."""
    favored: list[SentenceRating] = []
    for rating in ratings:
        sentence = text[rating.span.start : rating.span.end]
        bonus = PHRASE_BONUS if contains_any_phrase(sentence, phrases) else 0.0
        favored.append(SentenceRating(rating.span, rating.score + bonus))
    return favored


def _favor_spans(
    ratings: Sequence[SentenceRating], spans: Sequence[Span]
) -> list[SentenceRating]:
    """Raise the rating of sentences that overlap `spans`."""
    return [
        SentenceRating(r.span, r.score + FAVORED_BONUS)
        if any(s.start < r.span.end and r.span.start < s.end for s in spans)
        else r
        for r in ratings
    ]


def contains_any_phrase(text: str, phrases: Iterable[str]) -> bool:
    """Return whether `text` has the words of one of `phrases` one after the other."""
    words = _join_words(text)
    return any(_join_words(phrase) in words for phrase in phrases)


def _join_words(text: str) -> str:
    """Return the words of `text` in lower case, each between spaces."""
    words = WORD_PATTERN.findall(text.lower().replace("’", "'"))
    return f" {' '.join(words)} "


def _strip_span(text: str, span: Span) -> Span:
    """Return `span` without the white space at its ends."""
    words = text[span.start : span.end]
    start = span.start + len(words) - len(words.lstrip())
    return Span(start, max(start, span.start + len(words.rstrip())))
