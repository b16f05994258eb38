import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import OutboundRequest, RequestOutcome, RequestPurpose
from lrwr.core.model.errors import LrwrError
from tests.fakes.realtime_server import RealtimeServer, a_proxy, realtime_server
from tests.fakes.wakings import (
    KEY,
    LIBRARY,
    TOKEN,
    TOPIC,
    Came,
    Rests,
    beat,
    listening,
)


@pytest.fixture
async def realtime() -> AsyncIterator[RealtimeServer]:
    async with realtime_server(KEY) as server:
        yield server


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[SqliteEgressLog]:
    database = SqliteDatabase(tmp_path / "library.db")
    yield SqliteEgressLog(database)
    await database.aclose()


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name.upper()}_PROXY", raising=False)


def noting_in(log: SqliteEgressLog) -> EgressLogger:
    return EgressLogger(log, lambda: 1_000.0, lambda usage, model: None)


async def noted(log: SqliteEgressLog) -> list[OutboundRequest]:
    return list((await log.report()).newest)


async def test_nothing_is_sent_but_the_key_the_token_and_the_library(
    realtime: RealtimeServer,
) -> None:
    async with listening(realtime.url):
        join = await realtime.asked("phx_join")
    assert realtime.paths == [f"/realtime/v1/websocket?apikey={KEY}&vsn=1.0.0"]
    assert join == {
        "topic": TOPIC,
        "event": "phx_join",
        "ref": "1",
        "join_ref": "1",
        "payload": {
            "access_token": TOKEN,
            "config": {
                "broadcast": {"ack": False, "self": False},
                "presence": {"enabled": False, "key": ""},
                "private": False,
                "postgres_changes": [
                    {
                        "event": "*",
                        "schema": "public",
                        "table": "lrwr_library",
                        "filter": f"id=eq.{LIBRARY}",
                    }
                ],
            },
        },
    }


async def test_who_is_not_signed_in_reaches_nobody(realtime: RealtimeServer) -> None:
    async def nobody() -> str:
        raise LrwrError("Nobody is signed in", hint="Sign in.")

    rests = Rests()
    async with listening(realtime.url, token=nobody, rest=rests):
        await rests.end(1)
        await rests.end(2)
    assert realtime.paths == []


async def test_no_redirect_is_followed(realtime: RealtimeServer) -> None:
    rests = Rests()
    async with realtime_server() as other:
        realtime.status, realtime.location = 302, other.url.replace("http", "ws")
        async with listening(realtime.url, rest=rests):
            await rests.end(1)
            await rests.end(2)
        assert other.paths == []


async def test_a_server_of_this_machine_is_reached_past_every_proxy(
    realtime: RealtimeServer, no_proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_proxy() as (proxy, came):
        monkeypatch.setenv("http_proxy", proxy)
        async with listening(realtime.url):
            await realtime.asked("phx_join")
        assert came.empty()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", ["own", "all"])
async def test_a_project_elsewhere_is_reached_through_the_proxy_that_is_set(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch, scheme: str, name: str
) -> None:
    rests = Rests()
    async with a_proxy() as (proxy, came):
        set_ = scheme if name == "own" else name
        monkeypatch.setenv(f"{set_}_proxy", proxy.removeprefix("http://"))
        url = f"{scheme}://project.example.org"
        async with listening(url, rest=rests, own=False):
            await rests.end(1)
            port = 443 if scheme == "https" else 80
            asked = f"CONNECT project.example.org:{port} HTTP/1.1"
            assert await came.get() == asked


async def test_no_proxy_stands_before_a_host_that_is_to_have_none(
    realtime: RealtimeServer, no_proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_proxy() as (proxy, came):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with listening(realtime.url, own=False):
            await realtime.asked("phx_join")
        assert came.empty()


async def test_each_connection_is_noted_once(
    realtime: RealtimeServer, no_proxy: None, log: SqliteEgressLog
) -> None:
    rests, came, request_logger = Rests(), Came(), noting_in(log)
    realtime.status = 404
    async with listening(
        realtime.url, came, rest=rests, request_logger=request_logger, own=False
    ):
        _, over = await rests.next()
        realtime.status, realtime.tokens = 0, frozenset({"another"})
        over.set()
        await realtime.asked("phx_join")
        _, over = await rests.next()
        realtime.tokens = frozenset()
        over.set()
        join = await realtime.asked("phx_join")
        for _ in range(3):
            await beat(realtime, rests, came)
        newest, refused, unreached = await noted(log)
    assert newest.outcome is RequestOutcome.ANSWERED
    assert refused.outcome is RequestOutcome.REFUSED
    assert unreached.outcome is RequestOutcome.UNREACHED
    assert (newest.service, newest.purpose) == ("supabase", RequestPurpose.RECORDS)
    assert newest.sent_bytes == len(json.dumps(join))
    assert newest.received_bytes


async def test_a_server_of_this_machine_is_not_noted(
    realtime: RealtimeServer, log: SqliteEgressLog
) -> None:
    async with listening(realtime.url, request_logger=noting_in(log)):
        await realtime.asked("phx_join")
    assert await noted(log) == []


async def test_what_cannot_be_noted_does_not_leave(
    realtime: RealtimeServer, no_proxy: None, tmp_path: Path
) -> None:
    rests, folder = Rests(), tmp_path / "library.db"
    folder.mkdir()
    database = SqliteDatabase(folder)
    request_logger = noting_in(SqliteEgressLog(database))
    async with listening(
        realtime.url, rest=rests, request_logger=request_logger, own=False
    ):
        await rests.end(1)
        await rests.end(2)
    await database.aclose()
    assert realtime.paths == []
