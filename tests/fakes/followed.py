"""Machines of one writer's, on which conversations follow a project."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from lrwr.core.adapters.storage.supabase.records import create_remote_library
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.adapters.storage.supabase.thread_rows import load_thread_record
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.core.ports.threads import ThreadStore
from tests.fakes.conversations import THREAD
from tests.fakes.hosted import Machine, Writer, asking, machine
from tests.fakes.hosted_records import told_whole
from tests.fakes.records import Clock
from tests.fakes.supabase_server import SupabaseServer

COUNTS = """
select (select count(*) from thread),
  (select count(*) from unsent_turn) + (select count(*) from unsent_thread)
"""


@dataclass(frozen=True, slots=True)
class Desks:
    """Lends out machines by their names."""

    folder: Path
    hosted: SupabaseRpc
    library: str
    there: SupabaseThreadApi
    stack: AsyncExitStack

    async def __call__(self, name: str) -> Machine:
        """Open what a machine has, or begin a new one."""
        file = self.folder / f"{name}.db"
        opened = machine(file, self.hosted, self.library, Clock())
        return await self.stack.enter_async_context(opened)


@asynccontextmanager
async def desks_of(
    server: SupabaseServer, writer: Writer, folder: Path
) -> AsyncIterator[Desks]:
    """Lend out machines with working copies of one new library."""
    async with asking(server, writer) as hosted, AsyncExitStack() as stack:
        library = await create_remote_library(hosted, uuid4().hex)
        assert library is not None
        yield Desks(folder, hosted, library, SupabaseThreadApi(hosted, library), stack)


async def keep(
    store: ThreadStore, *turns: Turn, thread: ThreadId = THREAD, title: str = "Tides"
) -> Thread:
    """Keep turns, with the state that each leads to."""
    for turn in turns:
        kept = await store.save_turn(
            thread, title, turn, turn.output.narrative_state_delta
        )
    return kept


async def asked(store: ThreadStore, thread: ThreadId = THREAD) -> list[str]:
    """Questions of a conversation, in order."""
    return [turn.question for turn in await store.turns(thread)]


async def titles(store: ThreadStore) -> list[str]:
    """Titles of conversations, the one that was spoken in last first."""
    return [thread.title for thread in await store.threads()]


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many conversations are here, and how much is not sent."""
    found: tuple[int, int] = connection.execute(COUNTS).fetchone()
    return found


async def check_same(there: SupabaseThreadApi, *machines: Machine) -> None:
    """Make sure that every machine has what the project has, to the letter."""
    for one in machines:
        await one.copy.catch_up()
        known = await there.digests()
        for id_ in known:
            here = await one.plain.read(partial(load_thread_record, id_=id_))
            assert told_whole(here) == told_whole(await there.load(id_))
        assert await one.plain.read(counts) == (len(known), 0)
