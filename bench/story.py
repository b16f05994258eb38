"""Cost of a novel with pipeline b and no language model: first ingestion and edits."""

import json
import shutil
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from bench.children import inside, run
from bench.ingest import measure_without_embedder
from bench.library import Bench, choose_novel, ingest, prepare, record_library
from bench.report import Line, say

PART = "story"
NOVEL = 122_000
"""Words of the novel that costs are told for."""

EDITS = 100
PIPELINE = "b"
ENV = {"LRWR_PIPELINE": PIPELINE}


def measure(bench: Bench) -> list[Line]:
    source = choose_novel(bench)
    root = bench.work / f"story-{source.name}"
    lines = _first(root, source)
    say("  edits …")
    return lines + _edits(root, EDITS // 5 if bench.quick else EDITS)


def _first(root: Path, source: Path) -> list[Line]:
    """Ingest as a writer does, then again with the vectors of the first time."""
    prepare(root, {"novel": source})
    summary, cost = ingest(root, env=ENV)
    library = record_library(root, summary, cost)
    own, loading = measure_without_embedder(library, PIPELINE)
    name, novels = source.name, summary["words"] / NOVEL
    return [
        Line(PART, f"{name}: words", summary["words"]),
        Line(PART, f"{name}: chunks", summary["chunks"]),
        Line(PART, f"{name}: CPU of everything, a novel", cost.cpu / novels, "CPU s",
             note=f"{cost.cpu:.1f} in all, wall {cost.wall:.1f} s"),
        Line(PART, f"{name}: CPU of all but the embedder, a novel", own / novels,
             "CPU s", note=f"with stored vectors; {loading:.2f} taken off"),
        Line(PART, f"{name}: share of all but the embedder", own / cost.cpu),
        Line(PART, f"{name}: peak memory", cost.peak_mb, "MB"),
    ]  # fmt: skip


def _edits(root: Path, number: int) -> list[Line]:
    edited = root.with_name(f"{root.name}-edited")
    shutil.rmtree(edited, ignore_errors=True)
    shutil.copytree(root, edited)
    rows = json.loads(run([*inside("edit"), str(number)], cwd=edited, env=ENV).out)
    shutil.rmtree(edited)
    embedded = [row["embedded"] for row in rows]
    sought = [row["found"] for row in rows if row["found"] is not None]
    woven = _of(rows, "woven")
    return [
        Line(PART, "chunks embedded an edit, median", median(embedded), goal=3,
             note=f"{number} edits; mean {mean(embedded):.2f}", also=_ends(embedded)),
        Line(PART, "chunks embedded an edit, p90", _tenth(embedded), goal=8),
        Line(PART, "sentences embedded an edit, median",
             median(_of(rows, "sentences")), also=_ends(_of(rows, "sentences"))),
        Line(PART, "documents woven again an edit, median", median(woven),
             note=f"mean {mean(woven):.2f}", also=_ends(woven)),
        Line(PART, "CPU an edit, median", median(_of(rows, "ingest_cpu")), "CPU s",
             also=_ends(_of(rows, "ingest_cpu"))),
        Line(PART, "wall an edit, median", median(_of(rows, "ingest_wall")), "s",
             also=_ends(_of(rows, "ingest_wall"))),
        Line(PART, "new words found in the top 3", 100 * sum(sought) / len(sought),
             "%", 100, ">=", f"{sum(sought)} of {len(sought)}"),
        Line(PART, "edits that left stale words", sum(_of(rows, "stale")), goal=0),
    ]  # fmt: skip


def _of(rows: list[dict[str, Any]], key: str) -> list[float]:
    return [row[key] for row in rows]


def _ends(values: list[float]) -> dict[str, float]:
    return {"p90": _tenth(values), "most": max(values)}


def _tenth(values: list[float]) -> float:
    return quantiles(values, n=10, method="inclusive")[-1]
