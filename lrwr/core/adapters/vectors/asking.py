"""What an index does that asks another, and knows what to do when that one fails."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.search import Scope, Scored
from lrwr.core.ports.vector_index import VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")


class AskingIndex(ABC):
    """Passes the questions of the `VectorIndex` port on."""

    async def catch_up(self) -> int:
        """Apply what changed in the records since the last call; return how much.

        Raises:
            StoreProblem: The records cannot be read.
        """
        return await self._ask(lambda index: index.catch_up())

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: Scope, limit: int
    ) -> list[Scored]:
        """Return at most `limit` chunks, best first; cosine, from -1.0 to 1.0."""
        return await self._ask(
            lambda index: index.nearest(query, scope=scope, limit=limit)
        )

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        return await self._ask(lambda index: index.similarities(query, chunks))

    @abstractmethod
    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        """Return what an index that works answers."""
