"""What all vector indexes share: following the change feed, and scopes as filters."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
from lrwr.core.model.chunks import ChunkId, Pipeline, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class NetChanges:
    """What a run of changes comes to: chunks to keep, with their vectors, and others.

    `gone` are chunks that are not to be found, whether they ever were or not.
    """

    kept: tuple[ChunkChange, ...]
    gone: tuple[ChunkId, ...]


def compute_net_changes(changes: Sequence[ChunkChange]) -> NetChanges:
    """Return what `changes`, oldest first, come to: of each chunk the last one counts."""
    last = {change.chunk: change for change in changes}
    upserts = tuple(change for change in last.values() if change.vector is not None)
    deletions = tuple(chunk for chunk, change in last.items() if change.vector is None)
    return NetChanges(upserts, deletions)


async def apply_change_feed(
    feed: SqliteChangeFeed,
    pipeline: Pipeline,
    space: str,
    apply: Callable[[Sequence[ChunkChange]], Awaitable[None]],
    *,
    after: int,
    limit: int,
) -> int:
    """Apply what came after `after`, at most `limit` changes at once; return how much.

    Raises:
        StoreProblem: The records cannot be read.
    """
    applied = 0
    while page := await feed.changes(pipeline, space, after=after, limit=limit):
        await apply(page)
        after = page[-1].seq
        applied += len(page)
    return applied


Result = TypeVar("Result")


class DelegatingVectorIndex(ABC):
    """Passes the questions of the `VectorIndex` port on."""

    async def catch_up(self) -> int:
        """Apply what changed in the records since the last call; return how much.

        Raises:
            StoreProblem: The records cannot be read.
        """
        return await self._ask(lambda index: index.catch_up())

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
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


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """What may be found: of some kinds, and in any of these places.

    Every document but `bounded` where `others`; the documents `whole`; of each document
    in `bounded` what ends at its character or before. Where `everywhere`, no place need
    be looked at.
    """

    kinds: tuple[str, ...]
    others: bool
    whole: tuple[DocumentId, ...]
    bounded: Mapping[DocumentId, int]

    @property
    def everywhere(self) -> bool:
        """Whether every document is open to its end."""
        return self.others and not self.bounded


def build_vector_filter(scope: SearchScope) -> VectorFilter | None:
    """Return what `scope` asks for; None when nothing can be in it."""
    among = scope.documents
    bounded = {
        document: until
        for document, until in scope.until.items()
        if among is None or document in among
    }
    whole_documents = () if among is None else tuple(sorted(among - scope.until.keys()))
    if not scope.kinds or not (among is None or whole_documents or bounded):
        return None
    kinds = tuple(sorted(kind.value for kind in scope.kinds))
    return VectorFilter(kinds, among is None, whole_documents, bounded)
