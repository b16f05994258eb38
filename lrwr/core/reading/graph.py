"""The reading companion as a LangGraph graph: think, tools, think, …, answer.

The only module of reading that imports LangGraph. Tools run outside of the graph: the node
`tools` is an interrupt, which whoever runs the graph answers with the tool's result. So the
book can stay on the reader's machine while the graph runs elsewhere. The state is JSON.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypedDict, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from langsmith import tracing_context

from lrwr.core.batch_judge import request_reply
from lrwr.core.model.codec import decode_value, encode_value
from lrwr.core.ports.models import ChatModel
from lrwr.core.reading.steps import (
    MAX_STEPS,
    ReadingQuestion,
    ReadingStep,
    ToolCall,
    ToolResult,
    build_answer_messages,
    build_step_messages,
    build_step_shape,
    parse_step,
)

DEFAULT_BUDGET = 8_000
"""Tokens of passages in a prompt."""

RunTool = Callable[[ToolCall], Awaitable[ToolResult]]
"""Runs a tool on the reader's side; nothing after the position may be returned."""


class ReadingState(TypedDict, total=False):
    """The state of the graph, in JSON: a `ReadingQuestion`, the list of `ReadingStep`, the
    `ToolCall` that waits, None without one, whether to answer, and the answer.
    """

    question: dict[str, Any]
    steps: list[dict[str, Any]]
    call: dict[str, Any] | None
    is_ready: bool
    answer: str


_CONFIG: Any = {"configurable": {"thread_id": "turn"}}

ReadingGraph = CompiledStateGraph[ReadingState, None, ReadingState, ReadingState]


def compile_reading_graph(
    model: ChatModel,
    budget: int = DEFAULT_BUDGET,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
) -> ReadingGraph:
    """Return the graph with `model`, whose prompts have at most `budget` tokens of
    passages. A server of graphs brings its own `checkpointer`.

    Pieces of the answer are written to the stream `custom`.
    """

    async def think(state: ReadingState) -> ReadingState:
        question, steps = _read_state(state)
        messages = build_step_messages(question, steps, budget)
        call = await request_reply(model, messages, build_step_shape(), parse_step)
        if call is None or any(step.call == call for step in steps):
            return {"is_ready": True}
        return {"call": encode_value(call)}

    # A node runs again from its beginning when it resumes, so this one does nothing else.
    async def tools(state: ReadingState) -> ReadingState:
        call, result = state["call"], interrupt(state["call"])
        steps = [*state.get("steps", []), {"call": call, "result": result}]
        return {"steps": steps, "call": None}

    async def answer(state: ReadingState) -> ReadingState:
        write, pieces = get_stream_writer(), list[str]()
        messages = build_answer_messages(*_read_state(state), budget)
        async with aclosing(model.stream(messages)) as stream:
            async for piece in stream:
                pieces.append(piece)
                write(piece)
        return {"answer": "".join(pieces)}

    graph = StateGraph(ReadingState)
    for name, node in (("think", think), ("tools", tools), ("answer", answer)):
        graph.add_node(name, node)
    for name in (START, "think", "tools"):
        graph.add_conditional_edges(name, _choose_node, ["think", "tools", "answer"])
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer)


def _choose_node(state: ReadingState) -> str:
    if state.get("call"):
        return "tools"
    is_full = len(state.get("steps", [])) >= MAX_STEPS
    return "answer" if state.get("is_ready") or is_full else "think"


def _read_state(state: ReadingState) -> tuple[ReadingQuestion, list[ReadingStep]]:
    question = decode_value(state["question"], ReadingQuestion)
    return question, decode_value(state.get("steps", []), list[ReadingStep])


def build_reading_state(
    question: ReadingQuestion, steps: list[ReadingStep]
) -> ReadingState:
    """Return the state before the first step, or after `steps` of an earlier run."""
    return {"question": encode_value(question), "steps": encode_value(steps)}


async def run_reading_graph(
    graph: ReadingGraph,
    start: ReadingState,
    run_tool: RunTool,
    write: Callable[[str], None],
) -> str:
    """Run a graph that has a checkpointer in this process, and return the answer.

    `run_tool` answers its interrupts; `write` receives the pieces of the answer.

    Raises:
        ServiceUnavailable: The language model did not answer.
    """
    payload: ReadingState | Command[Any] = start
    # LangGraph sends traces if LANGSMITH_TRACING is set; they would contain the text.
    with tracing_context(enabled=False):
        while (call := await _run_to_interrupt(graph, payload, write)) is not None:
            payload = Command(resume=encode_value(await run_tool(call)))
        state = await graph.aget_state(_CONFIG)
    return str(state.values["answer"])


async def _run_to_interrupt(
    graph: ReadingGraph,
    payload: ReadingState | Command[Any],
    write: Callable[[str], None],
) -> ToolCall | None:
    """Run up to the next call of a tool and return it; None at the end."""
    call: ToolCall | None = None
    async for mode, chunk in graph.astream(
        payload, _CONFIG, stream_mode=["custom", "updates"]
    ):
        update = cast("dict[str, Any]", chunk)
        if mode == "custom":
            write(str(chunk))
        elif "__interrupt__" in update:
            call = decode_value(update["__interrupt__"][0].value, ToolCall)
    return call


def create_checkpointer() -> "BaseCheckpointSaver[Any]":
    """Return a checkpointer in memory: it lasts for one turn."""
    return InMemorySaver()
