"""Traces arrive at LangSmith once and whole."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from lrwr.core.adapters.traces.http import LangSmithConnection
from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.model.traces import TraceSpan, TraceStepKind
from tests.fakes.langsmith_server import KEY, LangSmithServer

SEARCH = TraceSpan(
    "search", TraceStepKind.RETRIEVER, 100.0, 101.0, inputs={"step": "Nell Tallow"}
)
READ = TraceSpan("read", TraceStepKind.TOOL, 101.0, 101.5)
ANSWER = TraceSpan(
    "answer", TraceStepKind.LLM, 101.5, 103.0, facts={"model": "m"}, steps=(READ,)
)
TURN = TraceSpan(
    "turn",
    TraceStepKind.CHAIN,
    100.0,
    103.0,
    facts={"thread_id": "t1", "calls": 2},
    inputs={"question": "Where is Nell?"},
    steps=(SEARCH, ANSWER),
)


@dataclass(frozen=True, slots=True)
class Desk:
    """A tracer, and what it has kept: names of traces, with the steps in each."""

    tracer: LangSmithTracer
    kept: Callable[[], list[list[str]]]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with LangSmithServer() as server:
        about = LangSmithConnection("book", server.origin, timeout=10.0, own=True)
        tracer = LangSmithTracer(about, lambda: KEY)
        yield Desk(tracer, lambda: kept_by(server))


def kept_by(server: LangSmithServer) -> list[list[str]]:
    runs = server.runs.values()
    return [
        [run["name"] for run in runs if run["trace_id"] == root["id"]]
        for root in server.traces
    ]


async def test_each_trace_is_kept_once_and_whole(desk: Desk) -> None:
    desk.tracer.send(TURN)
    desk.tracer.send(SEARCH)
    await desk.tracer.aclose()
    whole = [["turn", "search", "answer", "read"], ["search"]]
    assert desk.kept() == whole


async def test_after_its_end_nothing_is_taken_and_closing_twice_is_safe(
    desk: Desk,
) -> None:
    await desk.tracer.aclose()
    desk.tracer.send(TURN)
    await desk.tracer.aclose()
    assert desk.kept() == []
