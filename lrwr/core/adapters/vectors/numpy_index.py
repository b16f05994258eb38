"""Exact nearest-neighbour search in memory: every vector in scope is compared."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import (
    COSINE_TOLERANCE,
    FeedVectorIndex,
    StoredVectors,
    compute_net_changes,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCAN_CHANGES_PER_BATCH = 4_000
"""Changes read from the feed at once."""

Key = TypeVar("Key")


class NumpyVectorIndex(FeedVectorIndex):
    """The `VectorIndex` port with one matrix in memory, which `catch_up` fills from
    `feed`.

    It contains the vectors of one pipeline and one embedding space, each with
    `dimensions` numbers. Suits libraries of some ten thousand chunks, and is the
    fallback of the other indexes.
    """

    def __init__(
        self, feed: SqliteChangeFeed, *, pipeline: Pipeline, space: str, dimensions: int
    ) -> None:
        super().__init__(feed, pipeline, space, limit=SCAN_CHANGES_PER_BATCH)
        self._table = _VectorTable(dimensions)
        self._epoch = ""
        self._seq = 0

    async def aclose(self) -> None:
        """Release the memory of the matrix. Idempotent."""
        self._table.clear()
        self._epoch = ""

    async def _resume(self, epoch: str) -> int:
        if epoch != self._epoch:
            self._table.clear()
            self._epoch, self._seq = epoch, 0
        return self._seq

    async def _apply(self, page: Sequence[ChunkChange]) -> None:
        await asyncio.to_thread(self._table.apply, page)
        self._seq = page[-1].seq

    async def _candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> StoredVectors:
        async with self._busy:
            return await asyncio.to_thread(self._table.candidates, query, scope, limit)

    async def _vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        async with self._busy:
            return self._table.vectors_of(chunks)


class _VectorTable:
    """Vectors in the rows of a matrix, with the fields that a scope filters by.

    The last row moves into the place of a deleted row, so that rows have no gaps.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self.clear()

    def clear(self) -> None:
        """Delete every row."""
        self._ids: list[ChunkId] = []
        self._rows: dict[ChunkId, int] = {}
        self._documents: dict[DocumentId, int] = {}
        self._kinds: dict[str, int] = {}
        self._vectors = np.empty((0, self._dimensions), np.float32)
        # Three rows, one column a chunk: document number, end offset, kind number.
        self._fields = np.empty((3, 0), np.int64)

    def apply(self, changes: Sequence[ChunkChange]) -> None:
        """Store the chunks that have a vector and delete the others."""
        upserts, deletions = compute_net_changes(changes)
        for chunk in deletions:
            self._delete(chunk)
        if upserts:
            self._store(upserts)

    def _store(self, changes: Sequence[ChunkChange]) -> None:
        rows = np.array([self._row_of(change.chunk) for change in changes])
        self._reserve()
        self._vectors[rows] = np.stack(
            [c.vector for c in changes if c.vector is not None]
        )
        self._fields[:, rows] = [
            [_number_of(self._documents, c.document) for c in changes],
            [c.end for c in changes],
            [_number_of(self._kinds, c.kind) for c in changes],
        ]

    def _row_of(self, chunk: ChunkId) -> int:
        row = self._rows.setdefault(chunk, len(self._ids))
        if row == len(self._ids):
            self._ids.append(chunk)
        return row

    def _reserve(self) -> None:
        if len(self._ids) <= len(self._vectors):
            return
        capacity = max(len(self._ids), len(self._vectors) * 3 // 2)
        vectors = np.empty((capacity, self._dimensions), np.float32)
        facts = np.empty((3, capacity), np.int64)
        vectors[: len(self._vectors)] = self._vectors
        facts[:, : len(self._vectors)] = self._fields
        self._vectors, self._fields = vectors, facts

    def _delete(self, chunk: ChunkId) -> None:
        row = self._rows.pop(chunk, None)
        if row is None:
            return
        last = self._ids.pop()
        if last != chunk:
            self._ids[row] = last
            self._rows[last] = row
            self._vectors[row] = self._vectors[len(self._ids)]
            self._fields[:, row] = self._fields[:, len(self._ids)]

    def candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> StoredVectors:
        """Return every chunk in scope that may be among the best `limit`."""
        rows = np.flatnonzero(self._in_scope(scope))
        if limit < len(rows):
            # Cosines in 32 bits are fast but inexact, so rows within the tolerance of
            # the worst that is needed stay candidates; exact cosines decide later.
            everything = len(rows) == len(self._ids)
            vectors = self._vectors[: len(rows)] if everything else self._vectors[rows]
            fast = vectors @ query
            worst = np.partition(fast, len(rows) - limit)[len(rows) - limit]
            rows = rows[fast >= worst - COSINE_TOLERANCE]
        return StoredVectors(
            [self._ids[row] for row in rows.tolist()], self._vectors[rows]
        )

    def vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        """Return the vectors of those `chunks` that have one."""
        stored = [chunk for chunk in chunks if chunk in self._rows]
        rows = np.array([self._rows[chunk] for chunk in stored], np.int64)
        return StoredVectors(stored, self._vectors[rows])

    def _in_scope(self, scope: SearchScope) -> "NDArray[np.bool_]":
        documents, ends, kinds = self._fields[:, : len(self._ids)]
        allowed_kinds = np.array(
            [kind in scope.kinds for kind in self._kinds], np.bool_
        )
        untils = np.fromiter(self._untils(scope), np.int64, len(self._documents))
        inside: NDArray[np.bool_] = allowed_kinds[kinds] & (ends <= untils[documents])
        return inside

    def _untils(self, scope: SearchScope) -> Iterator[int]:
        for document in self._documents:
            if scope.documents is None or document in scope.documents:
                yield scope.until.get(document, 2**62)
            else:
                yield -1


def _number_of(numbers: dict[Key, int], key: Key) -> int:
    return numbers.setdefault(key, len(numbers))
