"""The order of one turn's steps, as a LangGraph graph without a memory of its own."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import gather_context
from lrwr.core.chat.context.gap_finder import GapFinderResult
from lrwr.core.chat.nodes import (
    AvatarAnswer,
    TurnDependencies,
    TurnEventEmitter,
    add_web_pages,
    assemble_output,
    find_turn_gaps,
    plan_and_search,
    run_lookup,
)
from lrwr.core.chat.planning.rules import resolve_entities
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.turns import (
    QuestionPlan,
    ResolvedEntity,
    SupervisorOutput,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.retrieval.service import SearchResult

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime


class TurnGraphState(TypedDict, total=False):
    """What the steps have made; each writes its own part once."""

    question: TurnQuestion
    bible: Bible
    plan: QuestionPlan
    found: SearchResult
    resolved: tuple[ResolvedEntity, ...]
    result: RetrievalResult
    gaps: GapFinderResult
    answer: AvatarAnswer
    output: SupervisorOutput


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What the graph's steps are lent for one turn."""

    room: TurnDependencies
    emit: TurnEventEmitter


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to, and how it was said."""

    output: SupervisorOutput
    answer: AvatarAnswer


async def run_turn(
    question: TurnQuestion, bible: Bible, dependencies: TurnDependencies
) -> AsyncGenerator[TurnEvent | TurnResult]:
    """Yield what happens in a turn while it does, and last what it came to.

    Closing the generator stops every step, and what a step asked of a server.
    """
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    turn = asyncio.create_task(
        _run(question, bible, TurnContext(dependencies, events.put_nowait))
    )
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield await turn
    finally:
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)


async def _run(
    question: TurnQuestion, bible: Bible, turn_context: TurnContext
) -> TurnResult:
    from langsmith import tracing_context

    initial_state: TurnGraphState = {"question": question, "bible": bible}
    with tracing_context(enabled=False):  # whatever a shell's variables say
        final_state = await compile_turn_graph().ainvoke(
            initial_state, context=turn_context
        )
    return TurnResult(final_state["output"], final_state["answer"])


_STEPS = (
    "look up", "resolve", "retrieve", "seek", "web", "gaps", "avatar", "assemble",
)  # fmt: skip


def compile_turn_graph() -> "CompiledStateGraph[TurnGraphState, TurnContext, Any, Any]":
    """Return the graph; making it takes milliseconds."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(TurnGraphState, context_schema=TurnContext)
    graph.add_node("look up", _look_up)
    graph.add_node("resolve", _resolve)
    graph.add_node("retrieve", _retrieve)
    graph.add_node("seek", _seek)
    graph.add_node("web", _web)
    graph.add_node("gaps", _gaps)
    graph.add_node("avatar", _avatar)
    graph.add_node("assemble", _assemble)
    for source, target in pairwise((START, *_STEPS, END)):
        graph.add_edge(source, target)
    return graph.compile()


async def _look_up(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    plan, result = await plan_and_search(
        state["question"], state["bible"], turn_context.room, turn_context.emit
    )
    return {"plan": plan, "found": result}


async def _resolve(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    notes = runtime.context.room.notes
    return {"resolved": resolve_entities(state["plan"], state["bible"], notes)}


async def _retrieve(state: TurnGraphState) -> TurnGraphState:
    result = gather_context(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["found"],
    )
    return {"result": result}


async def _seek(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    result = await run_lookup(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        turn_context.room,
        turn_context.emit,
    )
    return {"result": result}


async def _web(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    question, plan, result = state["question"], state["plan"], state["result"]
    result = await add_web_pages(
        question, plan, result, turn_context.room, turn_context.emit
    )
    return {"result": result}


async def _gaps(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    turn_gaps = await find_turn_gaps(
        state["question"],
        state["plan"],
        state["result"],
        state["bible"],
        turn_context.room,
        turn_context.emit,
    )
    return {"gaps": turn_gaps}


async def _avatar(
    state: TurnGraphState, runtime: "Runtime[TurnContext]"
) -> TurnGraphState:
    turn_context = runtime.context
    turn_context.emit(TurnStageStarted("answer", "Answering"))
    answer = await turn_context.room.avatar.answer(
        state["question"], state["plan"], state["result"], turn_context.emit
    )
    return {"answer": answer}


async def _assemble(state: TurnGraphState) -> TurnGraphState:
    output = assemble_output(
        state["question"],
        state["plan"],
        state["resolved"],
        state["bible"],
        state["result"],
        state["gaps"],
        state["answer"],
    )
    return {"output": output}
