"""Overhead of a turn: `python -m bench.inside.turn`.

Planning, search and answer are replaced by functions that do nothing, so that only the
graph is measured.
"""

import asyncio
import time
from statistics import median, quantiles

from lrwr.core.bible.values import Bible
from lrwr.core.chat.graph import run_turn
from lrwr.core.chat.nodes import AvatarAnswer, TurnDependencies, TurnEventEmitter
from lrwr.core.chat.planning.rules import plan_by_rules
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.turns import QuestionPlan
from lrwr.core.retrieval.search_model import SearchResult

TURNS = 60
COLD = 5
"""Turns before the others, in which modules are imported."""

GOAL = 50
"""Milliseconds that a warm turn may take of its own."""


class Mute:
    """A stand-in for the analyst and the characters: it answers with one word."""

    model = ""

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        """Return an answer of one word."""
        del question, plan, result, emit, lookups
        return AvatarAnswer("Yes.")


async def plan(question: TurnQuestion, bible: Bible) -> QuestionPlan:
    return plan_by_rules(question, bible)


async def search(question: TurnQuestion) -> SearchResult:
    del question
    return SearchResult(())


async def turns() -> list[float]:
    """Run `TURNS` turns; return their durations in milliseconds, in order."""
    room = TurnDependencies(plan, search, Mute())
    times = []
    for _ in range(TURNS):
        began = time.perf_counter()
        async for _event in run_turn(TurnQuestion("What of the lamp?"), Bible(), room):
            pass
        times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    times = asyncio.run(turns())
    warm = times[COLD:]
    p90 = quantiles(warm, n=10)[8]
    print(f"first turn {times[0]:.0f} ms, with what it imports")
    print(f"warm: median {median(warm):.1f} ms (goal {GOAL} at most), p90 {p90:.1f}")


if __name__ == "__main__":
    main()
