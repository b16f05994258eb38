"""What a list and the lines beside it show to a test."""

from collections.abc import Callable

from textual.content import Content
from textual.visual import Padding
from textual.widgets import Input, Static

from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.widgets.lists import LineList, RowList
from tests.fakes.room import Room


def paired(room: Room) -> "MasterDetailScreen[object]":
    """Return the list that is open."""
    assert isinstance(room.app.screen, MasterDetailScreen), room.app.screen
    return room.app.screen


def shown_rows(room: Room) -> list[str]:
    """Return the rows that are shown, as text."""
    options = paired(room).query_one(RowList).options
    return [str(option.prompt) for option in options]


def highlighted(room: Room) -> str:
    """Return the highlighted row, as text."""
    option = paired(room).query_one(RowList).highlighted_option
    return "" if option is None else str(option.prompt)


def shown_lines(room: Room) -> list[str]:
    """Return the lines that are shown beside the rows, as text."""
    told = []
    for option in paired(room).query_one(LineList).options:
        assert isinstance(option.prompt, Padding)
        assert isinstance(option.prompt._visual, Content)
        told.append(option.prompt._visual.plain)
    return told


def shown_note(room: Room) -> str:
    """Return what is said under both."""
    note = paired(room).query_one("#master-detail-note", Static)
    return str(note.content) if note.display else ""


async def write_line(room: Room, text: str) -> None:
    """Write the line that is asked for."""
    assert isinstance(room.app.screen, TextInputScreen), room.app.screen
    room.app.screen.query_one(Input).value = text
    await room.press("enter")


async def until(room: Room, true: Callable[[], bool]) -> None:
    """Wait until something is so, for as long as a test may take."""
    while not true():
        await room.pilot.pause(0.02)
    await room.settle()
