"""The screen of characters: two are merged, a name is split off, and both are undone."""

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.people import PeopleScreen
from lrwr.tui.screens.scope import CharactersScreen
from tests.fakes.paired import (
    highlighted,
    paired,
    shown_note,
    shown_rows,
    write_line,
)
from tests.fakes.room import Room, a_room

CANON = "lrwr.canon.toml"


async def highlight(room: Room, name: str) -> None:
    """Open the characters, and highlight the one called `name`."""
    await room.press("f7")
    assert isinstance(room.app.screen, PeopleScreen)
    await room.type(name)
    await room.settle()


async def test_two_characters_are_merged_and_that_is_undone(book: Path) -> None:
    async with a_room(book) as room:
        await highlight(room, "GreyAnsel")
        await room.press("f2")
        assert isinstance(room.app.screen, CharactersScreen)
        assert not any("GreyAnsel" in row.split("  ")[0] for row in shown_rows(room))
        assert not any("(everyone)" in row for row in shown_rows(room))
        await room.type("brinehob")
        await room.press("enter")
        note = shown_note(room)
        assert "are one character: BrineHob" in note
        assert "Alt+L" in note
        canon = (book / CANON).read_text(encoding="utf-8")
        assert "GreyAnsel" in canon
        await room.press("f4")
        assert shown_note(room).startswith("Undone: ")
        assert not (book / CANON).exists()


async def test_a_merged_character_has_one_row_after_the_next_reading(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await highlight(room, "GreyAnsel")
        await room.press("f2")
        await room.type("brinehob")
        await room.press("enter", "escape", "alt+l")
        while room.screen.ingestion.is_running:
            await room.pilot.pause(0.05)
        await room.settle()
        await highlight(room, "GreyAnsel")
        assert highlighted(room).startswith("BrineHob")


async def test_choosing_nobody_merges_nothing(book: Path) -> None:
    async with a_room(book) as room:
        await highlight(room, "GreyAnsel")
        await room.press("f2", "escape")
        assert not (book / CANON).exists()
        assert highlighted(room).startswith("GreyAnsel")


async def test_a_name_is_split_from_its_character(book: Path) -> None:
    async with a_room(book) as room:
        await highlight(room, "Nell Tallow")
        await room.press("f3")
        assert isinstance(room.app.screen, TextInputScreen)
        suggested = room.app.screen.query_one(Input).value
        assert suggested
        await write_line(room, suggested)
        assert "are not the same character" in shown_note(room)
        assert suggested in (book / CANON).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("", "Characters"),
        ("ch4", "Characters, in chapter 4"),
        ("since ch4", "Characters, not after chapter 4"),
        ("nell", "Characters, “nell”"),
    ],
)
async def test_the_title_names_what_is_listed(
    book: Path, words: str, title: str
) -> None:
    async with a_room(book) as room:
        await highlight(room, words)
        shown = room.app.screen.query_one("#master-detail-title", Static)
        assert str(shown.content) == title


async def test_a_character_is_renamed(book: Path) -> None:
    async with a_room(book) as room:
        await highlight(room, "GreyAnsel")
        await room.press("f5")
        assert room.app.screen.query_one(Input).value == "GreyAnsel"
        await write_line(room, "Ansel Grey")
        assert "Ansel Grey" in shown_note(room)
        assert "Ansel Grey" in (book / CANON).read_text(encoding="utf-8")
        await room.press("f4")
        assert shown_note(room).startswith("Undone: ")
        assert not (book / CANON).exists()


async def test_a_character_with_one_name_has_nothing_to_split(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        people = paired(room)
        assert isinstance(people, PeopleScreen)
        name = next(
            c.name
            for c in people._characters
            if {f.name for f in c.aliases} <= {c.name}
        )
        await room.type(name)
        await room.settle()
        await room.press("f3")
        assert shown_note(room) == f"{name} has one name only."
