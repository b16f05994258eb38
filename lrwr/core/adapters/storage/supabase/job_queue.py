"""The queue of work on documents, shared by every machine of a writer.

The project's own clock says when a lease ends: machines need not agree on the time.
"""

from collections.abc import Collection, Sequence

from lrwr.core.adapters.storage.sqlite.job_queue import KEPT_JOBS, MAX_JOB_ATTEMPTS
from lrwr.core.adapters.storage.supabase.postgres_text import encode_postgres_json
from lrwr.core.adapters.storage.supabase.rpc import RpcJson, SupabaseRpc
from lrwr.core.adapters.storage.worker_liveness import is_worker_dead
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import (
    Job,
    JobClaim,
    JobId,
    JobKind,
    JobOrder,
    JobStage,
    JobState,
)


class SupabaseJobQueue:
    """Keeps the `JobQueue` port for one library, given by its id."""

    def __init__(self, hosted: SupabaseRpc, library: str) -> None:
        self._hosted = hosted
        self._library = library

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue work; a newer order changes the kind of one that waits already."""
        if not orders:
            return 0
        told = [
            {
                "kind": order.kind.value,
                "document": order.document,
                "pipeline": order.pipeline.value,
            }
            for order in orders
        ]
        added = await self._hosted.call(
            "enqueue",
            library=self._library,
            orders=encode_postgres_json(told),
            kept=KEPT_JOBS,
        )
        with self._hosted.reading():
            return int(added)

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Take the oldest job that waits, or whose lease ran out; None if none.

        Where there is none, those of workers that died on this machine are looked for.
        """
        asked: dict[str, RpcJson] = {
            "worker": worker,
            "lease": lease,
            "most": MAX_JOB_ATTEMPTS,
            "error": f"Work on it was begun {MAX_JOB_ATTEMPTS} times and never finished.",
            "hint": "Save the file again, or run `lrwr ingest` again.",
            "documents": None if documents is None else sorted(documents),
            "pipeline": pipeline.value if pipeline else None,
        }
        claimed, working = await self._claim(asked)
        gone = [other for other in working if is_worker_dead(other)]
        if claimed is None and gone:
            claimed, _ = await self._claim({**asked, "gone": gone})
        with self._hosted.reading():
            return None if claimed is None else _claimed(claimed, worker)

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Hold on to a job for `lease` more seconds; False when it was lost."""
        return await self._held("renew_job", claim, lease=lease, stage=stage.value)

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job failed; nothing happens when the claim has been lost."""
        await self._held("fail_job", claim, error=error, hint=hint)

    async def complete(self, claim: JobClaim) -> bool:
        """Mark a job complete; False when it was lost."""
        return await self._held("complete_job", claim)

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return jobs, newest first."""
        wanted = state.value if state else None
        found = await self._hosted.call(
            "jobs", library=self._library, limit=limit, state=wanted
        )
        with self._hosted.reading():
            return [_job(one) for one in found]

    async def _claim(self, asked: dict[str, RpcJson]) -> tuple[RpcJson, list[str]]:
        told = await self._hosted.call("claim_job", library=self._library, **asked)
        with self._hosted.reading():
            return told["claim"], [str(one) for one in told["working"]]

    async def _held(self, function: str, claim: JobClaim, **arguments: RpcJson) -> bool:
        done = await self._hosted.call(
            function,
            job=claim.job,
            worker=claim.worker,
            attempt=claim.attempt,
            **arguments,
        )
        return bool(done)


def _claimed(told: RpcJson, worker: str) -> JobClaim:
    return JobClaim(JobId(told["id"]), _order(told), worker, told["attempts"])


def _order(told: RpcJson) -> JobOrder:
    document, pipeline = DocumentId(told["document"]), Pipeline(told["pipeline"])
    return JobOrder(JobKind(told["kind"]), document, pipeline)


def _job(told: RpcJson) -> Job:
    return Job(
        id=JobId(told["id"]),
        order=_order(told),
        state=JobState(told["state"]),
        stage=JobStage(told["stage"]) if told["stage"] else None,
        attempts=told["attempts"],
        error=told["error"],
        hint=told["hint"],
        created=float(told["created_at"]),
        updated=float(told["updated_at"]),
    )
