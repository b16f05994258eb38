import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.supabase.freshness import (
    MIN_CHECK_INTERVAL,
    ReplicaRefresher,
)
from lrwr.core.adapters.storage.supabase.realtime import (
    HEARTBEAT_INTERVAL,
    MAX_RECONNECT_DELAY,
    RealtimeListener,
)
from tests.fakes.realtime_server import RealtimeServer, mute_server, realtime_server
from tests.fakes.records import Clock
from tests.fakes.wakings import (
    KEY,
    LIBRARY,
    TOKEN,
    TOPIC,
    Came,
    Copy,
    Rests,
    beat,
    its_token,
    listening,
)

LOADED = """
import lrwr.cli.chat.live_answer, lrwr.cli.commands.ask, lrwr.app.sessions, lrwr.app.watch
import lrwr.core.adapters.storage.supabase.knowledge_store, postgrest, supabase_auth
import lrwr.core.adapters.storage.supabase.realtime
import sys; print(*sys.modules)
"""


@pytest.fixture
async def realtime() -> AsyncIterator[RealtimeServer]:
    async with realtime_server(KEY) as server:
        yield server


async def test_a_change_there_makes_the_next_reading_look_at_once(
    realtime: RealtimeServer,
) -> None:
    copy, clock, heard = Copy(), Clock(), Came()
    fresh = ReplicaRefresher(copy.catch_up, pytest.fail, clock=clock)

    def came() -> None:
        fresh.due()
        heard()

    async with listening(realtime.url, came):
        await realtime.asked("phx_join")
        await fresh()
        clock.time += MIN_CHECK_INTERVAL
        await fresh()
        assert copy.looks == 1
        await realtime.changed(LIBRARY)
        await heard.next()
        assert copy.looks == 1
        await fresh()
        await fresh()
    assert copy.looks == 2


async def test_only_what_is_told_of_this_library_counts(
    realtime: RealtimeServer,
) -> None:
    came, elsewhere = Came(), {"topic": "realtime:other", "event": "postgres_changes"}
    async with listening(realtime.url, came):
        await realtime.asked("phx_join")
        await realtime.changed("another library")
        await realtime.say(json.dumps({**elsewhere, "payload": {}, "ref": None}))
        await realtime.tell("system", {"status": "ok", "message": "Subscribed"})
        await realtime.changed(LIBRARY)
        await came.next()
    assert came.count == 1


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "<html>",
        "null",
        "[]",
        '"phx_error"',
        "{}",
        '{"topic": 1, "event": [], "payload": "x", "ref": {}}',
        json.dumps({"topic": TOPIC, "payload": []}),
        "[" * 100_000,
        b"\xff\x00",
        json.dumps({"topic": TOPIC, "event": "new", "payload": None}),
    ],
    ids=range(11),
)
async def test_a_frame_that_makes_no_sense_is_passed_over(
    realtime: RealtimeServer, frame: str | bytes
) -> None:
    came = Came()
    async with listening(realtime.url, came):
        await realtime.asked("phx_join")
        await realtime.say(frame)
        await realtime.changed(LIBRARY)
        await came.next()
    assert came.count == 1


async def test_what_is_refused_is_asked_for_more_and_more_seldom_and_silently(
    realtime: RealtimeServer,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    realtime.tokens = frozenset({"another"})
    rests, pauses = Rests(), list[float]()
    with caplog.at_level(logging.DEBUG):
        async with listening(realtime.url, rest=rests):
            for _ in range(12):
                await realtime.asked("phx_join")
                length, over = await rests.next()
                pauses.append(length)
                over.set()
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *[MAX_RECONNECT_DELAY] * 2]
    assert KEY not in caplog.text
    assert TOKEN not in caplog.text
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_a_project_without_realtime_is_left_in_peace(
    realtime: RealtimeServer, status: int
) -> None:
    realtime.status = status
    rests, came = Rests(), Came()
    async with listening(realtime.url, came, rest=rests):
        for pause in (1, 2):
            await rests.end(pause)
        _, over = await rests.next()
        realtime.status = 0
        over.set()
        await realtime.asked("phx_join")
        await realtime.changed(LIBRARY)
        await came.next()


async def test_a_server_that_goes_away_and_comes_back_is_heard_again(
    realtime: RealtimeServer,
) -> None:
    rests, came = Rests(), Came()
    async with listening(realtime.url, came, rest=rests):
        await realtime.asked("phx_join")
        assert (await rests.next())[0] == HEARTBEAT_INTERVAL
        await realtime.stop()
        await rests.end(1)
        await rests.end(2)
        _, over = await rests.next()
        await realtime.start()
        over.set()
        await realtime.asked("phx_join")
        await realtime.changed(LIBRARY)
        await came.next()
    assert came.count == 1


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("system", {"status": "error", "message": "Unable to subscribe"}),
        ("phx_error", {}),
        ("phx_close", {}),
    ],
)
async def test_a_channel_that_ends_is_joined_again(
    realtime: RealtimeServer, event: str, payload: dict[str, str]
) -> None:
    rests = Rests()
    async with listening(realtime.url, rest=rests):
        await realtime.asked("phx_join")
        assert (await rests.next())[0] == HEARTBEAT_INTERVAL
        await realtime.tell(event, payload)
        await rests.end(1)
        await realtime.asked("phx_join")


async def test_a_server_that_falls_silent_is_left_and_sought_anew(
    realtime: RealtimeServer,
) -> None:
    rests, came = Rests(), Came()
    async with listening(realtime.url, came, rest=rests):
        await realtime.asked("phx_join")
        await beat(realtime, rests, came)
        realtime.silent = True
        await rests.end(HEARTBEAT_INTERVAL)
        await realtime.asked("heartbeat")
        realtime.silent = False
        await rests.end(HEARTBEAT_INTERVAL)
        await rests.end(1)
        await realtime.asked("phx_join")


async def test_a_connection_that_has_held_for_a_while_is_soon_sought_again(
    realtime: RealtimeServer,
) -> None:
    rests, came = Rests(), Came()
    realtime.status = 503
    async with listening(realtime.url, came, rest=rests):
        for pause in (1, 2, 4):
            await rests.end(pause)
        _, over = await rests.next()
        realtime.status = 0
        over.set()
        await beat(realtime, rests, came)
        assert (await rests.next())[0] == HEARTBEAT_INTERVAL
        await realtime.tell("phx_close", {})
        await rests.end(1)


async def test_a_token_that_was_renewed_is_told_and_one_that_was_not_is_not(
    realtime: RealtimeServer,
) -> None:
    rests, came, token = Rests(), Came(), ["first"]

    async def newest() -> str:
        return token[0]

    async with listening(realtime.url, came, token=newest, rest=rests):
        join = await realtime.asked("phx_join")
        assert join["payload"]["access_token"] == "first"
        await beat(realtime, rests, came)
        assert not realtime.was_asked("access_token")
        token[0] = "second"
        await beat(realtime, rests, came)
        told = await realtime.asked("access_token")
        assert told["payload"] == {"access_token": "second"}
        assert told["topic"] == join["topic"]
        await beat(realtime, rests, came)
        assert not realtime.was_asked("access_token")


async def test_a_server_that_never_answers_keeps_nobody_from_leaving() -> None:
    async with mute_server() as (url, came), listening(url) as waking:
        await came.wait()
        await waking.aclose()
        await waking.aclose()


async def test_what_never_began_is_closed_as_well() -> None:
    waking = RealtimeListener(
        SupabaseConnection("http://127.0.0.1:9", KEY), LIBRARY, its_token, Came()
    )
    await waking.aclose()


async def test_a_connection_is_closed_with_all_else(realtime: RealtimeServer) -> None:
    tasks = asyncio.all_tasks()
    async with listening(realtime.url) as waking:
        waking.begin()
        await realtime.asked("phx_join")
    assert len(realtime.paths) == 1
    await realtime.stop()
    assert asyncio.all_tasks() == tasks


def test_a_short_command_loads_nothing_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & {"realtime", "websockets", "supabase"}
