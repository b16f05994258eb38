"""Prompt input: parses commands, completes them, and recalls earlier questions."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from lrwr.core.model.choices import AnswerMode
from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS, Action

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MODES = (
    (AnswerMode.ANALYTICAL.value, "the analyst answers"),
    (AnswerMode.IN_CHARACTER.value, "the character answers"),
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One completion of what the user typed in the prompt.

    `text` replaces the whole input. `label` and `help` are shown in the list.
    `is_complete` means that `text` is sent at once when it is accepted; otherwise an
    argument has to be typed.
    """

    text: str
    label: str
    help: str
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """The values that command arguments can have; all empty without a library.

    `names` are the main names of characters; `places` are pairs of a horizon, such as
    "ch3", and the chapter's title, in story order. `mark` identifies the library, canon
    and horizon that the values were loaded for: if it is equal, they need no reloading.
    """

    names: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""


def list_commands() -> dict[str, Action]:
    """Return the actions with a prompt command, keyed by it without its slash."""
    return {action.slash: action for action in ROOM_ACTIONS if action.slash}


def suggest_completions(
    text: str, context: CompletionContext
) -> tuple[Suggestion, ...]:
    """Return the completions of `text`, a typed command, in the order of display.

    They are commands, or arguments if a space follows the command. Empty if `text` is a
    question, if the command does not exist, or if nothing matches.
    """
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
    """Return whether `text` is a command that needs no completion, ignoring case.

    True for a command's name alone, even if an argument may follow, and for a name with
    one of the arguments in `context`.
    """
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


_EARLIER_NAMES = {"people": "characters"}
"""Commands by earlier names, which still work."""

_SHELL_DECISIONS = frozenset({"merge", "split", "ignore"})
"""Decisions on names that are commands of the shell only."""


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """Prompt input that is a question: `text`, without surrounding whitespace.

    It is empty if the input is.
    """

    text: str


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """Prompt input that is a command: its `name` in lower case without slash.

    `words` is the argument, empty if there is none.
    """

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class UnclearInput:
    """Prompt input that starts with a slash and names no known command.

    `why` is the message to show, with a suggestion.
    """

    why: str


PromptInput: TypeAlias = TypedQuestion | TypedCommand | UnclearInput


def parse_prompt_input(text: str, names: Collection[str]) -> PromptInput:
    """Return prompt input as a question, a command, or unclear input with a message.

    `names` are the known commands without slash. A command starts with a slash; its
    name is compared ignoring case. Input that starts with two slashes, or with a space
    and a slash, is a question.
    """
    if not text.startswith("/"):
        return TypedQuestion(text.strip())
    if text.startswith("//"):
        return TypedQuestion(text[1:].strip())
    first, *rest = text[1:].split(maxsplit=1) or [""]
    name = first.lower() if text[1:2].strip() else ""
    name = _EARLIER_NAMES.get(name, name)
    if name in names:
        return TypedCommand(name, rest[0].strip() if rest else "")
    if not name:
        return UnclearInput(
            f"Type a command after the slash; /help lists them. {SLASH_HINT}"
        )
    near = get_close_matches(name, names, n=1)
    offer = f"Did you mean /{near[0]}?" if near else SLASH_HINT
    if name in _SHELL_DECISIONS:
        offer = f"/review lists names to decide on; in a shell, `lrwr canon {name}`."
    return UnclearInput(f"There is no command /{first[:40]}. {offer}")


def escape_question(question: str) -> str:
    """Return a question as the user has to type it.

    A space is put before a leading slash, which would start a command.
    """
    return f" {question}" if question.startswith("/") else question


MAX_PAST_QUESTIONS = 200
"""Maximum number of questions loaded from earlier threads."""


class PromptHistory:
    """Recalls earlier questions and commands in the prompt.

    Going back shows them newest first; going forward ends with the draft, the prompt's
    text when the user started to recall. Editing a recalled text does not change the
    history; the edited text becomes the draft if the draft is blank.
    """

    def __init__(self) -> None:
        self._questions: list[str] = []
        self._steps_back = 0
        self._draft = ""

    @property
    def shown(self) -> str | None:
        """The text recalled last; None while the user is not recalling."""
        return self._questions[-self._steps_back] if self._steps_back else None

    def load(self, questions: Sequence[str]) -> None:
        """Insert `questions` of earlier sessions, oldest first, before this session's.

        Of equal texts only the last is listed. Recalling starts again at the newest.
        """
        self._questions = _without_repeats([*questions, *self._questions])
        self._steps_back = 0

    def add(self, text: str) -> None:
        """Append `text`, a question or command that was sent, and clear the draft.

        An equal earlier text is removed.
        """
        self._questions = _without_repeats([*self._questions, text])
        self._steps_back, self._draft = 0, ""

    def older(self, text: str) -> str | None:
        """Step back and return the next older text; None if there is none.

        `text` is the present text of the prompt, which may become the draft.
        """
        if self._steps_back == len(self._questions):
            return None
        self._save_draft(text)
        self._steps_back += 1
        return self.shown

    def newer(self, text: str) -> str | None:
        """Step forward and return the next newer text, after the newest one the draft.

        None if the user is not recalling. `text` is the present text of the prompt,
        which may become the draft.
        """
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
    """Return the newest questions of recently used threads, oldest first.

    A question that starts with a slash has a space before it, as it must be typed. At
    most the newest `MAX_PAST_QUESTIONS`, with repetitions; none if no manuscript was
    ingested.
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
