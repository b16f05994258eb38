"""Calls of a language model for a question, and how soon the first word is there.

The model is a server on this machine that takes a second for each call. For one question
in five it asks for a search instead of answering. Figures are about calls, tokens and
time, not about the quality of answers.
"""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench.children import BenchFailed, inside, run
from bench.library import Bench, manuscript_library
from bench.report import Line
from lrwr.core.settings.model_services import AnswerSettings
from tests.fakes.model_server import MODEL, Asked, ModelServer
from tests.fakes.planning import planning

PART = "answer_calls"
WAIT = 1.0
"""Seconds that each call takes."""

QUESTIONS = (
    "Who keeps the lamp?",
    "What happened to the boats on the last night?",
    "What does Nell say to PurpleFrog about the tin?",
    "How old is Nell?",
    "Does chapter 5 reveal too early who sold the oil?",
    "Who was there when the light went out?",
    "What is on the ladder?",
    "Why does Mags not leave Half House?",
    "What does the Reeve want with Half House?",
    "How did Jack die?",
)
SEARCHING = (QUESTIONS[2], QUESTIONS[8])
"""Questions for which the model first asks for a search."""

MORE = 6_000
"""Tokens of plan, prompts, earlier turns and answers that come with the material."""


def measure(bench: Bench) -> list[Line]:
    root = bench.work / "answer-calls"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(manuscript_library(bench).root, root)
    calls: list[float] = []
    with ModelServer(key="", wait=WAIT) as server:
        server.answering(lambda asked: _reply(asked, calls))
        answers = _ask(root, server.base_url)
    shutil.rmtree(root)
    if any(answer["model"] != MODEL for answer in answers):
        raise BenchFailed("a question was not answered by the model")
    # The first question pays for what is imported.
    layers = [_count_layers(answer, calls) for answer in answers][1:]
    answers = answers[1:]
    first = [answer["first"] - answer["began"] for answer in answers]
    own = [
        1000 * (seconds - WAIT * count)
        for seconds, count in zip(first, layers, strict=True)
    ]
    plain = [
        seconds for seconds, count in zip(first, layers, strict=True) if count == 2
    ]
    tokens = mean(answer["tokens"] for answer in answers)
    budget = AnswerSettings().budget_context(hosted=False)
    note = (
        f"{len(answers)} questions, {len(SEARCHING)} with a search of the model's own"
    )
    return [
        Line(PART, "calls in sequence before the first word", mean(layers), goal=2.3,
             note=note, also={"most": max(layers)}),
        Line(PART, "calls a question", mean(a["calls"] for a in answers), goal=3.5),
        Line(PART, "tokens a question", tokens, goal=budget + MORE,
             also={"most": max(a["tokens"] for a in answers)}),
        Line(PART, "first word, median", median(plain), "s", goal=2.4,
             note=f"{WAIT:.0f} s a call", also={"most": max(first)}),
        Line(PART, "own overhead, median", median(own), "ms", goal=50,
             also={"most": max(own)}),
    ]  # fmt: skip


def _ask(root: Path, address: str) -> list[Mapping[str, Any]]:
    env = {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": MODEL,
        "LRWR_MODEL_BASE_URL": address,
    }
    done = run([*inside("answer_calls"), *QUESTIONS], cwd=root, env=env)
    answers: list[Mapping[str, Any]] = json.loads(done.out)
    return answers


def _reply(asked: Asked, calls: list[float]) -> str:
    """Answer as a model that plans well; record when the request came in."""
    calls.append(time.time() - WAIT)
    if asked.shape:
        return planning(asked, intention="find_passage", name="Nell")
    # The second prompt says what was looked up.
    is_first = "<looked up" not in "".join(asked.texts)
    if is_first and asked.texts[-1].endswith(SEARCHING):
        return "search: the last of the oil was sold"
    return "The lamp must never go out [1]."


def _count_layers(answer: Mapping[str, Any], calls: Sequence[float]) -> int:
    """Return how many calls followed each other before the first word.

    Calls that began while another one was running count as one.
    """
    layers, since = 0, 0.0
    for at in sorted(calls):
        if answer["began"] - 0.01 <= at < answer["first"] and at >= since:
            layers, since = layers + 1, at + 0.9 * WAIT
    return layers
