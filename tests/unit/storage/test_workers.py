import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.job_queue import (
    build_worker_name,
    is_worker_dead,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobKind, JobOrder
from tests.fakes.libraries import sqlite_library

HERE = build_worker_name("").partition("/")[0]


def a_dead_process() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_a_worker_of_this_process_lives() -> None:
    assert not is_worker_dead(f"{HERE}/{os.getpid()}/1")


def test_a_worker_whose_process_ended_is_dead() -> None:
    assert is_worker_dead(f"{HERE}/{a_dead_process()}/1")


@pytest.mark.parametrize(
    "name",
    ["", "w", "elsewhere.example/1/2", f"{HERE}/", f"{HERE}/x/1", f"{HERE}/-1/1"],
)
def test_in_doubt_a_worker_lives(name: str) -> None:
    assert not is_worker_dead(name)


def test_another_machine_of_the_same_name_is_not_asked() -> None:
    name, _, _ = HERE.rpartition(".")
    assert name == platform.node().replace("/", "-")
    assert not is_worker_dead(f"{name}.00000000/{a_dead_process()}/1")


async def test_the_job_of_a_dead_worker_is_handed_out_at_once(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as library:
        order = JobOrder(JobKind.PROCESS, DocumentId("1.md"), Pipeline.NAIVE)
        await library.queue.enqueue([order])
        dead = f"{HERE}/{a_dead_process()}/0"
        assert await library.queue.claim(dead, lease=600.0) is not None
        taken = await library.queue.claim(f"{HERE}/{os.getpid()}/0", lease=600.0)
        assert taken is not None
        assert taken.order == order
        assert await library.queue.claim(f"{HERE}/{os.getpid()}/1", lease=600.0) is None
