"""How many modules a command passes through: `python -m bench.journeys [FOLDER]`.

FOLDER holds a manuscript, examples/marsh-lantern unless given; a copy of it is read.

Each journey is one command in a process of its own, with the embedding model and
without a language model. A module of lrwr is entered when a function, method, lambda
or comprehension that stands in its file is called, in any thread; its own body and
bodies of its classes are not functions, and neither are methods that dataclasses
generate. `__init__` files do not count. A function is known by module and qualified
name. A return is a step into a module that the same thread had left before; a
coroutine that goes on after waiting makes no step.
"""

import argparse
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.children import REPO

EXAMPLE = REPO / "examples" / "marsh-lantern"
QUESTION = "Who lights the lantern?"
SENTENCE = "\nNell Tallow sang to the frog by the sluice.\n"
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
PATIENCE = 120.0
SETTLED = 2.0
"""Seconds without an event after which a save is taken to be dealt with."""

NAMES = ("ingest", "ingest, one changed", "watch, one save", "search", "ask")
"""The journeys, in the order they are made: an answer that is kept is watched over."""


class JourneyFailed(Exception):
    """A traced command failed; the message has its output."""


@dataclass(frozen=True, slots=True)
class Journey:
    """The modules and functions that one command entered.

    `name` is one of `NAMES`. `modules` are in the order of first entry; `functions` is
    the number of functions, and `returns` the number of steps back into a module that a
    thread had left. `only` are the modules entered after a file was saved; empty unless
    the command watches for saves.
    """

    name: str
    modules: tuple[str, ...]
    functions: int
    returns: int
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """The folder `root`: a copy of a manuscript, and a home for commands."""

    root: Path

    @property
    def book(self) -> Path:
        """The folder of the manuscript, the working directory of the commands."""
        return self.root / "book"

    @property
    def report(self) -> Path:
        """The path of the JSON file that the profiler writes."""
        return self.root / "entered.json"

    def command(self, *words: str) -> list[str]:
        """Return the command line that runs and traces `lrwr` with the arguments
        `words`.
        """
        inside = [sys.executable, "-m", "bench.inside.entered"]
        return [*inside, str(self.report), *words]

    def environment(self) -> dict[str, str]:
        """Return the environment for the commands, without the user's settings."""
        home = str(self.root / "home")
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        places = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        return {
            **kept,
            **dict.fromkeys((*places, "XDG_CACHE_HOME"), home),
            "PYTHONPATH": str(REPO),
        }

    def change(self) -> None:
        """Append a sentence to the first document, and save it as an editor does."""
        first = min(self.book.rglob("*.md"))
        fresh = first.with_name(f".{first.name}.tmp")
        fresh.write_text(first.read_text(encoding="utf-8") + SENTENCE, encoding="utf-8")
        fresh.replace(first)


def trace_journeys(folder: Path, names: Sequence[str] = NAMES) -> list[Journey]:
    """Run commands on a copy of the manuscript `folder`; return what each entered.

    `names` are some of `NAMES`; the result has the order of `NAMES`.

    Raises:
        JourneyFailed: A command failed.
    """
    with tempfile.TemporaryDirectory(prefix="lrwr-journeys-") as scratch:
        place = Place(Path(scratch).resolve())
        (place.root / "home").mkdir()
        ignored = shutil.ignore_patterns(".lrwr*")
        shutil.copytree(folder, place.book, ignore=ignored)
        first = _typed(place, "ingest", "ingest", ".")
        return [
            first if name == "ingest" else _one(place, name)
            for name in NAMES
            if name in names
        ]


def _one(place: Place, name: str) -> Journey:
    if name in {"search", "ask"}:
        return _typed(place, name, name, QUESTION)
    if name == "watch, one save":
        return _watched(place, name)
    place.change()
    return _typed(place, name, "ingest")


def _typed(place: Place, name: str, *words: str) -> Journey:
    done = subprocess.run(
        place.command(*words),
        cwd=place.book,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise JourneyFailed(f"{name}: code {done.returncode}\n{done.stderr}")
    return _read(place, name)


def _watched(place: Place, name: str) -> Journey:
    """Follow a watch from its start, through one save, to Ctrl-C."""
    with subprocess.Popen(
        place.command("watch", "--json"),
        cwd=place.book,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as watch:
        try:
            saved = _save_once(place, watch)
            watch.send_signal(signal.SIGINT)
            code = watch.wait(PATIENCE)
        finally:
            watch.kill()
    if code:
        raise JourneyFailed(f"{name}: code {code}")
    return _read(place, name, after=saved)


def _save_once(place: Place, watch: "subprocess.Popen[str]") -> float:
    """Change a document under a watch; return when that was."""
    events: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_hear, args=(watch, events), daemon=True).start()
    _wait_for(events, "watching")
    _settle(events)
    saved = time.monotonic()
    place.change()
    _wait_for(events, "saved")
    _settle(events)
    return saved


def _hear(watch: "subprocess.Popen[str]", events: "queue.Queue[str]") -> None:
    assert watch.stdout is not None
    for line in watch.stdout:
        events.put(json.loads(line)["event"])
    events.put("")


def _wait_for(events: "queue.Queue[str]", wanted: str) -> None:
    try:
        while (event := events.get(timeout=PATIENCE)) != wanted:
            if not event:
                raise JourneyFailed(f"the watch ended before {wanted}")
    except queue.Empty:
        raise JourneyFailed(f"the watch never said {wanted}") from None


def _settle(events: "queue.Queue[str]") -> None:
    while True:
        try:
            events.get(timeout=SETTLED)
        except queue.Empty:
            return


def _read(place: Place, name: str, after: float | None = None) -> Journey:
    told: dict[str, Any] = json.loads(place.report.read_text(encoding="utf-8"))
    functions = sorted(told["functions"], key=lambda one: one[2])
    modules = tuple(dict.fromkeys(module for module, *_ in functions))
    only: tuple[str, ...] = ()
    if after is not None:
        late = {module for module, _, _, last in functions if last >= after}
        only = tuple(module for module in modules if module in late)
    return Journey(name, modules, len(functions), _returns(told["steps"]), only)


def _returns(steps: Sequence[tuple[float, int, str]]) -> int:
    """Count the steps into a module where the thread had been before."""
    return len(steps) - len({(thread, module) for _, thread, module in steps})


def format_journeys(journeys: Sequence[Journey], *, modules: bool) -> str:
    """Return a table of the figures, a line for each of `journeys` below a heading.

    With `modules`, the modules of each journey follow, in the order of first entry.
    """
    rows = [f"{'journey':22} {'modules':>8} {'functions':>10} {'returns':>9}"]
    for journey in journeys:
        figures = (
            f"{len(journey.modules):8,} {journey.functions:10,} {journey.returns:9,}"
        )
        note = f"   {len(journey.only)} after the save" if journey.only else ""
        rows.append(f"{journey.name:22} {figures}{note}")
    if modules:
        for journey in journeys:
            rows += ["", journey.name, *(f"  {name}" for name in journey.modules)]
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace the commands, print the figures, and return 0.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--only", choices=NAMES, action="append", help="this journey")
    parser.add_argument("--modules", action="store_true", help="list the modules")
    args = parser.parse_args(arguments)
    journeys = trace_journeys(args.folder.resolve(), args.only or NAMES)
    print(format_journeys(journeys, modules=args.modules))
    return 0


if __name__ == "__main__":
    sys.exit(main())
