"""The companion without a language model: it quotes, and does not reason.

It finds passages, picks their best sentences, and says where each stands. When the
evidence is thin it says so first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.search import Passage
from lrwr.core.model.text import Lines, Span, SplitSentences
from lrwr.core.model.words import content_words, names
from lrwr.core.ports.lexical_index import LexicalIndex
from lrwr.core.ports.record_store import PassageStore
from lrwr.core.ports.reranker import Reranker
from lrwr.core.retrieval.evidence import WordWeights
from lrwr.core.retrieval.search import PassageFinder, SearchRequest

READ = 4
"""Passages whose sentences are weighed."""

WEIGHED = 36
"""Sentences that are looked at closely; each costs a run of the model."""

QUOTES = 3
"""Sentences quoted at most."""

NEAR = 0.6
"""A further sentence is quoted when it fits this well, the best one being 1.0."""

ROOM = 320
"""Characters to which a quote grows by the sentences around it, in its paragraph."""

SHORTEST = 4
"""Words that a sentence must have to be worth quoting."""

SENTENCE_WEIGHT = 0.7
"""The sentence's own share of its score; the rest is its passage's place."""


@dataclass(frozen=True, slots=True)
class Quote:
    """One or a few sentences of the manuscript, verbatim, with their place.

    `span` is in the document's canonical text; the text there is `text`.
    """

    text: str
    span: Span
    lines: Lines
    passage: Passage


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """What the text itself says to a question.

    `unknown` are the question's words that the library does not hold at all. `silent`
    means that they are all of its words, or that a name is among them, or that there
    is nothing to quote; quotes are then only what comes nearest. How well quotes
    answer is not evaluated: see decision 004.
    """

    quotes: tuple[Quote, ...]
    silent: bool
    unknown: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: Passage
    span: Span
    text: str
    share: float


class Companion:
    """Answers from the text with the text. Reads only."""

    def __init__(
        self,
        *,
        finder: PassageFinder,
        store: PassageStore,
        lexical: LexicalIndex,
        reranker: Reranker | None,
        sentences: SplitSentences,
    ) -> None:
        self._finder = finder
        self._store = store
        self._lexical = lexical
        self._reranker = reranker
        self._sentences = sentences

    async def answer(self, request: SearchRequest) -> QuotedAnswer:
        """Quote what fits the question best, best first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        result = await self._finder.find(request)
        words = content_words(request.question)
        counts, total = await self._lexical.document_frequencies(
            words, pipeline=request.pipeline
        )
        weights = WordWeights.of(words, counts, total)
        passages = result.passages[:READ]
        remarks = list(result.remarks)
        told = self._sentences_of(passages, weights)
        scored = await self._scored(request.question, told, remarks)
        quotes = await self._verified(self._grown(_chosen(scored)))
        return QuotedAnswer(
            quotes=tuple(quotes),
            silent=not quotes or _says_nothing(request.question, result.unknown),
            unknown=result.unknown,
            remarks=tuple(remarks),
        )

    def _sentences_of(
        self, passages: Sequence[Passage], weights: WordWeights
    ) -> list[_Sentence]:
        """Return the sentences that share most with the question, each once."""
        told: dict[tuple[str, int], _Sentence] = {}
        for rank, passage in enumerate(passages):
            for span in self._sentences(passage.chunk.text):
                text = passage.chunk.text[span.start : span.end]
                if len(text.split()) < SHORTEST or text.startswith("#"):
                    continue  # too short, or a heading: nothing is said by it
                start = passage.chunk.span.start + span.start
                place = Span(start, start + len(text))
                share = weights.coverage(text) + 0.1 * (len(passages) - rank)
                told.setdefault(
                    (passage.chunk.document, start),
                    _Sentence(passage, place, text, share),
                )
        return sorted(told.values(), key=lambda s: -s.share)[:WEIGHED]

    async def _scored(
        self, question: str, told: Sequence[_Sentence], remarks: list[str]
    ) -> list[tuple[float, _Sentence]]:
        own = [sentence.share for sentence in told]
        if self._reranker is not None and told:
            try:
                own = await self._reranker.rerank(question, [s.text for s in told])
            except ServiceUnavailable as error:
                remarks.append(f"Sentences were chosen by their words alone. {error}")
        own, ranks = _spread(own), _spread([s.passage.score for s in told])
        scored = [
            (SENTENCE_WEIGHT * mine + (1 - SENTENCE_WEIGHT) * rank, sentence)
            for mine, rank, sentence in zip(own, ranks, told, strict=True)
        ]
        return sorted(scored, key=lambda pair: -pair[0])

    def _grown(self, chosen: Sequence[_Sentence]) -> list[_Sentence]:
        """Let each sentence take in its neighbours, and drop what is quoted twice."""
        grown: list[_Sentence] = []
        for sentence in chosen:
            chunk = sentence.passage.chunk
            at = sentence.span.start - chunk.span.start
            spans = self._sentences(chunk.text)
            start, end = _with_neighbours(chunk.text, spans, at)
            span = Span(chunk.span.start + start, chunk.span.start + end)
            if any(_overlap(span, other) for other in grown if _same(sentence, other)):
                continue
            text = chunk.text[start:end]
            grown.append(_Sentence(sentence.passage, span, text, sentence.share))
        return grown

    async def _verified(self, chosen: Sequence[_Sentence]) -> list[Quote]:
        """Keep what stands in the document's text, character for character."""
        quotes = []
        for sentence in chosen[:QUOTES]:
            kept = await self._store.text(sentence.passage.chunk.document)
            span = sentence.span
            if kept.text[span.start : span.end] != sentence.text:
                continue
            lines = kept.lines.lines_of(span)
            quotes.append(Quote(sentence.text, span, lines, sentence.passage))
        return quotes


def _says_nothing(question: str, unknown: Sequence[str]) -> bool:
    missing = set(unknown)
    return set(content_words(question)) <= missing or not missing.isdisjoint(
        names(question)
    )


def _with_neighbours(text: str, spans: Sequence[Span], at: int) -> tuple[int, int]:
    """Grow the sentence that starts at `at`, after and before, in its paragraph."""
    first = last = next(n for n, span in enumerate(spans) if span.start == at)
    while True:
        start, end = spans[first].start, spans[last].end
        if last + 1 < len(spans) and _joins(text, start, spans[last + 1].end):
            last += 1
        elif first > 0 and _joins(text, spans[first - 1].start, end):
            first -= 1
        else:
            return start, end


def _joins(text: str, start: int, end: int) -> bool:
    one_paragraph = "\n\n" not in text[start:end] and not text.startswith("#", start)
    return one_paragraph and end - start <= ROOM


def _same(one: _Sentence, other: _Sentence) -> bool:
    return one.passage.chunk.document == other.passage.chunk.document


def _overlap(span: Span, other: _Sentence) -> bool:
    return span.start < other.span.end and other.span.start < span.end


def _spread(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = (high - low) or 1.0
    return [(value - low) / width for value in values]


def _chosen(scored: Sequence[tuple[float, _Sentence]]) -> list[_Sentence]:
    if not scored:
        return []
    best = scored[0][0]
    near = [sentence for score, sentence in scored if score >= NEAR * best]
    return near[: 2 * QUOTES]
