"""When a working copy looks what has changed: before it is read, but not always."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from lrwr.core.adapters.storage.supabase.library_link import LibraryLink
from lrwr.core.adapters.storage.supabase.records import RecordPage
from lrwr.core.model.errors import LrwrError, StoreProblem

FRESH_SECONDS = 5.0
"""Seconds for which what is here counts as fresh."""
UNREACHABLE_PAUSE = 60.0
"""Seconds for which a project that did not answer is not asked again."""


class ReplicaRefresher:
    """Catches up, at most once in a while: call it before the copy is read.

    A project that cannot be
    asked keeps nobody from reading what is here; `say` is told so once, until it answers
    again. `clock` counts seconds.
    """

    def __init__(
        self,
        catch_up: Callable[[], Awaitable[int]],
        say: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catch_up = catch_up
        self._say = say
        self._clock = clock
        self._next = clock()
        self._told = False
        self._looking = asyncio.Lock()

    @property
    def away(self) -> bool:
        """Whether the project could not be asked the last time."""
        return self._told

    async def __call__(self) -> None:
        """Make sure that what is read next is fresh, or as fresh as can be."""
        async with self._looking:
            if self._clock() < self._next:
                return
            try:
                await self._catch_up()
            except LrwrError as error:
                self._next = self._clock() + UNREACHABLE_PAUSE
                self._complain(error)
            else:
                self._next = self._clock() + FRESH_SECONDS
                self._told = False

    def _complain(self, error: LrwrError) -> None:
        if not self._told:
            self._told = True
            self._say(f"What others have changed is not here yet. {error.full_text}")


def has_lost_changes(bound: LibraryLink, page: RecordPage) -> bool:
    """Say whether a project has lost something that a copy has from there.

    `bound` must have been read before the project was asked for `page`.
    """
    return page.version < bound.cursor or page.spoken < bound.spoken


def build_lost_changes_error() -> StoreProblem:
    """Return what the writer is told of it."""
    return StoreProblem(
        "The project has less than it had when it was last asked from here: was it"
        " restored from a backup?",
        hint="`lrwr push --over` takes what is here there again.",
    )
