"""Vectors on a Qdrant server, with an exact search on this machine as the fallback."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import (
    FallbackVectorIndex,
    FeedVectorIndex,
    Result,
    StoredVectors,
)
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.qdrant_collection import QdrantCollection
from lrwr.core.adapters.vectors.qdrant_http import (
    MARK_FILE_NAME,
    CollectionNotFound,
    QdrantCursor,
    QdrantHttpClient,
    build_collection_name,
    build_qdrant_connection,
    read_local_mark,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import write_private_file
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNREACHABLE_SERVER_PAUSE = 60.0
"""Seconds before a server that did not answer is asked again."""

_IN_USE_PAUSE = 5.0
"""Seconds before a collection is asked again that another process was updating."""


class CollectionInUse(ServiceUnavailable):
    """Another process on this machine is updating the collection on the Qdrant
    server.
    """


class QdrantCollectionIndex(FeedVectorIndex):
    """The `VectorIndex` port over one collection on a Qdrant server.

    Any method may raise `ServiceUnavailable`.

    `index` is a local folder of the library. A random mark is stored there and in the
    collection; if they differ, for example after a repair cleared the folder, the
    collection is built again. One process at a time sends changes; the others search
    what the server has by then.
    """

    def __init__(
        self,
        collection: QdrantCollection,
        index: Path,
        feed: SqliteChangeFeed,
        *,
        pipeline: Pipeline,
        space: str,
    ) -> None:
        super().__init__(feed, pipeline, space, limit=collection.page)
        self._collection = collection
        self._index = index
        self._lock = FileLock(index / f"{collection.name}.lock")
        self._at: QdrantCursor | None = None

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._collection.aclose()

    async def _follow(self, epoch: str) -> int:
        if await self._is_current(epoch):
            return 0
        async with self._held():
            after = await self._resume(epoch)
            try:
                return await self._apply_feed(after)
            except BaseException:
                self._at = None  # the server may have stored part of the last page
                raise

    async def _is_current(self, epoch: str) -> bool:
        """Return whether nothing changed since this process last caught up."""
        at = self._at
        if at is None or (at.mark, at.epoch) != (self._local_mark(), epoch):
            return False
        return not await self._feed.changes(
            self._pipeline, self._space, after=at.seq, limit=1
        )

    async def _resume(self, epoch: str) -> int:
        mark = self._local_mark() or self._create_mark()
        cursor = await self._collection.cursor()
        if cursor is None or (cursor.mark, cursor.epoch) != (mark, epoch):
            cursor = QdrantCursor(mark, epoch, 0)
            await self._collection.recreate(cursor)
        self._at = cursor
        return cursor.seq

    async def _apply(self, page: Sequence[ChunkChange]) -> None:
        assert self._at is not None
        cursor = QdrantCursor(self._at.mark, self._at.epoch, page[-1].seq)
        await self._collection.apply(page, cursor)
        self._at = cursor

    async def _candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> StoredVectors:
        cursor = await self._known_cursor()
        return await self._unless_missing(
            self._collection.candidates(query, scope, limit, cursor.mark)
        )

    async def _vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        await self._known_cursor()
        return await self._unless_missing(self._collection.vectors_of(chunks))

    async def _known_cursor(self) -> QdrantCursor:
        """Return the collection's cursor; catch up first if it is unknown."""
        while self._at is None:
            await self.catch_up()
        return self._at

    async def _unless_missing(self, call: Awaitable[Result]) -> Result:
        try:
            return await call
        except CollectionNotFound:
            self._at = None
            raise

    @asynccontextmanager
    async def _held(self) -> AsyncIterator[None]:
        try:
            is_acquired = await asyncio.to_thread(self._lock.acquire)
        except OSError as error:
            raise self._unwritable(error) from error
        if not is_acquired:
            raise CollectionInUse("Another lrwr process is sending vectors to Qdrant")
        try:
            yield
        finally:
            self._lock.release()

    def _local_mark(self) -> str:
        return read_local_mark(self._index, self._collection.name)

    def _create_mark(self) -> str:
        mark = secrets.token_hex(16)
        folder = self._index / self._collection.name
        try:
            folder.mkdir(0o700, parents=True, exist_ok=True)
            write_private_file(folder / MARK_FILE_NAME, mark)
        except OSError as error:
            raise self._unwritable(error) from error
        return mark

    def _unwritable(self, error: OSError) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"lrwr cannot write to {self._index} ({error.strerror}), so it cannot"
            " check what Qdrant stores",
            hint="Check the free disk space and the permissions of the folder.",
        )


class QdrantVectorIndex(FallbackVectorIndex):
    """The `VectorIndex` port over a collection; it never fails because of the Qdrant
    server.

    If the server does not answer, `fallback` does, and `remark` says so; the server is
    asked again after a pause. `now` returns seconds of a clock that never goes back.
    """

    def __init__(
        self,
        collection: QdrantCollectionIndex,
        *,
        fallback: VectorIndex,
        now: Callable[[], float],
    ) -> None:
        super().__init__(fallback)
        self._collection = collection
        self._now = now
        self._again = float("-inf")
        self._remark = ""

    @property
    def remark(self) -> str:
        """Sentences for the user: why the server was not used, and what to do.

        Empty while it answers.
        """
        return self._remark

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._collection.aclose()
        await self._fallback.aclose()

    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        if self._now() >= self._again:
            try:
                answer = await ask(self._collection)
            except ServiceUnavailable as error:
                self._pause(error)
                await self._fallback.catch_up()
            else:
                self._remark = ""
                return answer
        return await ask(self._fallback)

    def _pause(self, error: ServiceUnavailable) -> None:
        match error:
            case CollectionNotFound():
                pause = 0.0  # the next call builds it again
            case CollectionInUse():
                pause = _IN_USE_PAUSE
            case _:
                pause = UNREACHABLE_SERVER_PAUSE
        self._again = self._now() + pause
        self._remark = _format_fallback_remark(error)


class UnavailableQdrantIndex(FallbackVectorIndex):
    """The `VectorIndex` port if the Qdrant server may not be asked: `fallback` answers.

    `remark` gives the user the reason, which is that of `error`.
    """

    def __init__(self, error: LrwrError, fallback: VectorIndex) -> None:
        super().__init__(fallback)
        self.remark = _format_fallback_remark(error)

    async def aclose(self) -> None:
        """Release the memory of the fallback. Idempotent."""
        await self._fallback.aclose()

    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        return await ask(self._fallback)


def _format_fallback_remark(error: LrwrError) -> str:
    return f"Compared on this machine, without Qdrant. {error.full_text}"


def create_qdrant_index(
    settings: Settings,
    env: Mapping[str, str],
    index: Path,
    feed: SqliteChangeFeed,
    *,
    library: str,
    space: str,
    dimensions: int,
    refused: LrwrError | None,
    request_logger: EgressLogger,
) -> VectorIndex:
    """Return the vector index over the Qdrant server in `settings`; nothing is sent
    yet.

    `env` are the environment variables; one of them may hold the key. `index` is the
    library's folder for indexes. `library` is a text of `build_library_key`, `space`
    names the embedding space, and `dimensions` is the length of a vector. If the server
    may not be asked, `refused` says why, and this machine compares the vectors.
    Requests to other machines are recorded in the send log by `request_logger`.

    Raises:
        SettingsProblem: `vectors.url` is not an address, or may not be used.
    """
    pipeline = settings.pipeline
    scan = NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    try:
        connection = build_qdrant_connection(settings, env)
    except ServiceUnavailable as error:
        return UnavailableQdrantIndex(error, scan)
    if refused is not None or connection is None:
        return UnavailableQdrantIndex(refused or LrwrError("Qdrant is off"), scan)
    http = QdrantHttpClient(
        connection, request_logger=None if connection.own else request_logger
    )
    name = build_collection_name(library, pipeline, space)
    followed = QdrantCollectionIndex(
        QdrantCollection(http, name, dimensions),
        index,
        feed,
        pipeline=pipeline,
        space=space,
    )
    return QdrantVectorIndex(followed, fallback=scan, now=http.clock.now)
