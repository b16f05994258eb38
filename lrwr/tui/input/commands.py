"""Prompt commands and their completions."""

from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.turns import AnswerMode
from lrwr.tui.actions.table import ROOM_ACTIONS, Action

MODES = (
    (AnswerMode.ANALYTICAL.value, "the analyst answers"),
    (AnswerMode.IN_CHARACTER.value, "the character answers"),
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to complete what is typed.

    `text` is the completed prompt. `label` and `help` are shown. `is_complete` says
    that it can be sent as it is: no argument has to follow.
    """

    text: str
    label: str
    help: str
    is_complete: bool


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """Values of command arguments: names, and places of the story with their titles.

    `mark` changes with the library.
    """

    names: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""


def list_commands() -> dict[str, Action]:
    """Return the room's commands by name."""
    return {action.slash: action for action in ROOM_ACTIONS if action.slash}


def suggest_completions(
    text: str, context: CompletionContext
) -> tuple[Suggestion, ...]:
    """Return the completions of a command; none for a question."""
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
    """Return whether `text` is a command's full name, or ends with a full value."""
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
    elif action.argument == "[PLACE]":
        yield from context.places
    elif action.argument == "[MODE]":
        yield from MODES
    elif "|" in action.argument:
        yield from ((value, "") for value in action.argument.strip("[]").split("|"))


def _matches(typed: str, value: str, help_text: str) -> bool:
    """Return whether `typed` starts a word of a value, and is not the whole value."""
    typed = typed.strip().casefold()
    text = f" {value} {help_text}".casefold()
    return typed != value.casefold() and f" {typed}" in text
