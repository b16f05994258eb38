"""`lrwr watch` as it is typed, running beside a test, and a book of two chapters."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests.fakes.terminal import LRWR, Terminal

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
BROWN = GREY.replace("grey", "brown")
FROG = "# Two\n\nThe frog sat still.\n"


def write_book(terminal: Terminal) -> None:
    """Write two chapters into the folder `book`."""
    folder = terminal.folder / "book"
    folder.mkdir()
    (folder / "1.md").write_text(GREY, encoding="utf-8")
    (folder / "2.md").write_text(FROG, encoding="utf-8")


def swap(path: Path, text: str) -> None:
    """Save as an editor does: a new file takes the old one's name."""
    fresh = path.with_name(f"{path.name}.tmp")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


class Watch:
    """A `lrwr watch --json` that runs, and what it says.

    `before` are words of a command that runs it in its turn.
    """

    def __init__(
        self, terminal: Terminal, *words: str, before: Sequence[str] = ()
    ) -> None:
        handle, name = tempfile.mkstemp(dir=terminal.folder.parent, prefix="said-")
        os.close(handle)
        self.errors = Path(name)
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*before, str(LRWR), "watch", "--json", *words],
                cwd=terminal.folder,
                env=terminal.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def hear(self, event: str) -> dict[str, Any]:
        """Return the next event, which must be this one."""
        row = self._next()
        assert row["event"] == event, row
        return row

    def begun(self) -> "Watch":
        """Wait for the first sweep."""
        self.hear("saved")
        self.hear("watching")
        return self

    def until(self, event: str) -> list[dict[str, Any]]:
        """Return all events up to the first of this kind, and that one."""
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1]["event"] != event:
            heard.append(self._next())
        return heard

    def end(self) -> tuple[int, str]:
        """Wait for its end; return its exit code, and its error as two lines."""
        code = self.process.wait(timeout=50)
        said = self.errors.read_text(encoding="utf-8")
        while line := self._lines.get(timeout=50):
            if error := json.loads(line).get("error"):
                said += f"lrwr: {error['message']}\nhint: {error['hint']}\n"
        return code, said

    def stop(self, how: int = signal.SIGINT) -> str:
        """End it, which must be a good end, and return what it said on the side."""
        self.process.send_signal(how)
        assert self.process.wait(timeout=30) == 0
        said = self.errors.read_text(encoding="utf-8")
        assert "Traceback" not in said
        return said

    def _next(self) -> dict[str, Any]:
        line = self._lines.get(timeout=50)
        assert line, self.errors.read_text(encoding="utf-8")
        row: dict[str, Any] = json.loads(line)
        return row

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")  # it has ended


class Watches:
    """The watches that a test starts; those that still run at its end are ended."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.started: list[Watch] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for watch in self.started:
            if watch.process.poll() is None:
                watch.process.kill()
            watch.process.communicate()

    def start(self, *words: str, before: Sequence[str] = ()) -> Watch:
        """Start one."""
        watch = Watch(self._terminal, *words, before=before)
        self.started.append(watch)
        return watch
