"""CPU seconds until a command answers."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from bench.children import REPO, inside, lrwr, run
from bench.library import Bench, Library, manuscript_library
from bench.report import Line

PART = "startup"
QUESTION = "Who painted the portrait?"
BARE = Path(__file__).with_name("inside") / "bare_typer.py"


def measure(bench: Bench) -> list[Line]:
    library = manuscript_library(bench)
    run([sys.executable, "-m", "compileall", "-q", "lrwr"], cwd=REPO)
    commands = _commands()
    rounds = 4 if bench.quick else 12
    costs = _rounds(library, commands, rounds)
    pairs = zip(costs["lrwr --help"], costs["bare Typer --help"], strict=True)
    ratio = median(ours / theirs for ours, theirs in pairs)
    least = min(costs["lrwr --help"]) / min(costs["bare Typer --help"])
    goals = {
        "lrwr search, reranked, cold": 1.2,
        "lrwr search --no-rerank, cold": 0.8,
    }
    lines = [Line(PART, "lrwr --help ÷ bare Typer --help", ratio, "x", 1.3,
                  note=f"median of {rounds} pairs; least ÷ least {least:.2f}")]  # fmt: skip
    lines += [
        Line(
            PART, name, median(cpus), "CPU s", goals.get(name),
            note=f"median of {rounds}; least {min(cpus):.3f}",
        )
        for name, cpus in costs.items()
    ]  # fmt: skip
    return lines


def _commands() -> dict[str, list[str]]:
    search = [*lrwr(), "search", QUESTION]
    return {
        "bare Typer --help": [sys.executable, str(BARE), "--help"],
        "lrwr --help": [*lrwr(), "--help"],
        "lrwr --version": [*lrwr(), "--version"],
        "lrwr status": [*lrwr(), "status"],
        "lrwr search --lexical, cold": [*search, "--lexical", "--no-rerank"],
        "lrwr search --no-rerank, cold": [*search, "--no-rerank"],
        "lrwr search, reranked, cold": search,
        "imports and weights alone, one text embedded": inside("first_vector"),
    }


def _rounds(
    library: Library, commands: Mapping[str, Sequence[str]], rounds: int
) -> dict[str, list[float]]:
    """Run every command once a round, so that a busy minute hits all alike."""
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            cpu = run(command, cwd=library.root).cost.cpu
            if number:  # the first round warms the disk's cache
                costs[name].append(cpu)
    return costs
