"""Store of threads (saved conversations), and what it returns of many at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.turns import (
    Citation,
    GapFlag,
    NarrativeState,
    Thread,
    ThreadId,
    Turn,
    TurnId,
)


@dataclass(frozen=True, slots=True)
class RecordedGap:
    """A gap that an answer reported.

    `as_of` is the question's horizon as the user wrote it, empty for the whole story.
    """

    gap: GapFlag
    as_of: str


@dataclass(frozen=True, slots=True)
class TurnCitations:
    """The citations of the answer of one stored turn."""

    thread: ThreadId
    turn: TurnId
    citations: tuple[Citation, ...]


class ThreadStore(Protocol):
    """Stores the threads (saved conversations) of one library.

    A deleted thread can be restored until it is purged.
    """

    async def threads(self) -> list[Thread]:
        """Return all threads that are not deleted, most recently used first.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one thread.

        Raises:
            NotFound: The thread does not exist or is deleted.
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return the turns of a thread, oldest first; with `last`, only so many latest
        ones.

        Empty if the thread does not exist or is deleted.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def save_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Append a turn and store the thread's new state, in one transaction.

        A new thread is created with `title`; a deleted one is restored. The store
        assigns the turn's number. Saving a turn id twice stores it once. Invalid
        Unicode is replaced with `?`. Returns the updated thread.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Change a thread's title.

        Raises:
            NotFound: The thread does not exist or is deleted.
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Mark a thread as deleted at the time `at`, in seconds since 1970, UTC.

        Raises:
            NotFound: The thread does not exist or is deleted already.
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def restore(self) -> Thread | None:
        """Restore the thread that was deleted last; return it, or None if none is
        deleted.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def purge(self, before: float) -> int:
        """Permanently remove threads deleted before a time; return their number.

        `before` is in seconds since 1970, UTC.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def gaps(self) -> list[RecordedGap]:
        """Return the gaps that complete answers reported, oldest first.

        Deleted threads and stopped answers are excluded.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def turn_citations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return the citations of all stored answers, by turn, oldest first.

        With `documents`, only citations of these documents are included, and turns
        without any are left out. Stopped answers are included, deleted threads are not.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return at most `limit` turns whose question or answer contains any of
        `words`, each with its thread, best match first.

        Deleted threads are excluded. Empty if `words` is empty.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...
