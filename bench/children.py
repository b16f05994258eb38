"""Child processes with measured cost."""

import json
import os
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
    """A measured command failed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a process: CPU seconds of all threads, wall seconds, peak memory in MB."""

    cpu: float
    wall: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Done:
    """A process that exited with code 0."""

    out: str
    cost: Cost


def lrwr() -> list[str]:
    """Return the command a writer types."""
    script = Path(sys.executable).with_name("lrwr")
    return [str(script)] if script.exists() else [sys.executable, "-m", "lrwr"]


def inside(module: str) -> list[str]:
    """Return the command for a module of `bench.inside`."""
    return [sys.executable, "-m", f"bench.inside.{module}"]


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    out: Path | None = None,
) -> Done:
    """Run `command` to its end; `out` receives its standard output if given.

    Raises:
        BenchFailed: It exited with another code than 0.
    """
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        report, errors = Path(scratch, "cost.json"), Path(scratch, "err")
        printed = out or Path(scratch, "out")
        launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(report)]
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
        if cost.pop("code"):
            said = errors.read_text(encoding="utf-8", errors="replace")[-_SHOWN:]
            raise BenchFailed(f"{' '.join(map(str, command))}\n{said}")
        text = "" if out else printed.read_text(encoding="utf-8")
    return Done(text, Cost(**cost))


def environment(scratch: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the user's own settings, plus `more`.

    Passage sizes may be set from outside, because figures depend on them.
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
