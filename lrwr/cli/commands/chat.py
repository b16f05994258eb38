"""`lrwr chat`: the writing room, or a line-based chat with `--plain`."""

import gc
import sys
from functools import partial
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
from lrwr.cli.runtime.screens import run_screen
from lrwr.core.model.choices import AnswerMode
from lrwr.core.settings.model import Settings
from lrwr.tui.scope import ChatOptions

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.app import WritingRoom
    from lrwr.tui.service_thread import ServiceThread

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
        run_screen(settings, output, partial(_create_room, options))


def _create_room(
    options: ChatOptions, stage: "ServiceThread[Workspace]", settings: Settings
) -> "WritingRoom":
    from lrwr.tui.app import WritingRoom

    return WritingRoom(stage, settings, options, report_crash)


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
