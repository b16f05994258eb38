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
BARE_HELP = "bare Typer --help"
BARE = Path(__file__).with_name("inside") / "bare_typer.py"


def measure(bench: Bench) -> list[Line]:
    library = manuscript_library(bench)
    run([sys.executable, "-m", "compileall", "-q", "lrwr"], cwd=REPO)
    commands = _commands()
    rounds = 4 if bench.quick else 12
    costs = _rounds(library, commands, rounds)
    lines = [
        _compare(costs, name, goal)
        for name, goal in {"lrwr --help": 1.3, "lrwr status": 1.6, "lrwr": 1.6}.items()
    ]
    goals = {
        "lrwr search, reranked, cold": 1.2,
        "lrwr search --no-rerank, cold": 0.8,
    }
    lines += [
        Line(
            PART, name, median(cpus), "CPU s", goals.get(name),
            note=f"median of {rounds}; least {min(cpus):.3f}",
        )
        for name, cpus in costs.items()
    ]  # fmt: skip
    return lines


def _compare(costs: Mapping[str, Sequence[float]], name: str, goal: float) -> Line:
    """Return the ratio of a command's cost to that of the bare application."""
    ours, bare = costs[name], costs[BARE_HELP]
    ratio = median(mine / least for mine, least in zip(ours, bare, strict=True))
    least = min(ours) / min(bare)
    note = f"median of {len(ours)} pairs; least ÷ least {least:.2f}"
    return Line(PART, f"{name} ÷ {BARE_HELP}", ratio, "x", goal, note=note)


def _commands() -> dict[str, list[str]]:
    search = [*lrwr(), "search", QUESTION]
    return {
        BARE_HELP: [sys.executable, str(BARE), "--help"],
        "lrwr --help": [*lrwr(), "--help"],
        "lrwr --version": [*lrwr(), "--version"],
        "lrwr": lrwr(),
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
