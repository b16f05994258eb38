"""The footer of each screen: whole labels, most needed keys first, at every width."""

from pathlib import Path

import pytest
from textual.widget import Widget
from textual.widgets._footer import FooterKey

from lrwr.tui.widgets.status import KeyFooter, StatusLine
from tests.fakes.room import BROAD, MEDIUM, NARROW, Room, a_room

NEEDED = {
    "ctrl+f": {"Open", "Close", "Chapters", "Type"},
    "alt+c": {"Open", "Close", "Intended", "Undo", "New"},
    "alt+g": {"Open", "Close", "Text", "Accept", "Undo", "Make board"},
    "alt+m": {"Contents", "Edit", "Find", "Next", "Close"},
    "f6": {"Answer", "Close", "Leave open", "Undo"},
    "f5": {"Open", "Close", "Rename", "Delete"},
}
"""Labels that the footer of the screen behind a key must show."""


def keys_in_sight(room: Room) -> list[FooterKey]:
    """Return the keys that the footer shows, each of which must be shown whole."""
    footer = room.app.screen.query_one(KeyFooter)
    keys = [key for key in footer.query(FooterKey) if key.region.area]
    assert all(footer.region.contains_region(key.region) for key in keys)
    assert all(shown_whole(key) for key in keys)
    return keys


def shown_whole(key: FooterKey) -> bool:
    """Return whether a key has the width of its label."""
    label = f"{key.key_display} {key.description}"
    return bool(key.region.width >= len(label))


@pytest.mark.parametrize("size", [NARROW, MEDIUM, BROAD])
async def test_the_footer_shows_the_keys_that_are_needed_most(
    book: Path, size: tuple[int, int]
) -> None:
    async with a_room(book, size=size) as room:
        shown = {key.description for key in keys_in_sight(room)}
        assert {"Help", "More", "Quit", "Character", "Threads", "People"} <= shown
        status: Widget = room.screen.query_one(StatusLine)
        footer = room.screen.query_one(KeyFooter)
        assert status.region.bottom == footer.region.y
        for key, needed in NEEDED.items():
            await room.press(key)
            labels = {shown.description for shown in keys_in_sight(room)}
            assert needed <= labels, key
            await room.press("escape")


async def test_the_reader_is_offered_only_where_there_are_locations(book: Path) -> None:
    async with a_room(book, size=MEDIUM) as room:
        for key, offered in {"f5": False, "f3": False, "f7": True}.items():
            await room.press(key)
            labels = {shown.description for shown in keys_in_sight(room)}
            assert ("Reader" in labels) is offered, key
            await room.press("escape")


async def test_the_footer_stays_as_it_is_while_the_keys_do(book: Path) -> None:
    async with a_room(book) as room:
        footer = room.screen.query_one(KeyFooter)
        before = list(footer.query(FooterKey))
        room.screen.refresh_bindings()
        await room.settle()
        assert list(footer.query(FooterKey)) == before
        await room.press("alt+m", "tab")
        reader = room.app.screen.query_one(KeyFooter)
        assert list(reader.query(FooterKey))
