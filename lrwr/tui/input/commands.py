"""The room's commands, and how what is typed of one may go on."""

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
    """How what is typed may go on.

    `text` is the prompt with it. `label` and `help` are shown. `whole` says that it can
    be sent so: nothing has to follow.
    """

    text: str
    label: str
    help: str
    whole: bool


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """What can follow commands: people, and places of the story with their titles.

    `mark` changes with the library.
    """

    names: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""


def list_commands() -> dict[str, Action]:
    """Return the room's commands by name."""
    return {action.slash: action for action in ROOM_ACTIONS if action.slash}


def suggest_completions(text: str, known: CompletionContext) -> tuple[Suggestion, ...]:
    """Return how a command may go on; nothing for a question, or a whole command."""
    if not text.startswith("/") or text.startswith("//") or "\n" in text:
        return ()
    name, space, begun = text[1:].partition(" ")
    if not space:
        return _commands_like(name.lower())
    action = list_commands().get(name.lower())
    if action is None:
        return ()
    return tuple(
        Suggestion(f"/{action.slash} {value}", value, told, whole=True)
        for value, told in _values_of(action, known)
        if _fits(begun, value, told)
    )


def is_complete_command(text: str, known: CompletionContext) -> bool:
    """Say whether a text is a command by its whole name, or with a whole value."""
    name, space, words = text.removeprefix("/").casefold().partition(" ")
    action = list_commands().get(name)
    if action is None or not space:
        return action is not None
    return words.strip() in (one.casefold() for one, _ in _values_of(action, known))


def _commands_like(begun: str) -> tuple[Suggestion, ...]:
    """Return the commands that begin so; or else those that hold it."""
    found = list_commands()
    names = [name for name in found if name.startswith(begun)]
    names = names or [name for name in found if begun in name]
    return tuple(
        Suggestion(
            f"/{name} " if found[name].takes else f"/{name}",
            f"/{name} {found[name].takes}".rstrip(),
            found[name].help,
            whole=not found[name].takes,
        )
        for name in names
    )


def _values_of(action: Action, known: CompletionContext) -> Iterator[tuple[str, str]]:
    """Yield what can follow a command, and what to say of each."""
    if action.takes == "[NAME]":
        yield from ((name, "") for name in known.names)
    elif action.takes == "[PLACE]":
        yield from known.places
    elif action.takes == "[MODE]":
        yield from MODES
    elif "|" in action.takes:
        yield from ((value, "") for value in action.takes.strip("[]").split("|"))


def _fits(begun: str, value: str, told: str) -> bool:
    """Say whether `begun` begins a word of a value, and is not the whole of it."""
    begun = begun.strip().casefold()
    whole = f" {value} {told}".casefold()
    return begun != value.casefold() and f" {begun}" in whole
