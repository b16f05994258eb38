"""Finding passages by nearness of meaning."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.chunks import ChunkId, Pipeline, ScoredChunk, SearchScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class VectorIndex(Protocol):
    """The vectors of one pipeline and one embedding space.

    A cache over the records: it can be thrown away and made again.
    """

    @property
    def remark(self) -> str:
        """Return what the writer should know of how it answers now; empty: nothing."""
        ...

    async def catch_up(self) -> int:
        """Apply what changed in the records since the last call; return how much.

        Raises:
            StoreProblem: The records cannot be read.
        """
        ...

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks, best first; cosine, from -1.0 to 1.0.

        Equal scores are ordered by chunk id.
        """
        ...

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        ...

    async def aclose(self) -> None:
        """Let go of files and locks. Safe to call twice."""
        ...


class LexicalIndex(Protocol):
    """Words to passages, ranked by BM25; always as fresh as the records."""

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks that hold any of `words`, best first.

        Words match by their stem, whatever their case and accents. Scores are BM25,
        0 or more; equal scores are ordered by chunk id.
        """
        ...

    async def search_pairs(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks where two of `words` stand close together.

        Best first: a pair counts as a term of its own, the more the rarer it is.
        Close means within a sentence or so; the order of the two does not matter.
        """
        ...

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Return in how many chunks each word occurs, and how many chunks there are."""
        ...
