"""What was known of each document before its job was begun."""

from collections.abc import Collection, Mapping, Sequence

from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import Claim, Job, JobOrder, JobState, Stage
from lrwr.core.ports.holding_store import Held, HoldingStore
from lrwr.core.ports.job_queue import JobQueue
from lrwr.core.ports.story_store import StoryStore
from lrwr.pipeline.watch_learned import Learned, Library, learned


class Ledger:
    """A job queue that notes what is known of a document when its job is claimed.

    Nobody else writes what is known of a document while its job is held, so that the
    moment of the claim is the moment before. It serves one ingestion.
    """

    def __init__(
        self,
        jobs: JobQueue,
        holdings: HoldingStore,
        stories: StoryStore,
        pipeline: Pipeline,
    ) -> None:
        self._jobs = jobs
        self._holdings = holdings
        self._stories = stories
        self._pipeline = pipeline
        self._before: dict[DocumentId, Held | None] = {}
        self._cast: Cast | None = None

    async def learned(
        self,
        renamed: Mapping[DocumentId, DocumentId],
        failed: Collection[DocumentId] = (),
    ) -> Learned:
        """Return what the jobs that were claimed here changed; `failed` did nothing."""
        before = {
            document: held
            for document, held in self._before.items()
            if document not in failed
        }
        after = await self._holdings.held(list(before), self._pipeline)
        known = {one: held for one, held in before.items() if held is not None}
        cast = await self._stories.cast() if before else Cast()
        return learned(
            Library(known, self._cast or Cast()), Library(after, cast), renamed
        )

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
    ) -> Claim | None:
        """Take the oldest job, and note what is known of its document."""
        claim = await self._jobs.claim(
            worker, lease=lease, documents=documents, pipeline=pipeline
        )
        if claim is not None:
            await self._note(claim.order.document)
        return claim

    async def renew(self, claim: Claim, stage: Stage, *, lease: float) -> bool:
        """Hold on to a job."""
        return await self._jobs.renew(claim, stage, lease=lease)

    async def fail(self, claim: Claim, error: str, hint: str) -> None:
        """Mark a job failed."""
        await self._jobs.fail(claim, error, hint)

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return jobs, newest first."""
        return await self._jobs.jobs(limit=limit, state=state)

    async def _note(self, document: DocumentId) -> None:
        if self._cast is None:
            self._cast = await self._stories.cast()
        if document not in self._before:
            held = await self._holdings.held([document], self._pipeline)
            self._before[document] = held.get(document)
