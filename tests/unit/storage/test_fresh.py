import asyncio

import pytest

from lrwr.core.adapters.storage.supabase.freshness import (
    FRESH_SECONDS,
    MIN_CHECK_INTERVAL,
    UNREACHABLE_PAUSE,
    ReplicaRefresher,
)
from lrwr.core.adapters.storage.supabase.realtime import ChangeSignal
from lrwr.core.model.errors import ServiceUnavailable
from tests.fakes.records import Clock
from tests.fakes.wakings import Copy


async def test_without_any_event_a_copy_looks_every_few_seconds() -> None:
    copy, clock = Copy(), Clock()
    fresh = ReplicaRefresher(copy.catch_up, pytest.fail, clock=clock)
    for _ in range(3):
        await fresh()
        clock.time += FRESH_SECONDS
    assert copy.looks == 3


async def test_what_changes_during_a_look_makes_the_next_one_due() -> None:
    copy, clock = Copy(), Clock()
    fresh = ReplicaRefresher(copy.catch_up, pytest.fail, clock=clock)
    copy.meanwhile = fresh.due
    await fresh()
    copy.meanwhile = None
    clock.time += MIN_CHECK_INTERVAL
    await fresh()
    await fresh()
    assert copy.looks == 2


async def test_a_flood_of_events_makes_nobody_look_more_than_once_a_second() -> None:
    copy, clock = Copy(), Clock()
    fresh = ReplicaRefresher(copy.catch_up, pytest.fail, clock=clock)
    for _ in range(100):
        fresh.due()
        await fresh()
    assert copy.looks == 1
    clock.time += MIN_CHECK_INTERVAL
    await fresh()
    assert copy.looks == 2


async def test_an_event_does_not_hurry_a_project_that_did_not_answer() -> None:
    copy, clock, said = Copy(), Clock(), list[str]()
    copy.error = ServiceUnavailable("It is gone", hint="Wait.")
    fresh = ReplicaRefresher(copy.catch_up, said.append, clock=clock)
    await fresh()
    fresh.due()
    clock.time += UNREACHABLE_PAUSE - 1
    await fresh()
    assert (copy.looks, len(said)) == (1, 1)
    clock.time += 1
    await fresh()
    assert copy.looks == 2


async def test_who_waits_goes_on_when_something_has_changed() -> None:
    news = ChangeSignal()
    waiting = asyncio.create_task(news.wait(0, 3_600))
    await asyncio.sleep(0)
    news.came()
    await waiting


async def test_what_changed_before_somebody_waits_is_not_lost_and_counts_once() -> None:
    news = ChangeSignal()
    news.came()
    await news.wait(0, 3_600)
    again = asyncio.create_task(news.wait(0, 3_600))
    await asyncio.sleep(0.01)
    assert not again.done()
    again.cancel()


async def test_who_waits_goes_on_after_a_while_whatever_happens() -> None:
    await ChangeSignal().wait(0, 0.01)
