"""Libraries and accounts in a Supabase project of the tests' own."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_snapshots import SqliteStatedStore
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex
from lrwr.core.adapters.storage.sqlite.passage_store import (
    SqliteChangeFeed,
    SqlitePassageStore,
)
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteBiblePartStore,
    SqliteStoryStore,
)
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.knowledge_store import (
    SupabaseAnalysisStore,
    SupabaseCastStore,
    SupabaseKnowledgeStore,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    create_library_link,
    read_library_link,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    create_remote_library,
    list_remote_libraries,
)
from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_store import (
    SupabaseThreadStore,
    ThreadReplica,
)
from tests.fakes.libraries import Library
from tests.fakes.postgres_server import Postgres
from tests.fakes.records import Clock
from tests.fakes.supabase_server import SupabaseServer

PASSWORD = "correct-horse-9"


@dataclass(frozen=True, slots=True)
class Writer:
    """An account, and what proves that it asks."""

    id: str
    email: str
    token: str


def sign_up(server: SupabaseServer) -> Writer:
    """Make an account."""
    email = f"{uuid4().hex}@example.org"
    request = urllib.request.Request(
        f"{server.url}/auth/v1/signup",
        data=json.dumps({"email": email, "password": PASSWORD}).encode(),
        headers={"apikey": server.key, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        told = json.load(answer)
    return Writer(told["user"]["id"], email, told["access_token"])


@asynccontextmanager
async def asking(server: SupabaseServer, writer: Writer) -> AsyncIterator[SupabaseRpc]:
    """Lend out the project's functions, asked in the name of `writer`."""

    async def token() -> str:
        return writer.token

    hosted = SupabaseRpc(SupabaseConnection(server.url, server.key, own=True), token)
    try:
        yield hosted
    finally:
        await hosted.aclose()


@asynccontextmanager
async def hosted_library(
    server: SupabaseServer, writer: Writer, folder: Path
) -> AsyncIterator[Library]:
    """A new library of `writer`'s, written on one machine and read on another."""
    clock = ServerClock(server.postgres)
    async with AsyncExitStack() as stack:
        hosted = await stack.enter_async_context(asking(server, writer))
        name = uuid4().hex
        library = await create_remote_library(hosted, name)
        assert library is not None
        desk = await stack.enter_async_context(
            machine(folder / "desk.db", hosted, library, clock)
        )
        other = await stack.enter_async_context(
            machine(folder / "other.db", hosted, library, clock)
        )
        queue = SupabaseJobQueue(hosted, library)
        yield Library(
            knowledge=SupabaseKnowledgeStore(
                desk.database, desk.copy, desk.records, queue, now=clock
            ),
            passages=SqlitePassageStore(other.database),
            words=SqliteLexicalIndex(other.database),
            feed=SqliteChangeFeed(other.database),
            queue=queue,
            story=SqliteStoryStore(other.database),
            parts=SqliteBiblePartStore(other.database),
            stated=SqliteStatedStore(other.database),
            casts=SupabaseCastStore(desk.database, desk.copy, desk.records),
            analysis=SupabaseAnalysisStore(desk.database, desk.records, now=clock),
            threads=desk.threads,
            sent=SqliteEgressLog(desk.database),
            clock=clock,
        )


@dataclass(frozen=True, slots=True)
class Machine:
    """A working copy, which catches up whenever it is read, unless `away` is set.

    `plain` is its file, asked as it is; `said` is what the writer was told.
    """

    plain: SqliteDatabase
    database: SqliteDatabase
    copy: SupabaseReplica
    records: SupabaseRecords
    threads: SupabaseThreadStore
    said: list[str]
    away: asyncio.Event


@asynccontextmanager
async def machine(
    file: Path, hosted: SupabaseRpc, library: str, now: Callable[[], float]
) -> AsyncIterator[Machine]:
    """A working copy of a library, a new one if there is no file."""
    plain = SqliteDatabase(file)
    bound = await plain.read(read_library_link)
    if bound is None:
        bound = create_library_link("", "", library, "")
        await plain.write(partial(store_library_link, link=bound))
    records = SupabaseRecords(hosted, library, bound.writer)
    spoken = ThreadReplica(plain, records.threads)
    copy = SupabaseReplica(plain, records, now, spoken)
    said: list[str] = []
    away = asyncio.Event()

    async def first() -> None:
        if not away.is_set():
            await copy.catch_up()

    database = SqliteDatabase(file, first=first)
    threads = SupabaseThreadStore(
        database, spoken, records.threads, said.append, away.is_set
    )
    try:
        yield Machine(plain, database, copy, records, threads, said, away)
    finally:
        await database.aclose()
        await plain.aclose()


def library_in_supabase(
    request: pytest.FixtureRequest,
) -> AbstractAsyncContextManager[Library]:
    """A new library in the project that all tests share."""
    server = request.getfixturevalue("supabase")
    writer = request.getfixturevalue("writer")
    return hosted_library(server, writer, request.getfixturevalue("tmp_path"))


class ServerClock(Clock):
    """The project's clock, which goes only when told to."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        super().__init__()

    @property
    def time(self) -> float:
        return self._time

    @time.setter
    def time(self, time: float) -> None:
        self._time = time
        self._postgres.run(f"update test_clock set time = {time}")


async def open_library(hosted: SupabaseRpc, name: str) -> str:
    """Return the id of the account's library of that name, made if there is none."""
    made = await create_remote_library(hosted, name)
    if made is not None:
        return made
    (found,) = (
        one.id for one in await list_remote_libraries(hosted) if one.name == name
    )
    return found
