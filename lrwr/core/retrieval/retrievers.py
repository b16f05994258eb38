"""The ways of searching, each scored by itself: words, pairs of words, meaning."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.chunks import ChunkId, Pipeline
from lrwr.core.model.search import SearchScope
from lrwr.core.ports.embedder import Embedder
from lrwr.core.ports.lexical_index import LexicalIndex
from lrwr.core.ports.vector_index import VectorIndex
from lrwr.core.retrieval.fusion import fuse_weighted_scores, scale_by_maximum

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
        """Score chunks by the words they hold, and by words that stand together."""
        found = [
            await search(words, pipeline=pipeline, scope=scope, limit=limit)
            for search in (self.lexical.search_words, self.lexical.search_pairs)
        ]
        single, pairs = ({s.chunk: s.score for s in scored} for scored in found)
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
        found = await vectors.nearest(query, scope=scope, limit=RETRIEVER_POOL_SIZE)
        scores = {scored.chunk: scored.score for scored in found}
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
            held = await self.lexical.search_words(
                [word], pipeline=pipeline, scope=scope, limit=1
            )
            if not held:
                unknown.append(word)
        return tuple(unknown)
