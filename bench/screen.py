"""Cost of the chat screen: first frame, streamed tokens, a long thread.

The first frame is measured in a pseudo-terminal, in CPU seconds of all threads,
alternately with a minimal Textual application.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.children import BenchFailed, inside, lrwr, run
from bench.library import Bench, manuscript_library
from bench.report import Line, skipped

PART = "screen"
PATIENCE = 60.0
BARE = Path(__file__).with_name("inside") / "bare_textual.py"
FIRST = b"irst frame"
OURS = b"sk your manuscript"


def measure(bench: Bench) -> list[Line]:
    if not Path("/proc/self/stat").exists():
        return skipped(PART, "this system does not tell what a running process took")
    library = manuscript_library(bench)
    rounds = 3 if bench.quick else 10
    bare: list[float] = []
    ours: list[float] = []
    for number in range(rounds + 1):
        costs = (
            first_frame([sys.executable, str(BARE)], FIRST, library.root),
            first_frame([*lrwr(), "chat"], OURS, library.root),
        )
        if number:  # the first round warms the disk's cache
            bare.append(costs[0])
            ours.append(costs[1])
    ratio = median(mine / least for mine, least in zip(ours, bare, strict=True))
    return [
        Line(PART, "lrwr chat ÷ bare Textual, first frame", ratio, "x", 1.4,
             note=f"median of {rounds} pairs, CPU"),
        Line(PART, "lrwr chat, first frame", median(ours), "CPU s"),
        Line(PART, "bare Textual, first frame", median(bare), "CPU s"),
        *_inside(),
    ]  # fmt: skip


def first_frame(command: Sequence[str], wanted: bytes, folder: Path) -> float:
    """Return the CPU seconds until a command has drawn the bytes `wanted`.

    It runs in `folder`, in a terminal of 120 by 36 characters, and is then killed.

    Raises:
        BenchFailed: They were not drawn within `PATIENCE` seconds.
    """
    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        list(command),
        cwd=folder,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        _until(own, wanted, command)
        return _cpu(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(own)


def _until(screen: int, wanted: bytes, command: Sequence[str]) -> None:
    drawn, end = b"", time.monotonic() + PATIENCE
    while wanted not in drawn:
        ready, _, _ = select.select([screen], [], [], 1.0)
        if ready:
            drawn += os.read(screen, 65_536)
        if time.monotonic() > end:
            raise BenchFailed(f"{' '.join(command)} drew no {wanted!r}")


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _inside() -> list[Line]:
    told = json.loads(run(inside("screen"), cwd=Path.cwd()).out)
    return [
        Line(PART, "3,000 tokens streamed, 120 x 36", told["ours"], "CPU s",
             note=f"Textual's own stream, alone: {told['bare']:.2f}"),
        Line(PART, "memory of 500 turns", told["mb"], "MB",
             note="above a room with 20 turns"),
    ]  # fmt: skip
