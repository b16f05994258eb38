"""Cost of one edit with pipeline a: random edits, each ingested."""

import json
import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from bench.children import inside, run
from bench.library import (
    Bench,
    Library,
    make_library,
    manuscript_library,
    novels_library,
)
from bench.report import Line
from bench.spans import check_library

PART = "edit"
PIPELINE = "a"
EDITS = 100


def measure(bench: Bench) -> list[Line]:
    lines = _edited(bench, manuscript_library(bench, PIPELINE))
    one_file = _of_one_file(bench)
    return lines + (_edited(bench, one_file) if one_file else [])


def _edited(bench: Bench, library: Library) -> list[Line]:
    root = library.root.with_name(f"{library.root.name}-edited")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(library.root, root)
    try:
        number = EDITS // 5 if bench.quick else EDITS
        done = run([*inside("edit"), str(number)], cwd=root)
        spans = check_library(replace(library, root=root))
    finally:
        shutil.rmtree(root)
    lines = _lines(json.loads(done.out))
    lines += [replace(line, name=f"then {line.name.split(': ')[-1]}") for line in spans]
    name = library.root.name
    return [replace(n, part=PART, name=f"{name}: {n.name}") for n in lines]


def _of_one_file(bench: Bench) -> Library | None:
    """Return the library of a novel of middling length that is one long file."""
    novels = bench.data.novels()[: bench.novels]
    if not novels:
        return None
    by_length = sorted(novels, key=lambda novel: len(_joined(novel)))
    novel = by_length[len(by_length) // 2]
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        file = Path(scratch, f"{novel.name}.md")
        file.write_text(_joined(novel), encoding="utf-8")
        root = bench.work / f"{novel.name}-in-one-file"
        lender = novels_library(bench, PIPELINE)
        return make_library(
            root, {"novel": Path(scratch)}, lender=lender, pipeline=PIPELINE
        )


def _joined(novel: Path) -> str:
    chapters = sorted((novel / "chapters").glob("*.md"))
    return "\n\n".join(path.read_text(encoding="utf-8") for path in chapters)


def _lines(rows: list[dict[str, Any]]) -> list[Line]:
    embedded = [row["embedded"] for row in rows]
    greedy = [row["greedy"] for row in rows]
    sought = [row["found"] for row in rows if row["found"] is not None]
    cpu = [row["ingest_cpu"] for row in rows]
    return [
        Line(PART, "embeddings an edit, median", median(embedded), goal=2,
             note=f"{len(rows)} edits; mean {mean(embedded):.2f}; {_by_kind(rows)}"),
        Line(PART, "embeddings an edit, p90", _p(embedded, 90), goal=4,
             note=f"how often: {dict(sorted(Counter(embedded).items()))}"),
        Line(PART, "embeddings an edit, most", max(embedded)),
        Line(PART, "a greedy splitter's, median", median(greedy),
             note=f"mean {mean(greedy):.2f}"),
        Line(PART, "a greedy splitter's, p90", _p(greedy, 90)),
        Line(PART, "a greedy splitter's, most", max(greedy)),
        Line(PART, "new words found in the top 3",
             100 * sum(sought) / len(sought), "%", 100, ">=",
             f"{sum(sought)} of {len(sought)}"),
        Line(PART, "edits that left stale words", sum(row["stale"] for row in rows),
             goal=0),
        Line(PART, "CPU an edit, median", median(cpu), "CPU s",
             note=f"p90 {_p(cpu, 90):.2f}; embedding included"),
        Line(PART, "wall an edit, median",
             median(row["ingest_wall"] for row in rows), "s"),
        Line(PART, "CPU of the search after it, median",
             median(row["search_cpu"] for row in rows if row["found"] is not None),
             "CPU s"),
    ]  # fmt: skip


def _by_kind(rows: list[dict[str, Any]]) -> str:
    kinds: dict[str, list[int]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row["embedded"])
    return ", ".join(f"{kind} {mean(counts):.1f}" for kind, counts in kinds.items())


def _p(values: list[float], share: int) -> float:
    return quantiles(values, n=100, method="inclusive")[share - 1]
