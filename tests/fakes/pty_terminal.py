"""A real terminal for tests: lrwr in a pty, keys in, a screen out."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P^_][^\x1b]*\x1b\\"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
PATIENCE = 50.0
"""Seconds that a screen may take on a busy machine before it counts as broken."""

KEYS: Mapping[str, str] = {
    "enter": "\r",
    "escape": "\x1b",
    "down": "\x1b[B",
    "up": "\x1b[A",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "ctrl+c": "\x03",
    "ctrl+l": "\x0c",
    "ctrl+q": "\x11",
    "ctrl+n": "\x0e",
    "alt+1": "\x1b1",
}


class PtyTerminal:
    """A command in a pty. What it drew is kept, without the escapes."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        size: tuple[int, int] = (120, 36),
    ) -> None:
        self._own, theirs = pty.openpty()
        columns, rows = size
        fcntl.ioctl(
            theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0)
        )
        self._process = subprocess.Popen(
            list(words),
            cwd=folder,
            env={**env, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._drawn = ""
        self._seen = 0

    def __enter__(self) -> "PtyTerminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._own)

    @property
    def text(self) -> str:
        """All that was drawn since `expect` last found what it wanted."""
        return ESCAPES.sub("", self._drawn[self._seen :])

    def expect(self, wanted: str) -> None:
        """Wait until `wanted` is drawn; what was drawn before it is behind us."""
        end = time.monotonic() + PATIENCE
        while wanted not in self.text:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"no {wanted!r} in {self.text[-2_000:]!r}")
        self._seen = len(self._drawn)

    def press(self, *keys: str) -> None:
        """Press keys, by name or as characters, one after another."""
        for key in keys:
            os.write(self._own, KEYS.get(key, key).encode())
            self._read(0.05)

    def tell(self, told: signal.Signals) -> None:
        """Send the command a signal."""
        self._process.send_signal(told)

    def leave(self) -> int:
        """Wait for the end, and return the exit code."""
        end = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < end:
            self._read(0.1)
        return self._process.wait(timeout=1)

    def _read(self, seconds: float) -> bool:
        """Take in what comes within so many seconds; say whether any may still come."""
        if seconds <= 0:
            return False
        ready, _, _ = select.select([self._own], [], [], min(seconds, 1.0))
        if ready:
            try:
                self._drawn += os.read(self._own, 65_536).decode(errors="replace")
            except OSError:  # the command has ended and closed its side
                return False
        return True
