"""The command palette: what can be done, and the room's colours."""

from pathlib import Path

from textual.command import CommandPalette
from textual.widgets import OptionList

from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS
from lrwr.tui.screens.help import HelpScreen
from lrwr.tui.widgets.sources import Sources
from tests.fakes.room import Room, a_room


async def found(room: Room, words: str) -> list[str]:
    await room.press("ctrl+p")
    await room.type(words)
    options = room.app.screen.query_one(OptionList)
    for _ in range(100):
        await room.pilot.pause(0.05)
        if options.option_count and not room.app.screen.query("LoadingIndicator.-x"):
            break
    await room.pilot.pause(0.3)
    return [str(one.prompt) for one in options.options]


async def test_it_lists_all_that_can_be_done_with_keys_and_nothing_else(
    book: Path,
) -> None:
    async with a_room(book) as room:
        shown = await found(room, "")
        told = [one for one in ROOM_ACTIONS if one.id != "room.palette"]
        assert len(shown) == len(told) + 1
        assert shown[0].splitlines() == [
            "Help  F1  /help",
            "Show all keys and commands",
        ]
        assert shown[-1].startswith("Theme")


async def test_what_is_chosen_is_done(book: Path) -> None:
    async with a_room(book) as room:
        await found(room, "hide the sources")
        await room.press("enter", "enter")
        assert not isinstance(room.app.screen, CommandPalette)
        assert not room.screen.query_one(Sources).display


async def test_a_theme_is_found_by_its_name(book: Path) -> None:
    async with a_room(book) as room:
        shown = await found(room, "theme little-red-light")
        assert shown[0] == "Theme: little-red-light"
        await room.press("enter", "enter")
        assert room.app.theme == "little-red-light"
        (notice,) = room.app._notifications
        assert 'theme = "light" under [screen] in lrwr.toml' in notice.message


async def test_it_shows_the_writers_own_keys(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="room.side ctrl+o,f12") as room:
        shown = await found(room, "side")
        assert shown[0].splitlines()[0] == "Sources  Ctrl+O, F12  /side"


async def test_a_deed_that_asks_something_can_be_begun_here(book: Path) -> None:
    async with a_room(book) as room:
        await found(room, "keys and commands")
        await room.pilot.press("enter", "enter")
        await room.pilot.pause(0.3)
        assert isinstance(room.app.screen, HelpScreen)
        await room.press("escape")
