"""Searches and asks one open library many times; prints the CPU seconds as JSON.

Works on the library in the working directory, with the embedding model of
`bench.inside.free`. Its questions name characters of the library, the same ones in every
run.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import quantiles

from bench.inside.free import use_free_embedder
from lrwr.app.container import Workspace, open_workspace
from lrwr.core.chat.service import TurnRequest
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.settings.loader import load_settings

ROUNDS = 40
ASKED = 6
"""Questions that are answered, not only searched for."""

LEAST_MENTIONS = 20
"""Mentions from which a character is somebody to ask about."""

PLAIN = (
    "Who painted the portrait?",
    "What did she say about the letter?",
    "the storm at sea and the broken mast",
    "When does he find out about the money?",
    "a quarrel at dinner between the brothers",
    "Why did the old woman leave the house?",
    "Where does {0} live?",
    "What does {0} think of {1}?",
)
DIALOGUE = (
    "What does {0} say to {1}?",
    "What does {0} say to {1} about {2}?",
    "What does {0} say about {1}?",
)

Act = Callable[[str], Awaitable[object]]


async def _main() -> None:
    use_free_embedder()
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        counts = await workspace.passages.counts(settings.pipeline)
        plain, dialogue = await choose_questions(workspace)
        finder = workspace.finder()
        asked = SearchRequest("", settings.pipeline, 8, rerank=False)

        async def search(question: str) -> object:
            order = await finder.story_order()
            return await finder.find(replace(asked, question=question), order)

        async def ask(question: str) -> object:
            request = TurnRequest(question)
            return [event async for event in workspace.sessions().ask(request)]

        told = {
            "chunks": counts.chunks,
            "documents": counts.documents,
            "search": await _timed(search, plain),
            "dialogue": await _timed(search, dialogue),
            "ask": await _timed(ask, [*plain[-ASKED // 2 :], *dialogue[: ASKED // 2]]),
        }
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({**told, "peak_mb": peak}))


async def choose_questions(workspace: Workspace) -> tuple[list[str], list[str]]:
    """Return plain questions, and questions about who says what."""
    cast = await workspace.stories.cast()
    people = [c.name for c in cast.characters if c.mentions >= LEAST_MENTIONS]
    people = people or [c.name for c in cast.characters] or ["Nell"]
    step = max(1, len(people) // ROUNDS)
    names = [people[number * step % len(people)] for number in range(ROUNDS + 2)]

    def fill(forms: Sequence[str]) -> list[str]:
        return [
            forms[number % len(forms)].format(*names[number : number + 3])
            for number in range(ROUNDS)
        ]

    return fill(PLAIN), fill(DIALOGUE)


async def _timed(act: Act, questions: Sequence[str]) -> dict[str, float]:
    """Return the CPU seconds of the first time, and p50 and p95 of the others."""
    cpus = []
    for question in [*questions[:1], *questions]:
        began = time.process_time()
        await act(question)
        cpus.append(time.process_time() - began)
    first, *rest = cpus
    shares = quantiles(rest, n=100, method="inclusive")
    return {"first": first, "p50": shares[49], "p95": shares[94]}


if __name__ == "__main__":
    asyncio.run(_main())
