"""The job queue: documents to process, shared by all processes that use a library."""

import json
import os
import platform
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.checksums import check_types
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.choices import Pipeline
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


def build_worker_name(name: str) -> str:
    """Return a name for a worker of this process: `machine/process id/name`."""
    return f"{_machine_name()}/{os.getpid()}/{name}"


def is_worker_dead(worker: str) -> bool:
    """Return whether `worker` ran on this machine and its process no longer exists.

    `worker` is a name made by `build_worker_name`. False if that is uncertain.
    """
    machine, _, process_part = worker.partition("/")
    process = process_part.partition("/")[0]
    if machine != _machine_name() or not process.isdecimal() or os.name == "nt":
        return False  # on Windows os.kill with signal 0 ends the process
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


@cache
def _machine_name() -> str:
    """Return a name of this machine that changes when it restarts.

    On Linux, a hash of boot id and process namespace distinguishes machines and
    containers with the same host name.
    """
    apart = ""
    with suppress(OSError):
        apart = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        apart += str(Path("/proc/self/ns/pid").readlink())
    name = platform.node().replace("/", "-")
    return f"{name}.{sha256(apart.encode()).hexdigest()[:8]}"


MAX_JOB_ATTEMPTS = 3
KEPT_JOBS = 2_000
"""Finished jobs are deleted once this many newer jobs have been queued."""
_CHANGE_PENDING = """
update job set kind = :kind, updated_at = :now
where document_id = :document and pipeline = :pipeline
  and state = 'pending' and kind <> :kind
"""
_QUEUE = """
insert into job (kind, document_id, pipeline, created_at, updated_at)
values (:kind, :document, :pipeline, :now, :now)
on conflict do nothing
"""
_DELETE_OLD = """
delete from job
where id < (select max(id) from job) - ? and state in ('complete', 'failed')
"""
_GIVE_UP = """
update job
set state = 'failed', lease_until = null, stage = null, updated_at = :now,
    error = :error, hint = :hint
where state = 'running' and lease_until < :now and attempts >= :most
"""
_ACTIVE_WORKERS = (
    "select distinct worker from job where state = 'running' and lease_until >= ?"
)
_END_LEASES = """
update job set lease_until = 0 where state = 'running' and worker = ?
"""

# One worker at a time processes a document: a job waits while another job of the same
# document and pipeline is running.
_MATCHES = """
(:documents is null or document_id in (select value from json_each(:documents)))
and (:pipeline is null or pipeline = :pipeline)
"""
_CLAIM = f"""
update job
set state = 'running', worker = :worker, lease_until = :now + :lease,
    attempts = attempts + 1, stage = null, updated_at = :now
where id = (
  select min(id) from (
    select min(id) as id from job
    where state = 'running' and lease_until < :now and {_MATCHES}
    union all
    select id from (
      select id from job as waiting
      where state = 'pending' and {_MATCHES} and not exists (
        select 1 from job as other
        where other.state = 'running' and other.pipeline = waiting.pipeline
          and other.document_id = waiting.document_id
      )
      order by id limit 1
    )
  )
)
returning id, kind, document_id, pipeline, attempts
"""
_IS_CLAIMED = """
id = :job and state = 'running' and worker = :worker and attempts = :attempt
"""
_RENEW = f"""
update job set lease_until = :now + :lease, stage = :stage, updated_at = :now
where {_IS_CLAIMED}
"""
_FAIL = f"""
update job
set state = 'failed', lease_until = null, updated_at = :now, error = :error,
    hint = :hint
where {_IS_CLAIMED}
"""
_COMPLETE = f"""
update job
set state = 'complete', lease_until = null, stage = null, updated_at = :now
where {_IS_CLAIMED}
"""
_JOBS = """
select 1, id, kind, document_id, pipeline, state, stage, attempts, error, hint,
  created_at, updated_at
from job
where :state is null or state = :state
order by id desc limit :limit
"""


class SqliteJobQueue:
    """The `JobQueue` port in the library's SQLite file; `now` returns seconds since
    1970.

    Every method raises StoreProblem if the library cannot be read or written.
    """

    def __init__(self, database: SqliteDatabase, *, now: Callable[[], float]) -> None:
        self._database = database
        self._now = now

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue `orders`, and return the number of new jobs.

        At most one job waits for each document and pipeline; a further order only
        changes whether it processes or deletes the document.
        """
        now = self._now()
        rows: list[dict[str, object]] = [
            {
                "kind": order.kind.value,
                "document": order.document,
                "pipeline": order.pipeline.value,
                "now": now,
            }
            for order in orders
        ]
        return await self._database.write(lambda connection: _enqueue(connection, rows))

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
        are considered; None stands for all. Two workers never hold jobs of one document
        and pipeline at a time. Leases of workers that have died on this machine end at
        once. A job claimed `MAX_JOB_ATTEMPTS` times without success fails.
        """
        parameters: dict[str, object] = {
            "worker": worker,
            "now": self._now(),
            "lease": lease,
            "documents": None if documents is None else json.dumps(list(documents)),
            "pipeline": pipeline.value if pipeline else None,
        }
        return await self._database.write(
            lambda connection: _claim(connection, parameters)
        )

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Record the stage of a claimed job, and extend its lease to `lease` seconds
        from now.

        Returns False, and changes nothing, if another worker has claimed the job
        meanwhile, or if it has ended.
        """
        row = self._claim_parameters(claim) | {"lease": lease, "stage": stage.value}
        changed = await self._database.write(
            lambda connection: connection.execute(_RENEW, row).rowcount
        )
        return changed == 1

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a claimed job as failed; `error` and `hint` are sentences for the user.

        Does nothing if the claim has been lost.
        """
        row = self._claim_parameters(claim) | {"error": error, "hint": hint}
        await self._database.write(
            lambda connection: connection.execute(_FAIL, row).rowcount
        )

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return at most `limit` jobs, the most recently queued first.

        With `state`, only jobs in that state; None means all.
        """
        parameters = {"limit": limit, "state": state.value if state else None}
        return await self._database.read(
            lambda connection: self._database.decode_rows(
                connection.execute(_JOBS, parameters), _decode_job
            )
        )

    def _claim_parameters(self, claim: JobClaim) -> dict[str, object]:
        return _claim_parameters(claim, self._now())


def complete_job(connection: sqlite3.Connection, claim: JobClaim, now: float) -> bool:
    """Mark a claimed job as complete; False if the claim has been lost.

    `now` is in seconds since 1970. Must be called inside a transaction.
    """
    return connection.execute(_COMPLETE, _claim_parameters(claim, now)).rowcount == 1


def _claim_parameters(claim: JobClaim, now: float) -> dict[str, object]:
    return {
        "job": claim.job,
        "worker": claim.worker,
        "attempt": claim.attempt,
        "now": now,
    }


def _enqueue(connection: sqlite3.Connection, rows: list[dict[str, object]]) -> int:
    connection.executemany(_CHANGE_PENDING, rows)
    added = connection.executemany(_QUEUE, rows).rowcount
    connection.execute(_DELETE_OLD, (KEPT_JOBS,))
    return max(0, added)


def _claim(
    connection: sqlite3.Connection, parameters: Mapping[str, object]
) -> JobClaim | None:
    active_workers = connection.execute(
        _ACTIVE_WORKERS, (parameters["now"],)
    ).fetchall()
    dead = [(worker,) for (worker,) in active_workers if is_worker_dead(worker)]
    connection.executemany(_END_LEASES, dead)
    connection.execute(
        _GIVE_UP,
        {
            "now": parameters["now"],
            "most": MAX_JOB_ATTEMPTS,
            "error": f"Processing was started {MAX_JOB_ATTEMPTS} times and never finished.",
            "hint": "Save the file or run `lrwr ingest` to try again.",
        },
    )
    # Fetch all rows: otherwise the statement with RETURNING stays open.
    rows = connection.execute(_CLAIM, parameters).fetchall()
    if not rows:
        return None
    job, kind, document, pipeline, attempts = rows[0]
    order = JobOrder(JobKind(kind), DocumentId(document), Pipeline(pipeline))
    return JobClaim(JobId(job), order, str(parameters["worker"]), attempts)


def _decode_job(
    row: tuple[int, str, str, str, str, str | None, int, str, str, float, float],
) -> Job:
    check_types(row[-2:], float, float)
    check_types((*row[:4], *row[6:9]), int, str, str, str, int, str, str)
    (
        job,
        kind,
        document,
        pipeline,
        state,
        stage,
        attempts,
        *error_columns,
        created,
        updated,
    ) = row
    return Job(
        id=JobId(job),
        order=JobOrder(JobKind(kind), DocumentId(document), Pipeline(pipeline)),
        state=JobState(state),
        stage=JobStage(stage) if stage else None,
        attempts=attempts,
        error=error_columns[0],
        hint=error_columns[1],
        created=created,
        updated=updated,
    )
