"""The job queue in a Supabase project, shared by all machines of an account.

Leases are timed by the Supabase project's clock, so the clocks of the machines need not
agree.
"""

from collections.abc import Collection, Sequence

from lrwr.core.adapters.storage.sqlite.job_queue import (
    KEPT_JOBS,
    MAX_JOB_ATTEMPTS,
    is_worker_dead,
)
from lrwr.core.adapters.storage.supabase.rpc import (
    RpcJson,
    SupabaseRpc,
    encode_postgres_json,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.codec import decode_value, encode_value
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import (
    Job,
    JobClaim,
    JobId,
    JobOrder,
    JobStage,
    JobState,
)


class SupabaseJobQueue:
    """The `JobQueue` port in a Supabase project, for the library with the id `library`.

    Every method raises LrwrError if the Supabase project does not answer or refuses.
    """

    def __init__(self, rpc: SupabaseRpc, library: str) -> None:
        self._rpc = rpc
        self._library = library

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue `orders`, and return the number of new jobs.

        At most one job waits for each document and pipeline; a further order only
        changes whether it processes or deletes the document.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        if not orders:
            return 0
        added = await self._rpc.call(
            "enqueue",
            library=self._library,
            orders=encode_postgres_json(encode_value(tuple(orders))),
            kept=KEPT_JOBS,
        )
        with self._rpc.decoding():
            return int(added)

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Claim the oldest job that waits or whose lease has ended; None if there is
        none.

        `worker` is a name of `build_worker_name`. The claim is a lease: it ends after
        `lease` seconds unless it is renewed. Only jobs of `documents` and `pipeline`
        are considered; None stands for all. If no job is free, the leases of workers
        that have died on this machine are ended, and the claim is tried again.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        parameters: dict[str, RpcJson] = {
            "worker": worker,
            "lease": lease,
            "most": MAX_JOB_ATTEMPTS,
            "error": f"Processing was started {MAX_JOB_ATTEMPTS} times and never finished.",
            "hint": "Save the file or run `lrwr ingest` to try again.",
            "documents": None if documents is None else sorted(documents),
            "pipeline": pipeline.value if pipeline else None,
        }
        claimed, working = await self._claim(parameters)
        dead_workers = [
            worker_name for worker_name in working if is_worker_dead(worker_name)
        ]
        if claimed is None and dead_workers:
            claimed, _ = await self._claim({**parameters, "gone": dead_workers})
        with self._rpc.decoding():
            return None if claimed is None else _decode_claim(claimed, worker)

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Record the stage of a claimed job, and extend its lease to `lease` seconds
        from now.

        False if another worker has claimed the job meanwhile, or it has ended.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        return await self._call_with_claim(
            "renew_job", claim, lease=lease, stage=stage.value
        )

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a claimed job as failed; `error` and `hint` are sentences for the user.

        Does nothing if the claim has been lost.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._call_with_claim("fail_job", claim, error=error, hint=hint)

    async def complete(self, claim: JobClaim) -> bool:
        """Mark a claimed job as complete; False if the claim has been lost.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        return await self._call_with_claim("complete_job", claim)

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return at most `limit` jobs, the most recently queued first.

        With `state`, only jobs in that state; None means all.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        state_name = state.value if state else None
        rows = await self._rpc.call(
            "jobs", library=self._library, limit=limit, state=state_name
        )
        with self._rpc.decoding():
            return [_decode_job(row) for row in rows]

    async def _claim(self, parameters: dict[str, RpcJson]) -> tuple[RpcJson, list[str]]:
        reply = await self._rpc.call("claim_job", library=self._library, **parameters)
        with self._rpc.decoding():
            return reply["claim"], [str(worker) for worker in reply["working"]]

    async def _call_with_claim(
        self, function: str, claim: JobClaim, **arguments: RpcJson
    ) -> bool:
        has_claim = await self._rpc.call(
            function,
            job=claim.job,
            worker=claim.worker,
            attempt=claim.attempt,
            **arguments,
        )
        return bool(has_claim)


def _decode_claim(row: RpcJson, worker: str) -> JobClaim:
    return JobClaim(
        JobId(row["id"]), decode_value(row, JobOrder), worker, row["attempts"]
    )


def _decode_job(row: RpcJson) -> Job:
    """Decode a row, whose columns include those of the order."""
    fields = {
        **row,
        "order": row,
        "stage": row["stage"] or None,
        "created": row["created_at"],
        "updated": row["updated_at"],
    }
    return decode_value(fields, Job)
