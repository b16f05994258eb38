"""What LangSmith is sent, when, and what a writer is told where it is not taken."""

import asyncio
import json
from collections.abc import Iterator
from uuid import UUID

import pytest

from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.http import LangSmithConnection
from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.traces import TraceError, TraceSpan, TraceStepKind
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Say, Turn
from tests.fakes.langsmith_server import KEY, LangSmithServer

SECRET = "Nell Tallow hid the ledger under the weir."
STEP = TraceSpan(
    "search", TraceStepKind.RETRIEVER, 100.0, 101.0, inputs={"step": SECRET}
)
TURN = TraceSpan(
    "turn",
    TraceStepKind.CHAIN,
    100.0,
    103.25,
    facts={"thread_id": "t1", "calls": 2},
    inputs={"question": SECRET},
    outputs={"answer": SECRET, "citations": (SECRET, SECRET)},
    error=TraceError("NotFound", SECRET),
    steps=(
        STEP,
        TraceSpan("answer", TraceStepKind.LLM, 101.0, 103.0, facts={"model": "m-1"}),
    ),
)


@pytest.fixture
def server() -> Iterator[LangSmithServer]:
    with LangSmithServer() as opened:
        yield opened


class Desk:
    """A tracer on a clock that nobody waits for; `said` is what the writer is told."""

    def __init__(
        self, server: LangSmithServer, *, texts: bool = False, timeout: float = 15.0
    ) -> None:
        self.time = 0.0
        self.said: list[str] = []
        self.was_told = asyncio.Event()
        self.key = KEY
        about = LangSmithConnection("book", server.origin, texts, timeout, own=True)
        clock = Clock(lambda: self.time, self.sleep, lambda: 1_000.0, lambda: 1.0)
        self.tracer = LangSmithTracer(about, self.give_key, None, self.tell, clock)

    def tell(self, sentence: str) -> None:
        self.said.append(sentence)
        self.was_told.set()

    async def sleep(self, seconds: float) -> None:
        self.time += seconds

    def give_key(self) -> str:
        if not self.key:
            raise ServiceUnavailable("There is no key", hint="Set one.")
        return self.key

    async def keep(self, *traces: TraceSpan) -> list[str]:
        """Keep traces to the end; return what was said."""
        for trace in traces:
            self.tracer.send(trace)
        await self.tracer.aclose()
        return self.said


async def test_a_trace_is_one_request_with_runs_one_within_another(
    server: LangSmithServer,
) -> None:
    assert await Desk(server).keep(TURN) == []
    (asked,) = server.asked
    assert asked.headers["x-api-key"] == KEY
    (turn,) = server.traces
    assert UUID(turn["id"])
    assert (turn["name"], turn["run_type"]) == ("turn", "chain")
    assert turn["session_name"] == "book"
    assert turn["start_time"] == "1970-01-01T00:01:40+00:00"
    assert turn["end_time"] == "1970-01-01T00:01:43.250000+00:00"
    assert turn["extra"]["metadata"] == {"thread_id": "t1", "calls": 2}
    search, answer = server.within(turn)
    assert (search["name"], search["run_type"]) == ("search", "retriever")
    assert search["extra"]["metadata"] == {"thread_id": "t1"}
    assert answer["run_type"] == "llm"
    assert answer["extra"]["metadata"]["ls_model_name"] == "m-1"


async def test_without_texts_no_word_is_sent(server: LangSmithServer) -> None:
    await Desk(server).keep(TURN)
    (asked,) = server.asked
    assert SECRET not in json.dumps(asked.body)
    (turn,) = server.traces
    assert (turn["inputs"], turn["outputs"]) == ({}, {})
    assert turn["error"] == "NotFound"


async def test_with_texts_all_goes_along(server: LangSmithServer) -> None:
    await Desk(server, texts=True).keep(TURN)
    (turn,) = server.traces
    assert turn["inputs"] == {"question": SECRET}
    assert turn["outputs"] == {"answer": SECRET, "citations": [SECRET, SECRET]}
    assert turn["error"] == f"NotFound: {SECRET}"
    assert server.within(turn)[0]["inputs"] == {"step": SECRET}


async def test_half_a_character_is_sent_as_a_question_mark(
    server: LangSmithServer,
) -> None:
    odd = TraceSpan(
        "turn", TraceStepKind.CHAIN, 1.0, 2.0, inputs={"question": "Nell\udc80?"}
    )
    assert await Desk(server, texts=True).keep(odd) == []
    assert server.traces[0]["inputs"] == {"question": "Nell??"}


async def test_many_runs_go_in_several_requests(server: LangSmithServer) -> None:
    steps = tuple(
        TraceSpan("document", TraceStepKind.CHAIN, 1.0, 2.0) for _ in range(250)
    )
    assert (
        await Desk(server).keep(
            TraceSpan("ingest", TraceStepKind.CHAIN, 1.0, 9.0, steps=steps)
        )
        == []
    )
    assert len(server.runs) == 251
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (
            Refuse(401, SECRET),
            "LangSmith does not accept the key (HTTP 401). Set the key",
        ),
        (
            Refuse(403, SECRET),
            "LangSmith does not accept the key (HTTP 403). Set the key",
        ),
        (Refuse(404, SECRET), "no LangSmith API at this address (HTTP 404). Check"),
        (Refuse(422, SECRET), "LangSmith refused the data (HTTP 422). Check"),
        (Refuse(307), "redirected the request to another address (HTTP 307). Set"),
        (
            Refuse(429, SECRET, {"retry-after": "60"}),
            "received too many requests (HTTP 429). Try",
        ),
        (
            Refuse(500, SECRET),
            "LangSmith failed (HTTP 500). Try again later",
        ),
        (CutShort(), "before its answer was complete. Try"),
        (Nonsense("<html>"), "did not come from LangSmith's API. Check"),
        (Say([]), "did not come from LangSmith's API. Check"),
    ],
)
async def test_what_goes_wrong_is_said_once_and_never_raised(
    server: LangSmithServer, turn: Turn, says: str
) -> None:
    server.will(*[turn] * 20)
    (said,) = await Desk(server).keep(TURN, TURN, TURN)
    assert said.startswith("A trace was not sent. ")
    assert says in said
    assert SECRET not in said
    assert KEY not in said


async def test_a_service_that_does_not_answer_holds_nobody_up_for_long(
    server: LangSmithServer,
) -> None:
    server.will(*[Hang()] * 20)
    (said,) = await Desk(server, timeout=0.2).keep(TURN, TURN)
    assert "did not answer within 0.2 seconds" in said


async def test_nobody_there_is_said(server: LangSmithServer) -> None:
    desk = Desk(server)
    server.__exit__()
    (said,) = await desk.keep(TURN)
    assert "LangSmith cannot be reached. Start the server, or correct" in said


async def test_a_busy_service_is_asked_again_when_it_says(
    server: LangSmithServer,
) -> None:
    server.will(Refuse(429, headers={"retry-after": "2"}))
    desk = Desk(server)
    assert await desk.keep(TURN) == []
    assert desk.time >= 2.0
    assert len(server.asked) == 2


async def test_what_came_before_its_answer_was_lost_is_not_sent_twice(
    server: LangSmithServer,
) -> None:
    server.will(Refuse(409, "run exists"))
    assert await Desk(server).keep(TURN) == []
    assert len(server.asked) == 1


async def test_after_a_refusal_for_good_no_more_is_tried(
    server: LangSmithServer,
) -> None:
    server.will(*[Refuse(401)] * 20)
    desk = Desk(server)
    desk.tracer.send(TURN)
    await desk.was_told.wait()
    desk.tracer.send(TURN)
    await desk.tracer.aclose()
    assert len(server.asked) == 1


async def test_what_can_be_no_key_is_said_without_showing_it(
    server: LangSmithServer,
) -> None:
    desk = Desk(server)
    desk.key = "one\ntwo"
    (said,) = await desk.keep(TURN)
    assert "key is not valid. Set the key again" in said
    assert "two" not in said
    assert server.asked == []


async def test_without_a_key_nothing_is_sent(server: LangSmithServer) -> None:
    desk = Desk(server)
    desk.key = ""
    assert await desk.keep(TURN) == ["A trace was not sent. There is no key. Set one."]
    assert server.asked == []
