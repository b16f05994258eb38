"""Damage the files of a library and check what lrwr makes of it.

`python -m bench.damage [--cases N] [--seed N] [--only KIND]`

Each case copies an ingested sample with two saved conversations, and damages one file:
a flipped bit or a zeroed page of `library.db`, a flipped bit of its `-wal` file or of
the vector index, or a truncation. Then it runs the reading commands, `doctor --verify`,
`repair` and `ingest`, and the reading commands again. Reported are commands that ended
with exit code 70, quotations that are not in the manuscript, changes of stored values
that `doctor --verify` did not notice, answers that differ from those of the undamaged
library, and lost turns.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import pkgutil
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from bench.children import REPO

PAGE_BYTES = 4096
KINDS: Mapping[str, int] = {
    "bit flips": 200,
    "zeroed pages": 100,
    "bit flips in -wal": 50,
    "bit flips in the vector index": 50,
    "truncations": 50,
}
"""The number of cases of each kind in a whole run."""
READING = (
    ("characters",),
    ("quotes",),
    ("relations",),
    ("timeline",),
    ("world",),
    ("gaps",),
    ("search", "who lit the lamp"),
    ("check",),
)
QUESTIONS = ("Who lights the lamps?", "What does the Reeve offer?")
QUOTING_KEYS = frozenset({"text", "quote"})
SHOWN_FAILURES = 3
INTERNAL = 70
"""The exit code of an internal error."""
_TABLES = """
select name from sqlite_schema where type = 'table'
and name not like '%\\_fts%' escape '\\' and name not like 'sqlite%'
"""
_TURNS = "select id, question, answer from turn"


@dataclass(frozen=True, slots=True)
class Ran:
    """Standard output and exit code of a command."""

    out: str
    code: int

    @property
    def json(self) -> object:
        """The output as JSON; None if it is none."""
        with contextlib.suppress(ValueError):
            return json.loads(self.out)
        return None


@dataclass(frozen=True, slots=True)
class Sample:
    """An ingested library to damage: `root` is its folder, `text` all of its words.

    `told` are the outputs of the reading commands, `rows` the stored values.
    """

    root: Path
    text: str
    told: Mapping[tuple[str, ...], object]
    rows: Mapping[str, list[tuple[object, ...]]]
    has_index: bool

    @property
    def quoted(self) -> frozenset[str]:
        """The quotations in the outputs of the undamaged library."""
        return frozenset(_quotations(list(self.told.values())))


@dataclass(slots=True)
class Outcome:
    """What one case showed; each list has one sentence per failure."""

    kind: str
    place: str
    changed: bool = False
    noticed: bool = False
    internal: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def call(root: Path, *words: str) -> Ran:
    """Run `lrwr` with `words` in this process, in the folder `root`."""
    from lrwr.cli.main import run

    with tempfile.TemporaryFile() as out, _streams(out.fileno()):
        before, sys.argv = sys.argv, ["lrwr", *words]
        code = 0
        try:
            with contextlib.chdir(root):
                run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:  # noqa: BLE001 - an error that passed everything
            code = INTERNAL
        finally:
            sys.argv = before
            sys.stdout.flush()
        out.seek(0)
        return Ran(out.read().decode("utf-8", "replace"), code)


@contextlib.contextmanager
def _streams(number: int) -> Iterator[None]:
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(number, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, old in zip((1, 2), kept, strict=True):
            os.dup2(old, stream)
            os.close(old)
        os.close(nowhere)


def read_all(root: Path) -> dict[tuple[str, ...], Ran]:
    """Run the reading commands."""
    return {words: call(root, *words, "--json") for words in READING}


def make_sample(root: Path, *, in_wal: bool, has_index: bool) -> Sample:
    """Ingest the sample manuscript into `root` and ask two questions.

    With `in_wal`, the second turn is only in the `-wal` file. With `has_index`, the
    vector index is a folder of Qdrant Edge.
    """
    shutil.copytree(REPO / "examples" / "marsh-lantern", root)
    shutil.rmtree(root / ".lrwr", ignore_errors=True)
    if has_index:
        _use_index()
    assert call(root, "ingest", ".").code == 0
    assert call(root, "ask", QUESTIONS[0]).code == 0
    database = root / ".lrwr" / "library.db"
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from turn").fetchone()
        assert call(root, "ask", QUESTIONS[1]).code == 0
        told = {words: ran.json for words, ran in read_all(root).items()}
        if in_wal:  # a copy, because the log is merged when the reader closes
            shutil.copytree(root, root.with_name(f"{root.name}-copy"))
    if in_wal:
        shutil.rmtree(root)
        root.with_name(f"{root.name}-copy").rename(root)
        (database.with_name("library.db-shm")).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        rows = read_rows(root, Path(scratch))
    texts = [str(row) for values in rows["document"] for row in values]
    return Sample(root, _words(" ".join(texts)), told, rows, has_index)


def _use_index() -> None:
    """Let the sample's few passages have an index in files, as large libraries do."""
    from lrwr.app import retrieval
    from lrwr.app.maintenance import doctor

    for module in (retrieval, doctor):
        vars(module)["EDGE_MIN_CHUNKS"] = 1


def read_rows(root: Path, scratch: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows that plain SQL reads from a copy of the library."""
    copy = scratch / "copy.db"
    for suffix in ("", "-wal"):
        source = root / ".lrwr" / f"library.db{suffix}"
        if source.exists():
            shutil.copyfile(source, scratch / f"copy.db{suffix}")
    with closing(sqlite3.connect(copy)) as connection:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        tables = _rows(connection, _TABLES)
        return {
            str(table): _rows(connection, f"select * from {table}")
            for (table,) in tables
        }


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    """Return the rows before the first that cannot be read."""
    rows: list[tuple[object, ...]] = []
    # SQLite's message may quote a damaged statement, which need not be valid UTF-8.
    with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
        rows.extend(connection.execute(sql))
    return rows


def _words(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text)


def damage(kind: str, root: Path, dice: random.Random) -> str:
    """Damage one file of the library in `root`; return where."""
    state = root / ".lrwr"
    path = state / "library.db"
    if kind == "bit flips in -wal":
        path = state / "library.db-wal"
    if kind == "bit flips in the vector index":
        path = _index_file(state / "index", dice)
    size = path.stat().st_size
    if kind == "truncations":
        length = dice.randrange(size)
        os.truncate(path, length)
        return f"after {length}"
    if kind == "zeroed pages":
        page = dice.randrange(size // PAGE_BYTES)
        _overwrite(path, page * PAGE_BYTES, b"\0" * PAGE_BYTES)
        return f"page {page + 1}"
    at, bit = _written_byte(path, dice), dice.randrange(8)
    with path.open("rb") as file:
        file.seek(at)
        byte = file.read(1)[0]
    _overwrite(path, at, bytes([byte ^ 1 << bit]))
    return f"{path.name} byte {at} bit {bit}"


def _index_file(index: Path, dice: random.Random) -> Path:
    files = sorted(
        path for path in index.rglob("*") if path.is_file() and any(path.read_bytes())
    )
    sizes = [path.stat().st_blocks for path in files]
    return dice.choices(files, sizes)[0]


def _written_byte(path: Path, dice: random.Random) -> int:
    """Return the place of a byte in a page that was written: not all zero."""
    content = path.read_bytes()
    while True:
        at = dice.randrange(len(content))
        start = at - at % PAGE_BYTES
        if any(content[start : start + PAGE_BYTES]):
            return at


def _overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def try_case(sample: Sample, kind: str, seed: str) -> Outcome:
    """Damage a copy of `sample` and return what commands make of it."""
    with tempfile.TemporaryDirectory(prefix="lrwr-damage-") as scratch:
        root = Path(scratch).resolve() / "book"
        shutil.copytree(sample.root, root)
        outcome = Outcome(kind, damage(kind, root, random.Random(seed)))
        rows = read_rows(root, Path(scratch))
        outcome.changed = rows != sample.rows or kind == "bit flips in the vector index"
        _look(root, sample, outcome)
        _mend(root, sample, outcome, rows)
        return outcome


def _look(root: Path, sample: Sample, outcome: Outcome) -> None:
    verified = call(root, "doctor", "--verify", "--json")
    before = read_all(root)
    outcome.noticed = '"broken"' in verified.out
    if outcome.kind == "bit flips in the vector index":
        # Only a bit that changes an answer matters; others are never read.
        key: tuple[str, ...] = READING[6]
        outcome.noticed |= '"warning"' in verified.out
        outcome.changed = before[key].json != sample.told[key]
    known = sample.quoted
    for words, ran in {**before, ("doctor",): verified}.items():
        if ran.code == INTERNAL:
            outcome.internal.append(" ".join(words))
        for quoted in _quotations(ran.json):
            if quoted in known or _words(quoted).strip() in sample.text:
                continue
            if len(outcome.invented) < SHOWN_FAILURES:
                outcome.invented.append(f"{' '.join(words)}: {quoted[:60]}")


def _quotations(value: object) -> Iterator[str]:
    """Yield the quotations in the output of a command."""
    if isinstance(value, list):
        for item in value:
            yield from _quotations(item)
    if isinstance(value, dict):
        is_source = "file" in value or "document" in value
        for key, item in value.items():
            if is_source and key in QUOTING_KEYS and isinstance(item, str):
                yield item
            else:
                yield from _quotations(item)


def _mend(
    root: Path,
    sample: Sample,
    outcome: Outcome,
    rows: Mapping[str, list[tuple[object, ...]]],
) -> None:
    for command in (("repair",), ("ingest", ".")):
        if call(root, *command).code == INTERNAL:
            outcome.internal.append(" ".join(command))
    for words, ran in read_all(root).items():
        if ran.code == INTERNAL:
            outcome.internal.append(f"{' '.join(words)} (repaired)")
        if ran.json != sample.told[words]:
            outcome.differing.append(" ".join(words))
    if call(root, "doctor", "--verify", "--json").out.count('"broken"'):
        outcome.differing.append("doctor --verify")
    readable = {row[1]: row for row in rows.get("turn", ()) if len(row) > 1}
    whole = {row[1]: row for row in sample.rows["turn"]}
    kept = [turn for id_, turn in whole.items() if readable.get(id_) == turn]
    stored = _stored_turns(root)
    outcome.lost += [str(turn[1]) for turn in kept if turn[1] not in stored]


def _stored_turns(root: Path) -> set[str]:
    """Return the ids of the turns that the commands show."""
    listed = call(root, "threads", "--json").json
    ids = set()
    for thread in listed if isinstance(listed, list) else ():
        shown = call(root, "threads", "show", str(thread["id"]), "--json").out
        ids |= set(re.findall(r'"id": "([0-9a-f-]+)"', shown))
    return ids


def _in_child(sample: Sample, kind: str, seed: str, results: Connection) -> None:
    if sample.has_index:
        _use_index()
    results.send(try_case(sample, kind, seed))


def run_case(sample: Sample, kind: str, seed: str) -> Outcome:
    """Run `try_case` in a process of its own, which may crash."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(sample, kind, seed, there))
    child.start()
    there.close()
    try:
        outcome: Outcome = here.recv()
    except EOFError:
        outcome = Outcome(kind, seed, internal=["the process crashed"])
    child.join()
    return outcome


def _make_in_child(root: Path, kind: str) -> Sample:
    """Make a sample in a process of its own, so that no thread runs in this one."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def work() -> None:
        there.send(
            make_sample(
                root,
                in_wal=kind == "bit flips in -wal",
                has_index=kind == "bit flips in the vector index",
            )
        )

    child = context.Process(target=work)
    child.start()
    there.close()
    sample: Sample = here.recv()
    child.join()
    return sample


def report(outcomes: Sequence[Outcome]) -> str:
    """Return the figures of each kind of damage, and every failure."""
    lines = []
    for kind in KINDS:
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        if not of_kind:
            continue
        changed = [outcome for outcome in of_kind if outcome.changed]
        counts = Counter[str]()
        for outcome in of_kind:
            counts["internal"] += bool(outcome.internal)
            counts["invented"] += bool(outcome.invented)
            counts["differing"] += bool(outcome.differing)
            counts["lost"] += bool(outcome.lost)
        noticed = sum(outcome.noticed for outcome in changed)
        lines.append(
            f"{kind}: {len(of_kind)} cases; exit 70 in {counts['internal']}; a changed"
            f" quotation in {counts['invented']}; {noticed} of {len(changed)} changes"
            f" noticed; differing after repair {counts['differing']}; lost turns in"
            f" {counts['lost']}"
        )
    for outcome in outcomes:
        missed = ["not noticed"] if outcome.changed and not outcome.noticed else []
        faults = {
            "exit 70": outcome.internal,
            "invented": outcome.invented[:2],
            "differing": outcome.differing,
            "lost": outcome.lost,
            "missed": missed,
        }
        for name, items in faults.items():
            if items:
                lines.append(f"  {outcome.kind}, {outcome.place}: {name}: {items}")
    return "\n".join(lines)


def _load_code() -> None:
    """Import all of lrwr before processes are forked, so that none has to."""
    import lrwr

    for module in pkgutil.walk_packages(lrwr.__path__, "lrwr."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                import_module(module.name)


def _run_cases(
    sample: Sample, kind: str, seeds: Sequence[str], jobs: int
) -> list[Outcome]:
    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(partial(run_case, sample, kind), seeds):
            outcomes.append(outcome)
            print(report([outcome]), file=sys.stderr, flush=True)
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases and print the report; return 1 if a command ended with code 70 or
    showed a changed quotation, else 0.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.damage")
    parser.add_argument("--cases", type=int, help="cases in all, instead of 450")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    kinds = {kind: count for kind, count in KINDS.items() if options.only in kind}
    share = (options.cases or sum(kinds.values())) / sum(kinds.values())
    began = time.monotonic()
    outcomes: list[Outcome] = []
    _load_code()
    with tempfile.TemporaryDirectory(prefix="lrwr-damage-") as scratch:
        os.environ |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME"), scratch)
        for kind, count in kinds.items():
            sample = _make_in_child(Path(scratch) / kind.replace(" ", "-"), kind)
            seeds = [f"{options.seed}/{kind}/{n}" for n in range(round(count * share))]
            outcomes += _run_cases(sample, kind, seeds, options.jobs)
    print(report(outcomes))
    print(f"{len(outcomes)} cases in {time.monotonic() - began:.0f} s")
    failed = any(outcome.internal or outcome.invented for outcome in outcomes)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
