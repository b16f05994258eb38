"""A watch over a writer's desk, whose events and rests are the test's."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_snapshots import SqliteSnapshotStore
from lrwr.core.ports.jobs import JobQueue
from lrwr.pipeline.recipes import RecipeTools
from lrwr.pipeline.service import DocumentProcessingService
from lrwr.pipeline.watch.debounce import SnapshotJobQueue, WatchIntervals
from lrwr.pipeline.watch.events import WatchCause, WatchEvent
from lrwr.pipeline.watch.service import WatchDependencies, WatchService
from tests.fakes.desks import SIZE
from tests.fakes.embedder import count_words
from tests.fakes.folder_events import ScriptedEvents
from tests.fakes.story_desks import StoryDesk

Event = TypeVar("Event")

QUICK = WatchIntervals(debounce=0.001, sweep=3600)


@dataclass(slots=True)
class Watched:
    """A watch, what it says, what happens while it rests, and why it looked.

    `asking` is the setting `[watch] model`, `calls` that of the same name.
    """

    desk: StoryDesk
    holdings: SqliteSnapshotStore
    pace: WatchIntervals = QUICK
    asking: str = "manual"
    calls: int = 0
    same: bool = True
    forget_missing: bool = False
    events: ScriptedEvents = field(default_factory=ScriptedEvents)
    said: "asyncio.Queue[WatchEvent]" = field(default_factory=asyncio.Queue)
    meanwhile: list[Callable[[], object]] = field(default_factory=list)
    rounds: list[WatchCause] = field(default_factory=list)

    def service(self) -> WatchService:
        """The watch."""
        return WatchService(
            events=self.events,
            dependencies=WatchDependencies(
                self._reader, self._asks, self._ledger, lambda: self.same
            ),
            intervals=self.pace,
            sleep=self._rest,
            clock=time.monotonic,
        )

    async def say(self, event: WatchEvent) -> None:
        """Take down what the watch says."""
        self.said.put_nowait(event)

    async def hear(self, kind: type[Event]) -> Event:
        """Return the next event, which must be of this kind."""
        event = await self.said.get()
        assert isinstance(event, kind), event
        return event

    def _reader(self, cause: WatchCause, jobs: JobQueue) -> DocumentProcessingService:
        self.rounds.append(cause)
        desk = self.desk
        recipe = desk.recipe(SIZE)
        if desk.meters:
            desk.meters[-1].most_calls = self.calls
            if not self._asks(cause):
                desk.meters[-1].stop("Nothing is to be sent now.")
        return DocumentProcessingService(
            source=FolderSource(desk.folder, [desk.folder]),
            parse=desk.parse,
            recipe=recipe,
            tools=RecipeTools(
                count_words, desk.embedder, desk.library.knowledge.known_vectors
            ),
            store=desk.library.knowledge,
            jobs=jobs,
            worker="watch",
            attributor=desk.weaver(),
            pause=desk.pause,
            complete=cause is WatchCause.IDLE or desk.analyst is None,
            forget_missing=self.forget_missing,
        )

    def _asks(self, cause: WatchCause) -> bool:
        return cause is WatchCause.IDLE or self.asking == "on-save"

    def _ledger(self) -> SnapshotJobQueue:
        library = self.desk.library
        return SnapshotJobQueue(
            library.queue, self.holdings, library.story, self.desk.pipeline
        )

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(0)
        if self.meanwhile:
            self.meanwhile.pop(0)()


@asynccontextmanager
async def over(desk: StoryDesk) -> AsyncIterator[Watched]:
    """Lend out a watch over a desk, not begun."""
    database = SqliteDatabase(desk.folder.parent / "state" / "lrwr.db")
    try:
        yield Watched(desk, SqliteSnapshotStore(database))
    finally:
        await database.aclose()


@asynccontextmanager
async def begun(watched: Watched) -> AsyncIterator[Watched]:
    """Run a watch meanwhile; whatever it raises is raised."""
    running = asyncio.create_task(watched.service().run(watched.say))
    try:
        yield watched
        assert not running.done(), running.exception()
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
