"""Conversations in a library's file, brought from a project and sent there."""

import asyncio
import sqlite3
from collections.abc import Callable
from functools import partial

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.freshness import build_lost_changes_error
from lrwr.core.adapters.storage.supabase.row_transfer import ThreadRecord
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.adapters.storage.supabase.thread_rows import (
    UnsentTurn,
    list_locally_changed_threads,
    list_unsent_turns,
    load_thread_record,
    mark_thread_sent,
    mark_threads_received,
    mark_turn_sent,
    read_spoken_count,
    read_thread_digests,
    store_remote_thread,
    store_remote_thread_if_complete,
)

ThreadProgressCallback = Callable[[int, int], None]
"""Is told how many conversations are done, and of how many."""


class ThreadReplica:
    """Makes the conversations in a file those of a project, and the other way round.

    `database` is the file, asked as it is. What was said here alone is noted there as
    unsent, and stays until the project has it. Killed at any moment, it goes on where
    it was; any number of processes may do so with one file.
    """

    def __init__(self, database: SqliteDatabase, api: SupabaseThreadApi) -> None:
        self._database = database
        self._there = api
        self._one_at_a_time = asyncio.Lock()
        self._less = False

    def note(self, *, less: bool) -> None:
        """Note whether the project has less than it had: then nothing goes there."""
        self._less = less

    async def send(
        self, *, at_once: str = "", tell: ThreadProgressCallback | None = None
    ) -> int:
        """Send what the project may not have; return of how many conversations.

        Of what another machine renamed or deleted nothing is undone, but that a turn
        brings back what was deleted before it was asked. The turn `at_once` has only
        just been asked.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
            StoreProblem: It has less than it had.
        """
        async with self._one_at_a_time:
            if self._less:
                raise build_lost_changes_error()
            return await self._send(at_once, tell)

    async def catch_up(self, spoken: int) -> None:
        """Send what the project may not have, and bring what has changed there.

        `spoken` says how often the library was spoken in; if nobody has since the last
        time, the project is not asked.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        async with self._one_at_a_time:
            sent_count = await self._send()
            before = await self._database.read(read_spoken_count)
            if not sent_count and spoken == before:
                return
            remote_marks = await self._there.marks()
            local_digests = await self._database.read(read_thread_digests)
            changed_threads = [
                thread
                for thread in remote_marks
                if local_digests.get(thread) != remote_marks[thread]
            ]
            outcomes = [await self._bring(thread, before) for thread in changed_threads]
            if all(outcomes):
                work = partial(
                    mark_threads_received, threads=remote_marks.keys(), spoken=spoken
                )
                await self._if_still(before, work)

    async def bring(self, thread: str) -> None:
        """Bring a conversation, unless others bring it just now, or it has lost turns.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        async with self._one_at_a_time:
            before = await self._database.read(read_spoken_count)
            thread_record = await self._there.whole(thread)
            if thread_record is not None:
                await self._if_still(
                    before,
                    partial(store_remote_thread_if_complete, thread=thread_record),
                )

    async def _bring(self, thread: str, before: int) -> bool:
        """Say whether a conversation is here as it is there, or is gone from there."""
        thread_record = await self._there.whole(thread)
        if thread_record is None:
            return True
        return await self._if_still(
            before, partial(store_remote_thread, thread=thread_record)
        )

    async def _if_still(
        self, before: int, work: Callable[[sqlite3.Connection], bool]
    ) -> bool:
        """Write unless others brought something newer meanwhile; say whether it was."""
        return await self._database.write(
            lambda connection: (
                read_spoken_count(connection) == before and work(connection)
            )
        )

    async def _send(
        self, at_once: str = "", tell: ThreadProgressCallback | None = None
    ) -> int:
        changed = await self._database.read(list_locally_changed_threads)
        for number, id_ in enumerate(changed):
            if tell is not None:
                tell(number, len(changed))
            thread = await self._database.read(partial(load_thread_record, id_=id_))
            if thread is not None:
                await self._there.put(thread)
                await self._database.write(partial(mark_thread_sent, thread=thread))
        unsent = await self._database.read(list_unsent_turns)
        for unsent_turn in unsent:
            await self._send_turn(unsent_turn, late=unsent_turn.turn.id != at_once)
        return len({*changed, *(unsent_turn.thread.id for unsent_turn in unsent)})

    async def _send_turn(self, unsent: UnsentTurn, *, late: bool) -> None:
        thread: ThreadRecord = unsent.thread
        receipt = await self._there.keep_turn(thread, unsent.turn, late=late)
        work = partial(mark_turn_sent, unsent=unsent, receipt=receipt, late=late)
        await self._database.write(work)
