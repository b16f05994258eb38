"""Libraries to measure, ingested once and stored under the work folder."""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.children import REPO, Cost, lrwr, run
from bench.data import DataFolder, copy_in
from bench.report import say

STAMP = "bench.json"

CHOSEN = "PrideAndPrejudice"
"""The folder of the novel that stands for all, if it is there."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured, on which data, and where libraries are stored (`work`).

    `quick` measures less, `full` more than usual. `novels` is the maximum number of
    novels, None for all. `pipeline`, `a` or `b`, is the one whose retrieval is
    measured, empty for the default.
    """

    data: DataFolder
    work: Path
    quick: bool = False
    full: bool = False
    novels: int | None = None
    pipeline: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """A library in the folder `root` that the command line ingested.

    `summary` is the output of `lrwr ingest --json`, `cost` the cost of that command.
    `note` says if an earlier run made the library, else it is empty.
    """

    root: Path
    summary: dict[str, Any]
    cost: Cost
    note: str = ""

    @property
    def database(self) -> Path:
        """The path of the SQLite file."""
        return self.root / ".lrwr" / "library.db"

    @property
    def words(self) -> int:
        """The number of ingested words."""
        return int(self.summary["words"])


def manuscript_library(bench: Bench, pipeline: str = "") -> Library:
    """Return the library of the manuscript folder; an empty `pipeline` is the default."""
    source = bench.data.manuscript()
    name = f"{source.name}{_mark(pipeline)}"
    return make_library(bench.work / name, {"manuscript": source}, pipeline=pipeline)


def novels_library(bench: Bench, pipeline: str = "") -> Library | None:
    """Return one library of the first `bench.novels` novels by name.

    None if there are no novels. An empty `pipeline` is the default.
    """
    novels = bench.data.novels()[: bench.novels]
    if not novels:
        return None
    sources = {f"novels/{novel.name}": novel for novel in novels}
    name = f"novels-{len(novels)}{_mark(pipeline)}"
    return make_library(bench.work / name, sources, pipeline=pipeline)


def tales_library(bench: Bench, pipeline: str = "") -> Library | None:
    """Return one library of all fairy tales; None if there are none.

    An empty `pipeline` is the default.
    """
    tales = bench.data.tales()
    if tales is None:
        return None
    root = bench.work / f"tales{_mark(pipeline)}"
    return make_library(root, {"tales": tales}, pipeline=pipeline)


def novel_library(bench: Bench, source: Path, pipeline: str = "") -> Library:
    """Return the library of one novel, in the folder `source`.

    An empty `pipeline` is the default.
    """
    root = bench.work / f"novel-{source.name}{_mark(pipeline)}"
    return make_library(root, {"novel": source}, pipeline=pipeline)


def choose_novel(bench: Bench) -> Path:
    """Return the folder of the novel `CHOSEN`, else of the first one by name.

    If there are no novels, return the folder of the manuscript.
    """
    novels = bench.data.novels()
    chosen = [novel for novel in novels if novel.name == CHOSEN]
    return next(iter([*chosen, *novels]), bench.data.manuscript())


def make_library(
    root: Path,
    sources: Mapping[str, Path],
    *,
    lender: Library | None = None,
    pipeline: str = "",
    vectors: bool = True,
) -> Library:
    """Return a library at `root` of copies of `sources`.

    `sources` maps subfolders of `root` to folders. The library is ingested unless an
    earlier run did so. `lender` is a library with vectors of the same texts, so that
    nothing is embedded again; None embeds them. `pipeline` is `a` or `b`, empty for the
    default. If `vectors` is false, nothing is embedded.
    """
    if kept := reuse_library(root):
        return kept
    say(f"  ingesting {root.name} …")
    prepare(root, sources, pipeline, vectors=vectors)
    if lender is not None:
        _lend(lender, root)
    return record_library(root, *ingest(root))


def reuse_library(root: Path) -> Library | None:
    """Return the library that an earlier run made at `root`; None if there is none."""
    stamp = root / STAMP
    if not stamp.exists():
        return None
    kept = json.loads(stamp.read_text(encoding="utf-8"))
    same = kept.get("made_by") == _code()
    note = "from an earlier run" + ("" if same else " of another lrwr")
    return Library(root, kept["summary"], Cost(**kept["cost"]), note)


def prepare(
    root: Path, sources: Mapping[str, Path], pipeline: str = "", *, vectors: bool = True
) -> None:
    """Create a library folder with copies of `sources`, without ingesting them.

    `sources` are folders by subfolder of `root`. An existing folder `root` is deleted.
    `pipeline` is `a` or `b`, empty for the default; without `vectors`, its settings
    turn embeddings off.
    """
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    folders = sorted({name.split("/")[0] for name in sources})
    text = f"pipeline = {json.dumps(pipeline)}\n" if pipeline else ""
    text += f"[manuscript]\nfolders = {json.dumps(folders)}\n"
    text += "" if vectors else '[embedding]\nmodel = "off"\n'
    (root / "lrwr.toml").write_text(text, encoding="utf-8")
    copy_in(sources, root)


def ingest(
    root: Path, *, env: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], Cost]:
    """Run `lrwr ingest --json` in the folder `root`; return its summary and cost.

    The summary is the JSON object that it prints. `env` is added to the environment.

    Raises:
        BenchFailed: The command failed.
    """
    done = run([*lrwr(), "ingest", "--json"], cwd=root, env=env)
    return json.loads(done.out), done.cost


def record_library(root: Path, summary: dict[str, Any], cost: Cost) -> Library:
    """Write a file that marks the library at `root` as complete, and return the
    library.
    """
    told = {"summary": summary, "cost": asdict(cost), "made_by": _code()}
    (root / STAMP).write_text(json.dumps(told), encoding="utf-8")
    return Library(root, summary, cost)


@contextmanager
def open_database(database: Path) -> Iterator[sqlite3.Connection]:
    """Yield a read-only connection to a library's database."""
    uri = f"{database.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        yield connection


def disk_mb(root: Path) -> float:
    """Return the size of the library's folder `.lrwr` in MB (10⁶ bytes)."""
    files = (path for path in (root / ".lrwr").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6


def _mark(pipeline: str) -> str:
    return f"-{pipeline}" if pipeline else ""


@cache
def _code() -> str:
    """Name the code that chunks depend on."""
    found = sha256()
    for folder in ("pipeline", "core/adapters/source", "core/adapters/embed"):
        for path in sorted((REPO / "lrwr" / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()


def _lend(lender: Library, root: Path) -> None:
    """Ingest by words alone, and put the lender's vectors of those texts beside."""
    ingest(root, env={"LRWR_EMBEDDING_MODEL": "off"})
    with closing(sqlite3.connect(root / ".lrwr" / "library.db")) as connection:
        connection.execute("attach ? as lender", (str(lender.database),))
        connection.execute(
            "insert or ignore into main.embedding"
            " select * from lender.embedding"
            " where text_hash in (select text_hash from main.chunk)"
        )
        connection.commit()
