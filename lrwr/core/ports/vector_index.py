"""Finding passages by nearness of meaning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.search import ScoredChunk, SearchScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import ChunkId


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
        self, query: "NDArray[np.float32]", chunks: "Sequence[ChunkId]"
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        ...

    async def aclose(self) -> None:
        """Let go of files and locks. Safe to call twice."""
        ...
