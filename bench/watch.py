"""Cost of `lrwr watch`: from a save to a search that finds it, and while idle.

Run: python -m bench.watch [FOLDER...] [--saves 40] [--idle 30] [--seed 1].

The folders are copied into one library and ingested; with --library FOLDER an ingested
library is copied instead. A word that occurs nowhere is written into one paragraph
after another, as an editor saves: a new file replaces the old one. Then as many saves
each add one of the most mentioned characters besides, so that the cast is inferred
again. CPU and memory are read from /proc, and left out where there is none.
"""

import argparse
import json
import os
import queue
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.children import BenchFailed, environment, lrwr
from bench.edits import paragraphs
from bench.library import Bench, choose_novel, ingest, open_database, prepare
from bench.report import Line, say, table

PART = "watch"
SAVES = 40
IDLE = 30.0
POLL = 0.002
PATIENCE = 300.0
AT_REST = 0.02
"""CPU seconds in a second of which a watch that does nothing has fewer."""
_HELD = """
select sum(d.words), (select count(*) from chunk where pipeline = p.pipeline)
from processed p join document d on d.id = p.document_id where p.pipeline = 'b'
"""
_NAMES = 20
"""Characters that saves name, the most mentioned first."""
_FOUND = "select count(*) from chunk_fts_b where chunk_fts_b match ?"


@dataclass(frozen=True, slots=True)
class Save:
    """Times of one save in seconds.

    `found` is the time from the save until search finds its text, `told` until the
    watch reports it. `cpu` is the CPU time of all work until the watch is idle; None if
    it cannot be read.
    """

    found: float
    told: float
    cpu: float | None


class Watch:
    """A running process of `lrwr watch --json`, in the library's folder `root`.

    `scratch` is a folder for its errors and its user settings.
    """

    def __init__(self, root: Path, scratch: Path) -> None:
        self.errors = scratch / "err"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*lrwr(), "watch", "--json"],
                cwd=root,
                env=environment(scratch, {}),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def wait_for(self, event: str) -> dict[str, Any]:
        """Wait for the next event called `event` and return it; earlier events are
        dropped.

        Raises:
            BenchFailed: Nothing was printed for `PATIENCE` seconds.
        """
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise BenchFailed(self.errors.read_text(encoding="utf-8")) from None
            told: dict[str, Any] = json.loads(line)
            if told["event"] == event:
                return told

    def cpu(self) -> float | None:
        """Return the CPU seconds of the process so far; None without /proc."""
        try:
            stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return None
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def memory(self, name: str = "VmRSS") -> float | None:
        """Return the memory of the process in MB; None without /proc.

        `name` is the field of /proc to read: `VmRSS` for now, `VmHWM` for the peak.
        """
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        except OSError:
            return None
        rows = (line.split() for line in status.splitlines())
        return next(int(row[1]) / 1024 for row in rows if row[0] == f"{name}:")

    def stop(self) -> int:
        """Stop the process with SIGINT (Ctrl-C), and return its exit code."""
        self.process.send_signal(2)
        return self.process.wait(timeout=PATIENCE)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)


def measure(bench: Bench) -> list[Line]:
    novels = [choose_novel(bench)]
    saves, idle = (SAVES // 5, IDLE / 5) if bench.quick else (SAVES, IDLE)
    root = bench.work / PART
    _ingested(root, novels)
    return _measured(root, saves=saves, idle=idle, seed=1)


def _ingested(root: Path, folders: Sequence[Path]) -> None:
    prepare(root, {f"books/{folder.name}": folder for folder in folders}, "b")
    say(f"  ingesting {len(folders)} folders …")
    ingest(root)


def _measured(root: Path, *, saves: int, idle: float, seed: int) -> list[Line]:
    with (
        tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch,
        _watching(root, Path(scratch)) as watch,
    ):
        began = time.monotonic()
        watch.wait_for("watching")
        # The first look after the watching began costs what a start costs.
        _settle(watch)
        starting, started = time.monotonic() - began, watch.cpu()
        say(f"  resting for {idle:.0f} s …")
        resting = _rest(watch, idle)
        say(f"  saving {saves} times …")
        dice = random.Random(seed)
        done = list(_saves(watch, root, saves, dice))
        say(f"  saving a name {saves} times …")
        named = list(_saves(watch, root, saves, dice, _read_names(root)))
        memory, most = watch.memory(), watch.memory("VmHWM")
        code = watch.stop()
    with open_database(root / ".lrwr" / "library.db") as connection:
        words, chunks = connection.execute(_HELD).fetchone()
    return [
        Line(PART, "start, until at rest", starting, "s",
             note=f"{started or 0:.1f} CPU s"),
        *_lines(done, f"{words:,} words, {chunks:,} passages"),
        *_cpu_lines("CPU a save that names somebody, p50", named),
        Line(PART, "idle: CPU", resting, "% of a core", 1, note=f"{idle:.0f} s"),
        Line(PART, "memory after the saves", memory, "MB", note=f"most {most or 0:.0f}"),
        Line(PART, "exit code of Ctrl-C", code, goal=0),
    ]  # fmt: skip


@contextmanager
def _watching(root: Path, scratch: Path) -> Iterator[Watch]:
    watch = Watch(root, scratch)
    try:
        yield watch
    finally:
        if watch.process.poll() is None:
            watch.process.kill()
            watch.process.wait()


def _settle(watch: Watch) -> None:
    """Wait until the watch has nothing to do, two seconds at least."""
    time.sleep(1)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        before = watch.cpu()
        time.sleep(1)
        after = watch.cpu()
        if before is None or after is None or after - before < AT_REST:
            return


def _rest(watch: Watch, seconds: float) -> float | None:
    before = watch.cpu()
    time.sleep(seconds)
    after = watch.cpu()
    if before is None or after is None:
        return None
    return 100 * (after - before) / seconds


def _read_names(root: Path) -> list[str]:
    """Return the names of the most mentioned characters of the library."""
    with open_database(root / ".lrwr" / "library.db") as connection:
        (cast,) = connection.execute('select "cast" from story').fetchone()
    return [character["name"] for character in json.loads(cast)["characters"][:_NAMES]]


def _saves(
    watch: Watch,
    root: Path,
    number: int,
    dice: random.Random,
    names: Sequence[str] = ("They",),
) -> Iterator[Save]:
    """Save files, and yield the times; each save adds a sentence with one of `names`."""
    files = sorted(root.rglob("*.md"))
    written = [path for path in files if paragraphs(path.read_text(encoding="utf-8"))]
    with open_database(root / ".lrwr" / "library.db") as connection:
        for count in range(number):
            word = f"quorble{count}x{dice.randrange(10**6)}"
            sentence = (
                f" {dice.choice(names)} saw the {word} beside the bandstand again."
            )
            before, began = watch.cpu(), _save(dice.choice(written), sentence, dice)
            found = _found_after(connection, word, began)
            watch.wait_for("saved")
            told = time.monotonic() - began
            _settle(watch)
            after = watch.cpu()
            cpu = None if before is None or after is None else after - before
            yield Save(found, told, cpu)


def _found_after(connection: sqlite3.Connection, word: str, began: float) -> float:
    while not connection.execute(_FOUND, (word,)).fetchone()[0]:
        if time.monotonic() - began > PATIENCE:
            raise BenchFailed(f"{word} was never found")
        time.sleep(POLL)
    return time.monotonic() - began


def _save(path: Path, sentence: str, dice: random.Random) -> float:
    """Write a sentence into a file, whole; return when it was in its place."""
    text = path.read_text(encoding="utf-8")
    end = dice.choice(paragraphs(text)).end
    fresh = path.with_name(f".{path.name}.tmp")
    fresh.write_text(text[:end] + sentence + text[end:], encoding="utf-8")
    fresh.replace(path)
    return time.monotonic()


def _lines(saves: Sequence[Save], words: str) -> list[Line]:
    found, told = [save.found for save in saves], [save.told for save in saves]
    return [
        Line(PART, "save to found, p50", median(found), "s", 0.5,
             note=f"{len(saves)} saves; {words}; debounce 0.2 s included"),
        Line(PART, "save to found, p95", _p95(found), "s", 3),
        Line(PART, "save to told, p50", median(told), "s", note=f"p95 {_p95(told):.2f}"),
        *_cpu_lines("CPU a save, p50", saves),
    ]  # fmt: skip


def _cpu_lines(name: str, saves: Sequence[Save]) -> list[Line]:
    cpu = [save.cpu for save in saves if save.cpu is not None]
    if not cpu:
        return []
    return [Line(PART, name, median(cpu), "CPU s", note=f"p95 {_p95(cpu):.2f}")]


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=100, method="inclusive")[94]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the figures, and return the exit code.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    example = Path(__file__).parent.parent / "examples" / "marsh-lantern"
    parser.add_argument("folders", nargs="*", type=Path, default=[example])
    parser.add_argument("--library", type=Path, help="one that was ingested before")
    parser.add_argument("--saves", type=int, default=SAVES)
    parser.add_argument("--idle", type=float, default=IDLE)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as place:
        root = Path(place, PART)
        if args.library is None:
            _ingested(root, args.folders)
        else:
            shutil.copytree(args.library, root)
        lines = _measured(root, saves=args.saves, idle=args.idle, seed=args.seed)
    print(table(lines))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}; other work here sways every figure.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
