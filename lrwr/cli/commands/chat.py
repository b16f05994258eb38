"""`lrwr chat`: the writing room."""

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.cli.runtime.crash_report import report_crash
from lrwr.cli.runtime.options import (
    AskAsOfOption,
    AskCharacterOption,
    AskThreadNameOption,
    ModeNameOption,
    parse_mode,
)
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.cli.runtime.stream import is_terminal
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.turns import AnswerMode
from lrwr.core.settings.model import Settings
from lrwr.tui.scope import ChatOptions
from lrwr.tui.service_thread import CloseFailure, ServiceThread

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

EPILOG = (
    "Examples: lrwr chat · lrwr chat --character Nell --mode in_character ·"
    " lrwr chat --as-of ch4 · lrwr chat --watch · lrwr chat --thread 1 ·"
    " lrwr chat --plain"
)

WatchOption = Annotated[
    bool, typer.Option("--watch", help="Read each save while you write.")
]
PlainOption = Annotated[
    bool,
    typer.Option(
        "--plain", help="Line by line, without a screen: for screen readers and pipes."
    ),
]


app = typer.Typer()


@app.command("chat", epilog=EPILOG)
def chat_command(
    context: typer.Context,
    character: AskCharacterOption = None,
    mode: ModeNameOption = None,
    as_of: AskAsOfOption = None,
    thread: AskThreadNameOption = None,
    watch: WatchOption = False,
    plain: PlainOption = False,
) -> None:
    """Open the writing room: ask, read, follow each answer to the text."""
    gc.disable()  # until the first picture: all that is loaded for it stays

    settings, output = start_session(context)
    options = ChatOptions(
        character=character or "",
        as_of=as_of or "",
        mode=_parse_optional_mode(mode),
        thread=thread or "",
        watch=watch,
    )
    if plain or _is_piped(output):
        gc.enable()
        _run_plain(settings, output, options)
    else:
        messages: list[str] = []
        failures = asyncio.run(_chat(settings, options, messages.append))
        for sentence in dict.fromkeys(messages):
            output.story(sentence)
        _warn_of_failures(output, failures)


def _parse_optional_mode(name: str | None) -> AnswerMode | None:
    if name is None:
        return None

    return parse_mode(name)


def _is_piped(output: Output) -> bool:
    """Say whether there is no terminal for a screen, and tell the writer if so."""
    if is_terminal(sys.stdin) and output.interactive:
        return False
    output.story("There is no terminal here for the writing room: as with --plain.")
    return True


def _run_plain(settings: Settings, output: Output, options: ChatOptions) -> None:
    from lrwr.cli.chat.plain import run_plain_chat

    if options.watch:
        output.warn("--watch needs the writing room; `lrwr watch` reads saves, too.")
    run_plain_chat(settings, output, options)


async def _chat(
    settings: Settings, options: ChatOptions, say: Callable[[str], None]
) -> Sequence[CloseFailure]:
    """Open the room, and return what could not be kept as it was left."""
    from lrwr.tui.app import WritingRoom

    def opening_room() -> "AbstractAsyncContextManager[Workspace]":
        from lrwr.app.container import open_workspace

        return open_workspace(settings, say=say)

    async with ServiceThread(opening_room) as stage:
        writing_room = WritingRoom(stage, settings, options, report_crash)
        _exit_on_signals(writing_room.exit)
        await writing_room.run_async()
    return stage.lost


def _warn_of_failures(output: Output, failures: Sequence[CloseFailure]) -> None:
    for failure in failures:
        match failure.error:
            case None:
                reason = "it took too long; what was being done was cut off"
            case LrwrError() as error:
                reason = f"{error}. {error.hint}"
            case error:
                reason = str(report_crash(error))
        output.warn(f"{failure.what} could not be kept: {reason}".rstrip())


def _exit_on_signals(leave: Callable[[], None]) -> None:
    """Leave in order, with what was said kept, when the terminal is closed."""
    loop = asyncio.get_running_loop()
    for name in ("SIGHUP", "SIGTERM"):
        with suppress(AttributeError, NotImplementedError):  # Windows has neither
            loop.add_signal_handler(getattr(signal, name), leave)
