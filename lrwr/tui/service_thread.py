"""Services at work in a thread of their own: the screen never waits for them."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

PATIENCE = 10.0
"""Seconds that work may take to end, once it was told to."""

LAST = 1.0
"""Seconds that are left to work that is cut off."""

ServicesT = TypeVar("ServicesT", covariant=True)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CloseFailure:
    """Something that could not be put away, and why: `error` None for want of time."""

    what: str
    error: Exception | None


class ServiceThread(Generic[ServicesT]):
    """Opens what is lent when it is first wanted, and closes it when all is over.

    All work is done in one thread, by one event loop. Whoever waits for it waits in
    the loop of the screen, and stops it by being cancelled.
    """

    def __init__(
        self,
        opening: Callable[[], AbstractAsyncContextManager[ServicesT]],
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.waiting = 0
        """How many wait for what they had done."""
        self.lost: list[CloseFailure] = []
        """What was stopped and could not be put away; whole once all is over."""
        self._patience = patience
        self._keeping: dict[asyncio.Task[Any], str] = {}
        self._opening = opening
        self._opened: asyncio.Task[ServicesT] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="backstage", daemon=True)
        self._stack = AsyncExitStack()
        self._begun: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> "ServiceThread[ServicesT]":
        """Begin; nothing is opened yet."""
        self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all work, close what was opened, and wait until that is done."""
        try:
            await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            )
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
            self._loop.close()

    async def do(
        self, work: Callable[[ServicesT], Coroutine[Any, Any, Result]]
    ) -> Result:
        """Return what `work` comes to; what it raises is raised.

        Cancelled, it stops the work and waits until it has stopped.
        """

        async def done() -> Result:
            return await work(await self._lent())

        self.waiting += 1
        try:
            return await self._there(done())
        finally:
            self.waiting -= 1

    async def follow(
        self,
        work: Callable[[ServicesT], AsyncGenerator[Result, None]],
        *,
        keeps: str = "",
    ) -> AsyncGenerator[Result, None]:
        """Yield what `work` yields, in order and as it comes.

        Closed early, it closes the work and waits until that has ended. `keeps` names
        what the work puts away as it ends, for `lost` if it cannot.
        """
        here = asyncio.get_running_loop()
        came: asyncio.Queue[_StreamItem[Result]] = asyncio.Queue()

        async def pass_on() -> None:
            async with aclosing(work(await self._lent())) as events:
                async for event in events:
                    here.call_soon_threadsafe(came.put_nowait, _StreamItem([event]))

        async def watched() -> None:
            try:
                await self._there(pass_on(), keeps)
            finally:
                came.put_nowait(_StreamItem([]))

        under_way = asyncio.create_task(watched())
        try:
            while event := (await came.get()).event:
                yield event[0]
            await under_way
        finally:
            under_way.cancel()
            await asyncio.wait([under_way])

    async def _lent(self) -> ServicesT:
        if self._opened is None:
            entering = self._stack.enter_async_context(self._opening())
            self._opened = asyncio.create_task(entering)
        opened = self._opened
        try:
            return await asyncio.shield(opened)
        finally:
            if opened.done() and (opened.cancelled() or opened.exception()):
                self._opened = None  # what could not be opened is tried again

    async def _there(
        self, work: Coroutine[Any, Any, Result], keeps: str = ""
    ) -> Result:
        here = asyncio.get_running_loop()
        ended: asyncio.Future[asyncio.Task[Result]] = here.create_future()
        begun: list[asyncio.Task[Result]] = []

        def begin() -> None:
            task = self._loop.create_task(work)
            begun.append(task)
            self._begun.add(task)
            if keeps:
                self._keeping[task] = keeps
            task.add_done_callback(end)

        def end(task: asyncio.Task[Result]) -> None:
            self._begun.discard(task)
            self._note(task)
            here.call_soon_threadsafe(settle, task)

        def settle(task: asyncio.Task[Result]) -> None:
            if not ended.done():  # nobody may wait for it any more
                ended.set_result(task)

        self._loop.call_soon_threadsafe(begin)
        try:
            task = await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._loop.call_soon_threadsafe(lambda: _stop(begun[0]))
            _heard(await ended)
            raise
        return task.result()

    async def _end(self) -> None:
        """Stop each task once: one that is stopping already has things to put away."""
        for task in self._begun:
            _stop(task)
        end = self._loop.time() + self._patience
        while left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left, timeout=max(0.0, end - self._loop.time()))
            if self._loop.time() >= end:
                await self._cut_off()
                break
        await self._stack.aclose()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    async def _cut_off(self) -> None:
        """End what would not end, and note what it leaves undone."""
        self.lost += [CloseFailure(what, None) for what in self._keeping.values()]
        self._keeping.clear()
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=LAST)

    def _note(self, task: asyncio.Task[Any]) -> None:
        """Note what a task had to put away when it was stopped, and could not."""
        what = self._keeping.pop(task, "")
        if what and task.cancelling() and not task.cancelled():
            error = task.exception()
            self.lost += (
                [CloseFailure(what, error)] if isinstance(error, Exception) else []
            )

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()


class _StreamItem(Generic[Result]):
    """What came from backstage; no event is the end."""

    def __init__(self, event: list[Result]) -> None:
        self.event = event


def _stop(task: "asyncio.Task[Any]") -> None:
    """Stop a task, once: a second time would interrupt what it still has to do."""
    if not task.cancelling():
        task.cancel()


def _heard(task: "asyncio.Task[Any]") -> None:
    """Take note of what a stopped task raised: nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
