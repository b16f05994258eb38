"""Where conversations are kept."""

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
    """What an answer left open. `as_of` is where its question stood in the story, as
    the writer gave it, empty for the whole."""

    gap: GapFlag
    as_of: str


@dataclass(frozen=True, slots=True)
class TurnCitations:
    """A kept answer, and those of its citations that were asked for."""

    thread: ThreadId
    turn: TurnId
    citations: tuple[Citation, ...]


class ThreadStore(Protocol):
    """Conversations of one library. A deleted one can be had back until it is purged."""

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        ...

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation.

        Raises:
            NotFound: There is none, or it is deleted.
        """
        ...

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them.

        There are none where it is deleted or was never begun.
        """
        ...

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing; return the conversation.

        A thread that does not exist begins with `title`; a deleted one is back. The
        turn gets the next number, whatever number it has; kept twice, it is there once.
        Characters that are not Unicode become `?`.
        """
        ...

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title.

        Raises:
            NotFound: There is no such conversation.
        """
        ...

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away, at a time in seconds since 1970.

        Raises:
            NotFound: There is no such conversation.
        """
        ...

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last; None where nothing is left to bring."""
        ...

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time; return how many threads."""
        ...

    async def gaps(self) -> list[RecordedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        ...

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return what answers of kept conversations cite, oldest first.

        Only citations of `documents`, where they are named; an answer without one is
        left out. A stopped answer counts like a whole one.
        """
        ...

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first."""
        ...
