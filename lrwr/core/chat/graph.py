"""The order of one turn's steps, as a LangGraph graph without a memory of its own."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import gather
from lrwr.core.chat.context.gap_finder import Wondered
from lrwr.core.chat.nodes import (
    Answer,
    Emit,
    Room,
    assembled,
    look_up,
    looked_outside,
    sought,
    wondered,
)
from lrwr.core.chat.planning.name_resolution import resolve
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.turns import Plan, Resolved, Staged, SupervisorOutput, TurnEvent
from lrwr.core.retrieval.service import SearchResult

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class TurnSoFar(TypedDict, total=False):
    """What the steps have made; each writes its own part once."""

    question: Question
    bible: Bible
    plan: Plan
    found: SearchResult
    resolved: tuple[Resolved, ...]
    result: RetrievalResult
    gaps: Wondered
    answer: Answer
    output: SupervisorOutput


@dataclass(frozen=True, slots=True)
class Lent:
    """What the graph's steps are lent for one turn."""

    room: Room
    emit: Emit


@dataclass(frozen=True, slots=True)
class TurnMade:
    """What a turn came to, and how it was said."""

    output: SupervisorOutput
    answer: Answer


async def run_turn(
    question: Question, bible: Bible, room: Room
) -> AsyncGenerator[TurnEvent | TurnMade]:
    """Yield what happens in a turn while it does, and last what it came to.

    Closing the generator stops every step, and what a step asked of a server.
    """
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    turn = asyncio.create_task(_run(question, bible, Lent(room, events.put_nowait)))
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield await turn
    finally:
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


async def _run(question: Question, bible: Bible, lent: Lent) -> TurnMade:
    from langsmith import tracing_context

    begun: TurnSoFar = {"question": question, "bible": bible}
    with tracing_context(enabled=False):  # whatever a shell's variables say
        ended = await compiled().ainvoke(begun, context=lent)
    return TurnMade(ended["output"], ended["answer"])


_STEPS = (
    "look up", "resolve", "retrieve", "seek", "web", "gaps", "avatar", "assemble",
)  # fmt: skip


def compiled() -> "CompiledStateGraph[TurnSoFar, Lent, Any, Any]":
    """Return the graph; making it takes milliseconds."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(TurnSoFar, context_schema=Lent)
    graph.add_node("look up", _look_up)
    graph.add_node("resolve", _resolve)
    graph.add_node("retrieve", _retrieve)
    graph.add_node("seek", _seek)
    graph.add_node("web", _web)
    graph.add_node("gaps", _gaps)
    graph.add_node("avatar", _avatar)
    graph.add_node("assemble", _assemble)
    for one, other in pairwise((START, *_STEPS, END)):
        graph.add_edge(one, other)
    return graph.compile()


async def _look_up(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    lent = runtime.context
    plan, found = await look_up(state["question"], state["bible"], lent.room, lent.emit)
    return {"plan": plan, "found": found}


async def _resolve(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    notes = runtime.context.room.notes
    return {"resolved": resolve(state["plan"], state["bible"], notes)}


async def _retrieve(state: TurnSoFar) -> TurnSoFar:
    result = gather(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["found"],
    )
    return {"result": result}


async def _seek(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    lent = runtime.context
    result = await sought(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        lent.room,
        lent.emit,
    )
    return {"result": result}


async def _web(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    lent = runtime.context
    question, plan, result = state["question"], state["plan"], state["result"]
    result = await looked_outside(question, plan, result, lent.room, lent.emit)
    return {"result": result}


async def _gaps(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    lent = runtime.context
    found = await wondered(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        lent.room,
        lent.emit,
    )
    return {"gaps": found}


async def _avatar(state: TurnSoFar, runtime: "Runtime[Lent]") -> TurnSoFar:
    lent = runtime.context
    lent.emit(Staged("answer", "Answering"))
    answer = await lent.room.avatar.answer(
        state["question"], state["plan"], state["result"], lent.emit
    )
    return {"answer": answer}


async def _assemble(state: TurnSoFar) -> TurnSoFar:
    output = assembled(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["result"],
        state["gaps"],
        state["answer"],
    )
    return {"output": output}
