"""The services of one library, as the writing room is lent them."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.container import Services, open_services
from lrwr.app.presenters.consent import describe_consent_question, describe_data_leaving
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.consent import HOSTED_SERVICES, ConsentState
from lrwr.core.settings.library import (
    prepare_state_dir,
    resolve_targets,
    store_ingested_paths,
)
from lrwr.core.settings.model import Settings
from lrwr.core.settings.own_files import check_output_file, write_output_file

if TYPE_CHECKING:
    from lrwr.core.canon.service import CanonService
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.continuity.values import Contradiction, NewContradictions
    from lrwr.core.model.events import IngestEvent
    from lrwr.core.model.turns import ThreadId
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.retrieval.story import StoryOrder
    from lrwr.pipeline.report import IngestReport
    from lrwr.pipeline.watch.events import WatchEvent


@dataclass(frozen=True, slots=True)
class ServiceConsentRequest:
    """A service that only the folder's own settings turn on."""

    name: str
    question: str


@asynccontextmanager
async def open_room(
    settings: Settings, *, say: Callable[[str], None] | None = None
) -> "AsyncIterator[RoomServices]":
    """Lend out what the writing room needs, and close it on the way out."""
    async with open_services(settings, say=say, brief=False) as services:
        yield RoomServices(services)


class RoomServices:
    """The services of a library, each the same one every time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._session: AvatarSessionService | None = None
        self.settings = services.settings
        self.library = services.library
        self.manuscript = services.manuscript
        self.bible = services.bible

    @property
    def begun(self) -> bool:
        """Whether anything has been ingested here."""
        return self.library.database.exists()

    @property
    def threads(self) -> "ThreadStore":
        """The conversations; `NotFound` where nothing has been ingested."""
        return self._services.threads

    @property
    def passages(self) -> "PassageStore":
        """The text, as it was read; `NotFound` where nothing has been ingested."""
        return self._services.passages

    @property
    def jobs(self) -> "JobQueue":
        """The work that waits, runs and is done."""
        return self._services.jobs

    @property
    def canon(self) -> "CanonService":
        """The writer's decisions."""
        return self._services.canon

    def sessions(self) -> "AvatarSessionService":
        """Return the service that answers.

        Raises:
            NotFound: Nothing has been ingested here.
            SettingsProblem: The language model that is set has no key or no name.
        """
        if self._session is None:
            self._session = self._services.sessions()
        return self._session

    async def order(self) -> "StoryOrder":
        """Return what is told after what, as the writer has decided."""
        return await self._services.finder().story_order()

    async def contradictions(self) -> "tuple[Contradiction, ...]":
        """Return what contradicts confirmed canon, in the order of the text."""
        from lrwr.core.continuity.guard import find_contradictions

        known = await self.bible().knowledge()
        return await asyncio.to_thread(find_contradictions, known)

    async def ingest(
        self, targets: Sequence[Path], emit: "Callable[[IngestEvent], None]"
    ) -> "IngestReport":
        """Read `targets`, or what was read before where there are none.

        Raises:
            NotFound: Nothing is named, or it is not there.
            StoreProblem: The state folder cannot be written.
        """
        found = resolve_targets(targets or self.manuscript())
        service = self._services.processing(found)
        if targets and not self.settings.manuscript.folders:
            store_ingested_paths(self.library, found)
        return await service.process(emit)

    async def export(self, thread: "ThreadId", file: Path) -> None:
        """Write a conversation to a new file, as Markdown, with the places it cites.

        Raises:
            NotFound: There is no such conversation.
            SettingsProblem: The file is there, is no `.md`, or is in the manuscript.
            LrwrError: The disk or the rights there do not allow it.
        """
        from lrwr.app.presenters.threads import thread_to_blocks
        from lrwr.core.adapters.documents.markdown import render_blocks_as_markdown

        check_output_file(file, self.settings, [".md"], force=None)
        found = await self.threads.thread(thread)
        turns = await self.threads.turns(thread)
        places = await self._services.freshness.of_turns(turns)
        text = render_blocks_as_markdown(thread_to_blocks(found, turns, places))
        write_output_file(file, text.encode(), force=None)

    async def unread(self) -> int:
        """Return how many files were changed, added or removed since they were read.

        Nothing is read for it. A manuscript that is not there has none.
        """
        targets = [one for one in self.manuscript() if one.exists()]
        if not self.begun or not targets:
            return 0
        changes = await self._services.processing(targets, asking=False).look()
        return len(changes.changed) + len(changes.stale) + len(changes.gone)

    async def watch(self) -> "AsyncGenerator[WatchEvent | NewContradictions, None]":
        """Read each save, and yield what it brought, until it is closed.

        What contradicts what was said before follows the save that brought it in.

        Raises:
            NotFound: The manuscript is not where it was said to be.
            StoreProblem: The library cannot be read or written, or was replaced.
        """
        from lrwr.app.watch import create_watch_service

        service = create_watch_service(
            self._services, resolve_targets(self.manuscript())
        )
        came: asyncio.Queue[WatchEvent | NewContradictions | None] = asyncio.Queue()
        tell = await self._telling(came)

        async def run() -> None:
            try:
                await service.run(tell)
            finally:
                came.put_nowait(None)

        work = asyncio.create_task(run())
        try:
            while (event := await came.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def _telling(
        self, came: "asyncio.Queue[WatchEvent | NewContradictions | None]"
    ) -> "Callable[[WatchEvent], Awaitable[None]]":
        """Return what hands on an event, and then what it means for what was there."""
        from lrwr.app.watch import AnswerFreshnessMonitor, ContradictionMonitor
        from lrwr.core.continuity.values import NewContradictions
        from lrwr.pipeline.watch.events import SaveReport, WatchFailure

        def complain(sentence: str) -> None:
            came.put_nowait(WatchFailure(sentence, ""))

        answers = AnswerFreshnessMonitor(self._services, complain)
        guard = ContradictionMonitor(self._services, complain)
        await answers.begin()
        await guard.news()

        async def tell(event: "WatchEvent") -> None:
            await came.put(await answers.told(event))
            if isinstance(event, SaveReport) and event.learned.changed:
                slips = await guard.news(event.usage.calls)
                if slips:
                    await came.put(NewContradictions(slips))

        return tell

    def to_allow(self) -> tuple[ServiceConsentRequest, ...]:
        """Return the services that wait for the writer's leave."""
        outward = self._services.outward
        return tuple(
            ServiceConsentRequest(
                name, describe_consent_question(hosted, self.settings)
            )
            for name, hosted in HOSTED_SERVICES.items()
            if outward.leave(name) is ConsentState.UNASKED
        )

    def allow(self, name: str, *, allowed: bool) -> None:
        """Keep what the writer says of a service.

        Raises:
            StoreProblem: It cannot be kept.
        """
        prepare_state_dir(self.library)
        consents = self._services.outward.consents
        consents.keep(self.library, name, allowed=allowed)
        consents.tell(self.library, name)
        self._session = None

    def leaving(self) -> tuple[str, ...]:
        """Return, for each service that is turned on, what leaves the machine."""
        outward = self._services.outward
        return tuple(
            describe_data_leaving(hosted, self.settings)
            for name, hosted in HOSTED_SERVICES.items()
            if outward.leave(name).may
        )

    def first_use(self) -> tuple[str, ...]:
        """Return what is to be said once of services used here for the first time."""
        outward = self._services.outward
        new = [
            (name, hosted)
            for name, hosted in HOSTED_SERVICES.items()
            if outward.leave(name).may and not outward.consents.told(self.library, name)
        ]
        with suppress(StoreProblem):  # then it is said once more
            for name, _ in new:
                outward.consents.tell(self.library, name)
        return tuple(describe_data_leaving(hosted, self.settings) for _, hosted in new)
