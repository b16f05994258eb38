"""Work is done in a thread of its own, stopped when nobody waits, and closed in order."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.tui.service_thread import CloseFailure, ServiceThread


class Props:
    """What is lent here: it notes what is done with it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.thread = threading.get_ident()
        self.waits = threading.Event()

    async def sum(self, one: int, other: int) -> int:
        """Return a sum."""
        await asyncio.sleep(0)
        return one + other

    async def wait(self) -> None:
        """Wait for ever, and note how that ended."""
        self.log.append("waits")
        self.waits.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.log.append("waited")

    async def keep(self) -> None:
        """Wait for ever, and put away what there is, in its own time."""
        try:
            await self.wait()
        finally:
            await asyncio.shield(self._put_away())

    async def _put_away(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        self.log.append("kept")

    async def count(self, to: int) -> AsyncGenerator[int, None]:
        """Count, and note how that ended."""
        try:
            for number in range(to):
                await asyncio.sleep(0)
                yield number
        finally:
            await asyncio.sleep(0)
            self.log.append("counted")


def opening(props: list[Props], *, failing: int = 0) -> ServiceThread[Props]:
    tries = 0

    @asynccontextmanager
    async def open_props() -> AsyncIterator[Props]:
        nonlocal tries
        tries += 1
        if tries <= failing:
            raise NotFound("Nothing is there yet")
        props.append(Props())
        yield props[-1]
        props[-1].log.append("closed")

    return ServiceThread(open_props)


async def test_work_is_done_in_one_thread_that_is_not_the_screen_s() -> None:
    props: list[Props] = []
    async with opening(props) as stage:
        assert props == []
        assert await stage.run(lambda lent: lent.sum(2, 3)) == 5
        assert await stage.run(lambda lent: lent.sum(1, 1)) == 2
    (lent,) = props
    assert lent.thread != threading.get_ident()
    assert lent.log == ["closed"]


async def test_nothing_that_was_not_wanted_is_opened() -> None:
    props: list[Props] = []
    async with opening(props):
        pass
    assert props == []


async def test_what_comes_is_handed_on_in_order() -> None:
    props: list[Props] = []
    async with opening(props) as stage:
        got = [number async for number in stage.stream(lambda lent: lent.count(50))]
    assert got == list(range(50))
    assert props[0].log == ["counted", "closed"]


async def test_whoever_stops_listening_stops_the_work_and_waits_for_its_end() -> None:
    props: list[Props] = []
    async with opening(props) as stage:
        async with aclosing(stage.stream(lambda lent: lent.count(10**9))) as numbers:
            assert [await anext(numbers), await anext(numbers)] == [0, 1]
        assert props[0].log == ["counted"]


async def test_work_that_nobody_waits_for_is_stopped() -> None:
    props: list[Props] = []
    async with opening(props) as stage:
        await stage.run(lambda lent: lent.sum(0, 0))
        waiting = asyncio.create_task(stage.run(lambda lent: lent.wait()))
        await asyncio.to_thread(props[0].waits.wait)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert props[0].log == ["waits", "waited"]


async def test_leaving_ends_what_is_under_way() -> None:
    props: list[Props] = []
    async with opening(props) as stage:
        await stage.run(lambda lent: lent.sum(0, 0))
        waiting = asyncio.create_task(stage.run(lambda lent: lent.wait()))
        await asyncio.to_thread(props[0].waits.wait)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert props[0].log == ["waits", "waited", "closed"]


async def test_what_is_put_away_when_work_stops_is_put_away_before_all_is_closed() -> (
    None
):
    props: list[Props] = []
    async with opening(props) as stage:
        await stage.run(lambda lent: lent.sum(0, 0))
        waiting = asyncio.create_task(stage.run(lambda lent: lent.keep()))
        await asyncio.to_thread(props[0].waits.wait)
        waiting.cancel()
        await asyncio.sleep(0)  # it is told to stop, and nobody waits until it has
    assert props[0].log == ["waits", "waited", "kept", "closed"]
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_failure_is_told_and_opening_is_tried_again() -> None:
    props: list[Props] = []
    async with opening(props, failing=1) as stage:
        with pytest.raises(NotFound, match="Nothing is there yet"):
            await stage.run(lambda lent: lent.sum(1, 2))
        assert await stage.run(lambda lent: lent.sum(1, 2)) == 3


async def test_a_failure_half_way_comes_after_what_came_before_it() -> None:
    async def fail(lent: Props) -> AsyncGenerator[int, None]:
        yield 1
        raise NotFound("It is gone")

    async with opening([]) as stage:
        came = stage.stream(fail)
        assert await anext(came) == 1
        with pytest.raises(NotFound, match="It is gone"):
            await anext(came)


class Shelf:
    """Work that puts away what there is when it is stopped, and may fail at that."""

    def __init__(self, error: Exception | None) -> None:
        self.begun = threading.Event()
        self.error = error

    async def talk(self) -> AsyncGenerator[int, None]:
        """Talk for ever."""
        try:
            self.begun.set()
            await asyncio.Event().wait()
            yield 1
        finally:
            await self._put_away()

    async def _put_away(self) -> None:
        if self.error is None:
            await asyncio.Event().wait()
        else:
            raise self.error


async def left_while_talking(error: Exception | None, keeps: str) -> list[CloseFailure]:
    shelf = Shelf(error)

    @asynccontextmanager
    async def open_shelf() -> AsyncIterator[Shelf]:
        yield shelf

    async def listen() -> None:
        async for _ in stage.stream(lambda lent: lent.talk(), keeps=keeps):
            pass

    async with ServiceThread(open_shelf, stop_timeout=0.05) as stage:
        listening = asyncio.create_task(listen())
        await asyncio.to_thread(shelf.begun.wait)
    listening.cancel()
    await asyncio.wait([listening])
    return stage.lost


async def test_what_could_not_be_put_away_is_told_with_its_reason() -> None:
    full = StoreProblem("The disk is full")
    assert await left_while_talking(full, "the answer") == [
        CloseFailure("the answer", full)
    ]
    assert await left_while_talking(full, "") == []


async def test_what_is_cut_off_for_want_of_time_is_told() -> None:
    assert await left_while_talking(None, "the answer") == [
        CloseFailure("the answer", None)
    ]
