"""The OpenAI adapter against a server on this machine that behaves, or does not."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from email.utils import formatdate

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.models import ChatMessage, ReplyShape
from tests.fakes.model_server import (
    KEY,
    MODEL,
    Hang,
    ModelServer,
    Nonsense,
    Refuse,
    Say,
)

HELLO = [
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Hello?"),
    ChatMessage("assistant", "Yes?"),
    ChatMessage("user", "Who lit the lamp?"),
]
SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string"}},
    "required": ["who"],
    "additionalProperties": False,
}
SHAPE = ReplyShape("Who", json.dumps(SCHEMA))
NOON = 1_800_000_000.0


class Sleeper:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def clock(self) -> Clock:
        return Clock(
            now=lambda: sum(self.slept),
            sleep=self._sleep,
            today=lambda: NOON,
            chance=lambda: 1.0,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@asynccontextmanager
async def chatting(
    server: ModelServer,
    sleeper: Sleeper | None = None,
    pace: RateLimit | None = None,
    request_logger: EgressLogger | None = None,
    **about: str | float | bool,
) -> AsyncIterator[OpenAIChatModel]:
    connection = ChatConnection(MODEL, server.base_url, **{"key": KEY, **about})  # type: ignore[arg-type]
    chat = OpenAIChatModel(
        connection,
        ModelServerClient(
            pace or RateLimit(4), (sleeper or Sleeper()).clock(), request_logger
        ),
    )
    try:
        yield chat
    finally:
        await chat.aclose()


async def refused(chat: OpenAIChatModel) -> ServiceUnavailable:
    with pytest.raises(ServiceUnavailable) as caught:
        await chat.fill(HELLO, SHAPE)
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    return caught.value


async def test_the_schema_goes_out_strict_and_the_messages_in_order(
    server: ModelServer,
) -> None:
    async with chatting(server, effort="none") as chat:
        reply = await chat.fill(HELLO, SHAPE)
    asked = server.chats[0]
    assert json.loads(reply.text) == {"who": "who"}
    assert asked.roles == ["system", "user", "assistant", "user"]
    assert asked.texts[-1] == "Who lit the lamp?"
    assert asked.body["model"] == MODEL
    assert asked.body["response_format"]["json_schema"] == {
        "name": "Who",
        "schema": SCHEMA,
        "strict": True,
    }
    assert asked.body["reasoning_effort"] == "none"
    assert asked.body["temperature"] == 0
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_a_model_that_thinks_gets_no_temperature(server: ModelServer) -> None:
    async with chatting(server, effort="low") as chat:
        await chat.fill(HELLO, SHAPE)
    assert server.chats[0].body["reasoning_effort"] == "low"
    assert "temperature" not in server.chats[0].body


async def test_a_server_of_ones_own_is_told_no_key(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.key = ""
    async with chatting(server, key="", own=True) as chat:
        await chat.fill(HELLO, SHAPE)
    assert KEY not in str(server.chats[0].headers)
    assert "reasoning_effort" not in server.chats[0].body


async def test_tokens_are_guessed_where_the_server_tells_none(
    server: ModelServer,
) -> None:
    server.usage = False
    server.will(Say("x" * 41))
    async with chatting(server) as chat:
        reply = await chat.fill(HELLO, SHAPE)
    letters = -(-len(SHAPE.schema) // 4)
    said = sum(-(-len(one.text) // 4) for one in HELLO)
    assert (reply.prompt_tokens, reply.completion_tokens) == (letters + said, 11)


async def test_a_reply_that_was_cut_is_returned_as_far_as_it_goes(
    server: ModelServer,
) -> None:
    server.will(Say('{"who":"Ne', finish="length"), Say("", finish="content_filter"))
    async with chatting(server) as chat:
        assert (await chat.fill(HELLO, SHAPE)).text == '{"who":"Ne'
        assert (await chat.fill(HELLO, SHAPE)).text == ""


async def test_a_text_that_the_rules_forbid_gets_an_empty_reply(
    server: ModelServer,
) -> None:
    server.will(Refuse(400, "flagged", code="invalid_prompt"))
    async with chatting(server) as chat:
        assert (await chat.fill(HELLO, SHAPE)).text == ""


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_busy_server_is_asked_again(
    server: ModelServer, sleeper: Sleeper, status: int
) -> None:
    server.will(Refuse(status), Refuse(status))
    async with chatting(server, sleeper) as chat:
        await chat.fill(HELLO, SHAPE)
    assert sleeper.slept == [1.0, 2.0]
    assert len(server.chats) == 3


@pytest.mark.parametrize(
    ("told", "waited"),
    [("7", 7.25), ("0.5", 0.75), (formatdate(NOON + 9, usegmt=True), 9.25)],
)
async def test_a_server_is_asked_again_when_it_wants_to_be(
    server: ModelServer, sleeper: Sleeper, told: str, waited: float
) -> None:
    server.will(Refuse(429, retry_after=told))
    async with chatting(server, sleeper) as chat:
        await chat.fill(HELLO, SHAPE)
    assert sum(sleeper.slept) == waited


@pytest.mark.parametrize("told", ["soon", "-1", "nan", "Thu, 99 Foo 2026"])
async def test_a_wait_that_nobody_understands_is_not_kept_to(
    server: ModelServer, sleeper: Sleeper, told: str
) -> None:
    server.will(Refuse(503, retry_after=told))
    async with chatting(server, sleeper) as chat:
        await chat.fill(HELLO, SHAPE)
    assert sleeper.slept == [1.0]


async def test_a_wait_that_is_too_long_is_told_at_once(
    server: ModelServer, sleeper: Sleeper
) -> None:
    server.will(Refuse(429, retry_after="3600"))
    async with chatting(server, sleeper) as chat:
        error = await refused(chat)
    assert error.retryable
    assert sleeper.slept == []


async def test_patience_ends(server: ModelServer, sleeper: Sleeper) -> None:
    server.answering(lambda asked: Refuse(503))
    async with chatting(server, sleeper, RateLimit(4, patience=60)) as chat:
        error = await refused(chat)
    assert error.retryable
    assert sum(sleeper.slept) <= 60


@pytest.mark.parametrize(
    ("turn", "says", "hint"),
    [
        (Refuse(400, f"no lamp {KEY}"), "refused the request (HTTP 400)", "model.name"),
        (Refuse(400, "no 'temperature'"), "because of temperature", "model.name"),
        (
            Refuse(400, code="context_length_exceeded"),
            "too long for the context",
            "longer context",
        ),
        (Refuse(401, f"bad {KEY}"), "does not accept the key", "set-key openai"),
        (Refuse(403), "does not let this key use the model pretend-1", "model.name"),
        (Refuse(404), "has no model pretend-1", "model.name"),
        (Refuse(429, code="insufficient_quota"), "no credit left", "Add credit"),
        (Refuse(307, location="http://127.0.0.1:9/"), "redirects", "model.base_url"),
        (Nonsense(), "does not understand", "/v1"),
        (Nonsense('{"a": 1}'), "does not understand", "/v1"),
        (Nonsense("<p>", "text/html"), "does not understand", "/v1"),
    ],
)
async def test_a_refusal_for_good_is_told_at_once_with_what_to_do(
    server: ModelServer,
    sleeper: Sleeper,
    turn: Refuse | Nonsense,
    says: str,
    hint: str,
) -> None:
    server.will(turn)
    async with chatting(server, sleeper) as chat:
        error = await refused(chat)
    assert says in str(error)
    assert hint in error.hint
    assert not error.retryable
    assert sleeper.slept == []


async def test_no_redirect_is_followed(server: ModelServer) -> None:
    with ModelServer() as elsewhere:
        target = f"{elsewhere.base_url}/chat/completions"
        server.will(Refuse(308, location=target))
        async with chatting(server) as chat:
            await refused(chat)
        assert elsewhere.asked == []


async def test_a_server_that_is_not_there_is_told_of(sleeper: Sleeper) -> None:
    with ModelServer() as server:
        base_url = server.base_url
    connection = ChatConnection(MODEL, base_url, own=True)
    chat = OpenAIChatModel(
        connection, ModelServerClient(RateLimit(1, patience=5), sleeper.clock())
    )
    error = await refused(chat)
    await chat.aclose()
    assert "cannot be reached" in str(error)
    assert "Start the server" in error.hint
    assert error.retryable
    assert 0 < sum(sleeper.slept) <= 5


async def test_an_answer_that_takes_too_long_is_not_waited_for(
    server: ModelServer,
) -> None:
    server.will(Hang())
    async with chatting(server, pace=RateLimit(1, patience=0), timeout=0.2) as chat:
        error = await refused(chat)
    assert "within 0.2 seconds" in str(error)
    assert "model.timeout" in error.hint


async def test_no_more_calls_run_at_once_than_the_server_takes(
    server: ModelServer,
) -> None:
    server.wait = 0.02
    async with chatting(server, pace=RateLimit(3)) as chat:
        await asyncio.gather(*(chat.fill(HELLO, SHAPE) for _ in range(12)))
    assert len(server.chats) == 12
    assert server.most_at_once == 3


async def test_requests_keep_their_distance(
    server: ModelServer, sleeper: Sleeper
) -> None:
    async with chatting(server, sleeper, RateLimit(1, requests_per_minute=30)) as chat:
        for _ in range(4):
            await chat.fill(HELLO, SHAPE)
    assert sum(sleeper.slept) == pytest.approx(6.0)


async def test_a_stream_is_begun_again_only_if_nothing_was_said(
    server: ModelServer, sleeper: Sleeper
) -> None:
    server.will(Refuse(503), Say("Once", " more"), Say("On", "ce", broken=True))
    async with chatting(server, sleeper) as chat:
        assert [p async for p in chat.stream(HELLO)] == ["Once", " more"]
        said: list[str] = []
        with pytest.raises(ServiceUnavailable, match="stopped in the middle") as caught:
            async for piece in chat.stream(HELLO):
                said.append(piece)  # noqa: PERF401 - what came before the failure counts
    assert said == ["On", "ce"]
    assert caught.value.hint
    assert len(server.chats) == 3


async def test_pieces_arrive_before_the_answer_is_whole(server: ModelServer) -> None:
    server.pause = 30.0
    server.will(Say("Once", " more"))
    async with (
        chatting(server) as chat,
        aclosing(chat.stream(HELLO)) as pieces,
    ):
        assert await anext(pieces) == "Once"


async def test_a_place_is_free_again_when_a_stream_is_left(
    server: ModelServer,
) -> None:
    async with chatting(server, pace=RateLimit(1)) as chat:
        server.will(Say("a", "b"))
        async with aclosing(chat.stream(HELLO)) as pieces:
            await anext(pieces)
        assert (await chat.fill(HELLO, SHAPE)).text


async def test_a_stream_stops_at_once_however_fast_its_words_come(
    server: ModelServer,
) -> None:
    async def listen(began: asyncio.Event) -> None:
        async for _ in chat.stream(HELLO):
            began.set()

    async with chatting(server) as chat:
        for steps in range(10):
            server.will(Say(*["word "] * 300))
            began = asyncio.Event()
            listening = asyncio.create_task(listen(began))
            await began.wait()
            for _ in range(steps):
                await asyncio.sleep(0)
            listening.cancel()
            await asyncio.wait([listening])
            assert listening.cancelled()


async def test_a_call_that_is_cancelled_leaves_its_place(server: ModelServer) -> None:
    server.will(Hang())
    async with chatting(server, pace=RateLimit(1)) as chat:
        hanging = asyncio.create_task(chat.fill(HELLO, SHAPE))
        assert await asyncio.to_thread(server.was_asked, 30)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert (await chat.fill(HELLO, SHAPE)).text


async def test_nothing_is_traced_whatever_the_shell_says(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(key="") as collector:
        for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
            monkeypatch.setenv(name, "true")
        for name in ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"):
            monkeypatch.setenv(name, collector.base_url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "key")
        async with chatting(server) as chat:
            await chat.fill(HELLO, SHAPE)
            assert [p async for p in chat.stream(HELLO)]
        from langchain_core.tracers.langchain import wait_for_all_tracers

        wait_for_all_tracers()
        assert collector.asked == []


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(ChatConnection(MODEL, key=KEY))


def bounded_chat(server: ModelServer, **limits: float) -> OpenAIChatModel:
    connection = ChatConnection(MODEL, server.base_url, own=True, **limits)  # type: ignore[arg-type]
    return OpenAIChatModel(connection, ModelServerClient(RateLimit(1)))


async def read_until_cut(chat: OpenAIChatModel) -> tuple[str, ServiceUnavailable]:
    """Return what a reply had before it was cut off, and why it was."""
    pieces: list[str] = []
    with pytest.raises(ServiceUnavailable) as caught:
        async with aclosing(chat.stream(HELLO)) as stream:
            async for piece in stream:
                pieces.append(piece)  # noqa: PERF401 - kept when the stream fails
    await chat.aclose()
    return "".join(pieces), caught.value


async def test_a_reply_without_end_is_cut_off(server: ModelServer) -> None:
    server.key = ""
    server.will(Say(*["lamp " * 50] * 100_000))
    text, error = await read_until_cut(bounded_chat(server, most_reply=100))
    assert "is too long" in str(error)
    assert "`model.answer_tokens`" in error.hint
    assert 400 <= len(text) <= 900
    assert set(text.split()) == {"lamp"}


async def test_a_reply_that_drips_is_cut_off_at_the_deadline(
    server: ModelServer,
) -> None:
    server.key = ""
    server.pause = 0.05
    server.will(Say(*["lamp "] * 10_000))
    text, error = await read_until_cut(bounded_chat(server, answer_timeout=1.0))
    assert "had not finished its answer after 1 second" in str(error)
    assert "`model.answer_timeout`" in error.hint
    assert text.startswith("lamp ")


async def test_empty_pieces_do_not_extend_the_deadline(server: ModelServer) -> None:
    server.key = ""
    server.pause = 0.05
    server.will(Say(*[""] * 10_000))
    text, error = await read_until_cut(bounded_chat(server, answer_timeout=1.0))
    assert "had not finished" in str(error)
    assert text == ""


async def test_a_reply_that_the_server_cut_off_says_so(server: ModelServer) -> None:
    server.key = ""
    server.will(Say("The lamp", finish="length"))
    text, error = await read_until_cut(bounded_chat(server))
    assert text == "The lamp"
    assert "is too long" in str(error)


async def test_a_response_of_any_size_is_not_read_to_its_end(
    server: ModelServer,
) -> None:
    server.key = ""
    server.will(Say(*["x" * 1_000_000] * 100))
    chat = bounded_chat(server, most_reply=100_000_000)
    text, error = await read_until_cut(chat)
    assert "larger than 64 MB" in str(error)
    assert len(text) <= 64 * 1024 * 1024


async def test_a_filled_reply_has_a_deadline_too(server: ModelServer) -> None:
    server.key = ""
    server.wait = 5.0
    chat = bounded_chat(server, answer_timeout=0.5)
    with pytest.raises(ServiceUnavailable, match="had not finished"):
        await chat.fill(HELLO, SHAPE)
    await chat.aclose()
