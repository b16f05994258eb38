"""Cost of ingesting again when nothing has changed."""

from statistics import median

from bench.children import lrwr, run
from bench.library import Bench, Library, ingest, manuscript_library, novels_library
from bench.report import Line, skipped

PART = "unchanged"


def measure(bench: Bench) -> list[Line]:
    rounds = 3 if bench.quick else 5
    lines = _lines(manuscript_library(bench), rounds)
    novels = novels_library(bench)
    return lines + (
        _lines(novels, rounds) if novels else skipped(PART, "no novels here")
    )


def _lines(library: Library, rounds: int) -> list[Line]:
    name = library.root.name
    starts, agains, embedded, processed = [], [], 0, 0
    for _ in range(rounds):
        starts.append(run([*lrwr(), "--version"], cwd=library.root).cost.cpu)
        summary, cost = ingest(library.root)
        agains.append(cost.cpu)
        embedded += summary["embedded"]
        processed += summary["processed"]
    again, start = median(agains), median(starts)
    return [
        Line(PART, f"{name}: embedded", embedded, goal=0),
        Line(PART, f"{name}: documents read", processed, goal=0),
        Line(PART, f"{name}: CPU beyond `lrwr --version`", again - start, "CPU s", 0.5,
             note=f"median of {rounds}: {again:.3f} - {start:.3f}"),
    ]  # fmt: skip
