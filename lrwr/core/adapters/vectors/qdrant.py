"""Nearness of meaning with a Qdrant server, and without it where it does not answer."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
from lrwr.core.adapters.vectors.base import (
    DelegatingVectorIndex,
    Result,
    apply_change_feed,
)
from lrwr.core.adapters.vectors.lock import FileLock
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.qdrant_http import (
    QDRANT_URL,
    CollectionNotFound,
    QdrantConnection,
    QdrantCursor,
    QdrantHttpClient,
)
from lrwr.core.model.chunks import ChunkId, Pipeline, ScoredChunk, SearchScope
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange
from lrwr.core.settings.addresses import is_loopback_host, parse_host, resolve_address
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.adapters.vectors.collection import QdrantCollection

UNREACHABLE_SERVER_PAUSE = 60.0
"""Seconds for which a server that did not answer is left alone."""

_A_MOMENT = 5.0
"""Seconds for which another process may go on sending."""

_MARK = "mark"


def build_collection_name(library: str, pipeline: Pipeline, space: str) -> str:
    """Return the name of a collection: one for each library, pipeline and space.

    `library` tells libraries apart. Nothing of it can be read from the name.
    """
    digest = sha256(f"{library}\0{space}".encode()).hexdigest()[:24]
    return f"lrwr-{pipeline.value}-{digest}"


def read_local_mark(index: Path, name: str) -> str:
    """Return the mark that a collection must bear to be this library's; empty: none."""
    try:
        return (index / name / _MARK).read_text(encoding="ascii")[:64]
    except (OSError, UnicodeError):
        return ""


class QdrantVectorIndex(DelegatingVectorIndex):
    """Keeps the `VectorIndex` port with a collection, and never fails because of it.

    Where the server does not answer, `instead` does, and `remark` says so; the server
    is asked again after a while. `now` tells seconds that only grow.
    """

    def __init__(
        self,
        collection: "QdrantCollectionIndex",
        *,
        instead: VectorIndex,
        now: Callable[[], float],
    ) -> None:
        self._collection = collection
        self._instead = instead
        self._now = now
        self._again = float("-inf")
        self._remark = ""

    @property
    def remark(self) -> str:
        """Why the server is not asked now, and what to do; empty while it is."""
        return self._remark

    async def forget(self) -> None:
        """Delete the collection from the server.

        Raises:
            ServiceUnavailable: The server did not do it.
        """
        await self._collection.forget()

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._collection.aclose()
        await self._instead.aclose()

    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        if self._now() >= self._again:
            try:
                answer = await ask(self._collection)
            except ServiceUnavailable as error:
                self._leave_alone(error)
                await self._instead.catch_up()
            else:
                self._remark = ""
                return answer
        return await ask(self._instead)

    def _leave_alone(self, error: ServiceUnavailable) -> None:
        match error:
            case CollectionNotFound():
                pause = 0.0  # it is made anew
            case CollectionInUse():
                pause = _A_MOMENT
            case _:
                pause = UNREACHABLE_SERVER_PAUSE
        self._again = self._now() + pause
        self._remark = format_local_search_remark(error)


class UnavailableQdrantIndex:
    """The `VectorIndex` port where the server may not be asked, or cannot be."""

    def __init__(self, error: LrwrError, instead: VectorIndex) -> None:
        self._instead = instead
        self.remark = format_local_search_remark(error)

    async def catch_up(self) -> int:
        """Apply what changed in the records since the last call; return how much."""
        return await self._instead.catch_up()

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks, best first; cosine, from -1.0 to 1.0."""
        return await self._instead.nearest(query, scope=scope, limit=limit)

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        return await self._instead.similarities(query, chunks)

    async def aclose(self) -> None:
        """Let go of memory. Safe to call twice."""
        await self._instead.aclose()


class QdrantCollectionIndex:
    """The `VectorIndex` port over a collection, which may not answer at any time.

    What is kept of it under `index` is its mark: random, and gone when that folder is
    cleared, so that the collection is made anew after a repair and a restored backup.
    One process at a time sends changes; all others find what is there by then.
    """

    def __init__(
        self,
        collection: "QdrantCollection",
        index: Path,
        feed: SqliteChangeFeed,
        *,
        pipeline: Pipeline,
        space: str,
    ) -> None:
        self._collection = collection
        self._index = index
        self._lock = FileLock(index / f"{collection.name}.lock")
        self._feed = feed
        self._pipeline = pipeline
        self._space = space
        self._at: QdrantCursor | None = None
        self._busy = asyncio.Lock()

    @property
    def remark(self) -> str:
        """Nothing: it answers, or raises."""
        return ""

    async def catch_up(self) -> int:
        """Send what changed since the last call; start anew for another epoch.

        Raises:
            ServiceUnavailable: The server or the disk fails, or another process is at it.
            StoreProblem: The records cannot be read.
        """
        async with self._busy:
            epoch = await self._feed.epoch()
            if await self._is_level(epoch):
                return 0
            async with self._held():
                return await self._followed(epoch)

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Ask the server."""
        if limit < 1:
            return []
        at = await self._somewhere()
        scored_chunks = self._collection.nearest(query, scope, limit, at.mark)
        return await self._unless_missing(scored_chunks)

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Ask the server for the vectors, and compare here."""
        await self._somewhere()
        return await self._unless_missing(self._collection.similarities(query, chunks))

    async def forget(self) -> None:
        """Delete the collection."""
        async with self._busy:
            self._at = None
            await self._collection.forget()

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._collection.aclose()

    async def _somewhere(self) -> QdrantCursor:
        """Return how far the collection has come; it is caught up where nobody knows."""
        while self._at is None:
            await self.catch_up()
        return self._at

    async def _is_level(self, epoch: str) -> bool:
        """Say whether nothing is new since this process last looked."""
        at = self._at
        if at is None or (at.mark, at.epoch) != (self._marked(), epoch):
            return False
        return not await self._feed.changes(
            self._pipeline, self._space, after=at.seq, limit=1
        )

    async def _followed(self, epoch: str) -> int:
        mark = self._marked() or self._new_mark()
        qdrant_cursor = await self._collection.cursor()
        if qdrant_cursor is None or (qdrant_cursor.mark, qdrant_cursor.epoch) != (
            mark,
            epoch,
        ):
            qdrant_cursor = QdrantCursor(mark, epoch, 0)
            await self._collection.make(qdrant_cursor)

        async def apply(page: Sequence[ChunkChange]) -> None:
            now = QdrantCursor(mark, epoch, page[-1].seq)
            await self._collection.apply(page, now)
            self._at = now

        self._at = qdrant_cursor
        try:
            return await apply_change_feed(
                self._feed,
                self._pipeline,
                self._space,
                apply,
                after=qdrant_cursor.seq,
                limit=self._collection.page,
            )
        except BaseException:
            self._at = None  # what the server took of the last page is not known
            raise

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
            raise self._unkept(error) from error
        if not is_acquired:
            raise CollectionInUse("Another lrwr is sending vectors to Qdrant")
        try:
            yield
        finally:
            self._lock.release()

    def _marked(self) -> str:
        return read_local_mark(self._index, self._collection.name)

    def _new_mark(self) -> str:
        mark = secrets.token_hex(16)
        folder = self._index / self._collection.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _MARK).write_text(mark, encoding="ascii")
        except OSError as error:
            raise self._unkept(error) from error
        return mark

    def _unkept(self, error: OSError) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"{self._index} cannot be written ({error.strerror}), so what"
            " Qdrant holds cannot be told",
            hint="Check the disk and your rights there.",
        )


class CollectionInUse(ServiceUnavailable):
    """Another process is at it."""


def format_local_search_remark(error: LrwrError) -> str:
    """Say that this machine compared vectors, and why."""
    return f"Compared on this machine, without Qdrant. {error.full_text}"


QDRANT_KEY_VARIABLE = "QDRANT_API_KEY"


def build_library_key(root: Path, library: str) -> str:
    """Return what tells a library from a copy of it in another folder."""
    return f"{root}\0{library}"


def build_qdrant_connection(
    settings: Settings, env: Mapping[str, str]
) -> QdrantConnection | None:
    """Return how the server is asked, None where lrwr keeps vectors itself.

    A key that is there turns nothing on, and a server need not want one.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.vectors.keeper != "qdrant":
        return None
    key = find_key(QDRANT_KEY_VARIABLE, env) or ""
    address = resolve_address(settings, "vectors.url", QDRANT_URL, secret=bool(key))
    is_local = is_loopback_host(parse_host(address))
    return QdrantConnection(address, key, float(settings.vectors.timeout), is_local)


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
    noting: EgressLogger,
) -> "VectorIndex":
    """Return the index that the server keeps; nothing is sent or opened yet.

    `library` tells libraries apart; what is known of its collection is in the folder
    `index`. `refused` says why the server may not be asked: this machine compares then.
    What leaves it is noted with `noting`.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
    """
    # Imported here: it imports Qdrant's client, which takes a second.
    from lrwr.core.adapters.vectors.collection import QdrantCollection

    pipeline = settings.pipeline
    scan = NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    try:
        connection = build_qdrant_connection(settings, env)
    except ServiceUnavailable as error:
        return UnavailableQdrantIndex(error, scan)
    if refused is not None or connection is None:
        return UnavailableQdrantIndex(refused or LrwrError("It is off"), scan)
    wire = QdrantHttpClient(connection, noting=None if connection.own else noting)
    name = build_collection_name(library, pipeline, space)
    collection = QdrantCollection(wire, name, dimensions)
    followed = QdrantCollectionIndex(
        collection, index, feed, pipeline=pipeline, space=space
    )
    return QdrantVectorIndex(followed, instead=scan, now=wire.clock.now)
