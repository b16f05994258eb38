"""When a watch acts on a change, and what was known of documents before it.

Pure: the time is an argument, in seconds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import Job, JobClaim, JobOrder, JobStage, JobState
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.stores import DocumentSnapshot, DocumentSnapshotStore
from lrwr.core.ports.story_stores import StoryStore
from lrwr.pipeline.watch.events import KnowledgeDelta, KnowledgeSnapshot, diff_knowledge

LONGEST = 10
"""A save is read after this many debounces, even if files do not come to rest."""


class WatchAction(Enum):
    """What is to be done now, the most urgent first."""

    SAVE = "save"
    """Files changed, and have come to rest."""
    IDLE = "idle"
    """Nothing has changed for long, and a language model may read."""
    SWEEP = "sweep"
    """It is time to look for what nobody told."""


@dataclass(frozen=True, slots=True)
class WatchIntervals:
    """How long to wait, in seconds.

    `debounce` is how long files must be at rest before a save is read, `sweep` the
    time between two sweeps, and `idle` how long nothing may change before a language
    model reads; None where none does so.
    """

    debounce: float
    sweep: float
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class WatchSchedule:
    """What is to be done, and when.

    `first` and `last` are when the events of a save that is not read yet began and
    ended; None when there is none. `stirred` is when something last happened, and
    `unread` says that a language model has something to read since.
    """

    pace: WatchIntervals
    swept: float
    stirred: float
    first: float | None = None
    last: float | None = None
    unread: bool = False

    def touched(self, now: float) -> "WatchSchedule":
        """Note that something happened."""
        first = now if self.first is None else self.first
        return replace(self, first=first, last=now, stirred=now)

    def learned(self, *, unread: bool) -> "WatchSchedule":
        """Note that a save was read, and whether a model has to read it too."""
        return replace(self, unread=self.unread or unread)

    def next_at(self) -> float:
        """Return when something is due, if nothing happens until then."""
        times = [self.swept + self.pace.sweep, self._saved_at(), self._idle_at()]
        return min(time for time in times if time is not None)

    def due(self, now: float) -> WatchAction | None:
        """Return what is due; None while nothing is."""
        saved, idle = self._saved_at(), self._idle_at()
        if saved is not None and now >= saved:
            return WatchAction.SAVE
        if idle is not None and now >= idle:
            return WatchAction.IDLE
        return WatchAction.SWEEP if now >= self.swept + self.pace.sweep else None

    def done(self, due: WatchAction, now: float) -> "WatchSchedule":
        """Note that something due was done, beginning at `now`.

        Whatever is done looks at every file, so that nothing that was heard before it
        began is left to be read.
        """
        rested = replace(self, first=None, last=None, swept=now)
        return replace(rested, unread=False) if due is WatchAction.IDLE else rested

    def _saved_at(self) -> float | None:
        if self.first is None or self.last is None:
            return None
        longest = self.first + LONGEST * self.pace.debounce
        return min(self.last + self.pace.debounce, longest)

    def _idle_at(self) -> float | None:
        if self.pace.idle is None or not self.unread:
            return None
        return self.stirred + self.pace.idle


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotPage:
    """What was known of the documents of one reading before it."""

    before: dict[DocumentId, DocumentSnapshot | None] = field(default_factory=dict)


class SnapshotJobQueue:
    """A job queue that notes what is known of a document when its job is claimed.

    Nobody else writes what is known of a document while its job is held, so that the
    moment of the claim is the moment before. Readings follow one another, each on a
    page of its own; what one brought may be told while the next is under way.
    """

    def __init__(
        self,
        jobs: JobQueue,
        holdings: DocumentSnapshotStore,
        stories: StoryStore,
        pipeline: Pipeline,
    ) -> None:
        self._jobs = jobs
        self._holdings = holdings
        self._stories = stories
        self._pipeline = pipeline
        self._pages = [SnapshotPage()]
        self._cast: Cast | None = None

    def turn(self) -> SnapshotPage:
        """Return the page of the reading that is done; the next begins another."""
        self._pages.append(SnapshotPage())
        return self._pages[-2]

    async def learned(
        self,
        page: SnapshotPage,
        renamed: Mapping[DocumentId, DocumentId],
        failed: Collection[DocumentId] = (),
    ) -> KnowledgeDelta:
        """Return what the jobs of a page changed, once; `failed` did nothing.

        Names are told with the page that is told first after they are known.
        """
        before = {
            document: snapshot
            for document, snapshot in page.before.items()
            if document not in failed
        }
        after = await self._after(page, list(before))
        known_before = {
            document: snapshot
            for document, snapshot in before.items()
            if snapshot is not None
        }
        cast = await self._stories.cast() if before else self._cast or Cast()
        snapshots = (
            KnowledgeSnapshot(known_before, self._cast or Cast()),
            KnowledgeSnapshot(after, cast),
        )
        self._pages.remove(page)
        under_way = any(other_page.before for other_page in self._pages)
        self._cast = cast if under_way else None
        return diff_knowledge(*snapshots, renamed)

    async def _after(
        self, page: SnapshotPage, documents: Sequence[DocumentId]
    ) -> dict[DocumentId, DocumentSnapshot]:
        """Return the knowledge after a page: the state before the next page with the document."""
        current_snapshots = await self._holdings.held(documents, self._pipeline)
        later_pages = self._pages[self._pages.index(page) + 1 :]
        snapshots: dict[DocumentId, DocumentSnapshot] = {}
        for document in documents:
            states = [
                later_page.before[document]
                for later_page in later_pages
                if document in later_page.before
            ]
            snapshot = states[0] if states else current_snapshots.get(document)
            if snapshot is not None:
                snapshots[document] = snapshot
        return snapshots

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue work."""
        return await self._jobs.enqueue(orders)

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Take the oldest job, and note what is known of its document."""
        claim = await self._jobs.claim(
            worker, lease=lease, documents=documents, pipeline=pipeline
        )
        if claim is not None:
            await self._note(claim.order.document)
        return claim

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Hold on to a job."""
        return await self._jobs.renew(claim, stage, lease=lease)

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job failed."""
        await self._jobs.fail(claim, error, hint)

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return jobs, newest first."""
        return await self._jobs.jobs(limit=limit, state=state)

    async def _note(self, document: DocumentId) -> None:
        page = self._pages[-1]
        if self._cast is None:
            self._cast = await self._stories.cast()
        if document not in page.before:
            snapshots = await self._holdings.held([document], self._pipeline)
            page.before[document] = snapshots.get(document)
