"""Keeping the library true while the writer writes: sweep, watch, sweep again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.model.events import IngestEvent
from lrwr.core.ports.folder_events import FolderEvents, FolderNews, Lost, Polling
from lrwr.core.ports.job_queue import JobQueue
from lrwr.pipeline.changes import Changes
from lrwr.pipeline.report import UNREAD, Emit, IngestReport, Problem
from lrwr.pipeline.service import DocumentProcessingService
from lrwr.pipeline.watch_events import (
    Away,
    Cause,
    Polled,
    Returned,
    Saved,
    Troubled,
    WatchEvent,
    Watching,
)
from lrwr.pipeline.watch_ledger import Ledger
from lrwr.pipeline.watch_pace import Agenda, Due, Pace

PATIENCE = 1.0
"""Seconds in which a file that is gone may come back and was never gone."""

RETURN = 1.0
"""Seconds between two looks whether a folder that is gone is there again."""

EMPTY = "There is nothing left in the manuscript's folder"

MOVED = "The manuscript is not where it was"

WatchEmit = Callable[[WatchEvent], Awaitable[None]]

_CAUSES = {Due.SAVE: Cause.SAVE, Due.SWEEP: Cause.SWEEP, Due.IDLE: Cause.IDLE}


class Gone(Exception):
    """The manuscript is not where it was; its text says so in a sentence."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads in each round.

    `open` makes a service for a cause, over the queue that it is lent; it raises
    `NotFound` where the library's folder is gone. `asks` says whether a language model may be asked then. `ledger` makes the queue, `same` says
    whether the library is still the one that was opened.
    """

    open: Callable[[Cause, JobQueue], DocumentProcessingService]
    asks: Callable[[Cause], bool]
    ledger: Callable[[], Ledger]
    same: Callable[[], bool]


class WatchService:
    """Watches a manuscript. All writing is done by the service that it is lent.

    `rest` and `clock` are in seconds; `progress` sees the work on single documents.
    """

    def __init__(
        self,
        *,
        events: FolderEvents,
        readers: Readers,
        pace: Pace,
        rest: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        progress: Emit | None = None,
    ) -> None:
        self._events = events
        self._readers = readers
        self._pace = pace
        self._rest = rest
        self._clock = clock
        self._progress = progress or _unseen
        self._told: dict[DocumentId, str] = {}
        self._remarked: frozenset[str] = frozenset()
        self._trouble = ""
        self._polled = ""

    async def run(self, emit: WatchEmit, *, once: bool = False) -> None:
        """Bring the library up to date, and keep it so until cancelled.

        `once` ends after the first sweep.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read or written, or was replaced.
        """
        try:
            documents = await self._round(Cause.START, emit)
        except Gone as gone:
            if once:
                raise NotFound(
                    str(gone),
                    hint="Bring it back; to forget it, run `lrwr ingest`.",
                ) from gone
            await self._wait_for_return(str(gone), emit)
            documents = 0
        if once:
            return
        await emit(Watching(documents))
        while True:
            try:
                await self._watch(emit)
            except Gone as gone:
                await self._wait_for_return(str(gone), emit)

    async def _watch(self, emit: WatchEmit) -> None:
        """Do what is due, until the events end.

        Raises:
            Gone: The manuscript is not there any more.
        """
        heard: asyncio.Queue[FolderNews | None] = asyncio.Queue()
        listening = asyncio.create_task(self._listen(heard))
        now = self._clock()
        unread = self._pace.idle is not None
        agenda = Agenda(self._pace, swept=now, stirred=now, unread=unread)
        # What changed before the listening began was not heard by anybody.
        agenda = agenda.touched(now)
        try:
            while (news := await self._next(heard, agenda)) is not None:
                agenda = await self._heard(news, agenda, emit)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        if not listening.cancelled() and (error := listening.exception()):
            raise error
        await self._rest(RETURN)

    async def _listen(self, heard: "asyncio.Queue[FolderNews | None]") -> None:
        try:
            async with aclosing(self._events.news()) as news:
                async for one in news:
                    heard.put_nowait(one)
        finally:
            heard.put_nowait(None)

    async def _next(
        self, heard: "asyncio.Queue[FolderNews | None]", agenda: Agenda
    ) -> "FolderNews | Due | None":
        """Return what is heard or due, whichever is first; None at the events' end."""
        if not heard.empty():
            return heard.get_nowait()
        while True:
            now = self._clock()
            if (due := agenda.due(now)) is not None:
                return due
            try:
                async with asyncio.timeout(agenda.next_at() - now):
                    return await heard.get()
            except TimeoutError:
                continue

    async def _heard(
        self, news: "FolderNews | Due", agenda: Agenda, emit: WatchEmit
    ) -> Agenda:
        match news:
            case Lost(folder):
                raise Gone(f"There is no folder {folder}, or another in its place")
            case Polling(why):
                if why != self._polled:
                    self._polled = why
                    await emit(Polled(why))
                return agenda
            case Due():
                return await self._act(news, agenda, emit)
            case _:
                return agenda.touched(self._clock())

    async def _act(self, due: Due, agenda: Agenda, emit: WatchEmit) -> Agenda:
        began, cause = self._clock(), _CAUSES[due]
        read = await self._tried(cause, emit)
        unread = bool(read) and not self._readers.asks(cause)
        return agenda.done(due, began).learned(unread=unread)

    async def _tried(self, cause: Cause, emit: WatchEmit) -> int:
        """Make a round; one that fails is told, and made good by a later one.

        Raises:
            Gone: The manuscript is not there any more.
            StoreProblem: The library was replaced.
        """
        try:
            read = await self._round(cause, emit)
        except LrwrError as error:
            if isinstance(error, StoreProblem) and not self._readers.same():
                raise
            if str(error) != self._trouble:
                self._trouble = str(error)
                await emit(Troubled(str(error), error.hint))
            return 0
        self._trouble = ""
        return read

    async def _round(self, cause: Cause, emit: WatchEmit) -> int:
        """Read what changed; return how many documents there are, or were read.

        Raises:
            Gone: The manuscript is not there any more.
        """
        began = self._clock()
        ledger = self._readers.ledger()
        try:
            service = self._readers.open(cause, ledger)
        except NotFound as error:
            raise Gone(MOVED) from error
        changes = await self._look(service)
        if cause is Cause.SAVE and not _to_do(changes):
            return 0
        report = await _processed(service, self._progress)
        failed = {problem.document for problem in report.problems}
        learned = await ledger.learned(report.renamed, failed)
        problems = self._untold(report.problems)
        asked = self._readers.asks(cause)
        if report.processed or report.forgotten or problems:
            await emit(
                Saved(
                    cause=cause,
                    learned=learned,
                    seconds=self._clock() - began,
                    model=report.model if asked else "",
                    usage=report.usage,
                    unread=_is_unread(report, asked=asked),
                    problems=problems,
                    remarks=self._unsaid(_remarks(report, asked=asked)),
                )
            )
        return report.found if cause is Cause.START else report.processed

    async def _look(self, service: DocumentProcessingService) -> Changes:
        """Look what changed; what seems to be gone is looked for a second time.

        Raises:
            Gone: The manuscript is not there, or nothing is left of it.
        """
        changes = None
        with suppress(NotFound):
            changes = await service.look()
        if changes is None or changes.gone:
            await self._rest(PATIENCE)
            try:
                changes = await service.look()
            except NotFound as error:
                raise Gone(MOVED) from error
        if changes.gone and not (changes.changed or changes.stale or changes.unchanged):
            raise Gone(EMPTY)
        if not self._readers.same():
            raise _replaced()
        return changes

    async def _wait_for_return(self, what: str, emit: WatchEmit) -> None:
        await emit(Away(what))
        while True:
            await self._rest(RETURN)
            try:
                await self._tried(Cause.RETURN, emit)
            except Gone:
                continue
            await emit(Returned())
            return

    def _untold(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        """Return the problems that are new, and forget those that are mended."""
        now = {problem.document: problem.message for problem in problems}
        told, self._told = self._told, now
        return tuple(p for p in problems if told.get(p.document) != p.message)

    def _unsaid(self, remarks: Sequence[str]) -> tuple[str, ...]:
        """Return the remarks that the last save did not make, too."""
        said, self._remarked = self._remarked, frozenset(remarks)
        return tuple(remark for remark in remarks if remark not in said)


async def _processed(
    service: DocumentProcessingService, progress: Emit
) -> IngestReport:
    """Do what there is to do; a failure inside a group of tasks is raised alone."""
    try:
        return await service.process(progress)
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group


def _remarks(report: IngestReport, *, asked: bool) -> tuple[str, ...]:
    """Return the remarks; that a model was not asked is none where none was to be."""
    return tuple(r for r in report.remarks if asked or not r.startswith(UNREAD))


def _is_unread(report: IngestReport, *, asked: bool) -> bool:
    """Say whether a language model is set and has not read all that was read now."""
    left = not asked or any(remark.startswith(UNREAD) for remark in report.remarks)
    return bool(report.model and report.processed and left)


def _to_do(changes: Changes) -> bool:
    return bool(changes.changed or changes.stale or changes.gone)


def _replaced() -> StoreProblem:
    return StoreProblem(
        "The library is gone, or another is in its place",
        hint="Start `lrwr watch` again.",
    )


def _unseen(event: IngestEvent) -> None:
    del event
