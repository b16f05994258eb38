"""Running a service's coroutine from a command."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from lrwr.core.model.errors import LrwrError

ResultT = TypeVar("ResultT")


def run_async(
    work: Coroutine[Any, Any, ResultT],
    run: Callable[[Coroutine[Any, Any, ResultT]], ResultT] = asyncio.run,
) -> ResultT:
    """Run `work` to its end; a failure inside a group of tasks is raised alone.

    `run` is given the work, for a loop that does more than that.

    Raises:
        LrwrError: The first that any task met.
    """
    try:
        return run(work)
    except* LrwrError as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        failure = first
    raise failure


def run_with_cleanup(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `work` as `run_async` does, and end it by SIGTERM as by Ctrl-C.

    For work that leaves something behind if it is merely killed.

    Raises:
        LrwrError: The first that any task met.
        KeyboardInterrupt: It was told to end.
    """

    async def heeding() -> ResultT:
        task = asyncio.current_task()
        assert task is not None
        with suppress(NotImplementedError):  # Windows has no SIGTERM to heed
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return run_async(heeding())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
