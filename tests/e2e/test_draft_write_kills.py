"""Killed while a language model writes: repeating ends as if nothing had happened."""

import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.test_draft import add_plan, manuscript
from tests.e2e.test_draft_write import PLAN
from tests.fakes.model_server import KEY, MODEL, ModelServer
from tests.fakes.scene_writer import SceneWriter
from tests.fakes.terminal import Terminal

KILLS = 100
"""Kills with LRWR_ALL_KILLS set; the suite has a twentieth of them, since each takes
seconds."""
WAIT = 0.05
"""Seconds that the model takes for a reply, so that some kills find one on its way."""


class WritingProcess:
    """A process that starts writers, which the test kills."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def read(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def start(self) -> int:
        """Start a writer and return its id."""
        assert self._process.stdin is not None
        self._process.stdin.write("write\n")
        self._process.stdin.flush()
        return self.read()

    def finish(self) -> float:
        """Let a writer end well, and return the seconds that it took."""
        began = time.monotonic()
        self.start()
        assert self.read() == 0
        return time.monotonic() - began

    def kill(self, seconds: float) -> bool:
        """Start a writer and kill it `seconds` later, unless it ends before; return
        whether it was killed.
        """
        child, output = self.start(), self._process.stdout
        assert output is not None
        ended, _, _ = select.select([output], [], [], seconds)
        if not ended:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return self.read() != 0


@dataclass
class KilledWriter:
    """A writer that is killed at random moments, and what it should leave behind."""

    folder: Path
    process: WritingProcess
    writer: SceneWriter
    dice: random.Random
    longest: float
    undisturbed: dict[str, bytes]
    steps: set[tuple[str, str, str]]
    needed: int

    def run(self, most: int) -> int:
        """Write from the start, killed up to `most` times; return how many it was."""
        before, kills = manuscript(self.folder), 0
        start_afresh(self.folder)
        self.writer.asked.clear()
        while kills < most and self.process.kill(self.dice.uniform(0, self.longest)):
            kills += 1
            assert manuscript(self.folder) == before
            assert files_of(self.folder).items() <= self.undisturbed.items()
        self.longest = min(self.longest, 1.1 * self.process.finish())
        assert files_of(self.folder) == self.undisturbed
        assert steps_of(self.folder) == self.steps
        assert len(self.writer.asked) <= self.needed + kills
        assert list((self.folder / "drafts").glob(".lrwr-new-*")) == []
        return kills


@contextmanager
def writing(folder: Path, env: dict[str, str]) -> Iterator[WritingProcess]:
    words = [sys.executable, "-m", "tests.fakes.writing_process"]
    with subprocess.Popen(
        words,
        cwd=folder,
        env={**env, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield WritingProcess(process)
        process.kill()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(wait=WAIT) as opened:
        yield opened


def files_of(folder: Path) -> dict[str, bytes]:
    scenes = folder / "drafts" / "scenes"
    return {
        path.relative_to(scenes).as_posix(): path.read_bytes()
        for path in scenes.rglob("*")
        if path.is_file()
    }


def steps_of(folder: Path) -> set[tuple[str, str, str]]:
    database = folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("select key, step, reply from draft_step")
        return set(rows.fetchall())


def start_afresh(folder: Path) -> None:
    for path in (folder / "drafts" / "scenes").rglob("*.md"):
        path.unlink()
    database = folder / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("delete from draft_step")


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
@pytest.mark.timeout(3_600)
def test_a_killed_writer_ends_like_one_that_was_left_alone(
    read_sample: Terminal, server: ModelServer
) -> None:
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, plan=PLAN)
    folder, dice = read_sample.folder, random.Random(25)
    writer = SceneWriter()
    server.answering(writer.answer)
    env = {
        "LRWR_EMBEDDING_MODEL": "off",
        "LRWR_MODEL_USE": "openai",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": server.base_url,
        "OPENAI_API_KEY": KEY,
    }
    before, kills = manuscript(folder), 0
    with writing(folder, {**read_sample.env, **env}) as process:
        seconds = process.finish()
        killed = KilledWriter(
            folder,
            process,
            writer,
            dice,
            seconds,
            files_of(folder),
            steps_of(folder),
            len(writer.asked),
        )
        assert sorted(killed.undisturbed) == ["new/1.md", "new/2.md"]
        assert killed.writer.shapes() == ["Scene", "Review", "Edits", "Review"]
        most = KILLS if "LRWR_ALL_KILLS" in os.environ else KILLS // 20
        while kills < most:
            kills += killed.run(most - kills)
    assert manuscript(folder) == before
