"""Running a service's coroutine from a command."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from lrwr.core.model.errors import LrwrError

Result = TypeVar("Result")


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end; a failure inside a group of tasks is raised alone.

    Raises:
        LrwrError: The first that any task met.
    """
    try:
        return asyncio.run(work)
    except* LrwrError as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        failure = first
    raise failure
