"""How long a server is waited for, by a clock that goes only when told to."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from lrwr.core.adapters.auth.project import MAX_RESPONSE_BYTES
from lrwr.core.adapters.http.timeouts import (
    MIN_BYTES_PER_SECOND,
    BoundedHttpClient,
    ExchangeTimeout,
    ResponseTooLarge,
)
from lrwr.core.adapters.source.folder import FILE_LIMIT

PATIENCE = 20.0
ADDRESS = "https://project.example/rest"

Go = Callable[[float], None]
Pieces = Callable[[], AsyncIterator[bytes]]


class Answering(httpx.AsyncBaseTransport):
    """A server that answers with `pieces`, after `thinking` for so many seconds."""

    def __init__(self, pieces: Pieces, go: Go, thinking: float = 0.0) -> None:
        self._pieces = pieces
        self._go = go
        self._thinking = thinking

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Think, and begin to answer."""
        self._go(self._thinking)
        await turns()
        return httpx.Response(200, content=self._pieces())


@pytest.fixture
async def go(monkeypatch: pytest.MonkeyPatch) -> Go:
    """Return what moves the clock on."""
    loop = asyncio.get_running_loop()
    now = loop.time()

    def move(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(loop, "time", lambda: now)
    return move


async def turns() -> None:
    """Let whatever is due by the clock happen."""
    for _ in range(4):
        await asyncio.sleep(0)


async def asked(
    server: Answering, *, sent: int = 0, most: int = MAX_RESPONSE_BYTES
) -> bytes:
    async with BoundedHttpClient(PATIENCE, most, transport=server) as client:
        answer = await client.post(ADDRESS, content=b"x" * sent)
        return answer.content


async def test_an_answer_that_keeps_coming_is_read_to_its_end(go: Go) -> None:
    piece = b"x" * (20 * MIN_BYTES_PER_SECOND)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(10):
            go(PATIENCE - 1)
            await turns()
            yield piece

    assert await asked(Answering(pieces, go)) == piece * 10


@pytest.mark.parametrize("before", [0, 1, 30])
async def test_silence_in_an_answer_is_given_up_though_there_was_more_time(
    go: Go, before: int
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(before):
            yield b"x" * MIN_BYTES_PER_SECOND
        go(PATIENCE + 1)
        await turns()
        yield b"late"

    with pytest.raises(ExchangeTimeout) as caught:
        await asked(Answering(pieces, go), sent=100 * MIN_BYTES_PER_SECOND)
    assert caught.value.seconds == PATIENCE


async def test_an_answer_that_only_drips_is_given_up(go: Go) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * (MIN_BYTES_PER_SECOND // 4)
            go(1)
            await turns()

    with pytest.raises(ExchangeTimeout) as caught:
        await asked(Answering(pieces, go))
    assert PATIENCE < caught.value.seconds < 2 * PATIENCE


@pytest.mark.parametrize(
    ("thinking", "is_answered"), [(59, True), (61, False)], ids=str
)
async def test_there_is_more_time_for_an_answer_the_more_was_sent(
    go: Go, thinking: float, *, is_answered: bool
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"done"

    server = Answering(pieces, go, thinking)
    if is_answered:
        assert await asked(server, sent=40 * MIN_BYTES_PER_SECOND) == b"done"
        return
    with pytest.raises(ExchangeTimeout) as caught:
        await asked(server, sent=40 * MIN_BYTES_PER_SECOND)
    assert caught.value.seconds == PATIENCE + 40


@pytest.mark.parametrize(("most", "is_read"), [(300, True), (299, False)], ids=str)
async def test_an_answer_may_be_as_large_as_the_ceiling(
    go: Go, most: int, *, is_read: bool
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 100

    server = Answering(pieces, go)
    if is_read:
        assert await asked(server, most=most) == b"x" * 300
        return
    with pytest.raises(ResponseTooLarge):
        await asked(server, most=most)


def test_every_file_that_is_read_may_come_back() -> None:
    assert MAX_RESPONSE_BYTES >= FILE_LIMIT
