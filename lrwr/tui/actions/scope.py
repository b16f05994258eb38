"""Choosing whom one talks with, and where in the story one stands."""

from dataclasses import replace
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.turns import AnswerMode
from lrwr.tui.queries.story import move_chat_scope, resolve_character_name

if TYPE_CHECKING:
    from lrwr.tui.actions.registry import ActionHandler
    from lrwr.tui.screens.chat import ChatScreen

_MODES = {
    "analytical": AnswerMode.ANALYTICAL,
    "analyst": AnswerMode.ANALYTICAL,
    "in_character": AnswerMode.IN_CHARACTER,
    "in character": AnswerMode.IN_CHARACTER,
}
_EVERYTHING = frozenset({"the whole story", "whole", "all", "everything", "end"})


def _in_turn(deed: "ActionHandler") -> "ActionHandler":
    """Have a deed wait for the one before it: each goes by what that one chose."""

    @wraps(deed)
    async def taken(screen: "ChatScreen", words: str) -> None:
        async with screen.choosing:
            await deed(screen, words)

    return taken


@_in_turn
async def choose_character(screen: "ChatScreen", words: str) -> None:
    """Choose a character: the one that is named, or one of the list.

    Raises:
        NotFound: Nobody is called so as far as the story has come.
    """
    from lrwr.tui.screens.characters import NOBODY

    wanted = words.strip()
    if not wanted:
        await _pick(screen, "Whom do you ask about?")
    elif wanted.casefold() == NOBODY:
        _take(screen, "")
    else:
        as_of = screen.sitting.as_of
        name = await screen.room.stage.do(
            lambda workspace: resolve_character_name(workspace, wanted, as_of)
        )
        _take(screen, name)


@_in_turn
async def choose_horizon(screen: "ChatScreen", words: str) -> None:
    """Choose how far the story has come.

    Raises:
        NotFound: There is no such place.
    """
    from lrwr.tui.screens.horizon import HorizonScreen

    wanted: str | None = words.strip()
    if not wanted:
        wanted = await screen.app.push_screen_wait(HorizonScreen(screen))
    elif wanted.casefold() in _EVERYTHING:
        wanted = ""
    if wanted is None:
        return
    before, as_of = screen.sitting, wanted
    after = await screen.room.stage.do(
        lambda workspace: move_chat_scope(workspace, before, as_of)
    )
    now = screen.sitting  # a conversation may have begun meanwhile
    screen.sitting = replace(after, thread=now.thread, title=now.title)
    if before.character and not after.character:
        _say(screen, _let_go(before.character, as_of))


@_in_turn
async def switch_mode(screen: "ChatScreen", words: str) -> None:
    """Have the analyst answer, or the character; unsaid, whoever does not now.

    Raises:
        SettingsProblem: There is no such mode.
    """
    wanted = _mode_called(words) if words.strip() else _other(screen.sitting.mode)
    alone = wanted is AnswerMode.IN_CHARACTER and not screen.sitting.character
    if not alone or await _pick(screen, "Who is to answer?"):
        screen.sitting = replace(screen.sitting, mode=wanted)


@_in_turn
async def toggle_witnessed(screen: "ChatScreen", words: str) -> None:
    """Use only what the character was there for, or everything again."""
    del words
    wanted = not screen.sitting.witnessed
    alone = wanted and not screen.sitting.character
    if not alone or await _pick(screen, "Who was there?"):
        screen.sitting = replace(screen.sitting, witnessed=wanted)


async def _pick(screen: "ChatScreen", title: str) -> bool:
    """Have a character picked; return whether somebody is chosen then."""
    from lrwr.tui.screens.characters import CharactersScreen

    chosen = await screen.app.push_screen_wait(CharactersScreen(screen, title))
    if chosen is None:
        return False
    _take(screen, chosen.name)
    if chosen.talk:
        screen.sitting = replace(screen.sitting, mode=AnswerMode.IN_CHARACTER)
    return bool(chosen.name)


def _take(screen: "ChatScreen", name: str) -> None:
    """Choose a character; with nobody, the analyst answers, from everything."""
    sitting = replace(screen.sitting, character=name)
    if not name:
        sitting = replace(sitting, mode=AnswerMode.ANALYTICAL, witnessed=False)
    screen.sitting = sitting


def _mode_called(words: str) -> AnswerMode:
    wanted = words.strip().casefold().replace("-", "_")
    if wanted in _MODES:
        return _MODES[wanted]
    near = get_close_matches(wanted, _MODES, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    raise SettingsProblem(
        f"There is no mode “{words.strip()}”",
        hint=f"{offer}Choose from: analytical, in_character.",
    )


def _other(now: AnswerMode) -> AnswerMode:
    return (
        AnswerMode.ANALYTICAL
        if now is AnswerMode.IN_CHARACTER
        else AnswerMode.IN_CHARACTER
    )


def _let_go(name: str, as_of: str) -> str:
    if as_of:
        return f"{name} is not known yet as of {as_of}, and no longer chosen."
    return f"{name} may be several people now: choose again."


def _say(screen: "ChatScreen", text: str) -> None:
    screen.notify(sanitize_text(text), markup=False)
