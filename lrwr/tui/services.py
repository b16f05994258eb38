"""What the screens are lent: services, each the owner of its state."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lrwr.core.bible.service import BibleService
    from lrwr.core.canon.service import CanonService
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.continuity.values import Contradiction, NewContradictions
    from lrwr.core.model.events import IngestEvent
    from lrwr.core.model.turns import ThreadId
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.retrieval.story import StoryOrder
    from lrwr.core.settings.library import Library
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import IngestReport
    from lrwr.pipeline.watch.events import WatchEvent


class Lends(Protocol):
    """Services of one library. Each is built when it is asked for, and then kept.

    What needs a library raises `NotFound` where nothing has been ingested.
    """

    @property
    def settings(self) -> "Settings":
        """The settings that hold, and where each came from."""
        ...

    @property
    def library(self) -> "Library":
        """Where the library is."""
        ...

    @property
    def begun(self) -> bool:
        """Whether anything has been ingested here."""
        ...

    @property
    def threads(self) -> "ThreadStore":
        """The conversations."""
        ...

    @property
    def passages(self) -> "PassageStore":
        """The text, as it was read."""
        ...

    @property
    def jobs(self) -> "JobQueue":
        """The work that waits, runs and is done."""
        ...

    @property
    def canon(self) -> "CanonService":
        """The writer's decisions."""
        ...

    def sessions(self) -> "AvatarSessionService":
        """Return the service that answers."""
        ...

    def bible(self) -> "BibleService":
        """Return the service that reads what is known of the story."""
        ...

    async def order(self) -> "StoryOrder":
        """Return what is told after what, as the writer has decided."""
        ...

    async def contradictions(self) -> "Sequence[Contradiction]":
        """Return what contradicts confirmed canon, in the order of the text."""
        ...

    def manuscript(self) -> tuple[Path, ...]:
        """Return the folders and files that hold the manuscript; empty if none."""
        ...

    async def ingest(
        self, targets: Sequence[Path], emit: "Callable[[IngestEvent], None]"
    ) -> "IngestReport":
        """Read `targets`, or what was read before where there are none."""
        ...

    async def export(self, thread: "ThreadId", file: Path) -> None:
        """Write a conversation to a new file, as Markdown."""
        ...

    async def unread(self) -> int:
        """Return how many files were changed, added or removed since they were read."""
        ...

    def watch(self) -> "AsyncGenerator[WatchEvent | NewContradictions, None]":
        """Read each save, and yield what it brought, until it is closed."""
        ...

    def to_allow(self) -> "tuple[ConsentRequest, ...]":
        """Return the services that may be used only once the writer says so."""
        ...

    def allow(self, name: str, *, allowed: bool) -> None:
        """Keep what the writer says of a service."""
        ...

    def first_use(self) -> tuple[str, ...]:
        """Return what is to be said, once, of services that were never used here."""
        ...

    def leaving(self) -> tuple[str, ...]:
        """Return, for each service that is turned on, what leaves the machine."""
        ...


class ConsentRequest(Protocol):
    """A service that waits for the writer's leave."""

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    @property
    def question(self) -> str:
        """What the writer is asked, in sentences."""
        ...
