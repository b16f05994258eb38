"""The schedule of watch, attempts that may fail, and snapshots of documents before a
change.

Functions receive the time as an argument.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.core.model.jobs import Job, JobClaim, JobOrder, JobStage, JobState
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.stores import DocumentSnapshot, DocumentSnapshotStore
from lrwr.core.ports.story_stores import StoryStore
from lrwr.pipeline.watch.events import (
    EmitWatchEvent,
    KnowledgeDelta,
    KnowledgeSnapshot,
    WatchFailure,
    diff_knowledge,
)

LONGEST = 10
"""Maximum wait in multiples of the debounce time, if files keep changing."""


class WatchAction(Enum):
    """Kind of action that is due, most urgent first: process a save, use idle time for
    the language model, or scan all files (`SWEEP`).
    """

    SAVE = "save"
    """Files changed and have been unchanged for the debounce time."""
    IDLE = "idle"
    """Nothing has changed for the idle time; the language model may run."""
    SWEEP = "sweep"
    """The sweep interval is over: scan for changes without events."""


@dataclass(frozen=True, slots=True)
class WatchIntervals:
    """Delays in seconds.

    `debounce` is how long files must be unchanged before a save is processed, `sweep`
    the time between two full scans, `idle` the time without changes before the language
    model runs (None: it never runs when idle).
    """

    debounce: float
    sweep: float
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class WatchSchedule:
    """Immutable state of the scheduler; all times are in seconds of one clock.

    `first` and `last` are the times of the first and last unprocessed file event; None
    if there is none. `swept` is the time of the last scan, `stirred` that of the last
    event. `unread` means that the language model has documents to analyse.
    """

    pace: WatchIntervals
    swept: float
    stirred: float
    first: float | None = None
    last: float | None = None
    unread: bool = False

    def after_event(self, now: float) -> "WatchSchedule":
        """Return the schedule after a file event at the time `now`."""
        first = now if self.first is None else self.first
        return replace(self, first=first, last=now, stirred=now)

    def with_model_work(self, *, unread: bool) -> "WatchSchedule":
        """Return the schedule after documents were processed.

        `unread` means that the language model has not analysed all of them. False
        leaves the schedule unchanged.
        """
        return replace(self, unread=self.unread or unread)

    def next_at(self) -> float:
        """Return the time of the next action, in seconds, if no file event occurs
        before.
        """
        times = [self.swept + self.pace.sweep, self._saved_at(), self._idle_at()]
        return min(time for time in times if time is not None)

    def due(self, now: float) -> WatchAction | None:
        """Return the most urgent action that is due at the time `now`, or None."""
        saved, idle = self._saved_at(), self._idle_at()
        if saved is not None and now >= saved:
            return WatchAction.SAVE
        if idle is not None and now >= idle:
            return WatchAction.IDLE
        return WatchAction.SWEEP if now >= self.swept + self.pace.sweep else None

    def after_action(self, due: WatchAction, now: float) -> "WatchSchedule":
        """Return the schedule after the action `due`, which started at the time `now`.

        Every action scans all files, so events before its start need no further action.
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
    """Snapshots of the documents of one processing run, taken before the run changed
    them.

    `before` maps document ids to snapshots; None if the document was not in the
    library.
    """

    before: dict[DocumentId, DocumentSnapshot | None] = field(default_factory=dict)


class SnapshotJobQueue:
    """A job queue that takes a snapshot of a document when its job is claimed.

    Only the holder of a job changes its document, so the snapshot is the state before
    the job. Snapshots are grouped by processing run, so that `collect_changes` may
    evaluate one run while the next is in progress.
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

    def start_page(self) -> SnapshotPage:
        """Start a new page for the next run and return the page of the finished one."""
        self._pages.append(SnapshotPage())
        return self._pages[-2]

    async def collect_changes(
        self,
        page: SnapshotPage,
        renamed: Mapping[DocumentId, DocumentId],
        failed: Collection[DocumentId] = (),
    ) -> KnowledgeDelta:
        """Return the changes made by the jobs of a page, and discard the page.

        `renamed` maps new ids to old ones. Jobs of `failed` documents changed nothing.
        New and deleted names are reported with the first page evaluated after the cast
        has changed.
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
        """Return the documents after a page: their state before the next page that has
        them.
        """
        current_snapshots = await self._holdings.snapshots(documents, self._pipeline)
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
        """Add jobs to the queue and return how many were added.

        A job that is already waiting is not added again.
        """
        return await self._jobs.enqueue(orders)

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Claim the oldest job that may be claimed and take a snapshot of its document.

        `worker` identifies the process; `lease` is in seconds. With `documents` or
        `pipeline` only jobs of these are claimed. None if there is no such job.
        """
        claim = await self._jobs.claim(
            worker, lease=lease, documents=documents, pipeline=pipeline
        )
        if claim is not None:
            await self._note(claim.order.document)
        return claim

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Extend a claim to `lease` seconds from now and record the `stage` of its job.

        False if another process has taken the job.
        """
        return await self._jobs.renew(claim, stage, lease=lease)

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job as failed; `error` and `hint` are sentences for the user."""
        await self._jobs.fail(claim, error, hint)

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return at most `limit` jobs, newest first; only those in `state` unless it is
        None.
        """
        return await self._jobs.jobs(limit=limit, state=state)

    async def _note(self, document: DocumentId) -> None:
        page = self._pages[-1]
        if self._cast is None:
            self._cast = await self._stories.cast()
        if document not in page.before:
            snapshots = await self._holdings.snapshots([document], self._pipeline)
            page.before[document] = snapshots.get(document)


class AttemptRunner:
    """Runs work that may fail; the same failure is reported only once in a row.

    `is_same_library` returns whether the opened library still exists.
    """

    def __init__(self, is_same_library: Callable[[], bool]) -> None:
        self._is_same_library = is_same_library
        self._last_error = ""

    async def attempt(self, work: Awaitable[int], emit: EmitWatchEvent) -> int:
        """Return the result of `work`, a number, or 0 after an `LrwrError`.

        The error is emitted as a `WatchFailure`, unless the attempt before failed with
        the same message.

        Raises:
            StoreProblem: The library was deleted or replaced.
        """
        try:
            count = await work
        except LrwrError as error:
            if isinstance(error, StoreProblem) and not self._is_same_library():
                raise
            if str(error) != self._last_error:
                self._last_error = str(error)
                await emit(WatchFailure(str(error), error.hint))
            return 0
        self._last_error = ""
        return count
