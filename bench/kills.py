"""Kills processes (kill -9) at random moments while a folder is edited, watched,
ingested and searched.

Run: python -m bench.kills [FOLDER] [--kills 100] [--seed 1] [--pipeline b].

A copy of the folder is edited while processes work on it and are killed: two watches,
two ingestions, a search, a question, a decision and a repair; an automatic backup is due
at every ingestion. Then, `--repairs` times, a page of the library is destroyed, and a
repair, a restoration from the automatic backups or an ingestion is killed. Afterwards
one more ingestion must leave exactly the content of a fresh library, every answered
question and every decision must be stored, no job may be stuck, done twice or taken from
a living process, and no process may have reported an error. `--words` turns embeddings off, `--ingested` starts
with a complete library.

Triggers in the library count the states of jobs: see `bench.job_audit`.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.children import environment
from bench.held import find_differences, read_holdings
from bench.job_audit import (
    AT_ONCE,
    DAY_SECONDS,
    DONE_TWICE,
    FROM_THE_LIVING,
    audit,
    count_job_states,
    count_stuck_jobs,
)
from bench.scripted import ScriptedWriter

SAMPLE = Path(__file__).parent.parent / "examples" / "marsh-lantern"
NAMES = ("PurpleFrog", "OchraMags", "Nell Tallow", "Corin Vale", "Mrs. Gannet")
QUESTION = "Who keeps the ledger {}?"
ROLES = (
    ("watch", "--json", "."),
    ("watch", "--json", "."),
    ("ingest", "."),
    ("ingest", "--verify"),
    ("search", "lantern water", "--no-rerank"),
    ("ask", QUESTION),
    ("canon", "ignore", "Blenn{}"),
    ("repair",),
)
EXPECTED = {0, 3, -signal.SIGKILL}
"""Exit codes that are no complaint; 3 while nothing has been ingested yet."""

SUSPECT = re.compile(r"Traceback|locked|exception|internal|^lrwr: ", re.I | re.M)
"""What no process may say on the side."""

EARLY = ("Nothing has been ingested", "No manuscript folder has been ingested yet")
"""What may be said while there is no library."""

BUSY = re.compile(r"has locked|Another lrwr process|is writing", re.I)
"""What a repair may say while others use the library; it changes nothing then."""
BUSY_CODE = 5

PATIENCE = 20.0
"""Seconds that a watch is given to say something before it is killed."""


@dataclass(frozen=True, slots=True)
class KillPlan:
    """What a run does: `kills` kills, each after at most `pause` seconds.

    The same `seed` chooses the same edits and processes. Only the first `roles` of
    `ROLES` run. `more` is added to the processes' environment; with `ingested` the run
    starts with a complete library. `repairs` is the number of kills after the edits.
    """

    kills: int
    seed: int
    more: Mapping[str, str]
    pause: float = 5.0
    roles: int = len(ROLES)
    ingested: bool = False
    repairs: int = 0


class Worker:
    """A process that runs one of the commands `ROLES`, restarted whenever it ends.

    `said` counts its lines of output by kind: the line without names and numbers.
    `complaints` are unexpected outputs and exit codes; `ended` counts ends that were
    not kills; `deaths` maps process ids to the latest times at which they were known to
    live, in seconds since 1970. `{}` in a command becomes the number of the start;
    `acknowledged` are the words of commands that succeeded with such a number.
    """

    def __init__(self, folder: Path, number: int, env: Mapping[str, str]) -> None:
        self.folder, self.env = folder, env
        self.template: tuple[str, ...] = ROLES[number]
        self.role: tuple[str, ...] = self.template
        self.starts = 0
        self.seen_alive = time.time()
        self.acknowledged: list[str] = []
        self.words = folder.parent / f"said-{number}.txt"
        self.complaints: list[str] = []
        self.said: Counter[str] = Counter()
        self.ended = 0
        self.deaths: dict[int, float] = {}
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        self.starts += 1
        self.role = tuple(word.format(self.starts) for word in self.template)
        watches = self.role[0] == "watch"
        with self.words.open("wb") as words:
            return subprocess.Popen(
                [sys.executable, "-m", "lrwr", *self.role],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=words if watches else subprocess.DEVNULL,
                stderr=words,
            )

    def tend(self) -> None:
        """Restart the process if it has ended by itself, and check its output."""
        seen_alive, self.seen_alive = self.seen_alive, time.time()
        code = self.process.poll()
        if code is None:
            return
        self.ended += 1
        self.deaths[self.process.pid] = seen_alive
        self._look(code)
        self.process = self._start()

    def kill(self) -> None:
        """Kill the process, check its output, and restart it."""
        self.stop()
        self.process = self._start()

    @property
    def has_spoken(self) -> bool:
        """Whether the process has printed anything."""
        return self.words.stat().st_size > 0

    def stop(self) -> None:
        """Kill the process and check its output."""
        self.deaths[self.process.pid] = time.time()
        self.process.kill()
        self._look(self.process.wait())

    def _look(self, code: int) -> None:
        text = self.words.read_text(encoding="utf-8", errors="replace")
        self.said.update(map(_kind_of, text.splitlines()))
        events, aside = _parted(text)
        early = code == 3 and any(words in aside for words in EARLY)
        if code == 0 and self.role != self.template:
            self.acknowledged.append(self.role[-1])
        if self.role[0] == "repair" and code == BUSY_CODE and BUSY.search(aside):
            return
        trouble = [event for event in events if event["event"] == "trouble"]
        if code not in EXPECTED or trouble or (SUSPECT.search(aside) and not early):
            told = f"{' '.join(self.role)}: {code}: {aside.strip()} {trouble or ''}"
            self.complaints.append(told.strip())


def _parted(said: str) -> tuple[list[dict[str, object]], str]:
    """Return events, and what is said besides."""
    lines = said.splitlines()
    whole = [line for line in lines if line.startswith("{") and line.endswith("}")]
    aside = [line for line in lines if not line.startswith("{")]
    return [json.loads(line) for line in whole], "\n".join(aside)


def _kind_of(line: str) -> str:
    """Return what a line says, but for names and numbers."""
    with suppress(ValueError):
        event = json.loads(line)
        return f"event {event['event']} {event.get('cause', '')}".strip()
    return re.sub(r"[\w./ ü-]+\.(?:md|txt|docx)|\d+", "…", line)


@dataclass(frozen=True, slots=True)
class KillRun:
    """What happened while processes were killed.

    `complaints` are unexpected outputs, `said` counts lines of output by kind, `edits`
    counts edits by kind. `ended` has, for each process, how often it ended without a
    kill. `deaths` maps process ids to the times of their ends, in seconds since 1970.
    `acknowledged` are the questions and the names in decisions of commands that
    succeeded.
    """

    complaints: tuple[str, ...]
    said: Counter[str]
    edits: Counter[str]
    ended: Mapping[str, int]
    deaths: Mapping[int, float]
    acknowledged: tuple[str, ...]


def harass(
    folder: Path, asked: KillPlan, dice: random.Random, env: Mapping[str, str]
) -> KillRun:
    """Edit `folder` and kill processes that work on it, as `asked` says.

    `dice` is the source of randomness, `env` the environment of the processes.
    """
    workers = [Worker(folder, number, env) for number in range(asked.roles)]
    writer = ScriptedWriter(folder, dice, NAMES)
    for _ in range(asked.kills):
        victim, now = dice.choice(workers), time.monotonic()
        until, at_most = now + dice.uniform(0.1, asked.pause), now + PATIENCE
        waits = victim.role[0] == "watch" and dice.random() < 0.7
        while now < until or (waits and now < at_most and not victim.has_spoken):
            time.sleep(0.02)
            audit(folder)
            make_backup_due(folder)
            for worker in workers:
                worker.tend()
            now = time.monotonic()
        for _ in range(dice.choice((0, 1, 3))):
            writer.edit()
        time.sleep(dice.choice((0, 0, asked.pause / 3)))
        victim.kill()
    for worker in workers:
        worker.stop()
    return KillRun(
        tuple(line for worker in workers for line in worker.complaints),
        sum((worker.said for worker in workers), Counter()),
        writer.made,
        {f"{n} {w.role[0]}": w.ended for n, w in enumerate(workers)},
        {pid: when for worker in workers for pid, when in worker.deaths.items()},
        tuple(words for worker in workers for words in worker.acknowledged),
    )


def make_backup_due(folder: Path) -> None:
    """Date all automatic backups of `folder` back, so that the next one is due."""
    files = (folder / ".lrwr" / "backups").glob("*.jsonl.*")
    for number, file in enumerate(files, start=1):
        with suppress(OSError):  # it was just replaced or rotated
            os.utime(file, (number * DAY_SECONDS, number * DAY_SECONDS))


def destroy_page(database: Path) -> None:
    """Overwrite a page of the library that holds no conversation; none may use it."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        (page,) = connection.execute(
            "select rootpage from sqlite_schema where name = 'quotation_by_speaker'"
        ).fetchone()
        (size,) = connection.execute("pragma page_size").fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))


REPAIRS = (("repair",), ("repair",), ("restore", "--latest"), ("ingest", "."))


def kill_repairs(
    folder: Path, count: int, dice: random.Random, env: Mapping[str, str]
) -> int:
    """Destroy a page and kill a repair, a restoration or an ingestion, `count` times.

    `dice` is the source of randomness, `env` the environment. Returns how many were
    killed before they ended.
    """
    database, killed = folder / ".lrwr" / "library.db", 0
    for _ in range(count):
        make_backup_due(folder)
        role = dice.choice(REPAIRS)
        if role[0] == "repair" and database.exists():
            with suppress(sqlite3.Error):  # it is damaged already
                destroy_page(database)
        process = subprocess.Popen(
            [sys.executable, "-m", "lrwr", *role],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.2, 8.0))
        killed += process.poll() is None
        process.kill()
        process.wait()
    repair = [sys.executable, "-m", "lrwr", "repair"]
    subprocess.run(repair, cwd=folder, env=env, check=True, capture_output=True)
    return killed


def find_lost(folder: Path, acknowledged: Sequence[str]) -> list[str]:
    """Return those of `acknowledged` that are neither a stored question nor a decision."""
    with closing(sqlite3.connect(folder / ".lrwr" / "library.db")) as connection:
        questions = {row[0] for row in connection.execute("select question from turn")}
    canon = folder / "lrwr.canon.toml"
    decisions = canon.read_text(encoding="utf-8") if canon.exists() else ""
    return [
        words
        for words in acknowledged
        if words not in questions and f'"{words}"' not in decisions
    ]


def ingest(folder: Path, env: Mapping[str, str]) -> float:
    """Ingest `folder` while nothing else runs; return how many seconds it took."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "lrwr", "ingest", "."],
        cwd=folder,
        env=env,
        check=True,
        capture_output=True,
    )
    return time.monotonic() - began


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run and of its comparison with a fresh library.

    `jobs` are counts of the audit, `stuck` is the number of jobs that were not
    finished. `killed_repairs` were killed before they ended; `lost` are questions and
    decisions that were acknowledged and are not stored. `seconds` is the duration of the last ingestion. `rows` has the number of
    rows, and `differ` the rows that differ, both by the name of the comparison.
    """

    harassed: KillRun
    jobs: Counter[str]
    stuck: int
    seconds: float
    rows: Mapping[str, int]
    differ: Mapping[str, list[str]]
    killed_repairs: int
    lost: Sequence[str]

    @property
    def held(self) -> bool:
        """Whether the run revealed no fault.

        No job was stuck, done twice or taken from a living process, no two jobs on one
        document ran at once, no row differs, no question or decision was lost, and no
        process complained.
        """
        faults = (DONE_TWICE, AT_ONCE, FROM_THE_LIVING)
        broken = self.stuck or any(self.jobs[fault] for fault in faults)
        return not (broken or self.differ or self.lost or self.harassed.complaints)


def run_kills(source: Path, place: Path, asked: KillPlan) -> Report:
    """Kill processes that work on a copy of `source`, then check its library.

    It is compared with a fresh library of the same files. Both are in the empty folder
    `place`.
    """
    folder, fresh = place / "harassed", place / "fresh"
    (place / "config").mkdir()
    env, ignore = (
        environment(place / "config", asked.more),
        shutil.ignore_patterns(".lrwr"),
    )
    shutil.copytree(source, folder, ignore=ignore)
    if asked.ingested:
        ingest(folder, env)
        audit(folder)
    dice = random.Random(asked.seed)
    harassed = harass(folder, asked, dice, env)
    ingest(folder, env)
    audit(folder)
    database = folder / ".lrwr" / "library.db"
    jobs = count_job_states(database, harassed.deaths)
    killed = kill_repairs(folder, asked.repairs, dice, env)
    seconds = ingest(folder, env)
    shutil.copytree(folder, fresh, ignore=ignore)
    ingest(fresh, env)
    pipeline = asked.more.get("LRWR_PIPELINE", "b")
    one, other = (
        read_holdings(f / ".lrwr" / "library.db", pipeline) for f in (folder, fresh)
    )
    return Report(
        harassed=harassed,
        jobs=jobs,
        stuck=count_stuck_jobs(database),
        seconds=round(seconds, 1),
        rows={name: len(rows) for name, rows in other.items()},
        differ={
            name: find_differences(rows, other[name])
            for name, rows in one.items()
            if rows != other[name]
        },
        killed_repairs=killed,
        lost=find_lost(folder, harassed.acknowledged),
    )


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--repairs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipeline", choices=("a", "b"), default="b")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--ingested", action="store_true")
    parser.add_argument("--pause", type=float, default=5.0)
    return parser


def _describe(
    args: argparse.Namespace, more: Mapping[str, str], done: Report
) -> dict[str, object]:
    return {
        "kills": args.kills,
        "seed": args.seed,
        **more,
        "edits": done.harassed.edits.total(),
        "edits_by_kind": done.harassed.edits,
        "ended_by_themselves": done.harassed.ended,
        "acknowledged": len(done.harassed.acknowledged),
        "lost": done.lost,
        "repairs": args.repairs,
        "repairs_killed_before_their_end": done.killed_repairs,
        "jobs": done.jobs,
        "stuck_jobs": done.stuck,
        "seconds_of_the_last_ingestion": done.seconds,
        "rows": done.rows,
        "differ": done.differ,
        "complaints": done.harassed.complaints,
        "said": dict(done.harassed.said.most_common(40)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print one JSON object, and return 0 if `Report.held`, else 1.

    `arguments` are those of the command line; None reads them from there.
    """
    args = _build_parser().parse_args(arguments)
    more = {"LRWR_PIPELINE": args.pipeline}
    if args.words:
        more["LRWR_EMBEDDING_MODEL"] = "off"
    asked = KillPlan(
        args.kills,
        args.seed,
        more,
        pause=args.pause,
        ingested=args.ingested,
        repairs=args.repairs,
    )
    with tempfile.TemporaryDirectory() as place:
        done = run_kills(args.folder, Path(place), asked)
    print(json.dumps(_describe(args, more, done), indent=2, ensure_ascii=False))
    return 0 if done.held else 1


if __name__ == "__main__":
    sys.exit(main())
