"""Watches a manuscript: the service, and the effects of each save."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lrwr.app.container import Workspace
from lrwr.app.continuity import create_pair_judge
from lrwr.app.ingestion import (
    IngestLimits,
    create_processing_service,
    create_story_attributor,
    resolve_manuscript,
)
from lrwr.app.maintenance.automatic_backup import back_up_if_due
from lrwr.app.presenters.watch import list_changed_documents
from lrwr.core.adapters.source.folder_watcher import WatchfilesEventSource
from lrwr.core.adapters.storage.sqlite.document_snapshots import (
    SqliteSnapshotStore,
    SqliteStatedStore,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.finder import ContradictionFinder
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.core.continuity.statements import Contradiction, NewContradictions
from lrwr.core.continuity.verdicts import verify_judgements
from lrwr.core.model.choices import Pipeline
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
    from lrwr.core.continuity.pairs import StatementPair
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
) -> WatchService:
    """Return the service that processes each save of the files and folders `targets`.

    `progress` receives the events of its ingestions.

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
        clock=time.monotonic,
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


class ContradictionMonitor:
    """Finds the contradictions that each save introduces, except intended ones.

    If `watch.model` is "on-save", a language model also judges new pairs of statements.
    `say` receives a sentence about what could not be checked.
    """

    def __init__(self, workspace: Workspace, say: Callable[[str], None]) -> None:
        self._workspace = workspace
        self._say = say
        self._finder: ContradictionFinder | None = None
        self._known_ids: frozenset[str] = frozenset()
        self._pairs: frozenset[StatementPair] = frozenset()

    async def find_new(
        self, calls_made: int | None = None
    ) -> tuple[Contradiction, ...]:
        """Return the unintended contradictions that did not exist at the last call.

        The first call returns all. `calls_made` is the number of requests that this
        save already made to a language model; they count towards `watch.calls`. With
        None no model is asked. Empty in pipeline a. If the library cannot be read,
        `say` is called and the result is empty.
        """
        if self._workspace.settings.pipeline is not Pipeline.AGENTIC:
            return ()
        try:
            found = await self._find(calls_made)
        except LrwrError as error:
            self._say(f"Contradictions were not checked. {error}")
            return ()
        unintended = [
            contradiction for contradiction in found if not contradiction.intended
        ]
        new = tuple(
            contradiction
            for contradiction in unintended
            if contradiction.id not in self._known_ids
        )
        self._known_ids = frozenset(contradiction.id for contradiction in unintended)
        return new

    @property
    def _asks_model(self) -> bool:
        """Whether a language model analyses each save."""
        settings = self._workspace.settings
        return settings.model.use != "off" and settings.watch.model == "on-save"

    async def _find(self, calls_made: int | None) -> Sequence[Contradiction]:
        if not self._asks_model:
            return await self._open_finder().find()
        knowledge = await self._workspace.bible().knowledge()
        rule_findings = await asyncio.to_thread(find_contradictions, knowledge)
        return (
            *rule_findings,
            *await self._judge(knowledge, rule_findings, calls_made),
        )

    def _open_finder(self) -> ContradictionFinder:
        if self._finder is None:
            workspace = self._workspace
            workspace.require_library()
            self._finder = ContradictionFinder(
                stated=SqliteStatedStore(workspace.database),
                stories=workspace.stories,
                patterns=workspace.settings.manuscript.order,
                canon=workspace.canon_file.load,
            )
        return self._finder

    async def _judge(
        self,
        knowledge: StoryKnowledge,
        rule_findings: tuple[Contradiction, ...],
        calls_made: int | None,
    ) -> tuple[Contradiction, ...]:
        """Return a model's findings: new ones in new pairs, cached ones in all others."""
        pairs = await asyncio.to_thread(find_statement_pairs, knowledge)
        new_pairs = [pair for pair in pairs if pair not in self._pairs]
        limit = self._workspace.settings.watch.calls
        calls = 0 if calls_made is None else max(0, limit - calls_made)
        judge = create_pair_judge(self._workspace, may_ask=calls > 0, calls=calls)
        if judge is None:
            return ()
        self._pairs = frozenset(pairs)
        if calls:
            result = await judge.judge(new_pairs)
            if result.unjudged and result.stopped:
                self._say(f"Not everything was checked. {result.stopped}")
        cached = await judge.stored_judgements(pairs)
        judged = [(pair, cached[pair]) for pair in pairs if pair in cached]
        return verify_judgements(judged, knowledge, judge.name, rule_findings).found
