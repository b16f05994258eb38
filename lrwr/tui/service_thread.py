"""Runs services, such as those of a library, in a thread with its own event loop."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

STOP_TIMEOUT = 10.0
"""Seconds that work may take to end after it was cancelled."""

CANCEL_TIMEOUT = 1.0
"""Seconds that are left to work that is cancelled a second time."""

ServicesT = TypeVar("ServicesT", covariant=True)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class CloseFailure:
    """Work that was stopped on exit and could not be saved.

    `what` names it in words. `error` is why saving failed, None if it took too long.
    """

    what: str
    error: Exception | None


class ServiceThread(Generic[ServicesT]):
    """Opens services with `opening` at the first call, and closes them on exit.

    All work runs in one thread, on one event loop. Callers await it on their own loop;
    cancelling the caller cancels the work. On exit, running work is cancelled and has
    `stop_timeout` seconds to end; `lost` then lists what could not be saved.
    """

    def __init__(
        self,
        opening: Callable[[], AbstractAsyncContextManager[ServicesT]],
        *,
        stop_timeout: float = STOP_TIMEOUT,
    ) -> None:
        self.waiting = 0
        """Number of callers that wait in `run`."""
        self.lost: list[CloseFailure] = []
        """Stopped work that could not be saved; complete after exit."""
        self._stop_timeout = stop_timeout
        self._saving: dict[asyncio.Task[Any], str] = {}
        self._opening = opening
        self._opened: asyncio.Task[ServicesT] | None = None
        self._loop = asyncio.new_event_loop()
        self._loop.set_debug(False)  # it would print arguments, such as keys
        self._thread = threading.Thread(target=self._run, name="backstage", daemon=True)
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> "ServiceThread[ServicesT]":
        """Start the thread. The services are opened by the first call."""
        self._thread.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all work, then close the services and end the thread.

        Work that does not end within `stop_timeout` seconds is cancelled again, and
        added to `lost` if it had something to save.
        """
        try:
            await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            )
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
            self._loop.close()

    async def run(
        self, work: Callable[[ServicesT], Coroutine[Any, Any, ResultT]]
    ) -> ResultT:
        """Call `work` with the services in the thread; return its result.

        Its errors are raised. If the caller is cancelled, the work is cancelled and
        awaited first. An error of opening the services is raised, too; the next call
        tries to open them again.
        """

        async def open_and_run() -> ResultT:
            return await work(await self._open_services())

        self.waiting += 1
        try:
            return await self._run_in_thread(open_and_run())
        finally:
            self.waiting -= 1

    async def stream(
        self,
        work: Callable[[ServicesT], AsyncGenerator[ResultT, None]],
        *,
        keeps: str = "",
    ) -> AsyncGenerator[ResultT, None]:
        """Call `work` with the services in the thread; yield its items at once.

        If the generator is closed early, the work is closed and awaited first. `keeps`
        names what the work saves when it is stopped; it is added to `lost` if saving
        fails. Empty means that it saves nothing.
        """
        running_loop = asyncio.get_running_loop()
        items: asyncio.Queue[_StreamItem[ResultT]] = asyncio.Queue()

        async def forward() -> None:
            async with aclosing(work(await self._open_services())) as events:
                async for event in events:
                    running_loop.call_soon_threadsafe(
                        items.put_nowait, _StreamItem([event])
                    )

        async def run_to_end() -> None:
            try:
                await self._run_in_thread(forward(), keeps)
            finally:
                items.put_nowait(_StreamItem([]))

        running = asyncio.create_task(run_to_end())
        try:
            while event := (await items.get()).event:
                yield event[0]
            await running
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def _open_services(self) -> ServicesT:
        if self._opened is None:
            entering = self._stack.enter_async_context(self._opening())
            self._opened = asyncio.create_task(entering)
        opened = self._opened
        try:
            return await asyncio.shield(opened)
        finally:
            if opened.done() and (opened.cancelled() or opened.exception()):
                self._opened = None  # so that the next call tries again

    async def _run_in_thread(
        self, work: Coroutine[Any, Any, ResultT], keeps: str = ""
    ) -> ResultT:
        running_loop = asyncio.get_running_loop()
        ended: asyncio.Future[asyncio.Task[ResultT]] = running_loop.create_future()
        started: list[asyncio.Task[ResultT]] = []

        def begin() -> None:
            task = self._loop.create_task(work)
            started.append(task)
            self._tasks.add(task)
            if keeps:
                self._saving[task] = keeps
            task.add_done_callback(end)

        def end(task: asyncio.Task[ResultT]) -> None:
            self._tasks.discard(task)
            self._record_failure(task)
            running_loop.call_soon_threadsafe(set_result, task)

        def set_result(task: asyncio.Task[ResultT]) -> None:
            if not ended.done():  # the caller may be gone
                ended.set_result(task)

        self._loop.call_soon_threadsafe(begin)
        try:
            task = await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._loop.call_soon_threadsafe(lambda: _stop(started[0]))
            _retrieve_exception(await ended)
            raise
        return task.result()

    async def _end(self) -> None:
        """Cancel each task once: one that is stopping already may be saving."""
        for task in self._tasks:
            _stop(task)
        end = self._loop.time() + self._stop_timeout
        while remaining := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(remaining, timeout=max(0.0, end - self._loop.time()))
            if self._loop.time() >= end:
                await self._cancel_again()
                break
        await self._stack.aclose()
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    async def _cancel_again(self) -> None:
        """Cancel tasks that did not end in time, and record what they could not save."""
        self.lost += [CloseFailure(label, None) for label in self._saving.values()]
        self._saving.clear()
        if remaining := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in remaining:
                task.cancel()
            await asyncio.wait(remaining, timeout=CANCEL_TIMEOUT)

    def _record_failure(self, task: asyncio.Task[Any]) -> None:
        """Record the error of a stopped task that had something to save."""
        label = self._saving.pop(task, "")
        if label and task.cancelling() and not task.cancelled():
            error = task.exception()
            self.lost += (
                [CloseFailure(label, error)] if isinstance(error, Exception) else []
            )

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()


class _StreamItem(Generic[ResultT]):
    """One streamed event; an empty list marks the end."""

    def __init__(self, event: list[ResultT]) -> None:
        self.event = event


def _stop(task: "asyncio.Task[Any]") -> None:
    """Cancel a task once: a second time would interrupt its clean-up."""
    if not task.cancelling():
        task.cancel()


def _retrieve_exception(task: "asyncio.Task[Any]") -> None:
    """Retrieve the error of a stopped task, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
