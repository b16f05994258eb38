"""Retrievers by word, word pair and meaning; fusion of rankings, and their evidence."""

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.chunks import ChunkId, Pipeline, ScoredChunk, SearchScope
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    normalize_word,
    stem_lightly,
)
from lrwr.core.ports.indexes import LexicalIndex, VectorIndex
from lrwr.core.ports.models import Embedder


def scale_by_maximum(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Scale scores so that the best is 1.0 and 0 or less is 0.0."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: max(0.0, score) / best for chunk, score in scores.items()}


def scale_min_max(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Scale scores so that the best is 1.0 and the worst 0.0; all 0.0 when equal."""
    low = min(scores.values(), default=0.0)
    width = max(scores.values(), default=0.0) - low
    if width <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: (score - low) / width for chunk, score in scores.items()}


def fuse_weighted_scores(
    parts: Sequence[tuple[float, Mapping[ChunkId, float]]],
) -> dict[ChunkId, float]:
    """Add scores chunk by chunk, each list times its weight; absent counts 0."""
    total: dict[ChunkId, float] = {}
    for weight, scores in parts:
        for chunk, score in scores.items():
            total[chunk] = total.get(chunk, 0.0) + weight * score
    return total


def rank_chunks(scores: Mapping[ChunkId, float]) -> list[ScoredChunk]:
    """Return chunks best first; equal scores by id, so that runs agree."""
    pairs = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ScoredChunk(chunk, score) for chunk, score in pairs]


RETRIEVER_POOL_SIZE = 100
"""Chunks taken from each way of searching before they are fused."""
LEXICAL_WEIGHT = 0.6
PAIRS_WEIGHT = 0.2
DENSE_WEIGHT = 0.2
"""What each way of searching counts; see decision 003."""
VectorIndexOpener = Callable[[], Awaitable[VectorIndex | None]]
"""Opens the vector index, the same one every time; None when there is none."""


@dataclass(frozen=True, slots=True)
class HybridScores:
    """What each way of searching gave the chunks that it found, unscaled.

    `words` and `pairs` are BM25, `meaning` cosines; empty where a way was not gone.
    """

    words: Mapping[ChunkId, float]
    pairs: Mapping[ChunkId, float]
    meaning: Mapping[ChunkId, float]

    def fused(self) -> dict[ChunkId, float]:
        """Return one score for each chunk, about 0.0 to 1.0."""
        return fuse_weighted_scores(
            [
                (LEXICAL_WEIGHT, scale_by_maximum(self.words)),
                (PAIRS_WEIGHT, scale_by_maximum(self.pairs)),
                (DENSE_WEIGHT, scale_by_maximum(self.meaning)),
            ]
        )


@dataclass(frozen=True, slots=True)
class HybridRetriever:
    """The indexes of one library. Reads only.

    `embedder` is None where search goes by words alone.
    """

    lexical: LexicalIndex
    embedder: Embedder | None
    vectors: VectorIndexOpener

    async def by_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> tuple[dict[ChunkId, float], dict[ChunkId, float]]:
        """Score chunks by single words, and by pairs of adjacent words."""
        scored_lists = [
            await search(words, pipeline=pipeline, scope=scope, limit=limit)
            for search in (self.lexical.search_words, self.lexical.search_pairs)
        ]
        single, pairs = ({s.chunk: s.score for s in scored} for scored in scored_lists)
        return single, pairs

    async def by_meaning(
        self, question: str, *, scope: SearchScope, others: Collection[ChunkId]
    ) -> dict[ChunkId, float]:
        """Score the nearest chunks, and `others`, wherever they rank.

        Raises:
            ServiceUnavailable: The embedder did not answer, or cannot be loaded.
        """
        vectors = await self.vectors() if self.embedder is not None else None
        if vectors is None or self.embedder is None:
            return {}
        query = (await self.embedder.embed([question]))[0]
        await vectors.catch_up()
        scored_chunks = await vectors.nearest(
            query, scope=scope, limit=RETRIEVER_POOL_SIZE
        )
        scores = {scored.chunk: scored.score for scored in scored_chunks}
        rest = sorted(set(others) - scores.keys())
        values = await vectors.similarities(query, rest)
        return scores | dict(zip(rest, values, strict=True))

    async def remark(self) -> str:
        """Return what the writer should know of the vector index; empty: nothing."""
        vectors = await self.vectors() if self.embedder is not None else None
        return vectors.remark if vectors is not None else ""

    async def unknown(
        self, counts: Mapping[str, int], *, pipeline: Pipeline, scope: SearchScope
    ) -> tuple[str, ...]:
        """Return the words that nothing in scope holds: a horizon hides words too.

        `counts` says in how many passages of the library each word occurs.
        """
        if scope.documents is None:
            return tuple(word for word, count in counts.items() if not count)
        unknown = []
        for word in counts:
            words = await self.lexical.search_words(
                [word], pipeline=pipeline, scope=scope, limit=1
            )
            if not words:
                unknown.append(word)
        return tuple(unknown)


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The words of a question, each with its weight; the weights add up to 1.0.

    A word weighs as much as it is rare in the library (inverse document frequency).
    A word that occurs nowhere weighs as much as the rarest.
    """

    weights: Mapping[str, float]

    @classmethod
    def of(
        cls, words: Sequence[str], counts: Mapping[str, int], total: int
    ) -> "WordWeights":
        """Weigh `words` by in how many of `total` passages each occurs."""
        raw = {w: math.log(1 + total / (counts.get(w, 0) + 0.5)) for w in words}
        total_weight = sum(raw.values()) or 1.0
        return cls({word: value / total_weight for word, value in raw.items()})

    def coverage(self, text: str) -> float:
        """Return the share of the question's weight whose words `text` has, 0.0 to 1.0."""
        text_stems = {
            stem_lightly(normalize_word(word)) for word in WORD_PATTERN.findall(text)
        }
        covered_weights = (
            w for word, w in self.weights.items() if stem_lightly(word) in text_stems
        )
        return min(1.0, sum(covered_weights))


def split_highlighted_words(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut `text` into pieces; True marks one that is a form of one of `words`."""
    stems = {stem_lightly(word) for word in words}
    pieces: list[tuple[str, bool]] = []
    at = 0
    for match in WORD_PATTERN.finditer(text):
        if stem_lightly(normalize_word(match.group())) not in stems:
            continue
        if match.start() > at:
            pieces.append((text[at : match.start()], False))
        pieces.append((match.group(), True))
        at = match.end()
    if at < len(text):
        pieces.append((text[at:], False))
    return pieces


def select_excerpt(
    text: str, words: WordWeights, sentences: SentenceSplitter, *, limit: int
) -> tuple[int, int]:
    """Return the start and end of the sentences of `text` that say most in `limit`.

    Whole sentences, at most `limit` characters of them unless the first alone is
    longer; those that hold most of the question's weight, the earliest of equals.
    """
    spans = sentences(text)
    if len(text) <= limit or not spans:
        return 0, len(text)
    best, best_cover = (spans[0].start, spans[0].end), -1.0
    for first in range(len(spans)):
        last = first
        while last + 1 < len(spans) and (
            spans[last + 1].end - spans[first].start <= limit
        ):
            last += 1
        start, end = spans[first].start, spans[last].end
        cover = words.coverage(text[start:end])
        if cover > best_cover + 1e-9:
            best, best_cover = (start, end), cover
        if last == len(spans) - 1:
            break
    return best
