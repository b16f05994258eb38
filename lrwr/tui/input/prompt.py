"""Prompt input: parsing of commands, completion, and the history of questions."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from lrwr.core.model.turns import AnswerMode
from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS, Action

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MODES = (
    (AnswerMode.ANALYTICAL.value, "the analyst answers"),
    (AnswerMode.IN_CHARACTER.value, "the character answers"),
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One completion of the prompt input.

    `text` replaces the input. `label` and `help` are shown. `is_complete` means that
    `text` can be sent without a further argument.
    """

    text: str
    label: str
    help: str
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """Values of command arguments: character names, and horizons with chapter titles.

    `mark` identifies the state of library and canon that the values were loaded from.
    """

    names: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""


def list_commands() -> dict[str, Action]:
    """Return the prompt commands by name, without the slash."""
    return {action.slash: action for action in ROOM_ACTIONS if action.slash}


def suggest_completions(
    text: str, context: CompletionContext
) -> tuple[Suggestion, ...]:
    """Return the completions of a partly typed command; empty for a question."""
    if not text.startswith("/") or text.startswith("//") or "\n" in text:
        return ()
    name, space, typed = text[1:].partition(" ")
    if not space:
        return _suggest_commands(name.lower())
    action = list_commands().get(name.lower())
    if action is None:
        return ()
    return tuple(
        Suggestion(f"/{action.slash} {value}", value, help_text, is_complete=True)
        for value, help_text in _values_of(action, context)
        if _matches(typed, value, help_text)
    )


def is_complete_command(text: str, context: CompletionContext) -> bool:
    """Return whether `text` is a full command name, or ends with a known argument."""
    name, space, words = text.removeprefix("/").casefold().partition(" ")
    action = list_commands().get(name)
    if action is None or not space:
        return action is not None
    return words.strip() in (
        value.casefold() for value, _ in _values_of(action, context)
    )


def _suggest_commands(typed: str) -> tuple[Suggestion, ...]:
    """Return the commands that start with `typed`, or else those that contain it."""
    commands = list_commands()
    names = [name for name in commands if name.startswith(typed)]
    names = names or [name for name in commands if typed in name]
    return tuple(
        Suggestion(
            f"/{name} " if commands[name].argument else f"/{name}",
            f"/{name} {commands[name].argument}".rstrip(),
            commands[name].help,
            is_complete=not commands[name].argument,
        )
        for name in names
    )


def _values_of(action: Action, context: CompletionContext) -> Iterator[tuple[str, str]]:
    """Yield the values of a command's argument, each with a help text."""
    if action.argument == "[NAME]":
        yield from ((name, "") for name in context.names)
    elif action.argument == "[CHAPTER]":
        yield from context.places
    elif action.argument == "[MODE]":
        yield from MODES
    elif "|" in action.argument:
        yield from ((value, "") for value in action.argument.strip("[]").split("|"))


def _matches(typed: str, value: str, help_text: str) -> bool:
    """Return whether `typed` starts a word of the value or help, but is not the value."""
    typed = typed.strip().casefold()
    text = f" {value} {help_text}".casefold()
    return typed != value.casefold() and f" {typed}" in text


SLASH_HINT = "To start a question with a slash, put a space before it."


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question, without surrounding whitespace."""

    text: str


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command name and its argument."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class UnclearInput:
    """Input that is neither a question nor a known command; `why` is a hint to show."""

    why: str


PromptInput: TypeAlias = TypedQuestion | TypedCommand | UnclearInput


def parse_prompt_input(text: str, names: Collection[str]) -> PromptInput:
    """Classify prompt input as a question, one of the commands `names`, or neither.

    Input that starts with two slashes, or with a space and a slash, is a question.
    """
    if not text.startswith("/"):
        return TypedQuestion(text.strip())
    if text.startswith("//"):
        return TypedQuestion(text[1:].strip())
    first, *rest = text[1:].split(maxsplit=1) or [""]
    name = first.lower() if text[1:2].strip() else ""
    if name in names:
        return TypedCommand(name, rest[0].strip() if rest else "")
    if not name:
        return UnclearInput(
            f"Type a command after the slash; /help lists them. {SLASH_HINT}"
        )
    near = get_close_matches(name, names, n=1)
    offer = f"Did you mean /{near[0]}?" if near else SLASH_HINT
    return UnclearInput(f"There is no command /{first[:40]}. {offer}")


def escape_question(question: str) -> str:
    """Return a question as the user must type it: with a space before a leading slash."""
    return f" {question}" if question.startswith("/") else question


MAX_PAST_QUESTIONS = 200
"""Maximum number of questions loaded from earlier threads."""


class PromptHistory:
    """Moves through earlier questions, newest first, and back to the draft.

    The draft is the prompt's text when the user starts to move. Editing a recalled
    question does not change the history; the edited text becomes the draft if the
    draft is empty.
    """

    def __init__(self) -> None:
        self._questions: list[str] = []
        self._steps_back = 0
        self._draft = ""

    @property
    def shown(self) -> str | None:
        """The question recalled last; None at the draft."""
        return self._questions[-self._steps_back] if self._steps_back else None

    def load(self, questions: Sequence[str]) -> None:
        """Insert `questions`, oldest first, before the questions of this session."""
        self._questions = _without_repeats([*questions, *self._questions])
        self._steps_back = 0

    def add(self, text: str) -> None:
        """Append a question that was sent, and reset position and draft."""
        self._questions = _without_repeats([*self._questions, text])
        self._steps_back, self._draft = 0, ""

    def older(self, text: str) -> str | None:
        """Return the previous question; None if there is none.

        `text` is the prompt's text.
        """
        if self._steps_back == len(self._questions):
            return None
        self._save_draft(text)
        self._steps_back += 1
        return self.shown

    def newer(self, text: str) -> str | None:
        """Return the next question or the draft; None at the draft."""
        if not self._steps_back:
            return None
        self._save_draft(text)
        self._steps_back -= 1
        return self._draft if self.shown is None else self.shown

    def _save_draft(self, text: str) -> None:
        changed = text != self.shown
        if not self._steps_back or (changed and not self._draft.strip()):
            self._draft = text


def _without_repeats(texts: Sequence[str]) -> list[str]:
    """Return each text once, at its last position."""
    return list(reversed(dict.fromkeys(reversed(texts))))


async def load_past_questions(workspace: "Workspace") -> tuple[str, ...]:
    """Return the newest questions of all threads, oldest first, as they must be typed.

    Returns at most `MAX_PAST_QUESTIONS`.
    """
    if not workspace.is_ingested:
        return ()
    timed_questions: list[tuple[float, str]] = []
    for thread in await workspace.threads.threads():
        turns = await workspace.threads.turns(thread.id, last=MAX_PAST_QUESTIONS)
        timed_questions += [(turn.asked_at, turn.question) for turn in turns]
        if len(timed_questions) >= MAX_PAST_QUESTIONS:
            break
    return tuple(
        escape_question(text)
        for _, text in sorted(timed_questions)[-MAX_PAST_QUESTIONS:]
    )
