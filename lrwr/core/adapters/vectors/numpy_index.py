"""Nearness of meaning by comparing with everything: exact, and nothing to install."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import apply_change_feed, compute_net_changes
from lrwr.core.model.chunks import (
    ChunkId,
    Pipeline,
    ScoredChunk,
    SearchScope,
    compute_norm,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

COSINE_TOLERANCE = 1e-5
"""How far a fast cosine, in 32 bits, may be from the exact one."""


def normalize_vector(vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return `vector` with length 1.0; a vector of length 0.0 stays as it is."""
    norm = compute_norm(vector)
    return np.asarray(vector / norm if norm else vector, np.float32)


def compute_exact_cosines(
    query: "NDArray[np.float32]", vectors: "NDArray[np.float32]"
) -> list[float]:
    """Return the cosine of `query`, of length 1.0, with each row of `vectors`.

    Equal rows get equal cosines: each row is summed by itself, in 64 bits. A fast
    matrix product does not promise that.
    """
    products = vectors.astype(np.float64) * query.astype(np.float64)
    cosines: list[float] = np.clip(products.sum(axis=1), -1.0, 1.0).tolist()
    return cosines


Key = TypeVar("Key")
SCAN_CHANGES_PER_BATCH = 4_000
"""Changes read at once."""


class NumpyVectorIndex:
    """Keeps the `VectorIndex` port with one matrix in memory.

    Follows `feed` for one pipeline and one embedding space. Meant for libraries up
    to some ten thousand chunks, and for the second process of a larger one.
    """

    def __init__(
        self, feed: SqliteChangeFeed, *, pipeline: Pipeline, space: str, dimensions: int
    ) -> None:
        self._feed = feed
        self._pipeline = pipeline
        self._space = space
        self._table = _VectorTable(dimensions)
        self._epoch = ""
        self._seq = 0
        self._busy = asyncio.Lock()

    @property
    def remark(self) -> str:
        """Nothing: it always answers in full."""
        return ""

    async def catch_up(self) -> int:
        """Apply what changed in the records since the last call; return how much.

        Raises:
            StoreProblem: The records cannot be read.
        """
        async with self._busy:
            epoch = await self._feed.epoch()
            if epoch != self._epoch:
                self._table.clear()
                self._epoch, self._seq = epoch, 0
            return await apply_change_feed(
                self._feed,
                self._pipeline,
                self._space,
                self._apply,
                after=self._seq,
                limit=SCAN_CHANGES_PER_BATCH,
            )

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks, best first; cosine, from -1.0 to 1.0."""
        async with self._busy:
            return await asyncio.to_thread(self._table.nearest, query, scope, limit)

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        async with self._busy:
            return self._table.similarities(query, chunks)

    async def aclose(self) -> None:
        """Let go of the matrix."""
        self._table.clear()
        self._epoch = ""

    async def _apply(self, page: Sequence[ChunkChange]) -> None:
        await asyncio.to_thread(self._table.apply, page)
        self._seq = page[-1].seq


class _VectorTable:
    """Vectors in rows, with what a scope asks about beside them.

    A row that is given up is filled by the last row, so that rows have no gaps.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self.clear()

    def clear(self) -> None:
        """Forget every row."""
        self._ids: list[ChunkId] = []
        self._rows: dict[ChunkId, int] = {}
        self._documents: dict[DocumentId, int] = {}
        self._kinds: dict[str, int] = {}
        self._vectors = np.empty((0, self._dimensions), np.float32)
        # One row each: the document's number, the chunk's end, the kind's number.
        self._facts = np.empty((3, 0), np.int64)

    def apply(self, changes: Sequence[ChunkChange]) -> None:
        """Keep the chunks that have a vector, forget the others."""
        now = compute_net_changes(changes)
        for chunk in now.gone:
            self._drop(chunk)
        if now.kept:
            self._keep(now.kept)

    def _keep(self, changes: Sequence[ChunkChange]) -> None:
        rows = np.array([self._row_of(change.chunk) for change in changes])
        self._make_room()
        self._vectors[rows] = np.stack(
            [c.vector for c in changes if c.vector is not None]
        )
        self._facts[:, rows] = [
            [_number(self._documents, c.document) for c in changes],
            [c.end for c in changes],
            [_number(self._kinds, c.kind) for c in changes],
        ]

    def _row_of(self, chunk: ChunkId) -> int:
        row = self._rows.setdefault(chunk, len(self._ids))
        if row == len(self._ids):
            self._ids.append(chunk)
        return row

    def _make_room(self) -> None:
        if len(self._ids) <= len(self._vectors):
            return
        room = max(len(self._ids), len(self._vectors) * 3 // 2)
        vectors = np.empty((room, self._dimensions), np.float32)
        facts = np.empty((3, room), np.int64)
        vectors[: len(self._vectors)] = self._vectors
        facts[:, : len(self._vectors)] = self._facts
        self._vectors, self._facts = vectors, facts

    def _drop(self, chunk: ChunkId) -> None:
        row = self._rows.pop(chunk, None)
        if row is None:
            return
        mover = self._ids.pop()
        if mover != chunk:
            self._ids[row] = mover
            self._rows[mover] = row
            self._vectors[row] = self._vectors[len(self._ids)]
            self._facts[:, row] = self._facts[:, len(self._ids)]

    def nearest(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Compare with every vector in scope and keep the best."""
        query = normalize_vector(query)
        rows = np.flatnonzero(self._in_scope(scope))
        if limit < 1 or not len(rows):
            return []
        if limit < len(rows):
            # In 32 bits first, then the best of them exactly.
            everything = len(rows) == len(self._ids)
            vectors = self._vectors[: len(rows)] if everything else self._vectors[rows]
            fast = vectors @ query
            worst = np.partition(fast, len(rows) - limit)[len(rows) - limit]
            rows = rows[fast >= worst - COSINE_TOLERANCE]
        scores = compute_exact_cosines(query, self._vectors[rows])
        matches = [
            ScoredChunk(self._ids[row], score)
            for row, score in zip(rows.tolist(), scores, strict=True)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.chunk))[:limit]

    def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Compare with the vectors of `chunks`."""
        known_chunks = [chunk for chunk in chunks if chunk in self._rows]
        rows = np.array([self._rows[chunk] for chunk in known_chunks], np.int64)
        scores = compute_exact_cosines(normalize_vector(query), self._vectors[rows])
        score_of = dict(zip(known_chunks, scores, strict=True))
        return [score_of.get(chunk, 0.0) for chunk in chunks]

    def _in_scope(self, scope: SearchScope) -> "NDArray[np.bool_]":
        documents, ends, kinds = self._facts[:, : len(self._ids)]
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


def _number(numbers: dict[Key, int], key: Key) -> int:
    return numbers.setdefault(key, len(numbers))
