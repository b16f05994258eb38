"""What leaves is noted before it leaves, and never what it says."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import OutboundRequest, RequestOutcome, RequestPurpose
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import compute_price, parse_prices
from lrwr.core.ports.models import ChatMessage, ReplyShape
from tests.fakes.model_server import KEY, MODEL, Hang, ModelServer, Refuse, Say

SECRET = "The safe opens on heron, heron, crane."
HELLO = [ChatMessage("user", f"{SECRET} Who lit the lamp?")]
SHAPE = ReplyShape(
    "Who",
    '{"type":"object","properties":{"who":{"type":"string"}},'
    '"required":["who"],"additionalProperties":false}',
)
NOON = 1_800_000_000.0
PRICES = partial(compute_price, table=parse_prices([f"{MODEL} 1000000 2000000"]))


class Room:
    """A model that is asked over a line that notes, and the file of the notes."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.file = folder / "library.db"
        self.server = server
        self.database = SqliteDatabase(self.file, patience=0.2)
        self.log = SqliteEgressLog(self.database)
        request_logger = EgressLogger(self.log, lambda: NOON, PRICES)
        self.line = ModelServerClient(
            RateLimit(2, patience=3.0), request_logger=request_logger
        )

    def chat(
        self, purpose: RequestPurpose = RequestPurpose.ANSWERING, base_url: str = ""
    ) -> OpenAIChatModel:
        where = base_url or self.server.base_url
        return OpenAIChatModel(
            ChatConnection(MODEL, where, key=KEY), self.line, purpose
        )

    async def noted(self) -> list[OutboundRequest]:
        return list(reversed((await self.log.report()).newest))

    def rows(self) -> list[tuple[str, int]]:
        """Look into the file as another program would."""
        with closing(sqlite3.connect(self.file)) as connection:
            return connection.execute("select outcome, sent_bytes from sent").fetchall()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


@pytest.fixture
async def room(tmp_path: Path, server: ModelServer) -> AsyncIterator[Room]:
    opened = Room(tmp_path, server)
    yield opened
    await opened.line.aclose()
    await opened.database.aclose()


@asynccontextmanager
async def writing(file: Path) -> AsyncIterator[None]:
    """Hold the library's file as another program would that writes."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        yield
        connection.execute("rollback")


async def test_the_note_is_on_the_disk_before_the_server_is_asked(room: Room) -> None:
    seen: list[tuple[str, int]] = []

    def answer(asked: object) -> str:
        seen.extend(room.rows())
        return '{"who": "Nell"}'

    room.server.answering(answer)
    await room.chat().fill(HELLO, SHAPE)
    (size,) = (int(asked.headers["content-length"]) for asked in room.server.chats)
    assert seen == [("no reply seen", size)]


async def test_a_reply_completes_the_note_with_its_size_and_price(room: Room) -> None:
    reply = await room.chat(RequestPurpose.READING).fill(HELLO, SHAPE)
    (noted,) = await room.noted()
    assert (noted.service, noted.host, noted.model) == ("openai", "127.0.0.1", MODEL)
    assert (noted.when, noted.purpose) == (NOON, RequestPurpose.READING)
    assert noted.outcome is RequestOutcome.ANSWERED
    assert noted.received_bytes
    assert noted.prompt_tokens == reply.prompt_tokens
    assert noted.completion_tokens == reply.completion_tokens
    assert noted.price == reply.prompt_tokens + 2 * reply.completion_tokens


async def test_every_try_is_a_request_of_its_own(room: Room) -> None:
    room.server.will(Refuse(503), Refuse(429, retry_after="0"))
    await room.chat().fill(HELLO, SHAPE)
    outcomes = [one.outcome for one in await room.noted()]
    assert outcomes == [
        RequestOutcome.REFUSED,
        RequestOutcome.REFUSED,
        RequestOutcome.ANSWERED,
    ]


async def test_a_stream_is_completed_when_it_ends(room: Room) -> None:
    room.server.will(Say("Once", " upon"))
    assert [p async for p in room.chat().stream(HELLO)] == ["Once", " upon"]
    (noted,) = await room.noted()
    assert (noted.outcome, noted.completion_tokens) == (RequestOutcome.ANSWERED, 3)
    assert noted.received_bytes
    assert noted.price


async def test_a_stream_that_is_left_or_broken_off_says_so(room: Room) -> None:
    room.server.pause = 30.0
    room.server.will(Say("Once", " upon"))
    async with aclosing(room.chat().stream(HELLO)) as pieces:
        await anext(pieces)
    room.server.pause = 0.0
    room.server.will(Say("Once", broken=True))
    with pytest.raises(ServiceUnavailable):
        _ = [p async for p in room.chat().stream(HELLO)]
    noted = await room.noted()
    assert [one.outcome for one in noted] == [RequestOutcome.CUT, RequestOutcome.CUT]
    assert [one.completion_tokens for one in noted] == [1, 1]


async def test_a_request_that_is_given_up_says_that_no_reply_was_seen(
    room: Room,
) -> None:
    room.server.will(Hang())
    asking = asyncio.create_task(room.chat().fill(HELLO, SHAPE))
    assert await asyncio.to_thread(room.server.was_asked, 30)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    (noted,) = await room.noted()
    assert (noted.outcome, noted.received_bytes) == (RequestOutcome.UNSEEN, None)


async def test_a_server_that_is_not_there_got_nothing(room: Room) -> None:
    with ModelServer() as gone:
        base_url = gone.base_url
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        await room.chat(base_url=base_url).fill(HELLO, SHAPE)
    assert {one.outcome for one in await room.noted()} == {RequestOutcome.UNREACHED}
    (total,) = (await room.log.report()).totals
    assert total.sent_bytes == 0


async def test_what_cannot_be_noted_is_not_sent(room: Room) -> None:
    await room.log.report()
    async with writing(room.file):
        for asking in (
            room.chat().fill(HELLO, SHAPE),
            anext(room.chat().stream(HELLO)),
        ):
            with pytest.raises(ServiceUnavailable, match="Nothing was sent") as caught:
                await asking
            assert caught.value.hint
            assert not caught.value.retryable
    assert room.server.asked == []
    assert await room.noted() == []
    assert (await room.chat().fill(HELLO, SHAPE)).text


async def test_a_reply_is_not_lost_because_its_note_is(room: Room) -> None:
    reading = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(asked: object) -> str:
        loop.call_soon_threadsafe(reading.set)
        return '{"who": "Nell"}'

    room.server.wait = 0.1
    room.server.answering(answer)
    asking = asyncio.create_task(room.chat().fill(HELLO, SHAPE))
    assert await asyncio.to_thread(room.server.was_asked, 30)
    async with writing(room.file):
        await reading.wait()
        assert (await asking).text == '{"who": "Nell"}'
    (noted,) = await room.noted()
    assert noted.outcome is RequestOutcome.UNSEEN


async def test_requests_at_once_are_noted_each_for_its_own_purpose(
    room: Room,
) -> None:
    purposes = [
        RequestPurpose.PLANNING,
        RequestPurpose.PLANNING,
        RequestPurpose.ANSWERING,
    ]
    asked = (room.chat(purpose).fill(HELLO, SHAPE) for purpose in purposes)
    await asyncio.gather(*asked)
    noted = await room.noted()
    assert sorted(one.purpose for one in noted) == sorted(purposes)
    assert all(one.succeeded for one in noted)


async def test_nothing_that_was_said_is_in_the_log_nor_the_key(room: Room) -> None:
    room.server.answering(lambda asked: f'{{"who": "{SECRET}"}}')
    await room.chat().fill(HELLO, SHAPE)
    room.server.will(Refuse(401, f"bad {KEY}: {SECRET}"))
    with pytest.raises(ServiceUnavailable):
        await room.chat().fill(HELLO, SHAPE)
    assert len(await room.noted()) == 2
    await room.database.aclose()
    for file in room.file.parent.iterdir():
        kept = file.read_bytes()
        for secret in (KEY, SECRET, "heron", "lamp", "Bearer"):
            assert secret.encode() not in kept, file


async def test_nothing_is_sent_that_nobody_said_the_purpose_of(room: Room) -> None:
    await room.chat().fill(HELLO, SHAPE)
    http = await room.line.http("", seconds=1, is_local=False)
    with pytest.raises(LookupError):
        await http.get(room.server.base_url)
    assert len(room.server.asked) == 1


async def test_a_line_that_keeps_no_notes_keeps_none(
    tmp_path: Path, server: ModelServer
) -> None:
    server.key = ""
    connection = ChatConnection(MODEL, server.base_url, own=True)
    chat = OpenAIChatModel(connection, ModelServerClient(RateLimit(1)))
    assert (await chat.fill(HELLO, SHAPE)).text
    await chat.aclose()
    with pytest.raises(LookupError):
        await EgressLogEntry(
            None, OutboundRequest("local", "here", RequestPurpose.READING)
        ).record_request(1)


async def test_any_client_can_be_made_to_note_what_it_sends(room: Room) -> None:
    import httpx

    about = OutboundRequest("tavily", "127.0.0.1", RequestPurpose.WEB_SEARCH)
    request_logger = EgressLogger(room.log, lambda: NOON, PRICES)
    async with (
        aclosing(EgressLogEntry(request_logger, about)) as note,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        http.event_hooks = {
            "request": [note.on_request],
            "response": [note.on_response],
        }
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Fog?"}]}
        await http.post(
            f"{room.server.base_url}/chat/completions",
            json=body,
            headers={"authorization": f"Bearer {KEY}"},
        )
        note.mark_complete()
    (noted,) = await room.noted()
    (asked,) = room.server.asked
    assert noted.sent_bytes == int(asked.headers["content-length"])
    assert (noted.outcome, noted.purpose) == (
        RequestOutcome.ANSWERED,
        RequestPurpose.WEB_SEARCH,
    )
    assert noted.received_bytes
