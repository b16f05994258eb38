"""kill -9 at random moments over ingests, searches and questions on one folder.

Run on its own: python -m bench.kills [FOLDER] [--kills 100] [--seed 1] [--pipeline b].
A copy of the folder is edited while four processes work on it and are killed.
Afterwards one quiet ingestion must leave exactly what a fresh library holds, no job may
be stuck, and no process may have complained.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

SAMPLE = Path(__file__).parent.parent / "examples" / "marsh-lantern"
ROLES = (
    ("ingest", "."),
    ("ingest", "--verify"),
    ("search", "lantern water", "--no-rerank"),
    ("ask", "Who keeps the ledger?"),
)
EXPECTED = {0, 3, -signal.SIGKILL}
"""Exit codes that are no complaint; 3 while nothing has been ingested yet."""

SHOWN = 300
"""Characters of a row that differs."""

KEPT = {
    "documents": "select id, type, title, words, text, chapters from document",
    "read": "select document_id, pipeline, content, recipe from processed",
    "chunks": "select id, document_id, ordinal, char_start, char_end, line_first,"
    " line_last, chapter, scene, kind, tokens, space, text_hash, lead, heading, text"
    " from chunk",
    "vectors": "select c.id, hex(e.vector) from chunk c join embedding e"
    " on e.space = c.space and e.text_hash = c.text_hash",
    "words": "select c.id, f.term, f.col, f.offset from chunk c join temp.terms f"
    " on f.doc = c.n",
}

KEPT_OF_STORY = {
    "names": "select id, names from chunk",
    "distances": "select document_id, space, key, distance from seam",
    "readings": "select document_id, evidence, noted from reading",
    "facts": "select document_id, about, subject, field, value, keeper, certainty,"
    " char_start, reach, spans, details from fact",
    "words of facts": "select f.document_id, f.field, f.char_start, t.term, t.col"
    " from fact f join temp.fact_terms t on t.doc = f.n",
    "cast": 'select "cast" from story',
    "woven": "select document_id, revision from woven",
    "quotations": "select document_id, spans, speaker, certainty, cue, addressee,"
    " addressee_certainty, mentions from quotation",
    "appearances": "select chunk_id, character, role, count from appearance",
    "first mentions": "select document_id, character, alias, char_start, char_end,"
    " mentions from first_seen",
}
"""What pipeline b keeps besides."""


class Worker:
    """One role, started again whenever it ends or is killed."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.role = folder, ROLES[number]
        self.errors = folder.parent / f"stderr-{number}.txt"
        self.complaints: list[str] = []
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        with self.errors.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "lrwr", *self.role],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def tend(self) -> None:
        code = self.process.poll()
        if code is None:
            return
        self._look(code)
        self.process = self._start()

    def kill(self) -> None:
        self.process.kill()
        self._look(self.process.wait())
        self.process = self._start()

    def stop(self) -> None:
        self.process.kill()
        self._look(self.process.wait())

    def _look(self, code: int) -> None:
        said = self.errors.read_text(encoding="utf-8", errors="replace")
        if code not in EXPECTED or "Traceback" in said or "locked" in said:
            self.complaints.append(f"{' '.join(self.role)}: {code}: {said.strip()}")


def edit(folder: Path, dice: random.Random) -> None:
    """Change one Markdown file as a writer does: write anew, then swap."""
    path = dice.choice(sorted(folder.rglob("*.md")))
    lines = path.read_text(encoding="utf-8").split("\n")
    at = dice.randrange(len(lines))
    lines[at] += f" And the rain number {dice.randrange(10**6)} came down."
    fresh = path.with_name(f".{path.name}.tmp")
    fresh.write_text("\n".join(lines), encoding="utf-8")
    fresh.replace(path)


def harass(folder: Path, kills: int, dice: random.Random) -> list[str]:
    """Kill `kills` times; return what the processes complained of."""
    workers = [Worker(folder, number) for number in range(len(ROLES))]
    for count in range(kills):
        until = time.monotonic() + dice.uniform(0.1, 1.5)
        while time.monotonic() < until:
            time.sleep(0.02)
            for worker in workers:
                worker.tend()
        if count % 3 == 0:
            edit(folder, dice)
        dice.choice(workers).kill()
    for worker in workers:
        worker.stop()
    return [line for worker in workers for line in worker.complaints]


def holdings(database: Path, pipeline: str) -> dict[str, list[tuple[object, ...]]]:
    """Return all that a library knows, in an order of its own."""
    wanted = KEPT if pipeline == "a" else {**KEPT, **KEPT_OF_STORY}
    tables = {"terms": f"chunk_fts_{pipeline}", "fact_terms": "fact_fts"}
    with sqlite3.connect(database) as connection:
        for name, table in tables.items():
            connection.execute(
                f"create virtual table temp.{name} using"
                f" fts5vocab('main', '{table}', 'instance')"
            )
        found = {name: sorted(connection.execute(sql)) for name, sql in wanted.items()}
    connection.close()
    return found


def differences(one: Sequence[object], other: Sequence[object]) -> list[str]:
    """Return some of the rows that only one of two libraries has."""
    left, right = Counter(map(repr, one)), Counter(map(repr, other))
    only = [f"- {row[:SHOWN]}" for row in sorted((left - right).elements())[:3]]
    return only + [f"+ {row[:SHOWN]}" for row in sorted((right - left).elements())[:3]]


def ingest(folder: Path) -> float:
    """Ingest quietly; return the seconds it took."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "lrwr", "ingest", "."],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return time.monotonic() - began


def stuck(database: Path) -> int:
    """Count the jobs that wait or run although nobody works."""
    with sqlite3.connect(database) as connection:
        sql = "select count(*) from job where state in ('pending', 'running')"
        (count,) = connection.execute(sql).fetchone()
    connection.close()
    return int(count)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print one JSON object, and return 0 when every promise held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipeline", choices=("a", "b"), default="b")
    asked = parser.parse_args(arguments)
    os.environ["LRWR_PIPELINE"] = asked.pipeline
    with tempfile.TemporaryDirectory() as place:
        report = _report(asked, Path(place) / "harassed", Path(place) / "fresh")
    print(json.dumps(report, indent=2, ensure_ascii=False))
    held = not (report["differ"] or report["complaints"] or report["stuck_jobs"])
    return 0 if held else 1


def _report(asked: argparse.Namespace, folder: Path, fresh: Path) -> dict[str, object]:
    ignore = shutil.ignore_patterns(".lrwr")
    shutil.copytree(asked.folder, folder, ignore=ignore)
    complaints = harass(folder, asked.kills, random.Random(asked.seed))
    seconds = ingest(folder)
    shutil.copytree(folder, fresh, ignore=ignore)
    ingest(fresh)
    one, other = (
        holdings(f / ".lrwr" / "library.db", asked.pipeline) for f in (folder, fresh)
    )
    return {
        "kills": asked.kills,
        "seed": asked.seed,
        "pipeline": asked.pipeline,
        "complaints": complaints,
        "stuck_jobs": stuck(folder / ".lrwr" / "library.db"),
        "seconds_of_the_last_ingestion": round(seconds, 1),
        "equal": {name: rows == other[name] for name, rows in one.items()},
        "rows": {name: len(rows) for name, rows in other.items()},
        "differ": {
            name: differences(rows, other[name])
            for name, rows in one.items()
            if rows != other[name]
        },
    }


if __name__ == "__main__":
    sys.exit(main())
