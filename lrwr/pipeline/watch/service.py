"""Watch: sweep, follow changes, sweep again; attribute speakers and report each save."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.model.jobs import IngestEvent
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.sources import (
    FolderEvent,
    FolderEventSource,
    FolderLost,
    PollingStarted,
)
from lrwr.pipeline.changes import DocumentChanges
from lrwr.pipeline.report import (
    MODEL_SKIPPED_TEXT,
    DocumentProblem,
    EmitIngestEvent,
    IngestReport,
)
from lrwr.pipeline.service import DocumentProcessingService
from lrwr.pipeline.watch.debounce import (
    SnapshotJobQueue,
    SnapshotPage,
    WatchAction,
    WatchIntervals,
    WatchSchedule,
)
from lrwr.pipeline.watch.events import (
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchCause,
    WatchEvent,
    WatchFailure,
    WatchStart,
)

EmitWatchEvent = Callable[[WatchEvent], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReadingRecord:
    """A reading that is done: all can be searched, and nothing is woven yet.

    `weave` brings up to date what follows from it. `began` is in seconds. `asked` says
    whether a language model may have been asked. `problems` and `remarks` are those
    that were not told before.
    """

    cause: WatchCause
    weave: Callable[[], Awaitable[object]]
    page: SnapshotPage
    report: IngestReport
    began: float
    asked: bool
    problems: tuple[DocumentProblem, ...]
    remarks: tuple[str, ...]


class AttemptRunner:
    """Attempts at one kind of work; a failure is told, and once while it lasts.

    `same` says whether the library is still the one that was opened.
    """

    def __init__(self, same: Callable[[], bool]) -> None:
        self._same = same
        self._trouble = ""

    async def make(self, work: Awaitable[int], emit: EmitWatchEvent) -> int:
        """Return what `work` returns; 0 if it fails.

        Raises:
            StoreProblem: The library was replaced.
        """
        try:
            count = await work
        except LrwrError as error:
            if isinstance(error, StoreProblem) and not self._same():
                raise
            if str(error) != self._trouble:
                self._trouble = str(error)
                await emit(WatchFailure(str(error), error.hint))
            return 0
        self._trouble = ""
        return count


class SaveReporter:
    """Weaves what was read and tells it, while the next save is read already.

    Readings that came together are woven together, and told one by one. Those whose
    weaving fails are told with the next. `reading` is held while something is read:
    no weaving begins then.
    """

    def __init__(
        self,
        ledger: SnapshotJobQueue,
        attempts: AttemptRunner,
        clock: Callable[[], float],
    ) -> None:
        self.reading = asyncio.Lock()
        self._ledger = ledger
        self._attempts = attempts
        self._clock = clock
        self._untold: list[ReadingRecord] = []
        self._wanted = asyncio.Event()
        self._weaving = asyncio.Lock()

    def add(self, reading: ReadingRecord) -> None:
        """Have a reading woven and told as soon as may be."""
        self._untold.append(reading)
        self._wanted.set()

    async def go_on(self, emit: EmitWatchEvent) -> None:
        """Weave and tell whatever is added, until cancelled.

        Raises:
            StoreProblem: The library was replaced.
        """
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._attempts.make(self.tell(emit), emit)

    async def tell(self, emit: EmitWatchEvent) -> int:
        """Weave and tell whatever has been added; return how many readings that was.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read or written.
        """
        async with self._weaving:
            async with self.reading:
                readings = list(self._untold)
            if readings:
                await readings[-1].weave()
            for reading in readings:
                await self._tell(reading, emit)
            return len(readings)

    async def _tell(self, reading_record: ReadingRecord, emit: EmitWatchEvent) -> None:
        report = reading_record.report
        failed = {problem.document for problem in report.problems}
        learned = await self._ledger.learned(
            reading_record.page, report.renamed, failed
        )
        self._untold.remove(reading_record)
        if report.processed or report.forgotten or reading_record.problems:
            await emit(
                SaveReport(
                    cause=reading_record.cause,
                    learned=learned,
                    seconds=self._clock() - reading_record.began,
                    model=report.model if reading_record.asked else "",
                    usage=report.usage,
                    unread=_is_unread(report, asks_model=reading_record.asked),
                    problems=reading_record.problems,
                    remarks=reading_record.remarks,
                )
            )


def _is_unread(report: IngestReport, *, asks_model: bool) -> bool:
    """Return whether a model is configured but has not read everything processed now."""
    is_incomplete = not asks_model or any(
        remark.startswith(MODEL_SKIPPED_TEXT) for remark in report.remarks
    )
    return bool(report.model and report.processed and is_incomplete)


PATIENCE = 1.0
"""Seconds in which a file that is gone may come back and was never gone."""
RETURN = 1.0
"""Seconds between two looks whether a folder that is gone is there again."""
EMPTY = "There is nothing left in the manuscript's folder"
MOVED = "The manuscript is not where it was"
AT_ONCE = frozenset({WatchCause.START, WatchCause.RETURN})
"""Readings that nothing else is done before: they are told before they end."""
_CAUSES = {
    WatchAction.SAVE: WatchCause.SAVE,
    WatchAction.SWEEP: WatchCause.SWEEP,
    WatchAction.IDLE: WatchCause.IDLE,
}


class ManuscriptMissingError(Exception):
    """The manuscript is not where it was; its text says so in a sentence."""


@dataclass(frozen=True, slots=True)
class WatchDependencies:
    """Who reads in each round.

    `open` makes a service for a cause, over the queue that it is lent; it raises
    `NotFound` where the library's folder is gone. `asks` says whether a language model
    may be asked then. `ledger` makes the queue, once for a watch. `same` says whether
    the library is still the one that was opened.
    """

    open: Callable[[WatchCause, JobQueue], DocumentProcessingService]
    asks: Callable[[WatchCause], bool]
    ledger: Callable[[], SnapshotJobQueue]
    same: Callable[[], bool]


class WatchService:
    """Watches a manuscript. All writing is done by the service that it is lent.

    A save is read at once; what was read is woven and told beside that, so that a save
    can be searched for while what came before it is still being woven.

    `rest` and `clock` are in seconds; `progress` sees the work on single documents.
    """

    def __init__(
        self,
        *,
        events: FolderEventSource,
        readers: WatchDependencies,
        pace: WatchIntervals,
        rest: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        progress: EmitIngestEvent | None = None,
    ) -> None:
        self._events = events
        self._readers = readers
        self._pace = pace
        self._rest = rest
        self._clock = clock
        self._progress = progress or _unseen
        self._told: dict[DocumentId, str] = {}
        self._remarked: frozenset[str] = frozenset()
        self._polled = ""
        self._attempts = AttemptRunner(readers.same)
        self._ledger = readers.ledger()
        self._telling = SaveReporter(self._ledger, AttemptRunner(readers.same), clock)

    async def run(self, emit: EmitWatchEvent, *, once: bool = False) -> None:
        """Bring the library up to date, and keep it so until cancelled.

        `once` ends after the first sweep.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read or written, or was replaced.
        """
        try:
            documents = await self._round(WatchCause.START, emit)
        except ManuscriptMissingError as gone:
            if once:
                raise NotFound(
                    str(gone),
                    hint="Bring it back; to forget it, run `lrwr ingest`.",
                ) from gone
            await self._wait_for_return(str(gone), emit)
            documents = 0
        if once:
            return
        await emit(WatchStart(documents))
        async with _alone(), asyncio.TaskGroup() as group:
            group.create_task(self._telling.go_on(emit))
            await self._go_on(emit)

    async def _go_on(self, emit: EmitWatchEvent) -> None:
        while True:
            try:
                await self._watch(emit)
            except ManuscriptMissingError as gone:
                await self._wait_for_return(str(gone), emit)

    async def _watch(self, emit: EmitWatchEvent) -> None:
        """Do what is due, until the events end.

        Raises:
            ManuscriptMissingError: The manuscript is not there any more.
        """
        heard: asyncio.Queue[FolderEvent | None] = asyncio.Queue()
        listening = asyncio.create_task(self._listen(heard))
        now = self._clock()
        unread = self._pace.idle is not None
        agenda = WatchSchedule(self._pace, swept=now, stirred=now, unread=unread)
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

    async def _listen(self, heard: "asyncio.Queue[FolderEvent | None]") -> None:
        try:
            async with aclosing(self._events.news()) as news:
                async for event in news:
                    heard.put_nowait(event)
        finally:
            heard.put_nowait(None)

    async def _next(
        self, heard: "asyncio.Queue[FolderEvent | None]", agenda: WatchSchedule
    ) -> "FolderEvent | WatchAction | None":
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
        self,
        news: "FolderEvent | WatchAction",
        agenda: WatchSchedule,
        emit: EmitWatchEvent,
    ) -> WatchSchedule:
        match news:
            case FolderLost(folder):
                raise ManuscriptMissingError(
                    f"There is no folder {folder}, or another in its place"
                )
            case PollingStarted(why):
                if why != self._polled:
                    self._polled = why
                    await emit(PollingFallback(why))
                return agenda
            case WatchAction():
                return await self._act(news, agenda, emit)
            case _:
                return agenda.touched(self._clock())

    async def _act(
        self, due: WatchAction, agenda: WatchSchedule, emit: EmitWatchEvent
    ) -> WatchSchedule:
        began, cause = self._clock(), _CAUSES[due]
        read = await self._attempts.make(self._round(cause, emit), emit)
        unread = bool(read) and not self._readers.asks(cause)
        return agenda.done(due, began).learned(unread=unread)

    async def _round(self, cause: WatchCause, emit: EmitWatchEvent) -> int:
        """Read what changed; return how many documents there are, or were read.

        Raises:
            ManuscriptMissingError: The manuscript is not there any more.
        """
        began = self._clock()
        try:
            service = self._readers.open(cause, self._ledger)
        except NotFound as error:
            raise ManuscriptMissingError(MOVED) from error
        changes = await self._look(service)
        if cause is WatchCause.SAVE and not _to_do(changes):
            return 0
        async with self._telling.reading, _alone():
            report = await service.read(self._progress)
            asks_model = self._readers.asks(cause)
            self._telling.add(
                ReadingRecord(
                    cause=cause,
                    weave=service.weave,
                    page=self._ledger.turn(),
                    report=report,
                    began=began,
                    asked=asks_model,
                    problems=self._untold(report.problems),
                    remarks=self._unsaid(_remarks(report, asks_model=asks_model)),
                )
            )
        if cause in AT_ONCE:
            await self._telling.tell(emit)
        return report.found if cause is WatchCause.START else report.processed

    async def _look(self, service: DocumentProcessingService) -> DocumentChanges:
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
                raise ManuscriptMissingError(MOVED) from error
        if changes.gone and not (changes.changed or changes.stale or changes.unchanged):
            raise ManuscriptMissingError(EMPTY)
        if not self._readers.same():
            raise _replaced()
        return changes

    async def _wait_for_return(self, reason: str, emit: EmitWatchEvent) -> None:
        await emit(ManuscriptAway(reason))
        while True:
            await self._rest(RETURN)
            try:
                await self._attempts.make(self._round(WatchCause.RETURN, emit), emit)
            except ManuscriptMissingError:
                continue
            await emit(ManuscriptReturn())
            return

    def _untold(
        self, problems: Sequence[DocumentProblem]
    ) -> tuple[DocumentProblem, ...]:
        """Return the problems that are new, and forget those that are resolved."""
        now = {problem.document: problem.message for problem in problems}
        previous_messages, self._told = self._told, now
        return tuple(
            p for p in problems if previous_messages.get(p.document) != p.message
        )

    def _unsaid(self, remarks: Sequence[str]) -> tuple[str, ...]:
        """Return the remarks that the last save did not have."""
        previous_remarks, self._remarked = self._remarked, frozenset(remarks)
        return tuple(remark for remark in remarks if remark not in previous_remarks)


@asynccontextmanager
async def _alone() -> AsyncIterator[None]:
    """Raise a failure inside a group of tasks alone."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group


def _remarks(report: IngestReport, *, asks_model: bool) -> tuple[str, ...]:
    """Return the remarks; that a model was not asked is none where none was to be."""
    return tuple(
        r for r in report.remarks if asks_model or not r.startswith(MODEL_SKIPPED_TEXT)
    )


def _to_do(changes: DocumentChanges) -> bool:
    return bool(changes.changed or changes.stale or changes.gone)


def _replaced() -> StoreProblem:
    return StoreProblem(
        "The library is gone, or another is in its place",
        hint="Start `lrwr watch` again.",
    )


def _unseen(event: IngestEvent) -> None:
    del event
