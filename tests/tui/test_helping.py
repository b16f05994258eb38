"""The help: everything that can be done."""

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from lrwr.tui.actions.keys_and_commands import (
    FIXED_ACTIONS,
    PROMPT_ACTIONS,
    ROOM_ACTIONS,
    SOURCE_ACTIONS,
)
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.screens.help import NO_MATCH, HelpScreen
from lrwr.tui.widgets.prompt import PromptInputArea
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, NARROW, Room, a_room


async def open_help(room: Room) -> HelpScreen:
    await room.pilot.press("f1")
    await room.pilot.pause()
    assert isinstance(room.app.screen, HelpScreen)
    return room.app.screen


def told(screen: HelpScreen) -> str:
    return str(screen.query_one("VerticalScroll Static", Static).content)


@pytest.mark.exhaustive
async def test_every_action_is_there_with_its_key_and_its_name(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="room.characters ctrl+o") as room:
        screen = await open_help(room)
        assert "room.characters" not in told(screen).partition("To change keys")[0]
        await room.type(".")
        await room.pilot.pause()
        shown = told(screen)
        for action in (*ROOM_ACTIONS, *PROMPT_ACTIONS, *FIXED_ACTIONS, *SOURCE_ACTIONS):
            assert action.id in shown
            assert action.help in shown
        assert "Ctrl+O    /character [NAME]" in shown
        assert "\nF2 " not in shown.partition("\nSearch\n")[0]
        await room.press("escape")


async def test_what_is_typed_narrows_it(book: Path) -> None:
    async with a_room(book) as room:
        screen = await open_help(room)
        await room.type("mark down")
        await room.pilot.pause()
        assert told(screen).splitlines()[0] == "Threads and answers"
        assert "/export FILE.md" in told(screen)
        assert "/help" not in told(screen)
        await room.type(" zzz")
        await room.pilot.pause()
        assert told(screen) == NO_MATCH
        await room.press("escape")


@pytest.mark.parametrize("key", ["escape", "f1"])
async def test_it_closes_and_the_prompt_is_as_it_was(book: Path, key: str) -> None:
    async with a_room(book) as room:
        await room.type("half a question")
        await open_help(room)
        await room.press(key)
        assert isinstance(room.app.screen, ChatScreen)
        await room.type("!")
        assert room.screen.query_one(PromptInputArea).text == "half a question!"


async def test_arrows_scroll_it(book: Path) -> None:
    async with a_room(book, size=NARROW) as room:
        screen = await open_help(room)
        pane = screen.query_one("VerticalScroll")
        await room.pilot.press("down", "down", "pagedown")
        await room.pilot.wait_for_scheduled_animations()
        lowest = pane.scroll_y
        assert lowest > 2
        await room.pilot.press("up")
        await room.pilot.wait_for_scheduled_animations()
        assert pane.scroll_y < lowest
        await room.press("escape")


async def test_words_after_the_command_are_looked_for(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/help theme")
        await room.pilot.press("enter")
        await room.pilot.pause()
        assert isinstance(room.app.screen, HelpScreen)
        assert "Search all commands and themes" in told(room.app.screen)
        await room.press("escape")


@pytest.mark.parametrize(("name", "size", "theme"), LOOKS)
async def test_it_looks_so(
    book: Path, size: tuple[int, int], name: str, theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await open_help(room)
        await check_picture(room.app, f"help-{name}-{theme}")
        await room.press("escape")


@pytest.mark.parametrize(
    ("opening", "key", "section"),
    [
        ("alt+m", "question_mark", "Reader"),
        ("alt+c", "question_mark", "Contradictions"),
        ("f7", "f1", "Characters"),
        ("f6", "f1", "Open questions"),
        ("ctrl+f", "f1", "Search"),
        ("ctrl+l", "f1", "Library"),
    ],
)
async def test_in_every_screen_the_help_begins_with_its_keys(
    book: Path, opening: str, key: str, section: str
) -> None:
    async with a_room(book) as room:
        await room.press(opening)
        before = room.app.screen
        await room.press(key)
        assert isinstance(room.app.screen, HelpScreen)
        assert told(room.app.screen).splitlines()[0] == section
        await room.press("escape")
        assert room.app.screen is before


async def test_a_question_mark_is_typed_where_text_is(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        await room.press("question_mark")
        assert not isinstance(room.app.screen, HelpScreen)
        assert room.app.screen.query_one(Input).value == "?"
