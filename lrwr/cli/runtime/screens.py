"""Runs the screens of lrwr: Textual applications over the services of one library."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING

from lrwr.cli.runtime.failures import report_crash
from lrwr.cli.runtime.output import Output
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.model import Settings
from lrwr.tui.service_thread import CloseFailure, ServiceThread

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.app import WritingRoom

CreateScreenApp = Callable[["ServiceThread[Workspace]", Settings], "WritingRoom"]
"""Creates the application that is shown, over services that open when they are needed."""


def run_screen(settings: Settings, output: Output, create: CreateScreenApp) -> None:
    """Run an application until the user closes it, then print notices, and warn about
    what could not be saved.

    Raises:
        LrwrError: The application closed because of an error.
    """
    notices: list[str] = []
    failures = asyncio.run(_run(settings, create, notices.append), debug=False)
    for sentence in dict.fromkeys(notices):
        output.info(sentence)
    _warn_of_failures(output, failures)


async def _run(
    settings: Settings, create: CreateScreenApp, say: Callable[[str], None]
) -> Sequence[CloseFailure]:
    """Run the application; return what could not be saved when it closed.

    Raises:
        LrwrError: The application closed because of an error.
    """

    def open_services() -> "AbstractAsyncContextManager[Workspace]":
        from lrwr.app.container import open_workspace

        return open_workspace(settings, say=say)

    async with ServiceThread(open_services) as stage:
        app = create(stage, settings)
        _exit_on_signals(app.exit)
        await app.run_async()
    if app.failure is not None:
        raise app.failure
    return stage.lost


def _warn_of_failures(output: Output, failures: Sequence[CloseFailure]) -> None:
    for failure in failures:
        match failure.error:
            case None:
                reason = "it took too long and was cancelled"
            case LrwrError() as error:
                reason = error.full_text
            case error:
                reason = str(report_crash(error))
        output.warn(f"{failure.what} could not be saved: {reason}")


def _exit_on_signals(leave: Callable[[], None]) -> None:
    """Close the application in order, saving its state, when the terminal is closed."""
    loop = asyncio.get_running_loop()
    for name in ("SIGHUP", "SIGTERM"):
        with suppress(AttributeError, NotImplementedError):  # Windows has neither
            loop.add_signal_handler(getattr(signal, name), leave)
