import os
import subprocess
import sys
from uuid import uuid4

import pytest

from lrwr.core.adapters.storage.sqlite.job_queue import build_worker_name
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobKind, JobOrder, JobState
from tests.fakes.hosted import Writer, open_library
from tests.fakes.hosted_workers import Place, claiming
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase

JOBS, PROCESSES = 200, 4


@pytest.fixture
async def library(hosted: SupabaseRpc) -> str:
    return await open_library(hosted, uuid4().hex)


def some_orders(count: int) -> list[JobOrder]:
    documents = [DocumentId(f"{n}.md") for n in range(count)]
    return [JobOrder(JobKind.PROCESS, one, Pipeline.NAIVE) for one in documents]


@pytest.mark.timeout(300)
async def test_four_processes_take_every_job_once(
    supabase: SupabaseServer, writer: Writer, hosted: SupabaseRpc, library: str
) -> None:
    queue = SupabaseJobQueue(hosted, library)
    assert await queue.enqueue(some_orders(JOBS)) == JOBS
    place = Place(supabase.url, supabase.key, writer.token, library)
    with claiming(place, PROCESSES) as processes:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        said = [process.communicate()[0].split() for process in processes]
        assert [process.returncode for process in processes] == [0] * PROCESSES
    done = [int(job) for one in said for job in one]
    jobs = await queue.jobs(limit=JOBS + 1)
    assert len(done) == len(set(done)) == JOBS
    assert {int(job.id) for job in jobs} == set(done)
    assert {(job.state, job.attempts) for job in jobs} == {(JobState.COMPLETE, 1)}


def a_process_that_is_over() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


async def test_a_worker_that_died_on_this_machine_keeps_nobody_waiting(
    hosted: SupabaseRpc, library: str
) -> None:
    queue = SupabaseJobQueue(hosted, library)
    await queue.enqueue(some_orders(1))
    gone = a_process_that_is_over()
    dead = build_worker_name("a").replace(f"/{os.getpid()}/", f"/{gone}/")
    elsewhere = f"elsewhere/{gone}/a"
    first = await queue.claim(elsewhere, lease=60.0)
    assert first is not None
    assert await queue.claim("w", lease=60.0) is None
    await queue.fail(first, "", "")
    await queue.enqueue(some_orders(1))
    assert await queue.claim(dead, lease=60.0) is not None
    again = await queue.claim("w", lease=60.0)
    assert again is not None
    assert again.attempt == 2


async def test_jobs_that_are_over_are_forgotten_once_many_newer_ones_were_queued(
    hosted: SupabaseRpc, library: str
) -> None:
    queue = SupabaseJobQueue(hosted, library)
    await queue.enqueue(some_orders(1))
    claim = await queue.claim("w", lease=60.0)
    assert claim is not None
    assert await queue.complete(claim)
    await queue.enqueue(some_orders(1_999))
    assert len(await queue.jobs(limit=9_999)) == 2_000
    await queue.enqueue(some_orders(2_000)[-1:])
    assert len(await queue.jobs(limit=9_999)) == 2_000
    assert await queue.jobs(limit=9, state=JobState.COMPLETE) == []
