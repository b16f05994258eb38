"""Runs child processes and measures their cost."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
LAUNCH = Path(__file__).with_name("launch.py")
_SHOWN = 600

LET_IN = "LRWR_CHUNK_"
"""How those of our variables begin that are not kept out."""


class BenchFailed(Exception):
    """A measured command failed.

    The message has the command, its exit code and the end of what it printed on stderr.
    """


class CpuLimitReached(BenchFailed):
    """A measured command was killed because it used more CPU time than allowed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a process, including its children.

    `cpu` is CPU seconds of all threads, `wall` elapsed seconds, `peak_mb` the highest
    memory in MB.
    """

    cpu: float
    wall: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a process that exited with code 0: its standard output and its
    cost.
    """

    out: str
    cost: Cost


def lrwr() -> list[str]:
    """Return the command line that starts lrwr.

    It runs the installed script, or the module if there is none.
    """
    script = Path(sys.executable).with_name("lrwr")
    return [str(script)] if script.exists() else [sys.executable, "-m", "lrwr"]


def inside(module: str) -> list[str]:
    """Return the command line that runs the module `bench.inside.` plus `module`."""
    return [sys.executable, "-m", f"bench.inside.{module}"]


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    out: Path | None = None,
    cpu_limit: int = 0,
) -> Done:
    """Run `command` in the folder `cwd` to its end, and return its output and cost.

    `env` is added to the environment. If `out` is a path, standard output is written to
    that file, and the output in the result is empty. `cpu_limit` is the CPU seconds after
    which the command is killed, 0 for no limit.

    Raises:
        BenchFailed: It exited with another code than 0.
        CpuLimitReached: It used more than `cpu_limit`.
    """
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        report, errors = Path(scratch, "cost.json"), Path(scratch, "err")
        printed = out or Path(scratch, "out")
        launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(report)]
        launcher.append(str(cpu_limit))
        with printed.open("wb") as stdout, errors.open("wb") as stderr:
            subprocess.run(
                [*launcher, *map(str, command)],
                cwd=cwd,
                env=environment(Path(scratch), env or {}),
                stdout=stdout,
                stderr=stderr,
                check=True,
            )
        cost = json.loads(report.read_text(encoding="utf-8"))
        code = cost.pop("code")
        if code == -signal.SIGXCPU:
            raise CpuLimitReached(f"{' '.join(map(str, command))}: {cpu_limit} CPU s")
        if code:
            said = errors.read_text(encoding="utf-8", errors="replace")[-_SHOWN:]
            words = " ".join(map(str, command))
            raise BenchFailed(f"{words}: exit code {code}\n{said}")
        text = "" if out else printed.read_text(encoding="utf-8")
    return Done(text, Cost(**cost))


def environment(scratch: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a child process.

    It has none of the user's settings, and `more` besides. `scratch` is used as the
    folder of the user's configuration. Variables for the sizes of passages are passed
    on, because figures depend on them.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LRWR_") or name.startswith(LET_IN)
    }
    fixed = {
        "PYTHONPATH": str(REPO),
        "XDG_CONFIG_HOME": str(scratch),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    return {**kept, **fixed, **more}
