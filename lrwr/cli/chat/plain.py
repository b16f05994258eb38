"""`lrwr chat --plain`: a chat line by line, for screen readers and pipes."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from lrwr.app.container import open_workspace
from lrwr.app.presenters.answers import describe_answering_model
from lrwr.app.presenters.text import LONGEST
from lrwr.cli.chat.commands import PLAIN_COMMANDS
from lrwr.cli.chat.live_answer import LiveAnswer
from lrwr.cli.chat.state import PlainChatState
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.failures import report_crash
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import (
    ANSWER_SERVICES,
    announce_first_use,
    prompt_for_consent,
    require_passages,
)
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.model.text import build_title
from lrwr.core.model.turns import TurnDone
from lrwr.core.settings.model import Settings
from lrwr.tui.input.prompt import (
    TypedCommand,
    TypedQuestion,
    UnclearInput,
    load_past_questions,
    parse_prompt_input,
)
from lrwr.tui.queries.threads import (
    load_stopped_turn,
    resolve_chat_scope,
    stream_answer,
)
from lrwr.tui.scope import ChatOptions, ChatScope

ResultT = TypeVar("ResultT")

PROMPT, CONTINUATION_PROMPT = "> ", ". "

LEAVING = "Press Ctrl-C again or Ctrl-D, or type /quit, to leave the chat."
STOPPED = "Stopped. The answer so far is saved and marked as stopped."


@dataclass(frozen=True, slots=True)
class LineReader:
    """Reads what the user enters, line by line.

    `terminal` is true if lines are typed at a terminal, not piped.
    """

    terminal: bool

    @classmethod
    def of_stdin(cls) -> "LineReader":
        """Return a reader of standard input.

        `terminal` is true if both stdin and stdout are a terminal.
        """
        return cls(sys.stdin.isatty() and sys.stdout.isatty())

    def add_history(self, texts: Sequence[str]) -> None:
        """Add `texts`, oldest first, to the history that the Up key recalls.

        Does nothing if input is piped, or on Windows.
        """
        if not self.terminal:
            return
        with suppress(ImportError):  # Windows has no readline
            import readline

            # Screen readers would read out the escape sequences of these two features.
            readline.parse_and_bind("set enable-bracketed-paste off")
            readline.parse_and_bind("set enable-meta-key off")
            for text in texts:
                readline.add_history(" ".join(text.split("\n")))

    def next(self) -> str | None:
        """Return what the user enters next; None at the end of the input.

        A backslash at the end of a line continues the input on the next line; the
        result then contains a line end instead of the backslash.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        lines: list[str] = []
        while (line := self._read_line(is_continuation=bool(lines))) is not None:
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])
        return "\n".join(lines) if lines else None

    def _read_line(self, *, is_continuation: bool) -> str | None:
        if not self.terminal:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        try:
            return input(CONTINUATION_PROMPT if is_continuation else PROMPT)
        except EOFError:
            sys.stdout.write("\n")
            return None


def run_plain_chat(settings: Settings, output: Output, options: ChatOptions) -> None:
    """Run a line-based chat until the input ends; each line is a question or a command.

    Errors of a single question are printed, and the chat continues. `options` select
    the character, horizon and thread to begin with.

    Raises:
        NotFound: Nothing is ingested, or there is no such character, horizon or thread.
        SettingsProblem: The configured language model has no key or no name.
    """
    lines = LineReader.of_stdin()
    with asyncio.Runner(debug=False) as runner:
        stack = AsyncExitStack()
        try:
            chat = run_async(_open_chat(settings, output, options, stack), runner.run)
            lines.add_history(runner.run(load_past_questions(chat.workspace)))
            PlainChat(chat, lines, partial(run_async, run=runner.run)).run()
        finally:
            runner.run(stack.aclose())


async def _open_chat(
    settings: Settings,
    output: Output,
    options: ChatOptions,
    stack: AsyncExitStack,
) -> PlainChatState:
    workspace = await stack.enter_async_context(
        open_workspace(settings, say=output.info)
    )
    await require_passages(workspace)
    scope = await resolve_chat_scope(workspace, options)
    prompt_for_consent(workspace, output, *ANSWER_SERVICES, as_json=False)
    model = workspace.sessions().model
    announce_first_use(workspace, output, *ANSWER_SERVICES)
    print_model = output.info if model else output.notice
    print_model(describe_answering_model(settings, model))
    return PlainChatState(workspace, output, scope, model)


class PlainChat:
    """The loop of a line-based chat: reads input, runs slash commands, prints answers.

    `run_coroutine` runs one coroutine to completion; Ctrl-C cancels only that one.
    """

    def __init__(
        self,
        chat: PlainChatState,
        lines: LineReader,
        run_coroutine: Callable[[Coroutine[Any, Any, ResultT]], ResultT],
    ) -> None:
        self._chat = chat
        self._lines = lines
        self._run_coroutine: Callable[[Coroutine[Any, Any, Any]], Any] = run_coroutine
        self._interrupted = False

    def run(self) -> None:
        """Read and answer questions until the input ends or the user quits."""
        if self._lines.terminal:
            self._chat.output.info(
                "Type /help for the commands; press Ctrl-D or type /quit to leave."
            )
        for text in self._read_inputs():
            if not self._run_guarded(self._handle, text):
                return

    def _read_inputs(self) -> Iterator[str]:
        """Yield non-empty inputs; a second Ctrl-C in a row ends the chat."""
        while True:
            try:
                text = self._read_input()
            except KeyboardInterrupt:
                self._chat.output.info()
                if self._interrupted or not self._lines.terminal:
                    return
                self._interrupted = True
                self._chat.output.info(LEAVING)
                continue
            if text is None:
                return
            self._interrupted = False
            yield text

    def _read_input(self) -> str | None:
        while (text := self._lines.next()) is not None and not text.strip():
            continue
        return text

    def _run_guarded(self, handle: Callable[[str], bool], text: str) -> bool:
        """Handle one input and print its errors; return whether the chat continues."""
        try:
            return handle(text)
        except KeyboardInterrupt:
            self._interrupted = True
            self._chat.output.answer()
            self._chat.output.info(STOPPED)
        except LrwrError as error:
            self._chat.output.error(error)
        except Exception as error:  # noqa: BLE001 - users get a message, not a traceback
            self._chat.output.error(report_crash(error))
        return True

    def _handle(self, text: str) -> bool:
        match parse_prompt_input(text, {*PLAIN_COMMANDS, "quit"}):
            case TypedCommand("quit", ""):
                return False
            case TypedCommand("quit", _):
                raise SettingsProblem(
                    "/quit takes no argument",
                    hint="To ask a question that begins with a slash, put a space before it.",
                )
            case TypedCommand(name, words):
                self._run_coroutine(PLAIN_COMMANDS[name].handler(self._chat, words))
            case UnclearInput(why):
                self._chat.output.info(why)
            case TypedQuestion(question):
                self._ask(question)
        return True

    def _ask(self, question: str) -> None:
        if len(question) > LONGEST:
            raise SettingsProblem(
                f"The question has {len(question):,} characters; the limit is"
                f" {LONGEST:,}",
                hint="Shorten the question. To ask about a long text, save it as a file in the"
                " manuscript and run `lrwr ingest`.",
            )
        scope = self._chat.sitting
        try:
            turn_done = self._run_coroutine(self._answer(scope, question))
        except KeyboardInterrupt:
            self._run_coroutine(self._resume(scope, question))
            raise
        self._update_scope(turn_done)

    async def _answer(self, scope: ChatScope, question: str) -> TurnDone:
        live = LiveAnswer(self._chat.output, quiet=False)
        turn_done = await live.watch(
            stream_answer(self._chat.workspace, scope, question), ""
        )
        live.end(turn_done.turn)
        self._chat.output.answer()
        return turn_done

    async def _resume(self, scope: ChatScope, question: str) -> None:
        """Continue the thread with the saved part of the stopped answer."""
        stopped_turn = await load_stopped_turn(self._chat.workspace, scope, question)
        if stopped_turn is not None:
            self._update_scope(TurnDone(*stopped_turn))

    def _update_scope(self, turn_done: TurnDone) -> None:
        self._chat.turn = turn_done.turn
        title = self._chat.sitting.title or build_title(turn_done.turn.question)
        self._chat.sitting = replace(
            self._chat.sitting, thread=turn_done.thread, title=title
        )
