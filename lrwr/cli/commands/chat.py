"""`lrwr chat`: the writing room, or a line-based chat with `--plain`."""

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.cli.runtime.failures import report_crash
from lrwr.cli.runtime.options import (
    AskCharacterOption,
    AskThreadNameOption,
    AsOfOption,
    ModeNameOption,
    parse_optional_choice,
)
from lrwr.cli.runtime.output import Output, is_terminal, start_session
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import LrwrError
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
    bool, typer.Option("--watch", help="Process each save while you write.")
]
PlainOption = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Chat line by line, without a full screen: for screen readers and pipes.",
    ),
]


app = typer.Typer()


@app.command("chat", epilog=EPILOG)
def chat_command(
    context: typer.Context,
    character: AskCharacterOption = None,
    mode: ModeNameOption = None,
    as_of: AsOfOption = None,
    thread: AskThreadNameOption = None,
    watch: WatchOption = False,
    plain: PlainOption = False,
) -> None:
    """Open the chat: ask questions, read answers, and open the passages they cite."""
    gc.disable()  # faster start: what is imported for the first frame stays anyway

    settings, output = start_session(context)
    options = ChatOptions(
        character=character or "",
        as_of=as_of or "",
        mode=parse_optional_choice(AnswerMode, mode, "--mode"),
        thread=thread or "",
        watch=watch,
    )
    if plain or _is_piped(output):
        gc.enable()
        _run_plain(settings, output, options)
    else:
        messages: list[str] = []
        failures = asyncio.run(_chat(settings, options, messages.append), debug=False)
        for sentence in dict.fromkeys(messages):
            output.info(sentence)
        _warn_of_failures(output, failures)


def _is_piped(output: Output) -> bool:
    if is_terminal(sys.stdin) and output.interactive:
        return False
    output.info("The full-screen chat needs a terminal: using `--plain` instead.")
    return True


def _run_plain(settings: Settings, output: Output, options: ChatOptions) -> None:
    from lrwr.cli.chat.plain import run_plain_chat

    if options.watch:
        output.warn(
            "`--watch` needs the full-screen chat. Run `lrwr watch` in another terminal."
        )
    run_plain_chat(settings, output, options)


async def _chat(
    settings: Settings, options: ChatOptions, say: Callable[[str], None]
) -> Sequence[CloseFailure]:
    """Run the writing room; return what could not be saved when it closed."""
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
                reason = "it took too long and was cancelled"
            case LrwrError() as error:
                reason = error.full_text
            case error:
                reason = str(report_crash(error))
        output.warn(f"{failure.what} could not be saved: {reason}")


def _exit_on_signals(leave: Callable[[], None]) -> None:
    """Close the room in order, saving its state, when the terminal is closed."""
    loop = asyncio.get_running_loop()
    for name in ("SIGHUP", "SIGTERM"):
        with suppress(AttributeError, NotImplementedError):  # Windows has neither
            loop.add_signal_handler(getattr(signal, name), leave)
