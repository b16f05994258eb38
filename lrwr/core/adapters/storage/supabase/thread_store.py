"""Where conversations are kept: in a project, and in the file here that follows it."""

from collections.abc import Callable, Collection, Sequence

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from lrwr.core.adapters.storage.supabase.thread_replica import ThreadReplica
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn
from lrwr.core.ports.stores import RecordedGap, TurnCitations


class SupabaseThreadStore:
    """Keeps the `ThreadStore` port. What is read is read from the file.

    A turn is kept in the file and then in the project. Where that cannot be asked the
    turn goes there later, and `say` is told so once, until one goes there again. While
    the project is known to be `away` it is not asked. All else is done there first, and
    raises an LrwrError where it cannot be.
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
        self._here = SqliteThreadStore(database)
        self._copy = copy
        self._there = api
        self._say = say
        self._away = away
        self._told = False

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        return await self._here.threads()

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation."""
        return await self._here.thread(thread)

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them."""
        return await self._here.turns(thread, last=last)

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing."""
        stored_thread = await self._here.keep_turn(thread, title, turn, state)
        if self._away():
            self._complain("")
            return stored_thread
        try:
            await self._copy.send(at_once=turn.id)
        except LrwrError as error:
            self._complain(f" {error}.")
        else:
            self._told = False
        return stored_thread

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title."""
        await self._copy.send()
        await self._done(thread, await self._there.rename(thread, title))

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away."""
        await self._copy.send()
        await self._done(thread, await self._there.delete(thread, at))

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last."""
        await self._here.threads()  # which looks first at what the project has
        await self._copy.send()
        back = await self._there.restore()
        if back is None:
            return None
        await self._copy.bring(back)
        return await self._here.thread(ThreadId(back))

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time."""
        await self._copy.send()
        count = await self._there.purge(before)
        await self._here.purge(before)
        return count

    async def gaps(self) -> list[RecordedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        return await self._here.gaps()

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return what answers of kept conversations cite, oldest first."""
        return await self._here.citing(documents)

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first."""
        return await self._here.search(words, limit=limit)

    async def _done(self, thread: ThreadId, is_found: bool) -> None:
        """Bring what was changed there; there was such a conversation, or not."""
        if not is_found:
            raise NotFound(
                f"There is no conversation {thread}", hint="`lrwr threads` lists them."
            )
        await self._copy.bring(thread)

    def _complain(self, reason: str) -> None:
        if not self._told:
            self._told = True
            self._say(
                "This conversation is kept on this machine for now, and goes to the"
                f" project when it can be asked again.{reason}"
            )
