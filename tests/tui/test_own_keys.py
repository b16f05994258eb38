"""The writer's own keys hold in lists, among passages and wherever a line is asked for."""

from pathlib import Path

import pytest
from textual.widgets import Input

from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.help import HelpScreen
from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.screens.settings import SettingsScreen
from lrwr.tui.widgets.lists import LineList, RowList
from lrwr.tui.widgets.sources import Sources
from tests.fakes.paired import (
    highlighted,
    paired,
    shown_lines,
    shown_note,
    shown_rows,
    write_line,
)
from tests.fakes.room import Room, a_room
from tests.fakes.suite import sampled

LEDGER = "Who keeps the ledger?"


async def a_talk(room: Room, *keys: str) -> None:
    await room.ask(LEDGER)
    await room.press("f5", *keys)


async def test_going_through_a_list(book: Path) -> None:
    keys = "list.down ctrl+n:list.up ctrl+p,up"
    async with a_room(book, LRWR_SCREEN_KEYS=keys) as room:
        await room.press("f7")
        first = highlighted(room)
        await room.press("ctrl+n", "ctrl+n")
        assert highlighted(room) == shown_rows(room)[2]
        await room.press("ctrl+p", "up")
        assert highlighted(room) == first
        await room.press("enter")
        lines = paired(room).query_one(LineList)
        assert room.app.focused is lines
        await room.press("ctrl+n")
        assert lines.highlighted == 1
        assert highlighted(room) == first


@pytest.mark.parametrize("key", sampled(["ctrl+o", "alt+x", "f12"]))
async def test_choosing_waits_for_what_was_typed_before(book: Path, key: str) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS=f"list.choose {key}") as room:
        await room.press("f2")
        await room.hit(*"nell", key)
        assert room.screen.scope.character == "Nell Tallow"


@pytest.mark.parametrize("key", sampled(["f2", "f5", "f6", "ctrl+l", "ctrl+t", "f1"]))
@pytest.mark.exhaustive
async def test_closing_whatever_lies_on_the_conversation(book: Path, key: str) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="list.close ctrl+w") as room:
        await room.press(key)
        assert not room.on_top
        await room.press("escape")
        assert not room.on_top
        await room.press("ctrl+w")
        assert room.on_top


async def test_the_help_s_own_key_closes_it_too(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="room.help ctrl+o") as room:
        await room.press("ctrl+o")
        assert isinstance(room.app.screen, HelpScreen)
        await room.press("ctrl+o")
        assert room.on_top


async def test_going_back_to_the_list_and_finding(book: Path) -> None:
    keys = "list.rows alt+b:list.find f"
    async with a_room(book, LRWR_SCREEN_KEYS=keys) as room:
        await room.press("f6")
        paired(room).query_one(LineList).focus()
        await room.press("alt+b")
        assert isinstance(room.app.focused, RowList)
        await room.press("slash")
        assert isinstance(room.app.focused, RowList)
        await room.press("f")
        assert isinstance(room.app.focused, Input)


async def test_what_is_done_with_gaps(book: Path) -> None:
    keys = "gaps.postpone n:gaps.answer p"
    async with a_room(book, LRWR_SCREEN_KEYS=keys) as room:
        await room.press("f6", "n")
        assert shown_note(room) == "Moved to the end of the list. Nothing was decided."
        await room.press("p")
        assert isinstance(room.app.screen, TextInputScreen)
        await room.press("escape")


async def test_what_is_done_with_conversations(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="threads.delete delete") as room:
        await a_talk(room, "d")
        assert shown_rows(room)
        await room.press("delete")
        assert "Ask a question to start one" in shown_lines(room)[0]


async def test_what_is_done_with_a_line(book: Path) -> None:
    keys = "line.done ctrl+o,enter:line.leave alt+q"
    async with a_room(book, LRWR_SCREEN_KEYS=keys) as room:
        await a_talk(room, "r")
        await room.press("alt+q", "r")
        assert isinstance(room.app.screen, TextInputScreen)
        room.app.screen.query_one(Input).value = ""
        await room.hit(*"Tides", "ctrl+o")
        assert "to “Tides”" in shown_note(room)
        await room.press("r")
        await write_line(room, "Ebb")
        assert "to “Ebb”" in shown_note(room)


async def test_talking_with_a_character(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="characters.talk ctrl+y") as room:
        await room.press("f2")
        await room.type("nell")
        await room.press("ctrl+y")
        assert room.screen.scope.speaker == "Nell Tallow"


async def test_reading_from_the_library(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="library.read g") as room:
        await room.press("ctrl+l", "r")
        assert isinstance(room.app.screen, LibraryScreen)
        report = room.app.screen.query_one("#report")
        assert not report.display
        await room.press("g")
        assert report.display


async def test_going_from_passage_to_passage_and_from_turn_to_turn(book: Path) -> None:
    keys = "place.next n:place.leave q:turn.before alt+j"
    async with a_room(book, LRWR_SCREEN_KEYS=keys) as room:
        await room.ask(LEDGER)
        await room.ask("What does the fog do?")
        await room.press("alt+1", "n")
        sources = room.screen.query_one(Sources)
        assert sources.chosen is sources.views[1]
        hint = str(sources.query_one(".source-hint").render())
        assert hint == "Enter open · r read · c copy · q back"
        await room.press("q")
        assert room.app.focused is room.screen.query_one("#prompt")
        room.transcript.focus()
        await room.press("alt+j")
        assert room.transcript.chosen is room.transcript.views[0]


@pytest.mark.exhaustive
async def test_the_settings_go_down_into_their_table(book: Path) -> None:
    async with a_room(book, LRWR_SCREEN_KEYS="list.down ctrl+n") as room:
        await room.press("ctrl+t", "ctrl+n")
        assert isinstance(room.app.screen, SettingsScreen)
        assert room.app.screen.query_one("DataTable").has_focus
        await room.press("escape")
