"""Search indexes over the stored chunks: by vector and by word."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class VectorIndex(Protocol):
    """Search index over the vectors of one pipeline and one embedding space.

    The index is a cache of the knowledge store; it can be deleted and rebuilt.
    """

    @property
    def remark(self) -> str:
        """A sentence for the user if the index works with restrictions; else empty."""
        ...

    async def catch_up(self) -> int:
        """Add the chunks that were stored, and drop those that were deleted, since the
        last call; return the number of these changes.

        Raises:
            StoreProblem: The library cannot be read.
            ServiceUnavailable: An index on a server does not answer.
        """
        ...

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks within `scope` whose vectors are most similar
        to `query`.

        Best first. Scores are cosines in [-1.0, 1.0]; equal scores are ordered by chunk
        id.

        Raises:
            ServiceUnavailable: An index on a server does not answer.
        """
        ...

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine, -1.0 to 1.0, of the vector of each chunk with `query`, in
        the order of `chunks`.

        A chunk without a vector has 0.0.

        Raises:
            ServiceUnavailable: An index on a server does not answer.
        """
        ...

    async def aclose(self) -> None:
        """Close files and release locks. Idempotent."""
        ...


class LexicalIndex(Protocol):
    """Full-text index that ranks chunks by BM25; it is always up to date with the
    stored chunks.
    """

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks that contain any of `words`, best first.

        Words match by their stem, ignoring case and accents. Scores are BM25, 0 or
        more; equal scores are ordered by chunk id.

        Raises:
            StoreProblem: The library cannot be read.
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
        """Return at most `limit` chunks where two of `words` occur close together, best
        first.

        Close means within about a sentence, in either order. Every pair that occurs
        adds to a chunk's score, a rarer pair more. Empty with fewer than two words.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def search_phrases(
        self,
        phrases: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks that contain any of `phrases`, best first.

        The words of a phrase must follow one another in the text, in this order,
        function words included; they match by their stem, ignoring case and accents. A
        rarer phrase adds more to a chunk's score. Empty if `phrases` is empty.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Return for each of `words` the number of chunks that contain it, and the
        number of all chunks of `pipeline`.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...
