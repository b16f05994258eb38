"""Watch: scans the manuscript, follows file events, and reports each save."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.jobs import IngestEvent
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.sources import (
    FolderEvent,
    FolderEventSource,
    FolderLost,
    PollingStarted,
)
from lrwr.core.settings.library import MOVED_HINT
from lrwr.pipeline.changes import DocumentChanges
from lrwr.pipeline.report import (
    MODEL_SKIPPED_TEXT,
    DocumentProblem,
    EmitIngestEvent,
    IngestReport,
    describe_conflict_copies,
)
from lrwr.pipeline.service import DocumentProcessingService
from lrwr.pipeline.watch.debounce import (
    AttemptRunner,
    SnapshotJobQueue,
    SnapshotPage,
    WatchAction,
    WatchIntervals,
    WatchSchedule,
)
from lrwr.pipeline.watch.events import (
    EmitWatchEvent,
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchCause,
    WatchStart,
)


@dataclass(frozen=True, slots=True)
class ProcessedRun:
    """A finished processing run whose speakers are not attributed yet.

    `attribute_speakers` completes it. `page` has the snapshots of its documents before
    the run. `began` is the start time in seconds of the clock of watch. `asked_model`
    says whether a language model was allowed. `problems` and `remarks` are those that
    no earlier run has reported.
    """

    cause: WatchCause
    attribute_speakers: Callable[[], Awaitable[object]]
    page: SnapshotPage
    report: IngestReport
    began: float
    asked_model: bool
    problems: tuple[DocumentProblem, ...]
    remarks: tuple[str, ...]


class SaveReporter:
    """Attributes speakers and reports saves in the background.

    Runs that finish together are attributed together and reported one by one. If the
    attribution fails, they are reported with the next run. Attribution starts only
    while the lock `reading` is free, that is, while no documents are being processed.
    """

    def __init__(
        self,
        queue: SnapshotJobQueue,
        attempts: AttemptRunner,
        clock: Callable[[], float],
    ) -> None:
        self.reading = asyncio.Lock()
        self._queue = queue
        self._attempts = attempts
        self._clock = clock
        self._unreported: list[ProcessedRun] = []
        self._has_work = asyncio.Event()
        self._lock = asyncio.Lock()

    def add(self, run: ProcessedRun) -> None:
        """Add a finished run to the queue for speaker attribution and report."""
        self._unreported.append(run)
        self._has_work.set()

    async def run(self, emit: EmitWatchEvent) -> None:
        """Attribute and report queued runs until cancelled.

        Raises:
            StoreProblem: The library was deleted or replaced.
        """
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            await self._attempts.attempt(self.report_all(emit), emit)

    async def report_all(self, emit: EmitWatchEvent) -> int:
        """Attribute speakers and report all queued runs, oldest first; return the
        number of runs.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read or written.
        """
        async with self._lock:
            async with self.reading:
                runs = list(self._unreported)
            if runs:
                await runs[-1].attribute_speakers()
            for run in runs:
                await self._report(run, emit)
            return len(runs)

    async def _report(self, run: ProcessedRun, emit: EmitWatchEvent) -> None:
        report = run.report
        failed = {problem.document for problem in report.problems}
        changes = await self._queue.collect_changes(run.page, report.renamed, failed)
        self._unreported.remove(run)
        if report.processed or report.forgotten or run.problems or run.remarks:
            await emit(
                SaveReport(
                    cause=run.cause,
                    learned=changes,
                    seconds=self._clock() - run.began,
                    model=report.model if run.asked_model else "",
                    usage=report.usage,
                    unread=_is_unread(report, asks_model=run.asked_model),
                    problems=run.problems,
                    remarks=run.remarks,
                    missing=report.missing,
                )
            )


def _is_unread(report: IngestReport, *, asks_model: bool) -> bool:
    """Return whether a model is configured but has not analysed everything processed
    now.
    """
    is_incomplete = not asks_model or any(
        remark.startswith(MODEL_SKIPPED_TEXT) for remark in report.remarks
    )
    return bool(report.model and report.processed and is_incomplete)


PATIENCE = 1.0
"""Seconds after which a missing file counts as deleted."""
RETURN = 1.0
"""Seconds between two checks for a missing folder."""
EMPTY = "The manuscript folder is empty"
MOVED = "The manuscript folder is missing"
AT_ONCE = frozenset({WatchCause.START, WatchCause.RETURN})
"""Rounds that attribute and report before anything else is done."""
_CAUSES = {
    WatchAction.SAVE: WatchCause.SAVE,
    WatchAction.SWEEP: WatchCause.SWEEP,
    WatchAction.IDLE: WatchCause.IDLE,
}


class ManuscriptMissingError(Exception):
    """The manuscript folder is missing or empty; the message is the reason, as a
    clause.
    """


@dataclass(frozen=True, slots=True)
class WatchDependencies:
    """Functions that watch calls whenever it processes documents.

    Args:
        open: Creates a processing service for a cause that uses the given queue; raises
            `NotFound` if the manuscript folder is missing.
        may_ask_model: Returns whether a language model may run for a cause.
        create_queue: Creates the queue; called once.
        is_same_library: Returns whether the opened library still exists.
    """

    open: Callable[[WatchCause, JobQueue], DocumentProcessingService]
    may_ask_model: Callable[[WatchCause], bool]
    create_queue: Callable[[], SnapshotJobQueue]
    is_same_library: Callable[[], bool]


class WatchService:
    """Watches a manuscript and keeps its library up to date.

    All writing is done by the processing service. A save is processed immediately and
    is searchable while the speakers of earlier saves are still being attributed.
    `sleep` sleeps and `clock` returns the time, both in seconds. `progress` receives
    the events of the processing service.
    """

    def __init__(
        self,
        *,
        events: FolderEventSource,
        dependencies: WatchDependencies,
        intervals: WatchIntervals,
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        progress: EmitIngestEvent | None = None,
    ) -> None:
        self._events = events
        self._dependencies = dependencies
        self._intervals = intervals
        self._sleep = sleep
        self._clock = clock
        self._progress = progress or _ignore
        self._reported_problems: dict[DocumentId, str] = {}
        self._reported_remarks: frozenset[str] = frozenset()
        self._missing: tuple[DocumentId, ...] = ()
        self._polling_reason = ""
        self._attempts = AttemptRunner(dependencies.is_same_library)
        self._queue = dependencies.create_queue()
        self._reporter = SaveReporter(
            self._queue, AttemptRunner(dependencies.is_same_library), clock
        )

    async def run(self, emit: EmitWatchEvent, *, once: bool = False) -> None:
        """Bring the library up to date, then follow changes until cancelled.

        `emit` receives the events. With `once`, return after the first scan.

        Raises:
            NotFound: The manuscript folder does not exist.
            StoreProblem: The library cannot be read or written, or was replaced.
        """
        try:
            documents = await self._run_round(WatchCause.START, emit)
        except ManuscriptMissingError as gone:
            if once:
                raise NotFound(str(gone), hint=MOVED_HINT) from gone
            await self._wait_for_return(str(gone), emit)
            documents = 0
        if once:
            return
        await emit(WatchStart(documents))
        async with _unwrap_group(), asyncio.TaskGroup() as group:
            group.create_task(self._reporter.run(emit))
            await self._follow(emit)

    async def _follow(self, emit: EmitWatchEvent) -> None:
        while True:
            try:
                await self._watch_folder(emit)
            except ManuscriptMissingError as gone:
                await self._wait_for_return(str(gone), emit)

    async def _watch_folder(self, emit: EmitWatchEvent) -> None:
        """Run due actions until the event source ends.

        Raises:
            ManuscriptMissingError: The manuscript folder has disappeared.
        """
        events: asyncio.Queue[FolderEvent | None] = asyncio.Queue()
        listening = asyncio.create_task(self._forward_events(events))
        now = self._clock()
        unread = self._intervals.idle is not None
        schedule = WatchSchedule(self._intervals, swept=now, stirred=now, unread=unread)
        # Changes made before the event source started have no event.
        schedule = schedule.after_event(now)
        try:
            while (event := await self._next_event(events, schedule)) is not None:
                schedule = await self._handle(event, schedule, emit)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        if not listening.cancelled() and (error := listening.exception()):
            raise error
        await self._sleep(RETURN)

    async def _forward_events(
        self, events: "asyncio.Queue[FolderEvent | None]"
    ) -> None:
        try:
            async with aclosing(self._events.events()) as source:
                async for event in source:
                    events.put_nowait(event)
        finally:
            events.put_nowait(None)

    async def _next_event(
        self, events: "asyncio.Queue[FolderEvent | None]", schedule: WatchSchedule
    ) -> "FolderEvent | WatchAction | None":
        """Return the next event or due action, whichever is first; None at the events'
        end.
        """
        if not events.empty():
            return events.get_nowait()
        while True:
            now = self._clock()
            if (due := schedule.due(now)) is not None:
                return due
            try:
                async with asyncio.timeout(schedule.next_at() - now):
                    return await events.get()
            except TimeoutError:
                continue

    async def _handle(
        self,
        event: "FolderEvent | WatchAction",
        schedule: WatchSchedule,
        emit: EmitWatchEvent,
    ) -> WatchSchedule:
        match event:
            case FolderLost(folder):
                raise ManuscriptMissingError(
                    f"The folder {folder} was deleted or replaced"
                )
            case PollingStarted(why):
                if why != self._polling_reason:
                    self._polling_reason = why
                    await emit(PollingFallback(why))
                return schedule
            case WatchAction():
                return await self._act(event, schedule, emit)
            case _:
                return schedule.after_event(self._clock())

    async def _act(
        self, due: WatchAction, schedule: WatchSchedule, emit: EmitWatchEvent
    ) -> WatchSchedule:
        began, cause = self._clock(), _CAUSES[due]
        read = await self._attempts.attempt(self._run_round(cause, emit), emit)
        unread = bool(read) and not self._dependencies.may_ask_model(cause)
        return schedule.after_action(due, began).with_model_work(unread=unread)

    async def _run_round(self, cause: WatchCause, emit: EmitWatchEvent) -> int:
        """Process changes; return the number of documents found (at start) or
        processed.

        Raises:
            ManuscriptMissingError: The manuscript folder has disappeared.
        """
        began = self._clock()
        try:
            service = self._dependencies.open(cause, self._queue)
        except NotFound as error:
            raise ManuscriptMissingError(MOVED) from error
        was_missing = self._missing
        changes = await self._scan_twice(service)
        is_back = was_missing and not changes.missing
        if is_back:
            self._reported_remarks = frozenset()
        copies = describe_conflict_copies(service.skipped_files)
        has_news = changes.need_action or copies not in {"", *self._reported_remarks}
        if cause is WatchCause.SAVE and not has_news:
            if is_back:
                await emit(ManuscriptReturn())
            return 0
        async with self._reporter.reading, _unwrap_group():
            report = await service.read(self._progress)
            self._missing = report.missing
            asks_model = self._dependencies.may_ask_model(cause)
            self._reporter.add(
                ProcessedRun(
                    cause=cause,
                    attribute_speakers=partial(
                        service.attribute_speakers, recalls=cause is WatchCause.START
                    ),
                    page=self._queue.start_page(),
                    report=report,
                    began=began,
                    asked_model=asks_model,
                    problems=self._new_problems(report.problems),
                    remarks=self._new_remarks(
                        _relevant_remarks(report, asks_model=asks_model)
                    ),
                )
            )
        if is_back and not self._missing:
            await emit(ManuscriptReturn())
        if cause in AT_ONCE:
            await self._reporter.report_all(emit)
        return report.found if cause is WatchCause.START else report.processed

    async def _scan_twice(self, service: DocumentProcessingService) -> DocumentChanges:
        """Return the changes; if more files seem deleted, check again after `PATIENCE`
        seconds.

        Editors and sync tools replace a file by deleting and creating it.

        Raises:
            ManuscriptMissingError: The manuscript folder is missing or empty.
        """
        changes = None
        with suppress(NotFound):
            changes = await service.scan()
        if changes is None or changes.gone or changes.missing != self._missing:
            await self._sleep(PATIENCE)
            try:
                changes = await self._await_returning_files(service)
            except NotFound as error:
                raise ManuscriptMissingError(MOVED) from error
        self._missing = changes.missing
        if changes.is_emptied:
            raise ManuscriptMissingError(EMPTY)
        if not self._dependencies.is_same_library():
            raise _library_replaced_error()
        return changes

    async def _await_returning_files(
        self, service: DocumentProcessingService
    ) -> DocumentChanges:
        """Return the changes once no more of the missing files come back.

        Files of a drive or a branch come back one by one; the last few alone would
        count as deleted.
        """
        changes = await service.scan()
        while set(changes.gone) & set(self._missing):
            await self._sleep(PATIENCE)
            previous, changes = changes.gone, await service.scan()
            if changes.gone == previous:
                break
        return changes

    async def _wait_for_return(self, reason: str, emit: EmitWatchEvent) -> None:
        await emit(ManuscriptAway(reason))
        while True:
            await self._sleep(RETURN)
            try:
                await self._attempts.attempt(
                    self._run_round(WatchCause.RETURN, emit), emit
                )
            except ManuscriptMissingError:
                continue
            await emit(ManuscriptReturn())
            return

    def _new_problems(
        self, problems: Sequence[DocumentProblem]
    ) -> tuple[DocumentProblem, ...]:
        """Return the problems that were not reported before; forget resolved ones."""
        now = {problem.document: problem.message for problem in problems}
        previous_messages, self._reported_problems = self._reported_problems, now
        return tuple(
            p for p in problems if previous_messages.get(p.document) != p.message
        )

    def _new_remarks(self, remarks: Sequence[str]) -> tuple[str, ...]:
        """Return the remarks that the previous save did not have."""
        previous_remarks, self._reported_remarks = (
            self._reported_remarks,
            frozenset(remarks),
        )
        return tuple(remark for remark in remarks if remark not in previous_remarks)


@asynccontextmanager
async def _unwrap_group() -> AsyncIterator[None]:
    """Raise a single failure instead of the task group's exception group."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group


def _relevant_remarks(report: IngestReport, *, asks_model: bool) -> tuple[str, ...]:
    """Return the remarks, without the model's if it was not supposed to run."""
    return tuple(
        r for r in report.remarks if asks_model or not r.startswith(MODEL_SKIPPED_TEXT)
    )


def _library_replaced_error() -> StoreProblem:
    return StoreProblem(
        "The library was deleted or replaced",
        hint="Start `lrwr watch` again.",
    )


def _ignore(event: IngestEvent) -> None:
    del event
