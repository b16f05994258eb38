"""Runs the coroutine of a command in an event loop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from lrwr.core.model.errors import LrwrError

ResultT = TypeVar("ResultT")


def run_async(
    coroutine: Coroutine[Any, Any, ResultT],
    run: Callable[[Coroutine[Any, Any, ResultT]], ResultT] | None = None,
) -> ResultT:
    """Run `coroutine` to completion and return its result.

    `run` executes the coroutine in a loop that is reused; None creates a loop, never in
    debug mode, which prints arguments of slow calls, such as keys. If tasks of a group
    fail with several `LrwrError`s, only the first is raised.

    Raises:
        LrwrError: The error of the coroutine, without an exception group around it.
    """
    try:
        return run(coroutine) if run else asyncio.run(coroutine, debug=False)
    except* LrwrError as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        failure = first
    raise failure


def run_with_cleanup(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `coroutine` like `run_async`, and cancel it on SIGTERM as on Ctrl-C.

    For commands with temporary files, which a plain SIGTERM would leave behind.

    Raises:
        LrwrError: The first error of a task group.
        KeyboardInterrupt: SIGTERM or Ctrl-C cancelled it.
    """

    async def cancel_on_sigterm() -> ResultT:
        task = asyncio.current_task()
        assert task is not None
        with suppress(NotImplementedError):  # Windows has no signal handlers
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await coroutine

    try:
        return run_async(cancel_on_sigterm())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
