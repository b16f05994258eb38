"""Threads in a Supabase project and in its local replica, and their synchronization."""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Sequence
from functools import partial

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.storage.supabase.library_link import build_lost_changes_error
from lrwr.core.adapters.storage.supabase.thread_api import (
    SupabaseThreadApi,
    ThreadRecord,
)
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
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn
from lrwr.core.ports.threads import RecordedGap, TurnCitations

ThreadProgressCallback = Callable[[int, int], None]
"""Receives the number of threads sent, and the total."""


class ThreadReplica:
    """Synchronizes the threads of a file with those of a Supabase project, both ways.

    `database` must not itself wait for the replica before reading. Local changes are
    marked in the file as unsent until the Supabase project has them, so a process that
    is killed loses nothing. Several processes may do so with one file.
    """

    def __init__(self, database: SqliteDatabase, api: SupabaseThreadApi) -> None:
        self._database = database
        self._api = api
        self._lock = asyncio.Lock()
        self._project_lost_changes = False

    def set_lost_changes(self, *, lost: bool) -> None:
        """Set whether the Supabase project lacks changes that it had, as after a
        restore from a backup.

        While `lost` is True, `send` raises StoreProblem.
        """
        self._project_lost_changes = lost

    async def send(
        self, *, at_once: str = "", tell: ThreadProgressCallback | None = None
    ) -> int:
        """Send all unsent changes, and return the number of threads that had some.

        Renames and deletions by other machines are not undone, except that a turn
        restores a thread that was deleted before the turn was asked. `at_once` is the
        id of a turn that was asked just now. `tell` receives the number of threads
        sent, and the total.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            StoreProblem: The Supabase project lacks changes that it had.
        """
        async with self._lock:
            if self._project_lost_changes:
                raise build_lost_changes_error()
            return await self._send(at_once, tell)

    async def catch_up(self, spoken: int) -> None:
        """Send all unsent changes, then fetch the threads that have changed.

        `spoken` is the Supabase project's present count of thread changes; nothing is
        fetched if the file has all of them.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        async with self._lock:
            sent_count = await self._send()
            spoken_before = await self._database.read(read_spoken_count)
            if not sent_count and spoken == spoken_before:
                return
            remote_marks = await self._api.digests()
            local_digests = await self._database.read(read_thread_digests)
            changed_threads = [
                thread
                for thread in remote_marks
                if local_digests.get(thread) != remote_marks[thread]
            ]
            outcomes = [
                await self._fetch_changes_of(thread, spoken_before)
                for thread in changed_threads
            ]
            if all(outcomes):
                work = partial(
                    mark_threads_received, threads=remote_marks.keys(), spoken=spoken
                )
                await self._write_unless_newer(spoken_before, work)

    async def fetch(self, thread: str) -> None:
        """Fetch the thread with this id into the file.

        It is not stored if it lacks turns that the file has, if it has unsent changes,
        or if another process has fetched changes meanwhile.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        async with self._lock:
            spoken_before = await self._database.read(read_spoken_count)
            thread_record = await self._api.load(thread)
            if thread_record is not None:
                await self._write_unless_newer(
                    spoken_before,
                    partial(store_remote_thread_if_complete, thread=thread_record),
                )

    async def _fetch_changes_of(self, thread: str, spoken_before: int) -> bool:
        """Fetch a thread; return whether it now equals the Supabase project's or is
        gone there.
        """
        thread_record = await self._api.load(thread)
        if thread_record is None:
            return True
        return await self._write_unless_newer(
            spoken_before, partial(store_remote_thread, thread=thread_record)
        )

    async def _write_unless_newer(
        self, spoken_before: int, work: Callable[[sqlite3.Connection], bool]
    ) -> bool:
        """Run `work` unless another process fetched changes; return its result."""
        return await self._database.write(
            lambda connection: (
                read_spoken_count(connection) == spoken_before and work(connection)
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
                await self._api.put(thread)
                await self._database.write(partial(mark_thread_sent, thread=thread))
        unsent = await self._database.read(list_unsent_turns)
        for unsent_turn in unsent:
            await self._send_turn(unsent_turn, late=unsent_turn.turn.id != at_once)
        return len({*changed, *(unsent_turn.thread.id for unsent_turn in unsent)})

    async def _send_turn(self, unsent: UnsentTurn, *, late: bool) -> None:
        thread: ThreadRecord = unsent.thread
        receipt = await self._api.save_turn(thread, unsent.turn, late=late)
        work = partial(mark_turn_sent, unsent=unsent, receipt=receipt, late=late)
        await self._database.write(work)


class SupabaseThreadStore:
    """The `ThreadStore` port over a Supabase project and its local replica.

    Reads use the replica. A turn is stored in the replica and then sent; if the
    Supabase project does not answer, it is sent later, and `say` receives one notice
    until sending works again. While `away()` is true, sending is not tried. All other
    changes are made in the Supabase project first and raise LrwrError if it does not
    answer.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        copy: ThreadReplica,
        api: SupabaseThreadApi,
        say: Callable[[str], None],
        away: Callable[[], bool],
    ) -> None:
        self._database = database
        self._local = SqliteThreadStore(database)
        self._replica = copy
        self._api = api
        self._notify = say
        self._is_unreachable = away
        self._has_notified = False

    async def threads(self) -> list[Thread]:
        """Return all threads that are not deleted, the most recently used first."""
        return await self._local.threads()

    async def thread(self, thread: ThreadId) -> Thread:
        """Return the thread with this id, without its turns.

        Raises:
            NotFound: It does not exist or is deleted.
        """
        return await self._local.thread(thread)

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return the turns of a thread, oldest first.

        With `last`, return only that many of the newest. Empty if the thread does not
        exist or is deleted.
        """
        return await self._local.turns(thread, last=last)

    async def save_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Store a turn of a thread, and `state`, the thread's state after it,
        atomically; return the thread.

        A thread that does not exist is created with `title`; a deleted one is restored.
        A turn that is already stored is not added again. No error is raised if the
        Supabase project does not answer; the turn is sent later.

        Raises:
            StoreProblem: The replica cannot be written.
        """
        stored_thread = await self._local.save_turn(thread, title, turn, state)
        if self._is_unreachable():
            self._notify_unsent("")
            return stored_thread
        try:
            await self._replica.send(at_once=turn.id)
        except LrwrError as error:
            self._notify_unsent(f" {error}.")
        else:
            self._has_notified = False
        return stored_thread

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Set the title of a thread.

        Raises:
            NotFound: The thread does not exist or is deleted.
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._replica.send()
        await self._fetch_changed(thread, await self._api.rename(thread, title))

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Mark a thread as deleted at the time `at`, in seconds since 1970; it can be
        restored.

        Raises:
            NotFound: The thread does not exist or is deleted already.
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._replica.send()
        await self._fetch_changed(thread, await self._api.delete(thread, at))

    async def restore(self) -> Thread | None:
        """Restore the thread that was deleted last on any machine, and return it.

        None if none is deleted, or if another machine deleted it again meanwhile.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._local.threads()  # a read, before which the replica catches up
        await self._replica.send()
        back = await self._api.restore()
        if back is None:
            return None
        await self._replica.fetch(back)
        try:
            return await self._local.thread(ThreadId(back))
        except NotFound:
            return None

    async def purge(self, before: float) -> int:
        """Remove for good the deleted threads whose deletion was earlier than `before`.

        Returns their number. `before` is in seconds since 1970.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._replica.send()
        count = await self._api.purge(before)
        await self._local.purge(before)
        return count

    async def gaps(self) -> list[RecordedGap]:
        """Return the open questions recorded in complete answers, the oldest answer
        first.

        Deleted threads are left out. A question recorded in several answers occurs
        several times.
        """
        return await self._local.gaps()

    async def turn_citations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return the citations of each turn's answer, oldest turn first.

        With `documents`, only citations of these documents. Turns without any, and
        deleted threads, are left out.
        """
        return await self._local.turn_citations(documents)

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return at most `limit` turns that contain any of `words`, each with its
        thread.

        The best come first (by BM25), of equal ones the newer. Words are compared by
        stem. Turns of deleted threads are left out. Empty if `words` is empty.
        """
        return await self._local.search(words, limit=limit)

    async def _fetch_changed(self, thread: ThreadId, is_found: bool) -> None:
        """Fetch the thread that was changed in the project; raise if it does not exist."""
        if not is_found:
            raise NotFound(
                f"There is no thread {thread}",
                hint="Run `lrwr threads` to list the threads.",
            )
        await self._replica.fetch(thread)

    def _notify_unsent(self, reason: str) -> None:
        if not self._has_notified:
            self._has_notified = True
            self._notify(
                "This thread is stored on this machine only. It will be sent to the"
                f" project as soon as the project can be reached.{reason}"
            )
