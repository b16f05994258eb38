"""Cost of a first ingestion, and the embedding model's part of it.

Pipeline a is measured on the manuscript and on all novels, pipeline b on one novel.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.children import BenchFailed, inside, run
from bench.library import (
    Bench,
    Library,
    choose_novel,
    disk_mb,
    manuscript_library,
    novel_library,
    novels_library,
    open_database,
    prepare,
)
from bench.report import Line, skipped

PART = "ingest"
RATIO_GOAL = 1.4
"""Of pipeline b, on one novel: CPU of everything divided by that of the embedder alone."""

NOVEL = 122_000
"""Words of the novel that the goal is told in."""

SHORT = NOVEL // 3
"""Fewer words than this are no novel: starting the program would count many times."""

MANY = 1_500
"""Of more texts than this the bare embedder gets every second, third, …; see --full."""


@dataclass(frozen=True, slots=True)
class Bare:
    """The time that the embedding model alone took for the texts of a library.

    Of its `texts` texts, `embedded` were embedded to measure it. `cpu` is CPU seconds,
    `wall` elapsed seconds, both extrapolated to all texts.
    """

    texts: int
    embedded: int
    cpu: float
    wall: float

    @property
    def note(self) -> str:
        """A phrase that says how many texts were embedded to measure it."""
        if self.embedded == self.texts:
            return f"the same {self.texts:,} texts, wall {self.wall:.1f} s"
        return f"from {self.embedded:,} of {self.texts:,} texts, every length alike"


def measure(bench: Bench) -> list[Line]:
    lines = _lines(manuscript_library(bench, "a"), bench, "a")
    novels = novels_library(bench, "a")
    if novels is None:
        return lines + skipped(PART, "no novels here")
    lines += _lines(novels, bench, "a")
    return lines + _lines(novel_library(bench, choose_novel(bench), "b"), bench, "b")


def _lines(library: Library, bench: Bench, pipeline: str) -> list[Line]:
    bare = _bare(library, bench)
    rest, lent = measure_without_embedder(library, pipeline)
    name, note = library.root.name, library.note
    cost, words = library.cost, library.words
    novels = words / NOVEL
    difference = cost.cpu - bare.cpu
    return [
        Line(PART, f"{name}: documents", library.summary["processed"], note=note),
        Line(PART, f"{name}: words", words),
        Line(PART, f"{name}: chunks", library.summary["chunks"]),
        Line(PART, f"{name}: embedded", library.summary["embedded"]),
        Line(PART, f"{name}: wall", cost.wall, "s"),
        Line(PART, f"{name}: words a second", words / cost.wall),
        Line(PART, f"{name}: CPU of everything", cost.cpu, "CPU s"),
        Line(PART, f"{name}: CPU of the bare embedder", bare.cpu, "CPU s",
             note=bare.note),
        Line(PART, f"{name}: everything ÷ bare embedder", cost.cpu / bare.cpu, "x",
             RATIO_GOAL if pipeline == "b" else None),
        Line(PART, f"{name}: their difference a novel", difference / novels, "CPU s",
             note="two large figures: their noise is in it"),
        Line(PART, f"{name}: all but the embedder, a novel", rest / novels, "CPU s",
             2.5 if words >= SHORT and pipeline == "a" else None,
             note=f"{rest:.2f} in all, vectors lent; {lent:.2f} taken off"),
        Line(PART, f"{name}: peak memory", cost.peak_mb, "MB", 450),
        Line(PART, f"{name}: disk", disk_mb(library.root), "MB",
             note=f"{_text_mb(library):.1f} MB of text"),
    ]  # fmt: skip


def _bare(library: Library, bench: Bench) -> Bare:
    """Embed the library's texts and do nothing else; of a great many only a share."""
    kept = library.root / "bench-bare.json"
    if not kept.exists():
        least = library.summary["embedded"] if bench.full else MANY
        command = [*inside("bare_embedder"), str(library.database), str(least)]
        done = run(command, cwd=library.root)
        kept.write_text(done.out, encoding="utf-8")
    return Bare(**json.loads(kept.read_text(encoding="utf-8")))


def measure_without_embedder(library: Library, pipeline: str) -> tuple[float, float]:
    """Ingest the same files anew, with every vector at hand; return CPU seconds, and
    those of loading the vectors, which are not in them.

    This is the cost of everything but the embedder, seen directly: the difference of
    two long runs is smaller than their noise.
    """
    root = library.root.with_name(f"{library.root.name}-lent")
    folders = {p.name: p for p in library.root.iterdir() if _is_source(p)}
    prepare(root, folders, pipeline)
    rounds = 1 if library.words > 4 * NOVEL else 3  # a short one is soon repeated
    try:
        return min(_lent(library, root) for _ in range(rounds))
    finally:
        shutil.rmtree(root)


def _lent(library: Library, root: Path) -> tuple[float, float]:
    shutil.rmtree(root / ".lrwr", ignore_errors=True)
    report = root / "lent.json"
    done = run([*inside("lent_ingest"), library.database, report], cwd=root)
    lent = float(json.loads(report.read_text(encoding="utf-8"))["cpu"])
    if json.loads(done.out)["chunks"] != library.summary["chunks"]:
        raise BenchFailed(f"{library.root.name}: the two ingestions differ")
    return done.cost.cpu - lent, lent


def _is_source(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _text_mb(library: Library) -> float:
    with open_database(library.database) as connection:
        sql = "select sum(length(cast(text as blob))) from document"
        return int(connection.execute(sql).fetchone()[0]) / 1e6
