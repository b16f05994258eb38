"""An evaluation in a process of its own, which dies: `evaluation_process FOLDER N`.

It kills itself before it searches for the time after N, as a power cut would.
"""

import asyncio
import os
import signal
import sys
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from lrwr.pipeline.evaluation.runner import EvalRunner, RunSetup
from tests.fakes.arms import SetArm, a_plan, asked, means_of


@dataclass(slots=True)
class Fuse:
    """Burns down, search by search."""

    left: int

    def __call__(self) -> None:
        """Burn, and at the end kill this process."""
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def two_arms(*, fuse: Fuse | None = None) -> RunSetup:
    """Two arms that differ; `fuse` burns at each of their searches."""
    arms = [SetArm("A"), SetArm("B", recipe="b")]
    for arm in arms:
        arm.before = fuse or arm.before
    return means_of(arms)


async def evaluate(folder: Path, means: RunSetup) -> None:
    """Run three questions through."""
    plan = a_plan(means, asked("q1", "q2", "q3"))
    runner = EvalRunner(folder, plan, means, lambda: 1_800_000_000.0)
    async with aclosing(runner.run()) as events:
        async for _ in events:
            pass


if __name__ == "__main__":
    fuse = Fuse(int(sys.argv[2]))
    asyncio.run(evaluate(Path(sys.argv[1]), two_arms(fuse=fuse)))
