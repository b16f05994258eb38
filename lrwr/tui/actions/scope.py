"""Actions that change the chat's scope: character, horizon, mode, witnessed filter.

The witnessed filter restricts answers to passages in which the character is present.
"""

from dataclasses import replace
from difflib import get_close_matches
from functools import wraps

from lrwr.app.presenters.text import format_horizon, sanitize_text
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.errors import SettingsProblem
from lrwr.tui.queries.story import move_chat_scope, resolve_character_name
from lrwr.tui.room import ActionHandler, RoomScreen
from lrwr.tui.screens.scope import EVERYONE, CharactersScreen, HorizonScreen

_MODES = {
    "analytical": AnswerMode.ANALYTICAL,
    "analyst": AnswerMode.ANALYTICAL,
    "in_character": AnswerMode.IN_CHARACTER,
    "in character": AnswerMode.IN_CHARACTER,
}
_EVERYONE_WORDS = frozenset({EVERYONE, "everyone", "nobody", "none"})
_WHOLE_STORY_WORDS = frozenset({"the whole story", "whole", "all", "everything", "end"})


def _one_at_a_time(handler: ActionHandler) -> ActionHandler:
    """Run calls of a handler one after another, because each builds on the scope before."""

    @wraps(handler)
    async def run(screen: RoomScreen, words: str) -> None:
        async with screen.scope_lock:
            await handler(screen, words)

    return run


@_one_at_a_time
async def choose_character(screen: RoomScreen, words: str) -> None:
    """Select the character for the next questions; `words` is a name or an alias.

    "everyone" or "nobody" removes the selection. If `words` is empty, show a list to
    choose from; nothing changes if the user cancels it.

    Raises:
        NotFound: No character up to the current horizon has this name, or several have.
    """
    query = words.strip()
    if not query:
        await _pick_character(screen)
    elif query.casefold() in _EVERYONE_WORDS:
        _set_character(screen, "")
    else:
        as_of = screen.scope.as_of
        name = await screen.room.service_thread.run(
            lambda workspace: resolve_character_name(workspace, query, as_of)
        )
        _set_character(screen, name)


@_one_at_a_time
async def choose_horizon(screen: RoomScreen, words: str) -> None:
    """Use the story only up to `words`, such as `ch3`; if empty, show a list to choose.

    A character who does not appear up to the new horizon is deselected.

    Raises:
        NotFound: The story has no such chapter or scene.
    """
    place: str | None = words.strip()
    if not place:
        place = await screen.app.push_screen_wait(HorizonScreen(screen))
    elif place.casefold() in _WHOLE_STORY_WORDS:
        place = ""
    if place is None:
        return
    before, as_of = screen.scope, place
    after = await screen.room.service_thread.run(
        lambda workspace: move_chat_scope(workspace, before, as_of)
    )
    now = screen.scope  # a new thread may have started meanwhile
    screen.scope = replace(after, thread=now.thread, title=now.title)
    if before.character and not after.character:
        message = _explain_lost_character(before.character, as_of)
        screen.notify(sanitize_text(message), markup=False)


@_one_at_a_time
async def switch_mode(screen: RoomScreen, words: str) -> None:
    """Let the analyst or the selected character answer.

    `words` is the mode: `analytical` for the analyst, `in_character` for the character.
    If it is empty, switch to the other mode. If a character is to answer and none is
    selected, show a list to choose one; nothing changes if the user cancels it.

    Raises:
        SettingsProblem: The mode does not exist.
    """
    mode = _parse_mode(words) if words.strip() else _other_mode(screen.scope.mode)
    needs_character = mode is AnswerMode.IN_CHARACTER and not screen.scope.character
    if not needs_character or await _pick_character(screen):
        screen.scope = replace(screen.scope, mode=mode)


@_one_at_a_time
async def toggle_witnessed(screen: RoomScreen, words: str) -> None:
    """Turn the witnessed filter on or off; `words` is ignored.

    If it is turned on and no character is selected, show a list to choose one; nothing
    changes if the user cancels it.
    """
    del words
    witnessed = not screen.scope.witnessed
    needs_character = witnessed and not screen.scope.character
    if not needs_character or await _pick_character(screen):
        screen.scope = replace(screen.scope, witnessed=witnessed)


async def _pick_character(screen: RoomScreen) -> bool:
    """Show the list of characters; return whether a character is chosen."""
    choice = await screen.app.push_screen_wait(CharactersScreen(screen))
    if choice is None:
        return False
    _set_character(screen, choice.name)
    if choice.talk:
        screen.scope = replace(screen.scope, mode=AnswerMode.IN_CHARACTER)
    return bool(choice.name)


def _set_character(screen: RoomScreen, name: str) -> None:
    """Select a character; an empty name resets mode and witnessed filter, too."""
    scope = replace(screen.scope, character=name)
    if not name:
        scope = replace(scope, mode=AnswerMode.ANALYTICAL, witnessed=False)
    screen.scope = scope


def _parse_mode(words: str) -> AnswerMode:
    name = words.strip().casefold().replace("-", "_")
    if name in _MODES:
        return _MODES[name]
    similar = get_close_matches(name, _MODES, n=1)
    suggestion = f"Did you mean `{similar[0]}`? " if similar else ""
    raise SettingsProblem(
        f"There is no mode “{words.strip()}”",
        hint=f"{suggestion}Use `analytical` for the analyst, or `in_character`.",
    )


def _other_mode(mode: AnswerMode) -> AnswerMode:
    return (
        AnswerMode.ANALYTICAL
        if mode is AnswerMode.IN_CHARACTER
        else AnswerMode.IN_CHARACTER
    )


def _explain_lost_character(name: str, as_of: str) -> str:
    if as_of:
        until = format_horizon(as_of)
        return f"{name} does not appear up to {until} and is no longer chosen."
    return f"{name} now matches several characters. Choose one again."
