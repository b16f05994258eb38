"""Asks libraries files of questions and has the scorer judge."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.children import BenchFailed, lrwr, run
from bench.data import read_lines, write_lines
from bench.library import Bench, Library

LIMIT = 20

Answers = dict[str, dict[str, Any]]
"""What was found, by the question's id."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions, and the library that they are put to."""

    library: Library
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Questions for several libraries, and the folder of the texts they are about."""

    docs: Path
    asked: list[Asked]


def answers(batches: Sequence[Asked], flags: Sequence[str]) -> tuple[Answers, float]:
    """Put every question to its library with `lrwr search --batch`.

    Returns what was found, and the CPU seconds it took.
    """
    found: Answers = {}
    cpu = 0.0
    for one in batches:
        if one.questions:
            more, spent = _answered(one, flags)
            found |= more
            cpu += spent
    return found, cpu


def scores(bench: Bench, shelf: Shelf, found: Answers) -> dict[str, float]:
    """Have the scorer that stands beside the data judge what was found."""
    scorer = bench.data.scorer()
    questions = [question for one in shelf.asked for question in one.questions]
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        asked, ranked = Path(scratch, "questions.jsonl"), Path(scratch, "run.jsonl")
        write_lines(asked, questions)
        write_lines(ranked, [found[question["id"]] for question in questions])
        command = [sys.executable, str(scorer), str(asked), str(ranked)]
        done = subprocess.run(
            [*command, "--docs", str(shelf.docs)],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise BenchFailed(f"the scorer: {done.stderr[-600:]}")
    judged: dict[str, float] = json.loads(done.stdout)
    return judged


def leaks(questions: Sequence[Mapping[str, Any]], found: Answers) -> list[str]:
    """Return the questions that got a passage of a later chapter than they may see.

    A chapter's number is the one its file's name begins with.
    """
    late = []
    for question in questions:
        files = [Path(one["file"]).name for one in found[question["id"]]["ranked"]]
        numbers = [int(m[0]) for name in files if (m := re.match(r"\d+", name))]
        if any(number > question["asof_chapter"] for number in numbers):
            late.append(str(question["id"]))
    return late


def _answered(one: Asked, flags: Sequence[str]) -> tuple[Answers, float]:
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        asked, ranked = Path(scratch, "asked.jsonl"), Path(scratch, "ranked.jsonl")
        write_lines(asked, [_line(question) for question in one.questions])
        command = [*lrwr(), "search", "--batch", str(asked), "-k", str(LIMIT), *flags]
        done = run(command, cwd=one.library.root, out=ranked)
        return {line["id"]: line for line in read_lines(ranked)}, done.cost.cpu


def _line(question: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("id", "question", "asof_chapter")
    return {name: question[name] for name in kept if name in question}
