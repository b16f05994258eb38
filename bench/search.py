"""Duration of searches in a large library with all indexes open."""

import json
import shutil
from pathlib import Path
from typing import Any

from bench.children import inside, run
from bench.data import read_lines
from bench.library import (
    Bench,
    Library,
    ingest,
    manuscript_library,
    novels_library,
    record_library,
)
from bench.report import Line, skipped

PART = "search"
CHUNKS = 20_000
LEAST = 200
"""A library of fewer chunks would have to be copied too often to mean anything."""

QUESTIONS = (
    "Who painted the portrait?",
    "What did she say about the letter?",
    "the storm at sea and the broken mast",
    "When does he find out about the money?",
    "a quarrel at dinner between the brothers",
    "Why did the old woman leave the house?",
)


def measure(bench: Bench) -> list[Line]:
    libraries = [manuscript_library(bench), novels_library(bench)]
    base = max((one for one in libraries if one), key=_chunks)
    if _chunks(base) < LEAST:
        return skipped(PART, f"fewer than {LEAST} chunks to make a large library of")
    library = _large(bench, base)
    asked = library.root / "questions.json"
    asked.write_text(json.dumps(_questions(bench)), encoding="utf-8")
    done = run([*inside("warm"), asked], cwd=library.root)
    return _lines(json.loads(done.out), library)


def _large(bench: Bench, base: Library) -> Library:
    """Return the base with its documents copied under other names until it is large."""
    root = base.root.with_name(f"{base.root.name}-large")
    target = CHUNKS // 4 if bench.quick else CHUNKS
    if (root / "bench.json").exists():
        shutil.rmtree(root)  # cheap to make: never kept from a run of other size
    shutil.copytree(base.root, root)
    copies = -(-target // _chunks(base)) - 1
    for folder in [p for p in base.root.iterdir() if _is_source(p)]:
        for number in range(copies):
            shutil.copytree(folder, root / folder.name / f"copy-{number + 1}")
    return record_library(root, *ingest(root))


def _questions(bench: Bench) -> list[str]:
    number = 40 if bench.quick else 100
    path = bench.data.questions("novel_dialogue")
    if path is None:
        return [*QUESTIONS] * (number // len(QUESTIONS) or 1)
    lines = read_lines(path)
    return [str(q["question"]) for q in lines[:: max(1, len(lines) // number)]]


def _lines(told: dict[str, Any], library: Library) -> list[Line]:
    chunks = told["chunks"]
    lines = [
        Line(PART, "chunks in the library", chunks,
             note=f"{library.summary['embedded']} embedded for the copies"),
        Line(PART, "CPU of ingesting the copies", library.cost.cpu, "CPU s",
             note=f"wall {library.cost.wall:.1f} s, {library.cost.peak_mb:.0f} MB"),
        Line(PART, "first search: the index is filled", told["first"]["cpu"], "CPU s",
             note=f"wall {told['first']['wall']:.1f} s"),
        Line(PART, "first search in the next process", told["second"]["cpu"], "CPU s",
             note=f"wall {told['second']['wall']:.2f} s; index and model opened"),
    ]  # fmt: skip
    for way, row in told["ways"].items():
        note = (
            f"p95 {row['p95_wall'] * 1000:.1f} ms wall; CPU p50"
            f" {row['p50_cpu'] * 1000:.1f}, p95 {row['p95_cpu'] * 1000:.1f} ms"
        )
        lines.append(
            Line(PART, f"warm, {way}, p50", row["p50_wall"] * 1000, "ms", note=note)
        )
    ways = told["ways"]
    floor = (
        ways["bare Edge query"]["p50_cpu"] + ways["one question embedded"]["p50_cpu"]
    )
    dense = ways["dense"]["p50_cpu"]
    lines.append(Line(PART, "dense ÷ (bare Edge + embedding), CPU", dense / floor, "x"))
    lines.append(Line(PART, "disk", _size(library.root / ".lrwr"), "MB"))
    return lines


def _chunks(library: Library) -> int:
    return int(library.summary["chunks"])


def _is_source(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _size(folder: Path) -> float:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6
