"""`lrwr chat --plain`: a conversation line by line, for screen readers and pipes."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from lrwr.app.container import open_workspace
from lrwr.app.presenters.answers import LONGEST, describe_answering_model
from lrwr.cli.chat.commands import PLAIN_COMMANDS, PlainChatState
from lrwr.cli.chat.live_answer import LiveAnswer
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.crash_report import report_crash
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.services import (
    ANSWER_SERVICES,
    announce_first_use,
    prompt_for_consent,
    require_passages,
)
from lrwr.core.model.errors import LrwrError, SettingsProblem
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

PROMPT, GOING_ON = "> ", ". "
"""What stands before what is typed on a terminal, and before its further lines."""

LEAVING = "Ctrl-C again, Ctrl-D or /quit ends the conversation."
STOPPED = "Stopped; what was said by then is kept, and marked."


@dataclass(frozen=True, slots=True)
class LineReader:
    """Where lines come from; `terminal` says that somebody types them."""

    terminal: bool

    @classmethod
    def of_stdin(cls) -> "LineReader":
        """Read what is typed, or what is piped in."""
        return cls(sys.stdin.isatty() and sys.stdout.isatty())

    def remember(self, texts: Sequence[str]) -> None:
        """Let Up bring back `texts`, the newest last, where somebody types."""
        if not self.terminal:
            return
        with suppress(ImportError):  # Windows has no readline
            import readline

            # Nothing is sent to the terminal that a screen reader would have to read.
            readline.parse_and_bind("set enable-bracketed-paste off")
            readline.parse_and_bind("set enable-meta-key off")
            for text in texts:
                readline.add_history(" ".join(text.split("\n")))

    def next(self) -> str | None:
        """Return what is typed next, None at the end.

        A backslash at the end of a line goes on with the next.

        Raises:
            KeyboardInterrupt: The writer does not want to go on.
        """
        lines: list[str] = []
        while (line := self._line(going_on=bool(lines))) is not None:
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])
        return "\n".join(lines) if lines else None

    def _line(self, *, going_on: bool) -> str | None:
        if not self.terminal:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        try:
            return input(GOING_ON if going_on else PROMPT)
        except EOFError:
            sys.stdout.write("\n")
            return None


def run_plain_chat(settings: Settings, output: Output, options: ChatOptions) -> None:
    """Answer line after line until there are no more.

    What goes wrong is told, and the conversation goes on.

    Raises:
        NotFound: Nothing was read, or there is no such character, place or thread.
        SettingsProblem: The language model that is set has no key or no name.
    """
    lines = LineReader.of_stdin()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            chat = run_async(_open_chat(settings, output, options, stack), runner.run)
            lines.remember(runner.run(load_past_questions(chat.workspace)))
            PlainChat(chat, lines, partial(run_async, run=runner.run)).run()
        finally:
            runner.run(stack.aclose())


async def _open_chat(
    settings: Settings,
    output: Output,
    options: ChatOptions,
    stack: AsyncExitStack,
) -> PlainChatState:
    """Open the library, ask for leave, and say who answers."""
    workspace = await stack.enter_async_context(
        open_workspace(settings, say=output.story)
    )
    await require_passages(workspace)
    scope = await resolve_chat_scope(workspace, options)
    prompt_for_consent(workspace, output, *ANSWER_SERVICES, as_json=False)
    model = workspace.sessions().model
    announce_first_use(workspace, output, *ANSWER_SERVICES)
    output.story(describe_answering_model(settings, model))
    return PlainChatState(workspace, output, scope, model)


class PlainChat:
    """Reads, answers, and remembers where the writer stands.

    `run` of the loop takes a coroutine to its end; Ctrl-C cancels that alone.
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
        """Go on until the lines end, or the writer does."""
        if self._lines.terminal:
            self._chat.output.story(
                "/help shows what can be done; Ctrl-D or /quit ends the conversation."
            )
        for text in self._read_inputs():
            if not self._run_guarded(self._handle, text):
                return

    def _read_inputs(self) -> Iterator[str]:
        """Yield what is typed, empty lines left out; a second Ctrl-C in a row ends it."""
        while True:
            try:
                text = self._read_input()
            except KeyboardInterrupt:
                self._chat.output.story()
                if self._interrupted or not self._lines.terminal:
                    return
                self._interrupted = True
                self._chat.output.story(LEAVING)
                continue
            if text is None:
                return
            self._interrupted = False
            yield text

    def _read_input(self) -> str | None:
        """Return the next line that is not empty; None where there is none."""
        while (text := self._lines.next()) is not None and not text.strip():
            continue
        return text

    def _run_guarded(self, handle: Callable[[str], bool], text: str) -> bool:
        """Do what a text asks for; tell what goes wrong. Return whether to go on."""
        try:
            return handle(text)
        except KeyboardInterrupt:
            self._interrupted = True
            self._chat.output.answer()
            self._chat.output.story(STOPPED)
        except LrwrError as error:
            self._chat.output.problem(error)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._chat.output.problem(report_crash(error))
        return True

    def _handle(self, text: str) -> bool:
        match parse_prompt_input(text, {*PLAIN_COMMANDS, "quit"}):
            case TypedCommand("quit", ""):
                return False
            case TypedCommand("quit", _):
                raise SettingsProblem(
                    "/quit takes nothing after it",
                    hint="For a question, put a space before the slash.",
                )
            case TypedCommand(name, words):
                self._run_coroutine(PLAIN_COMMANDS[name].does(self._chat, words))
            case UnclearInput(why):
                self._chat.output.story(why)
            case TypedQuestion(question):
                self._ask(question)
        return True

    def _ask(self, question: str) -> None:
        if len(question) > LONGEST:
            raise SettingsProblem(
                f"The question has {len(question):,} characters; {LONGEST:,} can be"
                " read",
                hint="Ask in a few sentences; long texts belong in the manuscript.",
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
        """Go on from what was kept of an answer that was stopped."""
        stopped_turn = await load_stopped_turn(self._chat.workspace, scope, question)
        if stopped_turn is not None:
            self._update_scope(TurnDone(*stopped_turn))

    def _update_scope(self, turn_done: TurnDone) -> None:
        self._chat.turn = turn_done.turn
        title = (
            self._chat.sitting.title or " ".join(turn_done.turn.question.split())[:60]
        )
        self._chat.sitting = replace(
            self._chat.sitting, thread=turn_done.thread, title=title
        )
