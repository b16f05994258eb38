"""What a command writes to a terminal, with all its escape sequences."""

import contextlib
import fcntl
import os
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.fakes.terminal import LRWR


def control() -> None:
    """Make the terminal of stdin the one that controls this process."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def on_a_terminal(
    folder: Path, *words: str, lines: int, columns: int = 100, **env: str
) -> str:
    """Return what `lrwr` with these words writes to a terminal that it controls."""
    return show(folder, words, (lines, columns), env, control)


def show(
    folder: Path,
    words: Sequence[str],
    size: tuple[int, int],
    env: Mapping[str, str],
    begin: Callable[[], None] | None,
) -> str:
    """Return what `lrwr` writes to a terminal of `size` (lines, columns).

    `begin` runs in the new process before `lrwr` starts.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    seen = b""
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm"}
    with subprocess.Popen(
        [LRWR, *words],
        cwd=folder,
        env={**kept, **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=begin,
    ):
        os.close(theirs)
        with contextlib.suppress(OSError):  # the terminal is gone with its last user
            while part := os.read(ours, 65_536):
                seen += part
    os.close(ours)
    return seen.decode()
