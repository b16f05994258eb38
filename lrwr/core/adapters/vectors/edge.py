"""Nearness of meaning with Qdrant Edge: the real engine, inside this process."""

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import (
    DelegatingVectorIndex,
    Result,
    apply_change_feed,
)
from lrwr.core.adapters.vectors.lock import FileLock
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.shard import EdgeShard, ShardCorruption
from lrwr.core.model.chunks import ChunkId, Pipeline, ScoredChunk, SearchScope
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EDGE_CHANGES_PER_BATCH = 1_000
"""Changes applied at once."""


async def open_edge_index(
    index: Path,
    feed: SqliteChangeFeed,
    *,
    pipeline: Pipeline,
    space: str,
    dimensions: int,
) -> "EdgeVectorIndex | None":
    """Open the shard of one pipeline and space under `index`, and hold it alone.

    Returns None when it cannot be had: another process holds it, or the folder may
    not be written. `NumpyVectorIndex` keeps the same promises then.
    """
    name = build_shard_name(pipeline, space)
    lock = FileLock(index / f"{name}.lock")
    try:
        if not lock.acquire():
            return None
    except OSError:
        return None
    scan = NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    followed = _EdgeShardIndex(
        index / name, feed, pipeline=pipeline, space=space, dimensions=dimensions
    )
    return EdgeVectorIndex(followed, instead=scan, lock=lock)


def build_shard_name(pipeline: Pipeline, space: str) -> str:
    """Return the name of a shard's folder; its lock is the file `NAME.lock`."""
    return f"{pipeline.value}-{_file_name(space)}"


class EdgeVectorIndex(DelegatingVectorIndex):
    """Keeps the `VectorIndex` port with a shard, and never fails because of it.

    A shard that breaks is thrown away and made again from the records, once; when
    that does not help, `instead` answers from then on.
    """

    def __init__(
        self, shard: "_EdgeShardIndex", *, instead: VectorIndex, lock: FileLock
    ) -> None:
        self._shard = shard
        self._instead = instead
        self._lock = lock
        self._index: VectorIndex = shard
        self._rebuilt = False
        self._busy = asyncio.Lock()

    @property
    def given_up(self) -> bool:
        """Say whether the shard could not be mended, and `instead` answers."""
        return self._index is self._instead

    @property
    def remark(self) -> str:
        """Nothing: a shard that breaks changes no answer."""
        return ""

    async def aclose(self) -> None:
        """Put the shard on disk and let others have it. Safe to call twice."""
        async with self._busy:
            await self._shard.aclose()
            await self._instead.aclose()
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
        self._index = self._instead
        await self._instead.catch_up()


class _EdgeShardIndex:
    """The `VectorIndex` port over a shard, which may raise `ShardCorruption` at any time.

    The shard is opened at the first use. It is used from one thread of its own.
    """

    def __init__(
        self,
        folder: Path,
        feed: SqliteChangeFeed,
        *,
        pipeline: Pipeline,
        space: str,
        dimensions: int,
    ) -> None:
        self._folder = folder
        self._feed = feed
        self._pipeline = pipeline
        self._space = space
        self._dimensions = dimensions
        self._shard: EdgeShard | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lrwr-vectors")
        self._closed = False

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    async def catch_up(self) -> int:
        """Apply what changed since the last call; start anew for another epoch."""
        epoch = await self._feed.epoch()
        seq = await self._run(lambda: self._at(epoch))

        async def apply(page: Sequence[ChunkChange]) -> None:
            await self._run(partial(self._opened().apply, page))

        return await apply_change_feed(
            self._feed,
            self._pipeline,
            self._space,
            apply,
            after=seq,
            limit=EDGE_CHANGES_PER_BATCH,
        )

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Ask the shard."""
        if limit < 1:
            return []
        return await self._run(lambda: self._opened().nearest(query, scope, limit))

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Ask the shard for the vectors, and compare here."""
        return await self._run(lambda: self._opened().similarities(query, chunks))

    async def rebuild(self) -> None:
        """Throw the shard away and make it again from the feed."""
        epoch = await self._feed.epoch()
        await self._run(lambda: self._start_anew(epoch))
        await self.catch_up()

    async def aclose(self) -> None:
        """Close the shard. Safe to call twice."""
        if not self._closed:
            self._closed = True
            await self._run(self._let_go)
            self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], Result]) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, work)

    def _opened(self) -> EdgeShard:
        if self._shard is None:
            self._shard = EdgeShard.load(self._folder, self._dimensions)
        return self._shard

    def _at(self, epoch: str) -> int:
        if self._shard is None and not self._folder.exists():
            self._start_anew(epoch)
        if self._opened().cursor.epoch != epoch:
            self._start_anew(epoch)
        return self._opened().cursor.seq

    def _start_anew(self, epoch: str) -> None:
        self._let_go()
        try:
            if self._folder.exists():
                shutil.rmtree(self._folder)
        except OSError as error:
            raise ShardCorruption(str(error)) from error
        self._shard = EdgeShard.create(self._folder, self._dimensions, epoch)

    def _let_go(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            with suppress(ShardCorruption):
                shard.close()


def _file_name(space: str) -> str:
    """Return `space` as a file's name; two spaces never share one."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", space)
    if plain == space and len(plain) <= 80:
        return plain
    return f"{plain[:80]}-{sha256(space.encode()).hexdigest()[:12]}"
