"""What becomes of a fault in lrwr itself: one sentence, and a report in a file."""

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator

from lrwr import __version__
from lrwr.cli.runtime.output import Output
from lrwr.core.model.errors import ExitCode, InternalError, LrwrError


def print_failure(error: Exception) -> ExitCode:
    """Print why a command failed and what to try, and return its exit code."""
    failure = error if isinstance(error, LrwrError) else report_crash(error)
    Output().problem(failure)
    return failure.exit_code


def report_crash(error: Exception) -> InternalError:
    """Return what the writer is told of an error that nobody foresaw."""
    message = f"An internal problem stopped lrwr: {_name(_first_leaf(error))}"
    path = _write_report(error)
    if path is None:
        return InternalError(
            message, hint="Try again, and please tell lrwr's makers if it stays."
        )
    return InternalError(
        message,
        hint=f"Please send {path} to lrwr's makers; no text and no key of yours is in"
        " it.",
    )


def _write_report(error: Exception) -> str | None:
    try:
        handle, path = tempfile.mkstemp(prefix="lrwr-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(_report(error))
    except OSError:
        return None
    return path


def _report(error: Exception) -> Iterator[str]:
    """Yield where it happened. What an error says may quote a text: it is left out."""
    yield f"lrwr {__version__}, exit code {int(ExitCode.INTERNAL)}\n"
    yield f"Python {sys.version.split()[0]}, {platform.platform()}\n"
    for base_exception in _all_of(error):
        yield f"\n{_name(base_exception)}\n"
        yield from traceback.format_list(
            traceback.extract_tb(base_exception.__traceback__)
        )


def _all_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, those in its group, and those that it came of, each once."""
    waiting: list[BaseException | None] = [error]
    seen_ids: set[int] = set()
    while waiting:
        current = waiting.pop(0)
        if current is None or id(current) in seen_ids:
            continue
        seen_ids.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
        waiting += [current.__cause__, current.__context__]


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _name(error: BaseException) -> str:
    kind = type(error)
    is_builtin = kind.__module__ in {"builtins", "__main__"}
    return kind.__qualname__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}"
