"""Running a service's coroutine from a command."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from lrwr.core.model.errors import LrwrError

Result = TypeVar("Result")


def run_async(
    work: Coroutine[Any, Any, Result],
    run: Callable[[Coroutine[Any, Any, Result]], Result] = asyncio.run,
) -> Result:
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
