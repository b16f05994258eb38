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
from lrwr.tui.input.history import load_past_questions
from lrwr.tui.input.parser import (
    TypedCommand,
    TypedQuestion,
    UnclearInput,
    parse_prompt_input,
)
from lrwr.tui.queries.turns import load_stopped_turn, resolve_chat_scope, stream_answer
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


def run_plain_chat(settings: Settings, output: Output, opening: ChatOptions) -> None:
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
            talk = run_async(_begun(settings, output, opening, stack), runner.run)
            lines.remember(runner.run(load_past_questions(talk.workspace)))
            PlainChat(talk, lines, partial(run_async, run=runner.run)).run()
        finally:
            runner.run(stack.aclose())


async def _begun(
    settings: Settings,
    output: Output,
    opening: ChatOptions,
    stack: AsyncExitStack,
) -> PlainChatState:
    """Open the library, ask for leave, and say who answers."""
    workspace = await stack.enter_async_context(
        open_workspace(settings, say=output.story)
    )
    await require_passages(workspace)
    sitting = await resolve_chat_scope(workspace, opening)
    prompt_for_consent(workspace, output, *ANSWER_SERVICES, as_json=False)
    model = workspace.sessions().model
    announce_first_use(workspace, output, *ANSWER_SERVICES)
    output.story(describe_answering_model(settings, model))
    return PlainChatState(workspace, output, sitting, model)


class PlainChat:
    """Reads, answers, and remembers where the writer stands.

    `run` of the loop takes a coroutine to its end; Ctrl-C cancels that alone.
    """

    def __init__(
        self,
        talk: PlainChatState,
        lines: LineReader,
        do: Callable[[Coroutine[Any, Any, ResultT]], ResultT],
    ) -> None:
        self._talk = talk
        self._lines = lines
        self._do: Callable[[Coroutine[Any, Any, Any]], Any] = do
        self._interrupted = False

    def run(self) -> None:
        """Go on until the lines end, or the writer does."""
        if self._lines.terminal:
            self._talk.output.story(
                "/help shows what can be done; Ctrl-D or /quit ends the conversation."
            )
        for text in self._texts():
            if not self._told(self._handle, text):
                return

    def _texts(self) -> Iterator[str]:
        """Yield what is typed, empty lines left out; a second Ctrl-C in a row ends it."""
        while True:
            try:
                text = self._next()
            except KeyboardInterrupt:
                self._talk.output.story()
                if self._interrupted or not self._lines.terminal:
                    return
                self._interrupted = True
                self._talk.output.story(LEAVING)
                continue
            if text is None:
                return
            self._interrupted = False
            yield text

    def _next(self) -> str | None:
        """Return the next line that is not empty; None where there is none."""
        while (text := self._lines.next()) is not None and not text.strip():
            continue
        return text

    def _told(self, handle: Callable[[str], bool], text: str) -> bool:
        """Do what a text asks for; tell what goes wrong. Return whether to go on."""
        try:
            return handle(text)
        except KeyboardInterrupt:
            self._interrupted = True
            self._talk.output.answer()
            self._talk.output.story(STOPPED)
        except LrwrError as error:
            self._talk.output.problem(error)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._talk.output.problem(report_crash(error))
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
                self._do(PLAIN_COMMANDS[name].does(self._talk, words))
            case UnclearInput(why):
                self._talk.output.story(why)
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
        sitting = self._talk.sitting
        try:
            done = self._do(self._answer(sitting, question))
        except KeyboardInterrupt:
            self._do(self._take_up(sitting, question))
            raise
        self._went_on(done)

    async def _answer(self, sitting: ChatScope, question: str) -> TurnDone:
        live = LiveAnswer(self._talk.output, quiet=False)
        done = await live.watch(
            stream_answer(self._talk.workspace, sitting, question), ""
        )
        live.end(done.turn)
        self._talk.output.answer()
        return done

    async def _take_up(self, sitting: ChatScope, question: str) -> None:
        """Go on from what was kept of an answer that was stopped."""
        stopped_turn = await load_stopped_turn(self._talk.workspace, sitting, question)
        if stopped_turn is not None:
            self._went_on(TurnDone(*stopped_turn))

    def _went_on(self, turn_done: TurnDone) -> None:
        self._talk.turn = turn_done.turn
        title = (
            self._talk.sitting.title or " ".join(turn_done.turn.question.split())[:60]
        )
        self._talk.sitting = replace(
            self._talk.sitting, thread=turn_done.thread, title=title
        )
