"""Error messages of a failed command, and report files for internal errors."""

import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.exceptions import Abort, TyperException

from lrwr import __version__
from lrwr.cli.runtime.output import Output, error_as_json
from lrwr.core.model.errors import (
    ExitCode,
    InternalError,
    LrwrError,
    NotFound,
    SettingsProblem,
)


class _Interrupted(LrwrError):
    exit_code = ExitCode.INTERRUPTED


class _Aborted(LrwrError):
    exit_code = ExitCode.FAILED


def print_failure(error: BaseException, *, json_format: str = "") -> ExitCode:
    """Print why a command failed and what to try; return its exit code.

    Message and hint go to stderr. With `json_format` "indented" or "line", they go to
    stdout instead, as `{"error": {"message", "hint", "exit_code"}}`, on one line for
    "line". An unexpected exception becomes an internal error with a report file.
    """
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the whole help
        usage_error: Any = error
        usage_error.show()
        return ExitCode.SETTINGS
    failure = _describe_failure(error)
    if json_format == "line":
        Output().json_line(error_as_json(failure))
    elif json_format:
        Output().json(error_as_json(failure))
    else:
        Output().error(failure)
    return failure.exit_code


def _describe_failure(error: BaseException) -> LrwrError:
    match error:
        case LrwrError():
            return error
        case TyperException():
            return _describe_usage_error(error)
        case Abort():
            return _Aborted("Stopped. Nothing was changed")
        case Exception():
            return _describe_surroundings(error) or report_crash(error)
        case _:  # Ctrl-C
            return _Interrupted("Stopped. Work finished so far is saved")


_NO_MEMORY = re.compile(
    r"can't start new thread|cannot allocate memory|failed to map segment|bad.?alloc"
    r"|out of memory|memory allocation",
    re.IGNORECASE,
)


def _describe_surroundings(error: Exception) -> LrwrError | None:
    """Return the error to show if lrwr could not work where it was started; else None.

    Nothing in lrwr is at fault if its folder was deleted, or if memory is short.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        return NotFound(
            "The current folder does not exist any more",
            hint="Go to an existing folder with `cd`, and run the command again.",
        )
    for related in _related_errors(error):
        if isinstance(related, MemoryError) or _NO_MEMORY.search(str(related)):
            return LrwrError(
                "There is not enough memory for this command",
                hint="Close other programs, or raise the memory limit (`ulimit -v`).",
            )
    return None


def _describe_usage_error(error: Any) -> SettingsProblem:
    """Return the error for wrong words on the command line, with the nearest right ones.

    `error` is a `UsageError`, a class that Typer does not export. Typer appends its
    suggestions to the message.
    """
    names: list[str] = list(getattr(error, "possibilities", None) or ())
    message = error.message if names else error.format_message()
    message, _, suggestions = message.partition(". Did you mean ")
    if suggestions:
        names = re.findall(r"'([^']+)'", suggestions)
    if names:
        choices = " or ".join(f"`{name}`" for name in names)
        hint = f"Did you mean {choices}?"
    else:
        command = error.ctx.command_path if getattr(error, "ctx", None) else "lrwr"
        hint = f"Run `{command} --help` for its options and arguments."
    return SettingsProblem(message.strip().rstrip("."), hint=hint)


def report_crash(error: Exception) -> InternalError:
    """Write a crash report for an unexpected exception; return the error to show.

    The report has the versions and stack traces, without exception messages, because
    those may quote the manuscript. The hint names the file, if it could be written.
    """
    message = f"An internal error stopped lrwr: {_name(_first_leaf(error))}"
    path = _write_report(error)
    if path is None:
        return InternalError(
            message, hint="Try again; if it happens again, report it to lrwr's authors."
        )
    return InternalError(
        message,
        hint=f"Send {path} to lrwr's authors; it contains none of your text and no keys.",
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
    yield f"lrwr {__version__}, exit code {int(ExitCode.INTERNAL)}\n"
    yield f"Python {sys.version.split()[0]}, {platform.platform()}\n"
    for related in _related_errors(error):
        yield f"\n{_name(related)}\n"
        yield from traceback.format_list(traceback.extract_tb(related.__traceback__))


def _related_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield `error`, its group members, causes and contexts, each once."""
    pending: list[BaseException | None] = [error]
    seen_ids: set[int] = set()
    while pending:
        current = pending.pop(0)
        if current is None or id(current) in seen_ids:
            continue
        seen_ids.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions
        pending += [current.__cause__, current.__context__]


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _name(error: BaseException) -> str:
    kind = type(error)
    is_builtin = kind.__module__ in {"builtins", "__main__"}
    return kind.__qualname__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}"
