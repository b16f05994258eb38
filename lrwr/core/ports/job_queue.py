"""Work that waits, and who is at it."""

from collections.abc import Collection, Sequence
from typing import Protocol

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import Job, JobClaim, JobOrder, JobStage, JobState


class JobQueue(Protocol):
    """Jobs survive the process that made them: any process may take one up.

    A worker holds a job by a lease. When the lease runs out, the job may be claimed
    by another, and the first finds its claim lost when it wants to store.
    """

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue work; an order that waits already is not queued twice.

        Returns how many were added.
        """
        ...

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Take the oldest job that waits, or whose lease ran out; None if none.

        `lease` is in seconds. Only jobs on `documents` and of `pipeline` are taken;
        None means any. A job that was claimed three times and never finished is
        marked failed instead of being handed out again.
        """
        ...

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Hold on to a job for `lease` more seconds; False when it was lost."""
        ...

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job failed, with what happened and what to try."""
        ...

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return jobs, newest first."""
        ...
