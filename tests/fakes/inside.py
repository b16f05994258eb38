"""Runs lrwr in the tests' own process, as if in one of its own.

What a process has for itself is lent to the command, and taken back: variables, the
folder it is in, streams with files behind them, signals, context, and what libraries
remember of an environment.
"""

import asyncio
import contextvars
import gc
import logging
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, Any
from unittest.mock import patch

from tests.fakes.fast_clock import hurried
from tests.fakes.shared_model import shared_model

_STREAMS = (0, 1, 2)
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

_BUSY = threading.Lock()
"""Held by the command that runs: it has the environment of the whole process."""


@dataclass(frozen=True, slots=True)
class Call:
    """A command: its words, where it runs, with which variables, and what is piped in."""

    words: Sequence[str]
    folder: Path
    env: Mapping[str, str]
    given: str = ""


def run_inside(call: Call) -> tuple[str, str, int]:
    """Run a command; return what it said, what it said on the side, and its exit code.

    A test that has a running loop has the command run in a thread, with a loop of its
    own. Two at a time need processes.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(call)
    done: list[tuple[str, str, int]] = []
    thread = threading.Thread(target=lambda: done.append(_run(call)))
    thread.start()
    thread.join()
    return done[0]


def _run(call: Call) -> tuple[str, str, int]:
    assert _BUSY.acquire(blocking=False), "two at a time need processes"
    try:
        with _files(call.given) as files:
            with _lent(call, files):
                code = contextvars.copy_context().run(_ended)
            return _said(files[1]), _said(files[2]), code
    finally:
        _BUSY.release()


def _ended() -> int:
    """Run `lrwr` as its script does; return the exit code of such a process."""
    from lrwr.cli.main import run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)  # noqa: T201 - as Python does
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


@contextmanager
def _files(given: str) -> Iterator[Sequence[IO[bytes]]]:
    """Yield a file for each stream of a process; the first holds what is piped in."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in _STREAMS]
        files[0].write(given.encode())
        files[0].seek(0)
        yield files


def _said(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@contextmanager
def _lent(call: Call, files: Sequence[IO[bytes]]) -> Iterator[None]:
    """Lend what a process has for itself."""
    with ExitStack() as stack:
        taken_back: Sequence[AbstractContextManager[object]] = (
            patch.dict(os.environ, call.env, clear=True),
            patch.object(sys, "argv", ["lrwr", *call.words]),
            patch.object(tempfile, "tempdir", None),
            patch.object(logging.getLogger(), "handlers", []),
            warnings.catch_warnings(),
            chdir(call.folder),
            shared_model(),
            hurried(),
        )
        for one in taken_back:
            stack.enter_context(one)
        stack.callback(sys.modules.update, {"__main__": sys.modules["__main__"]})
        sys.modules["__main__"] = ModuleType("__main__")  # by which click names lrwr
        stack.callback(_restore_signals())
        stack.callback(gc.enable if gc.isenabled() else gc.disable)
        _forget_the_environment()
        stack.callback(_forget_the_environment)
        _lend_streams(stack, files)
        yield


def _lend_streams(stack: ExitStack, files: Sequence[IO[bytes]]) -> None:
    """Put files in the place of the streams, for Python and for all below it."""
    names = ("stdin", "stdout", "stderr")
    for number, name, file in zip(_STREAMS, names, files, strict=True):
        before = os.dup(number)
        stack.callback(_put_back, before, number)
        os.dup2(file.fileno(), number)
        opened = stack.enter_context(_opened(number))
        stack.enter_context(patch.object(sys, name, opened))


def _opened(number: int) -> IO[str]:
    """Open a stream as Python does when it starts."""
    if number == 0:
        return open(number, encoding="utf-8", closefd=False)
    errors = "backslashreplace" if number == 2 else "strict"
    return open(
        number, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1
    )


def _put_back(before: int, number: int) -> None:
    os.dup2(before, number)
    os.close(before)


def _restore_signals() -> Callable[[], None]:
    """Return what has signals heard as they are now."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    heard = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in heard.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)

    return restore


_REMEMBERING: Mapping[str, Sequence[str]] = {
    "langsmith.utils": ("get_env_var", "get_tracer_project"),
    "langsmith.run_trees": ("_parse_write_replicas_from_env_var",),
    "langsmith.env._runtime_env": (
        "get_langchain_environment",
        "get_langchain_env_var_metadata",
        "get_runtime_environment",
    ),
}
"""What remembers variables for as long as a process runs, by its module."""


def _forget_the_environment() -> None:
    """Clear what libraries remember of variables."""
    for name, functions in _REMEMBERING.items():
        module: Any = sys.modules.get(name)
        for function in functions if module else ():
            getattr(module, function).cache_clear()
    keyring: Any = sys.modules.get("keyring.core")
    if keyring is not None:
        keyring._keyring_backend = None
