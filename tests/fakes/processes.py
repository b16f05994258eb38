"""Starting and ending the processes of `tests.fakes.workers`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Worker:
    """One other process, which talks in lines."""

    def __init__(self, what: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.workers", what, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self) -> str:
        """Return the next line that it says; empty when it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def go(self) -> None:
        """Tell it to go on."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def rest(self) -> list[str]:
        """Wait for its end, which must be a good one, and return what it said."""
        said, _ = self._process.communicate()
        assert self._process.returncode == 0
        return said.split()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def workers(what: str, folder: Path, count: int = 1) -> Iterator[list[Worker]]:
    """Run `count` workers; whatever is left of them at the end is killed."""
    started = [Worker(what, folder) for _ in range(count)]
    try:
        yield started
    finally:
        for worker in started:
            worker.kill()
