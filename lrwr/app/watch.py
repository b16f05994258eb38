"""Watches a manuscript: the service, and the effects of each save."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lrwr.app.container import Workspace
from lrwr.app.continuity import ContradictionMonitor
from lrwr.app.ingestion import (
    IngestLimits,
    create_processing_service,
    create_story_attributor,
    resolve_manuscript,
)
from lrwr.app.maintenance.automatic_backup import back_up_if_due
from lrwr.app.presenters.watch import list_changed_documents
from lrwr.core.adapters.source.folder_watcher import WatchfilesEventSource
from lrwr.core.adapters.storage.sqlite.story_store import SqliteSnapshotStore
from lrwr.core.continuity.statements import NewContradictions
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.retrieval.freshness import FreshnessService, StaleAnswerDetector
from lrwr.core.settings.drives import find_network_drive
from lrwr.core.settings.model import Settings
from lrwr.pipeline.watch.debounce import SnapshotJobQueue, WatchIntervals
from lrwr.pipeline.watch.events import (
    SaveReport,
    WatchCause,
    WatchEvent,
    WatchFailure,
)
from lrwr.pipeline.watch.service import WatchDependencies, WatchService

if TYPE_CHECKING:
    from lrwr.core.ports.jobs import JobQueue
    from lrwr.pipeline.report import EmitIngestEvent
    from lrwr.pipeline.service import DocumentProcessingService

SaveEvent: TypeAlias = WatchEvent | NewContradictions
"""An event of the watch service, or the contradictions that a save introduced."""


def create_watch_service(
    workspace: Workspace,
    targets: Sequence[Path],
    *,
    progress: "EmitIngestEvent | None" = None,
    clock: Callable[[], float] = time.monotonic,
) -> WatchService:
    """Return the service that processes each save of the files and folders `targets`.

    `progress` receives the events of its ingestions. `clock` returns seconds from any
    starting point.

    Raises:
        StoreProblem: The state folder cannot be created.
        SettingsProblem: The configured language model has no key or no name.
    """
    settings, watch = workspace.settings, workspace.settings.watch
    with_model = settings.model.use != "off"
    return WatchService(
        events=WatchfilesEventSource(targets, poll=_describe_polling(targets)),
        dependencies=_create_dependencies(workspace, targets),
        intervals=WatchIntervals(
            debounce=watch.debounce / 1000,
            sweep=watch.sweep,
            idle=watch.idle if with_model and watch.model == "idle" else None,
        ),
        sleep=asyncio.sleep,
        clock=clock,
        progress=progress,
    )


def _create_dependencies(
    workspace: Workspace, targets: Sequence[Path]
) -> WatchDependencies:
    settings, watch = workspace.settings, workspace.settings.watch
    with_model = settings.model.use != "off"
    snapshots = SqliteSnapshotStore(workspace.database)
    attributor = cache(partial(create_story_attributor, workspace))

    def may_ask(cause: WatchCause) -> bool:
        return cause is WatchCause.IDLE or watch.model == "on-save"

    def open_service(
        cause: WatchCause, jobs: "JobQueue"
    ) -> "DocumentProcessingService":
        if not workspace.library.root.is_dir():  # ingesting would create it
            raise NotFound(f"There is no folder {workspace.library.root}")
        failure = back_up_if_due(workspace.library, now=workspace.now())
        if failure and workspace.notify is not None:
            workspace.notify(failure)
        limits = IngestLimits(
            calls=watch.calls,
            attribute_now=cause is WatchCause.IDLE or not with_model,
            jobs=jobs,
            attributor=attributor(),
        )
        return create_processing_service(
            workspace, targets, may_ask=may_ask(cause), limits=limits
        )

    def create_job_queue() -> SnapshotJobQueue:
        return SnapshotJobQueue(
            workspace.jobs, snapshots, workspace.stories, settings.pipeline
        )

    identity = FileIdentity(workspace.library.database)
    return WatchDependencies(open_service, may_ask, create_job_queue, identity)


async def stream_saves(workspace: Workspace) -> AsyncGenerator[SaveEvent, None]:
    """Watch the manuscript; process each save and yield its effects as events.

    It ends when the generator is closed. Contradictions follow the report of the save
    that introduced them.

    Raises:
        NotFound: The manuscript folder does not exist.
        StoreProblem: The library cannot be read or written, or was replaced.
    """
    service = create_watch_service(workspace, resolve_manuscript(workspace))
    events: asyncio.Queue[SaveEvent | None] = asyncio.Queue()

    def report_failure(sentence: str) -> None:
        events.put_nowait(WatchFailure(sentence, ""))

    answers = AnswerFreshnessMonitor(workspace, report_failure)
    contradictions = ContradictionMonitor(workspace, report_failure)
    await answers.record_baseline()
    await contradictions.find_new()

    async def enqueue(event: WatchEvent) -> None:
        await events.put(await answers.add_affected_answers(event))
        if isinstance(event, SaveReport) and event.learned.changed:
            new = await contradictions.find_new(event.usage.calls)
            if new:
                await events.put(NewContradictions(new))

    async def run() -> None:
        try:
            await service.run(enqueue)
        finally:
            events.put_nowait(None)

    work = asyncio.create_task(run())
    try:
        while (event := await events.get()) is not None:
            yield event
        await work
    finally:
        work.cancel()
        await asyncio.wait([work])


def is_model_used_by_watch(settings: Settings) -> bool:
    """Return whether `lrwr watch` asks a language model, with these settings.

    False if no model is configured or `watch.model` is "manual".
    """
    return settings.model.use != "off" and settings.watch.model != "manual"


class FileIdentity:
    """Notices when the file at `path` was deleted or replaced by another file.

    Call the object to check. Files are compared by device and inode number, not by
    content, so writing to the file does not count.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def __call__(self) -> bool:
        """Return whether `path` is still the file that an earlier call found first.

        True if no earlier call found one; False whenever no file exists.
        """
        try:
            status = self._path.stat()
        except OSError:
            return False
        identity = status.st_dev, status.st_ino
        self._identity = self._identity or identity
        return identity == self._identity


def _describe_polling(targets: Sequence[Path]) -> str:
    """Return why the folders must be polled, such as a network drive; empty if not."""
    drives = ((target, find_network_drive(target)) for target in targets)
    return next((f"{target} is on {drive}" for target, drive in drives if drive), "")


class AnswerFreshnessMonitor:
    """Finds the answers in threads whose cited passages were changed by a save.

    `say` receives a sentence about what could not be checked. Nothing is found if there
    is no library.
    """

    def __init__(self, workspace: Workspace, say: Callable[[str], None]) -> None:
        self._workspace = workspace
        self._say = say
        self._detector: StaleAnswerDetector | None = None

    async def record_baseline(self) -> None:
        """Record which stored answers cite changed passages already.

        Call it before the first save, so that these answers are not reported.
        """
        if not self._workspace.is_ingested:
            return
        try:
            await self._open_detector().begin()
        except LrwrError as error:
            self._report(error)

    async def add_affected_answers(self, event: WatchEvent) -> WatchEvent:
        """Return `event`; if it is a save, with the stored answers that it affected.

        Those are the answers whose cited passages it edited or deleted. If the library
        cannot be read, `say` is called and nothing is added.
        """
        if not isinstance(event, SaveReport) or not event.learned.changed:
            return event
        changed = {DocumentId(name) for name in list_changed_documents(event.learned)}
        renamed = {
            DocumentId(document.was)
            for document in event.learned.documents
            if document.was
        }
        try:
            unsettled = await self._open_detector().unsettled(changed | renamed)
        except LrwrError as error:
            self._report(error)
            return event
        return replace(event, unsettled=unsettled)

    def _open_detector(self) -> StaleAnswerDetector:
        if self._detector is None:
            workspace = self._workspace
            self._detector = StaleAnswerDetector(
                FreshnessService(workspace.passages), workspace.threads
            )
        return self._detector

    def _report(self, error: LrwrError) -> None:
        self._say(f"Stored answers were not checked. {error}")
