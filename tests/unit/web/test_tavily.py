"""What is sent to Tavily, what comes back, and what each of its errors means."""

import asyncio
from collections.abc import Iterator

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.web.tavily import (
    CreditsUnavailable,
    TavilyConnection,
    TavilyCredits,
    TavilySearch,
)
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.sources import MAX_PAGE_TEXT_CHARS
from tests.fakes.hosted_server import CutShort, Hang, Nonsense, Refuse, Turn
from tests.fakes.web_server import KEY, WebServer, a_result

QUERY = "novels ghosts"


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as opened:
        yield opened


def tavily(server: WebServer, timeout: float = 15.0) -> TavilySearch:
    connection = TavilyConnection(KEY, server.base_url, timeout, own=True)
    return TavilySearch(connection, find_sentence_spans)


async def refused(server: WebServer, turn: Turn) -> ServiceUnavailable:
    server.will(turn)
    with pytest.raises(ServiceUnavailable) as caught:
        await tavily(server).search(QUERY, 4)
    return caught.value


async def test_the_query_is_sent_and_nothing_else_of_the_writers(
    server: WebServer,
) -> None:
    await tavily(server).search(QUERY, 3)
    (asked,) = server.asked
    assert asked.path == "/search"
    assert asked.body == {
        "query": QUERY,
        "search_depth": "basic",
        "max_results": 3,
        "include_answer": False,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    known = {"host", "user-agent", "content-length", "x-client-source"}
    usual = {"accept", "accept-encoding", "connection", "content-type", "authorization"}
    assert set(asked.headers) == known | usual


@pytest.mark.parametrize(
    ("turn", "says", "hint", "helps"),
    [
        (Refuse(400), "refused the query (HTTP 400)", "other words", False),
        (Refuse(401), "does not accept the key (HTTP 401)", "set-key tavily", False),
        (Refuse(403), "does not let this key search (HTTP 403)", "access", False),
        (
            Refuse(429, retry_after="20"),
            "received too many requests (HTTP 429)",
            "in 20 sec",
            True,
        ),
        (Refuse(429), "received too many requests (HTTP 429)", "in a minute", True),
        (
            Refuse(429, retry_after="180"),
            "received too many requests (HTTP 429)",
            "3 minutes",
            True,
        ),
        (Refuse(432), "searches of your Tavily plan are used up", "limit", False),
        (Refuse(433), "spending limit of your Tavily account", "limit", False),
        (Refuse(500), "failed (HTTP 500)", "later", True),
        (
            Refuse(302, location="http://127.0.0.1:9"),
            "redirects requests to another address (HTTP 302)",
            "base",
            False,
        ),
        (CutShort(), "stopped in the middle", "Try again", True),
        (Nonsense("<html>"), "does not understand", "web.base_url", False),
        (Nonsense("[1, 2]"), "does not understand", "web.base_url", False),
        (Nonsense('{"results": "many"}'), "does not understand", "web.base_url", False),
        (Nonsense("\xff"), "does not understand", "web.base_url", False),
    ],
)
async def test_every_error_is_a_sentence_with_a_hint(
    server: WebServer, turn: Turn, says: str, hint: str, helps: bool
) -> None:
    error = await refused(server, turn)
    assert says in str(error)
    assert hint in error.hint
    assert error.retryable is helps
    assert KEY not in f"{error}{error.hint}"
    assert len(server.asked) == 1


async def test_a_server_that_says_nothing_is_not_waited_for(server: WebServer) -> None:
    server.will(Hang())
    with pytest.raises(ServiceUnavailable, match=r"within 0\.2 seconds") as caught:
        await tavily(server, timeout=0.2).search(QUERY, 4)
    assert "web.timeout" in caught.value.hint


async def test_a_server_that_is_not_there_is_named() -> None:
    with WebServer() as server:
        gone = tavily(server)
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        await gone.search(QUERY, 4)


async def test_a_writer_who_stops_is_not_told_of_a_failure(server: WebServer) -> None:
    server.will(Hang())
    asking = asyncio.create_task(tavily(server, timeout=60.0).search(QUERY, 4))
    await asyncio.to_thread(server.was_asked, 30.0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_each_address_of_the_web_comes_once(server: WebServer) -> None:
    server.finds(
        a_result("One", "https://example.org/a#top", "First."),
        a_result("Two", "https://example.org/a/", "Second."),
        a_result("Three", "file:///etc/passwd", "Third."),
        a_result("Four", "https://bank.example@evil.example/", "Fourth."),
        a_result("", "https://example.org/b", "Fifth.", published_date="2020-01-02"),
        a_result("Six", "https://example.org/c", "  \x07 "),
    )
    one, two = await tavily(server).search(QUERY, 10)
    assert (one.title, one.url) == ("One", "https://example.org/a#top")
    assert (two.title, two.published) == ("example.org", "2020-01-02")


async def test_what_a_terminal_would_obey_is_taken_out(server: WebServer) -> None:
    server.finds(
        a_result(
            "\x1b]0;owned\x07\x1b[31mRed", "https://example.org", "A\u202e\x9bb\n\tc"
        )
    )
    (page,) = await tavily(server).search(QUERY, 4)
    assert (page.title, page.text) == ("Red", "Ab c")


async def test_a_long_page_ends_with_a_whole_sentence(server: WebServer) -> None:
    sentence = "The ghost walks along the wall at night. "
    server.finds(a_result("Long", "https://example.org", sentence * 60))
    (page,) = await tavily(server).search(QUERY, 4)
    assert (
        MAX_PAGE_TEXT_CHARS - 2 * len(sentence) < len(page.text) <= MAX_PAGE_TEXT_CHARS
    )
    assert page.text.endswith("at night.")


async def test_a_page_without_an_end_is_cut_at_a_word(server: WebServer) -> None:
    server.finds(a_result("Long", "https://example.org", "ghost " * 400))
    (page,) = await tavily(server).search(QUERY, 4)
    assert page.text.endswith(" ghost…")


def test_without_a_key_there_is_no_search() -> None:
    with pytest.raises(ValueError, match="key"):
        TavilySearch(TavilyConnection(""), find_sentence_spans)


def test_a_connection_does_not_tell_its_key() -> None:
    assert KEY not in repr(TavilyConnection(KEY))


async def test_a_key_is_tried_without_a_query(server: WebServer) -> None:
    assert await tavily(server).check_key() == TavilyCredits(44, 1000)
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.size) == ("GET", "/usage", 0)
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    usual = {"accept", "accept-encoding", "connection", "authorization"}
    assert set(asked.headers) == {"host", "user-agent"} | usual


@pytest.mark.parametrize("body", ["<html>", "[1, 2]", "3"])
async def test_counts_that_are_none_are_refused(server: WebServer, body: str) -> None:
    server.will(Nonsense(body))
    with pytest.raises(ServiceUnavailable, match="does not understand"):
        await tavily(server).check_key()


async def test_nobody_waits_for_a_key_to_be_tried(server: WebServer) -> None:
    server.will(Hang())
    with pytest.raises(ServiceUnavailable, match=r"within 0\.2 seconds") as caught:
        await tavily(server, timeout=0.2).check_key()
    assert caught.value.retryable


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_that_only_searches_says_nothing_of_the_key(
    server: WebServer, status: int
) -> None:
    server.will(Refuse(status), Refuse(status))
    with pytest.raises(CreditsUnavailable):
        await tavily(server).check_key()
    with pytest.raises(ServiceUnavailable, match="refused the query"):
        await tavily(server).search(QUERY, 4)
