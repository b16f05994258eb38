"""Vectors in Qdrant Edge: the native engine, inside this process.

A shard is a folder with the vectors of one pipeline and embedding space. The engine may
raise anything, panics that are no `Exception` among them, and may read damaged files
without an error. Here all of that becomes `ShardCorruption`: a shard contains nothing
that the library does not, so it is deleted and built again.

A shard has 16 bits of each number and no log, for less memory. So it only finds the
nearest vectors; the library's own decide on scores. A file tells that changes are not
saved yet: a shard that has it is built again, too.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import UUID

import numpy as np
import qdrant_edge as engine

from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import (
    HALF_TOLERANCE,
    TIE_MARGIN,
    EdgeShardCursor,
    FallbackVectorIndex,
    FeedVectorIndex,
    Result,
    StoredVectors,
    build_scope_filter,
    build_shard_name,
    compute_net_changes,
    includes_all_ties,
    normalize_vector,
)
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import restrict_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGE_ENGINE_VERSION = "0.9.0"
"""Version of the engine; a shard that another version wrote is built again."""

EDGE_CHANGES_PER_BATCH = 1_000
"""Changes of the feed applied at once."""

MAX_CACHED_VECTORS = 4_000
"""Vectors kept in memory, 1.5 KB each: questions about one story share many passages."""

_LAYOUT = f"4 qdrant-edge {EDGE_ENGINE_VERSION}"
_UNSAVED = "unsaved"
"""File in the folder of a shard with changes that are not saved."""
_VECTOR = "text"
_CURSOR = 0
"""Id of the point that stores the cursor; the ids of chunks are UUIDs."""


class ShardCorruption(Exception):
    """The files of a shard (a local vector index), or the engine that opened them,
    cannot be trusted.
    """


class EdgeShard:
    """An open shard (a local vector index of Qdrant Edge), for use by one thread.

    `dimensions` is the length of a vector. `is_changed` says whether this object has
    changed the shard. Every method may raise `ShardCorruption`.
    """

    def __init__(
        self,
        folder: Path,
        shard: "engine.EdgeShard",
        cursor: EdgeShardCursor,
        dimensions: int,
    ) -> None:
        self._unsaved = folder / _UNSAVED
        self._shard = shard
        self._dimensions = dimensions
        self.cursor = cursor
        self.is_changed = False

    @classmethod
    def load(cls, folder: Path, dimensions: int) -> "EdgeShard":
        """Open the shard in `folder`, and check its version and number of vectors.

        `dimensions` is the length of a vector.

        Raises:
            ShardCorruption: The shard cannot be trusted, or the engine failed.
        """
        if (folder / _UNSAVED).exists():
            raise ShardCorruption("A process ended before it had saved the shard.")
        with _native():
            shard = engine.EdgeShard.load(str(folder))
            try:
                cursor = _read_cursor(shard, dimensions)
            except BaseException:
                shard.close()
                raise
        return cls(folder, shard, cursor, dimensions)

    @classmethod
    def create(cls, folder: Path, dimensions: int, epoch: str) -> "EdgeShard":
        """Create an empty shard in `folder`, which must not exist.

        `dimensions` is the length of a vector, `epoch` the name of the change feed to
        follow.

        Raises:
            ShardCorruption: The shard cannot be trusted, or the engine failed.
        """
        with _native():
            folder.mkdir(0o700, parents=True)
            # Otherwise the engine maps each file a second time and reads it when the
            # shard is opened; searches take the same time.
            vector = engine.EdgeVectorParams(
                size=dimensions,
                distance=engine.Distance.Cosine,
                memory=engine.Memory.Cold,
                datatype=engine.VectorStorageDatatype.Float16,
            )
            config = engine.EdgeConfig(vectors={_VECTOR: vector}, wal_enabled=False)
            shard = engine.EdgeShard.create(str(folder), config)
            cursor = EdgeShardCursor(epoch, 0, 0)
            edge_shard = cls(folder, shard, cursor, dimensions)
            edge_shard._mark_unsaved()
            index = engine.UpdateOperation.create_field_index
            # Each index is read into memory when the shard is opened. `end` has none: only
            # the few documents at the horizon are limited by it.
            cold = engine.Memory.Cold
            number = engine.IntegerIndexParams(memory=cold, lookup=True, range=False)
            shard.update(index("document", number))
            shard.update(index("kind", number))
            edge_shard._write([], edge_shard.cursor)
        return edge_shard

    def apply(self, changes: Sequence[ChunkChange]) -> None:
        """Apply changes of the change feed, and store the number of the last one with
        them.

        `changes` are ordered oldest first and not empty.
        """
        upserts, deletions = compute_net_changes(changes)
        with _native():
            point_ids: list[int | UUID | str] = [change.chunk for change in upserts]
            point_ids += deletions
            stored_chunks = {
                str(point.id) for point in self._shard.retrieve(point_ids, False, False)
            }
            if deleted := [chunk for chunk in deletions if chunk in stored_chunks]:
                self._shard.update(engine.UpdateOperation.delete_points([*deleted]))
            points = self.cursor.points - len(stored_chunks) + len(upserts)
            self._write(
                upserts, EdgeShardCursor(self.cursor.epoch, changes[-1].seq, points)
            )

    def candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> list[ChunkId]:
        """Return the chunks in `scope` that may be the `limit` nearest, in any order."""
        with _native():
            scope_filter = build_scope_filter(scope, engine.Filter, _among, _at_most)
            if scope_filter is None:
                return []
            requested = limit + limit // 2 + TIE_MARGIN
            while True:
                points = self._shard.query(
                    engine.QueryRequest(
                        requested,
                        query=engine.Query.Nearest(query.tolist(), using=_VECTOR),
                        filter=scope_filter,
                    )
                )
                scores = [point.score for point in points]
                if not all(abs(score) < 1.01 for score in scores):
                    raise ShardCorruption("A cosine is not between -1 and 1.")
                if includes_all_ties(scores, requested, limit, HALF_TOLERANCE):
                    return [ChunkId(str(point.id)) for point in points]
                requested *= 2

    def contains(self, changes: Sequence[ChunkChange]) -> bool:
        """Return whether the shard has these chunks, with these vectors and fields."""
        with _native():
            for start in range(0, len(changes), EDGE_CHANGES_PER_BATCH):
                batch = changes[start : start + EDGE_CHANGES_PER_BATCH]
                ids: list[int | UUID | str] = [change.chunk for change in batch]
                points = self._shard.retrieve(ids, True, [_VECTOR])
                by_id = {str(point.id): point for point in points}
                if not all(_has(by_id.get(change.chunk), change) for change in batch):
                    return False
        return True

    def save(self) -> None:
        """Write all changes to disk."""
        with _native():
            self._shard.flush()
            self._unsaved.unlink(missing_ok=True)

    def close(self) -> None:
        """Save the shard and release its files."""
        with _native():
            try:
                self.save()
            finally:
                self._shard.close()

    def _mark_unsaved(self) -> None:
        if not self._unsaved.exists():
            with self._unsaved.open("wb") as file:
                os.fsync(file.fileno())

    def _write(self, changes: Sequence[ChunkChange], cursor: EdgeShardCursor) -> None:
        cursor_payload = {
            "layout": _LAYOUT,
            "dimensions": self._dimensions,
            "epoch": cursor.epoch,
            "seq": cursor.seq,
            "points": cursor.points,
        }
        points = [engine.Point(_CURSOR, {}, cursor_payload)]
        for change in changes:
            payload = _payload(change)
            vector = {} if change.vector is None else {_VECTOR: change.vector.tolist()}
            points.append(engine.Point(change.chunk, vector, payload))
        self.is_changed = True
        self._mark_unsaved()
        self._shard.update(engine.UpdateOperation.upsert_points(points))
        self.cursor = cursor


@contextmanager
def _native() -> Iterator[None]:
    """Turn every error of the engine into `ShardCorruption`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, ShardCorruption):
        raise
    except BaseException as error:  # a panic in the engine is no Exception
        raise ShardCorruption(str(error)) from error


def _payload(change: ChunkChange) -> dict[str, object]:
    document, kind = _number_text(change.document), _number_text(change.kind)
    return {"document": document, "end": change.end, "kind": kind}


@lru_cache(maxsize=20_000)
def _number_text(text: str) -> int:
    """Return 7 bytes of a hash: signed 64-bit numbers take less memory than text."""
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:7])


def _has(point: "engine.Record | None", change: ChunkChange) -> bool:
    """Return whether a stored point has the vector and the fields of `change`."""
    if point is None or change.vector is None or point.payload != _payload(change):
        return False
    stored = cast("dict[str, list[float]]", point.vector)[_VECTOR]
    return bool(
        np.allclose(stored, normalize_vector(change.vector), atol=HALF_TOLERANCE)
    )


def _read_cursor(shard: "engine.EdgeShard", dimensions: int) -> EdgeShardCursor:
    points = shard.retrieve([_CURSOR], True, False)
    payload = (points[0].payload or {}) if points else {}
    if (payload.get("layout"), payload.get("dimensions")) != (_LAYOUT, dimensions):
        raise ShardCorruption("The shard was made by another version.")
    cursor = EdgeShardCursor(payload["epoch"], payload["seq"], payload["points"])
    vectors = engine.Filter(must=[engine.HasVectorCondition(_VECTOR)])
    if shard.count(engine.CountRequest(exact=True, filter=vectors)) != cursor.points:
        raise ShardCorruption("The shard does not hold the vectors that it recorded.")
    return cursor


def _among(key: str, values: Iterable[str]) -> "engine.FieldCondition":
    numbers = [*map(_number_text, values)]
    if len(numbers) == 1:  # takes half the time
        return engine.FieldCondition(key, match=engine.MatchValue(numbers[0]))
    return engine.FieldCondition(key, match=engine.MatchAny(numbers))


def _at_most(key: str, bound: int) -> "engine.FieldCondition":
    return engine.FieldCondition(key, range=engine.RangeFloat(lte=float(bound)))


async def open_edge_index(
    index: Path,
    feed: SqliteChangeFeed,
    *,
    pipeline: Pipeline,
    space: str,
    dimensions: int,
    stays_open: bool = True,
) -> "EdgeVectorIndex | None":
    """Return the vector index of one pipeline and embedding space, locked for this
    process.

    `space` names the embedding space, `dimensions` is the length of a vector. The index
    is a folder below `index`, created at its first use, that follows `feed`. None if
    another process holds it or the folder cannot be written. Unless it `stays_open`, its
    files are closed after each search: they take as much memory as the vectors that were
    compared, and opening them again takes longer than a search.
    """
    name = build_shard_name(pipeline, space)
    lock = FileLock(index / f"{name}.lock")
    try:
        if not lock.acquire():
            return None
    except OSError:
        return None
    scan = NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    shard = _EdgeShardIndex(index / name, feed, pipeline, space, dimensions)
    shard.stays_open = stays_open
    return EdgeVectorIndex(shard, fallback=scan, lock=lock)


class EdgeVectorIndex(FallbackVectorIndex):
    """The `VectorIndex` port over a shard of Qdrant Edge; it never fails because of the
    shard.

    A corrupt shard is deleted and built again from the library, once. If it breaks
    again, `fallback` answers from then on. `lock` is released when the index closes.
    """

    def __init__(
        self, shard: "_EdgeShardIndex", *, fallback: VectorIndex, lock: FileLock
    ) -> None:
        super().__init__(fallback)
        self._shard = shard
        self._lock = lock
        self._index: VectorIndex = shard
        self._rebuilt = False
        self._busy = asyncio.Lock()

    @property
    def uses_fallback(self) -> bool:
        """Whether `fallback` answers, because the shard could not be built again or
        broke again.
        """
        return self._index is self._fallback

    @property
    def remark(self) -> str:
        """Always empty, since a corrupt shard changes no result."""
        return ""

    async def aclose(self) -> None:
        """Flush the shard to disk and release its lock. Idempotent."""
        async with self._busy:
            await self._shard.aclose()
            await self._fallback.aclose()
            self._lock.release()

    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        async with self._busy:
            while True:
                try:
                    return await ask(self._index)
                except ShardCorruption:
                    await self._recover()

    async def _recover(self) -> None:
        if not self._rebuilt:
            self._rebuilt = True
            with suppress(ShardCorruption):
                await self._shard.rebuild()
                return
        self._index = self._fallback
        await self._fallback.catch_up()


class _EdgeShardIndex(FeedVectorIndex):
    """The `VectorIndex` port over a shard; any method may raise `ShardCorruption`.

    The shard is opened at the first use, and used in one thread of its own: the engine
    is not safe in several. It is closed after each search unless it `stays_open`.
    """

    def __init__(
        self,
        folder: Path,
        feed: SqliteChangeFeed,
        pipeline: Pipeline,
        space: str,
        dimensions: int,
    ) -> None:
        super().__init__(feed, pipeline, space, limit=EDGE_CHANGES_PER_BATCH)
        self._folder = folder
        self._dimensions = dimensions
        self.stays_open = True
        self._shard: EdgeShard | None = None
        self._vectors: dict[ChunkId, bytes] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lrwr-vectors")
        self._closed = False

    async def rebuild(self) -> None:
        """Delete the shard and build it again from the feed."""
        epoch = await self._feed.epoch()
        await self._run(lambda: self._recreate(epoch))
        await self.catch_up()

    async def aclose(self) -> None:
        """Close the shard. Idempotent."""
        if not self._closed:
            self._closed = True
            await self._run(self._close)
            self._thread.shutdown(wait=False)

    async def _resume(self, epoch: str) -> int:
        return await self._run(lambda: self._open_at(epoch))

    async def _follow(self, epoch: str) -> int:
        applied = await super()._follow(epoch)
        if applied:
            self._vectors.clear()
            await self._run(lambda: self._open().save())
        return applied

    async def _apply(self, page: Sequence[ChunkChange]) -> None:
        await self._run(lambda: self._open().apply(page))

    async def _candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> StoredVectors:
        return await self._vectors_of(
            await self._run(lambda: self._search(query, scope, limit))
        )

    def _search(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> list[ChunkId]:
        chunks = self._open().candidates(query, scope, limit)
        if not self.stays_open:
            self._close()
        return chunks

    async def _vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        cached = self._vectors
        vectors = {chunk: cached[chunk] for chunk in chunks if chunk in cached}
        if missing := [chunk for chunk in chunks if chunk not in vectors]:
            vectors |= await self._feed.vectors(missing, self._space)
            cached |= vectors
        stored = [chunk for chunk in chunks if chunk in vectors]
        content = b"".join([vectors[chunk] for chunk in stored])
        rows = np.frombuffer(content, np.dtype("<f4"))
        if len(cached) > MAX_CACHED_VECTORS:
            cached.clear()
        return StoredVectors(stored, rows.reshape(len(stored), self._dimensions))

    async def _run(self, work: Callable[[], Result]) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, work)

    def _open(self) -> EdgeShard:
        if self._shard is None:
            self._shard = EdgeShard.load(self._folder, self._dimensions)
        return self._shard

    def _open_at(self, epoch: str) -> int:
        missing = self._shard is None and not self._folder.exists()
        if missing or self._open().cursor.epoch != epoch:
            self._recreate(epoch)
        return self._open().cursor.seq

    def _recreate(self, epoch: str) -> None:
        self._close()
        try:
            if self._folder.exists():
                shutil.rmtree(self._folder)
        except OSError as error:
            raise ShardCorruption(str(error)) from error
        self._shard = EdgeShard.create(self._folder, self._dimensions, epoch)

    def _close(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            with suppress(ShardCorruption):
                shard.close()
            if shard.is_changed:
                # The engine creates files that everybody can read.
                restrict_folder(self._folder)
