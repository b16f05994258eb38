"""Growth of the cost of each action from one novel to 19 and to 100,000 passages.

The largest library has books of their own, made from the novels (`bench.books`), not
copies. The embedding model is one that costs next to nothing, so that ingesting them
takes about 15 CPU minutes instead of hours; keep them with `--work`. A kept library is
brought up to date before it is measured, for rules that have changed since.

A ratio is the figure of one library divided by that of the smaller one before it, in the
same run, so it hardly depends on the machine. If it is more than `TOLERANCE` times the
one in `scale_baseline.json`, the benchmarks fail. `python -m bench.scale FIGURES.json`
records the ratios of a run with `--json FIGURES.json` as the new ones.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from bench.books import write_books
from bench.children import inside, lrwr, run
from bench.library import (
    Bench,
    Library,
    choose_novel,
    prepare,
    record_library,
    reuse_library,
)
from bench.report import Line, say, skipped

PART = "scale"
PIPELINE = "b"
PASSAGES = 100_000
NOVELS = 19
BASELINE = Path(__file__).with_name("scale_baseline.json")
TOLERANCE = 1.3
"""How much a ratio may exceed the recorded one: other work on the machine is noise."""

QUESTION = "Who painted the portrait?"
SENTENCE = " The quorble was seen beside the bandstand again."

CHAPTER_BYTES = 12_000
"""Size of the chapter that is edited, about."""

Figures = Mapping[str, tuple[float, str]]
"""Figure and unit of each measure of one library, by name."""


def measure(bench: Bench) -> list[Line]:
    novels = bench.data.novels()[: bench.novels]
    if not novels:
        return skipped(PART, "no novels here")
    libraries = {"1 novel": _library(bench, "scale-1", [choose_novel(bench)])}
    libraries[f"{len(novels)} novels"] = _library(bench, f"scale-{len(novels)}", novels)
    if not bench.quick:
        *_, last = libraries.values()
        words = PASSAGES * last.words // int(last.summary["chunks"])
        libraries[f"{PASSAGES:,} passages"] = _large(bench, novels, words)
    figures = {}
    for name, library in libraries.items():
        say(f"  measuring {name} …")
        figures[name] = _measure(library, rounds=2 if bench.quick else 3)
    screen = [
        line for name in list(libraries)[:2] for line in _screen(name, libraries[name])
    ]
    is_standard = len(novels) == NOVELS and not bench.quick
    baseline = json.loads(BASELINE.read_text("utf-8")) if is_standard else {}
    return [*_lines(figures), *screen, *compare_growth(figures, baseline)]


def compare_growth(
    figures: Mapping[str, Figures], baseline: Mapping[str, float]
) -> list[Line]:
    """Return a line for each ratio of a figure to that of the next smaller library.

    `figures` are those of each library, the smallest first. The goal is the ratio in
    `baseline`, by the name of the line, times `TOLERANCE`; it is required.
    """
    lines = []
    for smaller, larger in pairwise(figures):
        for name, (value, _) in figures[larger].items():
            before, _ = figures[smaller][name]
            ratio_name = f"{name}: {larger} ÷ {smaller}"
            recorded = baseline.get(ratio_name)
            goal = None if recorded is None else recorded * TOLERANCE
            lines.append(
                Line(PART, ratio_name, value / before, "x", goal, required=True)
            )
    return lines


def _lines(figures: Mapping[str, Figures]) -> list[Line]:
    return [
        Line(PART, f"{library}: {name}", value, unit)
        for library, measured in figures.items()
        for name, (value, unit) in measured.items()
    ]


def _library(bench: Bench, name: str, novels: Sequence[Path]) -> Library:
    root = bench.work / name
    if kept := _reuse(root):
        return kept
    prepare(root, {f"books/{novel.name}": novel for novel in novels}, PIPELINE)
    return _ingest(root)


def _large(bench: Bench, novels: Sequence[Path], words: int) -> Library:
    root = bench.work / "scale-large"
    if kept := _reuse(root):
        return kept
    prepare(root, {"books": novels[0]}, PIPELINE)
    write_books(novels, root / "books" / "made", words)
    return _ingest(root)


def _reuse(root: Path) -> Library | None:
    kept = reuse_library(root)
    if kept is not None:
        say(f"  bringing {root.name} up to date …")
        run([*inside("free"), "ingest"], cwd=root)
    return kept


def _ingest(root: Path) -> Library:
    say(f"  ingesting {root.name} …")
    done = run([*inside("free"), "ingest", "--json"], cwd=root)
    return record_library(root, json.loads(done.out), done.cost)


def _measure(library: Library, rounds: int) -> Figures:
    root = library.root
    searches = [[*inside("free"), "search", QUESTION, "--no-rerank"]] * rounds
    questions = [[*inside("free"), "ask", QUESTION]] * rounds
    ingests = [[*inside("free"), "ingest", "--json"]] * rounds
    asked = [run(command, cwd=root).cost for command in questions]
    warm = json.loads(run(inside("scale"), cwd=root).out)
    return {
        "first ingestion, a word": (1e6 * library.cost.cpu / library.words, "CPU µs"),
        "ingest, nothing changed": (_cpu(ingests, root), "CPU s"),
        "ingest, one paragraph edited": (_edit(root, rounds), "CPU s"),
        "status": (_cpu([[*lrwr(), "status"]] * rounds, root), "CPU s"),
        "search, cold": (_cpu(searches, root), "CPU s"),
        "ask, cold": (median(cost.cpu for cost in asked), "CPU s"),
        "ask, peak memory": (max(cost.peak_mb for cost in asked), "MB"),
        "search, warm, p50": (1000 * warm["search"]["p50"], "CPU ms"),
        "search, warm, p95": (1000 * warm["search"]["p95"], "CPU ms"),
        "search, dialogue, warm, p50": (1000 * warm["dialogue"]["p50"], "CPU ms"),
        "ask, warm, p50": (1000 * warm["ask"]["p50"], "CPU ms"),
    }


def _screen(name: str, library: Library) -> list[Line]:
    """Return the costs of a key while searching, and of opening a chapter."""
    told = json.loads(run(inside("room"), cwd=library.root).out)
    goals = {"key": 150, "chapter": 100, "marks": None}
    names = {
        "key": "search as you type, a key",
        "chapter": "reader, until it shows a chapter",
        "marks": "reader, until all marks are shown",
    }
    return [
        Line(
            PART, f"{name}: {names[kind]}, p95", row["p95"], "CPU ms", goals[kind],
            note=f"p50 {row['p50']:.0f}, most {row['most']:.0f}",
        )
        for kind, row in told.items()
    ]  # fmt: skip


def _cpu(commands: Sequence[Sequence[str]], root: Path) -> float:
    return median(run(command, cwd=root).cost.cpu for command in commands)


def _edit(root: Path, rounds: int) -> float:
    """Edit a paragraph and undo it again; return the median cost of their ingestions.

    A longer chapter costs more, so one of about the same size is edited in each library.
    """
    paths = sorted(root.joinpath("books").rglob("*.md"))
    path = min(paths, key=lambda path: abs(path.stat().st_size - CHAPTER_BYTES))
    text = path.read_text(encoding="utf-8")
    cpus = []
    for _ in range(rounds):
        first, last = text.rstrip().rsplit("\n\n", 1)
        for edited in (f"{first}{SENTENCE}\n\n{last}\n", text):
            path.write_text(edited, encoding="utf-8")
            cpus.append(run([*inside("free"), "ingest"], cwd=root).cost.cpu)
    return median(cpus)


def main() -> int:
    """Record the ratios of a run, whose figures are in the file of the argument."""
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    ratios = {
        line["name"]: round(line["value"], 2)
        for line in told["lines"]
        if line["part"] == PART and " ÷ " in line["name"]
    }
    BASELINE.write_text(
        json.dumps(ratios, ensure_ascii=False, indent=2) + "\n", "utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
