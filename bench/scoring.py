"""Searches questions in libraries and scores the results."""

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
class QuestionBatch:
    """Questions, and the library in which they are searched."""

    library: Library
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions for several libraries.

    `docs` is the folder with the texts of all of them, for the scorer; `asked` has the
    questions by library.
    """

    docs: Path
    asked: list[QuestionBatch]


def search_batches(
    batches: Sequence[QuestionBatch],
    flags: Sequence[str],
    env: Mapping[str, str] | None = None,
) -> tuple[Answers, float]:
    """Search every question in its library with `lrwr search --batch` and `flags`.

    `env` are environment variables for the searches.
    Return the JSON objects that it printed, by question id, and the CPU seconds of all
    searches together.
    """
    found: Answers = {}
    cpu = 0.0
    for one in batches:
        if one.questions:
            more, spent = _answered(one, flags, env or {})
            found |= more
            cpu += spent
    return found, cpu


def score_results(bench: Bench, shelf: QuestionSet, found: Answers) -> dict[str, float]:
    """Score results with the data folder's scorer, and return its figures by name.

    `shelf` has the questions, `found` a result for each of them by question id.

    Raises:
        BenchFailed: The scorer failed.
    """
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


def find_leaks(questions: Sequence[Mapping[str, Any]], found: Answers) -> list[str]:
    """Return the ids of questions that search answered with a later chapter.

    A question's `asof_chapter` is the last chapter it may use. A passage's chapter is
    the number with which the name of its file begins. `found` has results by question
    id.
    """
    late = []
    for question in questions:
        files = [Path(one["file"]).name for one in found[question["id"]]["ranked"]]
        numbers = [int(m[0]) for name in files if (m := re.match(r"\d+", name))]
        if any(number > question["asof_chapter"] for number in numbers):
            late.append(str(question["id"]))
    return late


def _answered(
    one: QuestionBatch, flags: Sequence[str], env: Mapping[str, str]
) -> tuple[Answers, float]:
    with tempfile.TemporaryDirectory(prefix="lrwr-bench-") as scratch:
        asked, ranked = Path(scratch, "asked.jsonl"), Path(scratch, "ranked.jsonl")
        write_lines(asked, [_line(question) for question in one.questions])
        command = [*lrwr(), "search", "--batch", str(asked), "-k", str(LIMIT), *flags]
        done = run(command, cwd=one.library.root, out=ranked, env=env)
        return {line["id"]: line for line in read_lines(ranked)}, done.cost.cpu


def _line(question: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("id", "question", "asof_chapter")
    return {name: question[name] for name in kept if name in question}
