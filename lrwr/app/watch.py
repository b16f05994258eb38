"""The service that watches a manuscript, fitted as the settings say."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.ingestion import IngestLimits
from lrwr.app.presenters.watch import list_changed_documents
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.continuity.guard import find_contradictions
from lrwr.core.continuity.values import Contradiction
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.retrieval.freshness import StaleAnswerDetector
from lrwr.core.settings.places import find_network_drive
from lrwr.pipeline.watch.events import SaveReport, WatchCause, WatchEvent

if TYPE_CHECKING:
    from lrwr.app.container import Services
    from lrwr.core.continuity.pairs import StatementPair
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import EmitIngestEvent
    from lrwr.pipeline.service import DocumentProcessingService
    from lrwr.pipeline.watch.debounce import SnapshotJobQueue
    from lrwr.pipeline.watch.service import WatchService


def create_watch_service(
    services: "Services",
    targets: Sequence[Path],
    *,
    progress: "EmitIngestEvent | None" = None,
    clock: Callable[[], float] = time.monotonic,
) -> "WatchService":
    """Return the service that watches `targets`; `progress` sees it read them.

    Raises:
        StoreProblem: The state folder cannot be made.
        SettingsProblem: A language model is set that cannot be asked.
    """
    from lrwr.core.adapters.source.folder_watcher import WatchfilesEventSource
    from lrwr.pipeline.watch.debounce import SnapshotJobQueue, WatchIntervals
    from lrwr.pipeline.watch.service import WatchDependencies, WatchService

    settings, watch = services.settings, services.settings.watch
    with_model = settings.model.use != "off"

    def asks(cause: WatchCause) -> bool:
        return cause is WatchCause.IDLE or watch.model == "on-save"

    def reader(cause: WatchCause, jobs: "JobQueue") -> "DocumentProcessingService":
        if not services.library.root.is_dir():  # or it would be made
            raise NotFound(f"There is no folder {services.library.root}")
        bounds = IngestLimits(
            calls=watch.calls,
            complete=cause is WatchCause.IDLE or not with_model,
            jobs=jobs,
        )
        return services.processing(targets, asking=asks(cause), bounds=bounds)

    def ledger() -> "SnapshotJobQueue":
        return SnapshotJobQueue(
            services.jobs, services.holdings, services.stories, settings.pipeline
        )

    return WatchService(
        events=WatchfilesEventSource(targets, poll=_why_polled(targets)),
        readers=WatchDependencies(
            reader, asks, ledger, FileIdentity(services.library.database)
        ),
        pace=WatchIntervals(
            debounce=watch.debounce / 1000,
            sweep=watch.sweep,
            idle=watch.idle if with_model and watch.model == "idle" else None,
        ),
        rest=asyncio.sleep,
        clock=clock,
        progress=progress,
    )


def is_model_used_by_watch(settings: "Settings") -> bool:
    """Say whether a watch ever asks a language model."""
    return settings.model.use != "off" and settings.watch.model != "manual"


class FileIdentity:
    """Says whether a file is still the one that it was when it was asked first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place: tuple[int, int] | None = None

    def __call__(self) -> bool:
        """Say whether it is; a file that is gone is not."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        place = status.st_dev, status.st_ino
        self._place = self._place or place
        return place == self._place


def _why_polled(targets: Sequence[Path]) -> str:
    drives = ((target, find_network_drive(target)) for target in targets)
    return next((f"{target} is on {drive}" for target, drive in drives if drive), "")


class ContradictionMonitor:
    """Knows which contradictions were told; what is intended is none.

    Where a language model reads each save, it judges the pairs that a save brings in.
    `say` is told what could not be done.
    """

    def __init__(self, services: "Services", say: Callable[[str], None]) -> None:
        self._services = services
        self._say = say
        self._told: frozenset[str] = frozenset()
        self._pairs: frozenset[StatementPair] = frozenset()

    async def news(self, calls_made: int | None = None) -> tuple[Contradiction, ...]:
        """Return those that were not there when this was last asked.

        `calls_made` is what the save has asked a model already; None asks it nothing.
        A library that cannot be read has no news, and that is said.
        """
        if self._services.settings.pipeline is not Pipeline.AGENTIC:
            return ()
        try:
            known = await self._known()
            ruled = await asyncio.to_thread(find_contradictions, known)
            found = [*ruled, *await self._judged(known, ruled, calls_made)]
        except LrwrError as error:
            self._say(f"Contradictions were not looked for. {error}")
            return ()
        slips = [one for one in found if not one.intended]
        new = tuple(one for one in slips if one.id not in self._told)
        self._told = frozenset(one.id for one in slips)
        return new

    @property
    def _asks(self) -> bool:
        """Say whether a language model reads each save."""
        settings = self._services.settings
        return settings.model.use != "off" and settings.watch.model == "on-save"

    async def _known(self) -> StoryKnowledge:
        bible = self._services.bible()
        return await (bible.knowledge() if self._asks else bible.stated())

    async def _judged(
        self,
        known: StoryKnowledge,
        ruled: tuple[Contradiction, ...],
        calls_made: int | None,
    ) -> tuple[Contradiction, ...]:
        """Return what a model finds in pairs that are new, and found in all others."""
        if not self._asks:
            return ()
        from lrwr.core.continuity.pair_selection import find_statement_pairs
        from lrwr.core.continuity.verdicts import verify_judgements

        every = await asyncio.to_thread(find_statement_pairs, known)
        fresh = [one for one in every if one not in self._pairs]
        calls = self._services.settings.watch.calls
        left = 0 if calls_made is None else max(0, calls - calls_made)
        judge = self._services.judge(asking=left > 0, calls=left)
        if judge is None:
            return ()
        self._pairs = frozenset(every)
        if left:
            session = await judge.judge(fresh)
            if session.unjudged and session.stopped:
                self._say(f"Not all was judged. {session.stopped}")
        kept = await judge.kept(every)
        judged = [(one, kept[one]) for one in every if one in kept]
        return verify_judgements(judged, known, judge.name, ruled).found


class AnswerFreshnessMonitor:
    """Looks after the answers of a library, which may not be there yet.

    `say` is told what could not be done.
    """

    def __init__(self, services: "Services", say: Callable[[str], None]) -> None:
        self._services = services
        self._say = say
        self._watch: StaleAnswerDetector | None = None

    async def begin(self) -> None:
        """Take note, before anything is read, of what does not hold already."""
        if not self._services.library.database.exists():
            return
        try:
            await self._opened().begin()
        except LrwrError as error:
            self._complain(error)

    async def told(self, event: WatchEvent) -> WatchEvent:
        """Return an event, a save with the answers that rest on what it changed.

        A library that cannot be read has none, and that is said.
        """
        if not isinstance(event, SaveReport) or not event.learned.changed:
            return event
        changed = {DocumentId(name) for name in list_changed_documents(event.learned)}
        renamed = {DocumentId(one.was) for one in event.learned.documents if one.was}
        try:
            unsettled = await self._opened().unsettled(changed | renamed)
        except LrwrError as error:
            self._complain(error)
            return event
        return replace(event, unsettled=unsettled)

    def _opened(self) -> StaleAnswerDetector:
        if self._watch is None:
            services = self._services
            self._watch = StaleAnswerDetector(services.freshness, services.threads)
        return self._watch

    def _complain(self, error: LrwrError) -> None:
        self._say(f"Kept answers were not looked at. {error}")
