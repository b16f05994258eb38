"""Ranks the sentences of passages by how well they answer a question."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lrwr.core.model.chunks import Passage, Pipeline
from lrwr.core.model.errors import NotFound, ServiceUnavailable
from lrwr.core.model.text import (
    LineRange,
    SentenceSplitter,
    Span,
    extract_capitalized_words,
    extract_content_words,
)
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.models import Reranker
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.retrievers import WordWeights

MAX_PASSAGES_READ = 4
"""Passages whose sentences are ranked."""

MAX_RERANKED_SENTENCES = 36
"""Sentences given to the reranker at most; each costs a run of its model."""

MAX_QUOTES = 3
"""Sentences quoted at most."""

MIN_RELATIVE_QUOTE_SCORE = 0.6
"""Score, relative to the best sentence, that further sentences need."""

MAX_QUOTE_CHARS = 320
"""Characters up to which a sentence is extended by its neighbours."""

MIN_QUOTE_WORDS = 4
"""Words below which a sentence is not worth quoting."""

SENTENCE_WEIGHT = 0.7
"""Share of the sentence's own score; the rest is the score of its passage. The split
that ranked passages best when they were reranked by late interaction."""

QUESTION_SENTENCE_FACTOR = 0.8
"""Score factor of sentences that are questions, which rarely answer one."""

_BREAK = re.compile(r"\n[ \t]*(?:\n|[-*+•][ \t]|\d{1,3}[.)][ \t]|[|>#])")
"""The end of a paragraph, or the beginning of a list item or table row."""

_QUESTION = re.compile(r"\?[\s”’\"')*_]*$")

RemarkCallback = Callable[[str], None]
"""Receives sentences about what failed."""


@dataclass(frozen=True, slots=True)
class SentenceQuote:
    """One or several consecutive sentences of the manuscript, verbatim.

    `text` is the text of the passage's document at `span`, which is on `lines`.
    """

    text: str
    span: Span
    lines: LineRange
    passage: Passage


@dataclass(frozen=True, slots=True)
class PassageSource:
    """The parts of a library that are needed to rank and quote sentences.

    `store` has the texts, `lexical` the word frequencies, `sentences` splits a text
    into sentences. `reranker` is None if words alone decide. `pipeline` is the one
    whose passages are searched.
    """

    store: PassageStore
    lexical: LexicalIndex
    reranker: Reranker | None
    sentences: SentenceSplitter
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class SentenceQuery:
    """The question for which sentences are ranked.

    `weights` are its words weighted by rarity. `worth` returns the factor by which the
    score of a sentence, its argument, is multiplied.
    """

    question: str
    weights: WordWeights
    worth: Callable[[str], float]


@dataclass(frozen=True, slots=True)
class _ScoredSentence:
    passage: Passage
    span: Span
    text: str
    share: float


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


async def select_best_sentences(
    sentence_query: SentenceQuery,
    passages: Sequence[Passage],
    passage_source: PassageSource,
    remark: RemarkCallback,
) -> list[SentenceQuote]:
    """Return the best sentences of the first `MAX_PASSAGES_READ` passages, best first.

    Each is extended by neighbouring sentences up to `MAX_QUOTE_CHARS` characters.
    Without a reranker, or if it fails, the question's words decide; `remark` is called
    with a sentence about a failure. Sentences that the stored text no longer contains
    are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    scored_sentences = _collect_candidates(
        passages[:MAX_PASSAGES_READ], sentence_query.weights, passage_source.sentences
    )
    scored = await _score_sentences(
        sentence_query, scored_sentences, passage_source.reranker, remark
    )
    extended_sentences = _extend_to_neighbours(
        _select_best(scored), passage_source.sentences
    )
    return await _drop_outdated(extended_sentences, passage_source.store)


def is_unanswerable_without(question: str, unknown: Sequence[str]) -> bool:
    """Return whether a text that lacks the words `unknown` cannot answer `question`.

    `unknown` are in lower case, without possessive endings. True if they include all
    content words of the question, or one that it capitalizes, such as a name.
    """
    missing = set(unknown)
    return set(extract_content_words(question)) <= missing or not missing.isdisjoint(
        extract_capitalized_words(question)
    )


def _collect_candidates(
    passages: Sequence[Passage], weights: WordWeights, sentences: SentenceSplitter
) -> list[_ScoredSentence]:
    """Return the distinct sentences that share most term weight with the question."""
    sentences_by_key: dict[tuple[str, int], _ScoredSentence] = {}
    for rank, passage in enumerate(passages):
        for span in _split_sentences(passage.chunk.text, sentences):
            text = passage.chunk.text[span.start : span.end]
            if _is_unquotable(text):
                continue
            start = passage.chunk.span.start + span.start
            place = Span(start, start + len(text))
            # 0.1 for each rank: with few passages their order outweighs small
            # differences in coverage but not a sentence that covers much more.
            share = weights.coverage(text) + 0.1 * (len(passages) - rank)
            sentences_by_key.setdefault(
                (passage.chunk.document, start),
                _ScoredSentence(passage, place, text, share),
            )
    return sorted(sentences_by_key.values(), key=lambda s: -s.share)[
        :MAX_RERANKED_SENTENCES
    ]


async def _score_sentences(
    sentence_query: SentenceQuery,
    sentences: Sequence[_ScoredSentence],
    reranker: Reranker | None,
    remark: RemarkCallback,
) -> list[tuple[float, _ScoredSentence]]:
    scores = [sentence.share for sentence in sentences]
    if reranker is not None and sentences:
        try:
            scores = await reranker.rerank(
                sentence_query.question, [s.text for s in sentences]
            )
        except ServiceUnavailable as error:
            remark(f"Sentences were ranked by words only. {error}")
    scores, ranks = (
        _scale_min_max(scores),
        _scale_min_max([s.passage.score for s in sentences]),
    )
    pairs = zip(scores, ranks, sentences, strict=True)
    scored = [
        (
            _adjust_score(
                SENTENCE_WEIGHT * score + (1 - SENTENCE_WEIGHT) * rank,
                sentence,
                sentence_query,
            ),
            sentence,
        )
        for score, rank, sentence in pairs
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def _adjust_score(
    score: float, sentence: _ScoredSentence, sentence_query: SentenceQuery
) -> float:
    question_factor = (
        QUESTION_SENTENCE_FACTOR if _QUESTION.search(sentence.text) else 1.0
    )
    return score * question_factor * sentence_query.worth(sentence.text)


def _extend_to_neighbours(
    scored_sentences: Sequence[_ScoredSentence], sentences: SentenceSplitter
) -> list[_ScoredSentence]:
    """Extend each sentence by its neighbours and drop overlapping results."""
    extended_sentences: list[_ScoredSentence] = []
    for sentence in scored_sentences:
        chunk = sentence.passage.chunk
        at = sentence.span.start - chunk.span.start
        spans = _split_sentences(chunk.text, sentences)
        start, end = _grow_span(chunk.text, spans, at)
        span = Span(chunk.span.start + start, chunk.span.start + end)
        if any(
            _overlaps(span, other)
            for other in extended_sentences
            if _is_same_document(sentence, other)
        ):
            continue
        text = chunk.text[start:end]
        extended_sentences.append(
            _ScoredSentence(sentence.passage, span, text, sentence.share)
        )
    return extended_sentences


async def _drop_outdated(
    scored_sentences: Sequence[_ScoredSentence], store: PassageStore
) -> list[SentenceQuote]:
    """Return the sentences that the stored text still contains, character for
    character.
    """
    quotes = []
    for sentence in scored_sentences:
        try:
            document_text = await store.text(sentence.passage.chunk.document)
        except NotFound:  # deleted since the search
            continue
        span = sentence.span
        if document_text.text[span.start : span.end] != sentence.text:
            continue
        lines = document_text.lines.lines_of(span)
        quotes.append(SentenceQuote(sentence.text, span, lines, sentence.passage))
    return quotes


def _split_sentences(text: str, sentences: SentenceSplitter) -> list[Span]:
    """Split a text into sentences, and at list items without a full stop."""
    spans: list[Span] = []
    for sentence_span in sentences(text):
        start = sentence_span.start
        for match in _BREAK.finditer(text, sentence_span.start, sentence_span.end):
            spans.append(Span(start, match.start()))
            start = match.start() + 1
        spans.append(Span(start, sentence_span.end))
    return [span for span in spans if text[span.start : span.end].strip()]


def _is_unquotable(text: str) -> bool:
    """Return whether a sentence is too short, a heading or a table row."""
    return len(text.split()) < MIN_QUOTE_WORDS or text.lstrip().startswith(("#", "|"))


def _grow_span(text: str, spans: Sequence[Span], at: int) -> tuple[int, int]:
    """Extend the sentence that starts at `at` forwards, then backwards, in its
    paragraph.
    """
    first = last = next(n for n, span in enumerate(spans) if span.start == at)
    while True:
        start, end = spans[first].start, spans[last].end
        if last + 1 < len(spans) and _may_join(text, start, spans[last + 1].end):
            last += 1
        elif first > 0 and _may_join(text, spans[first - 1].start, end):
            first -= 1
        else:
            return start, end


def _may_join(text: str, start: int, end: int) -> bool:
    one_paragraph = _BREAK.search(text, start, end) is None
    return (
        one_paragraph
        and not text.startswith("#", start)
        and end - start <= MAX_QUOTE_CHARS
    )


def _is_same_document(scored_sentence: _ScoredSentence, other: _ScoredSentence) -> bool:
    return scored_sentence.passage.chunk.document == other.passage.chunk.document


def _overlaps(span: Span, other: _ScoredSentence) -> bool:
    return span.start < other.span.end and other.span.start < span.end


def _scale_min_max(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = (high - low) or 1.0
    return [(value - low) / width for value in values]


def _select_best(
    scored: Sequence[tuple[float, _ScoredSentence]],
) -> list[_ScoredSentence]:
    if not scored:
        return []
    best = scored[0][0]
    best_sentences = [
        sentence
        for score, sentence in scored
        if score >= MIN_RELATIVE_QUOTE_SCORE * best
    ]
    return best_sentences[: 2 * MAX_QUOTES]
