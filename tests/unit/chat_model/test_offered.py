"""Which models a key may use is asked in one request, and none of them is."""

from collections.abc import Iterator

import pytest

from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import RateLimit
from tests.fakes.hosted_server import Hang, Refuse
from tests.fakes.model_server import KEY, ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(models=("pretend-1", "pretend-2")) as opened:
        yield opened


async def offered(
    server: ModelServer, *, key: str = KEY, seconds: float = 15.0
) -> tuple[str, ...] | None:
    line = ModelServerClient(RateLimit(concurrency=1, patience=0.0))
    connection = ChatConnection("pretend-1", server.base_url, key, seconds)
    try:
        return await line.fetch_offered_models(connection)
    finally:
        await line.aclose()


async def test_the_models_are_told_as_the_server_lists_them(
    server: ModelServer,
) -> None:
    assert await offered(server) == ("pretend-1", "pretend-2")
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.size) == ("GET", "/v1/models", 0)
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_a_key_that_is_refused_is_not_told(server: ModelServer) -> None:
    with pytest.raises(ServiceCallError, match=r"HTTP 401") as caught:
        await offered(server, key="sk-another")
    assert "sk-another" not in f"{caught.value} {caught.value.hint}"
    assert "lrwr config set-key openai" in caught.value.hint


async def test_a_busy_server_is_asked_once(server: ModelServer) -> None:
    server.listing = Refuse(429, retry_after="1")
    with pytest.raises(ServiceCallError):
        await offered(server)
    assert len(server.asked) == 1


async def test_a_server_that_says_nothing_is_not_waited_for(
    server: ModelServer,
) -> None:
    server.listing = Hang()
    with pytest.raises(ServiceCallError, match=r"within 0\.2 seconds") as caught:
        await offered(server, seconds=0.2)
    assert caught.value.retryable
