"""What was read, reading it again, and what is set, from inside the room."""

from pathlib import Path

import pytest
from textual.widgets import DataTable, Static

from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.screens.settings import SettingsScreen
from lrwr.tui.widgets.status import StatusLine
from tests.fakes.room import Room, a_room


def told(room: Room, name: str) -> str:
    return str(room.app.screen.query_one(f"#{name}", Static).render())


async def test_a_folder_that_nobody_read_is_read_from_the_room(unread: Path) -> None:
    async with a_room(unread) as room:
        await room.press("ctrl+l")
        assert isinstance(room.app.screen, LibraryScreen)
        assert "No manuscript has been read" in told(room, "counts")
        await room.type(".")
        await room.press("enter")
        assert "documents processed" in told(room, "report")
        assert "passages" in told(room, "counts")
        await room.press("escape")
        await room.ask("Who keeps the ledger?")
        assert room.transcript.last is not None
        assert room.transcript.last.output.citations


async def test_a_folder_that_is_not_there_is_told_and_nothing_lost(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        await room.press("ctrl+l")
        await room.type("nowhere")
        await room.press("enter")
        assert "There is no file or folder" in told(room, "error")
        assert isinstance(room.app.screen, LibraryScreen)


async def test_what_changed_is_read_again(book: Path) -> None:
    async with a_room(book) as room:
        chapter = next((book / "chapters").glob("*.md"))
        chapter.write_text(f"{chapter.read_text()}\n\nA heron stood in the sluice.\n")
        await room.press("ctrl+l", "r")
        assert "1 document processed" in told(room, "report")


async def test_unchanged_files_of_other_settings_are_not_called_changed(
    book: Path,
) -> None:
    async with a_room(book, LRWR_CHUNK_LARGEST="400") as room:
        status = room.screen.query_one(StatusLine).status
        assert status.index == "27 documents to be analysed again (Ctrl+L)"
        (book / "chapters" / "11-new.md").write_text("# Eleven\n\nNell slept.\n")
    async with a_room(book, LRWR_CHUNK_LARGEST="400") as room:
        status = room.screen.query_one(StatusLine).status
        assert status.index == ("1 file to read, 27 to be analysed again (Ctrl+L)")


async def test_every_setting_is_shown_with_where_it_comes_from(book: Path) -> None:
    async with a_room(book, LRWR_SEARCH_LIMIT="5") as room:
        await room.press("ctrl+t")
        assert isinstance(room.app.screen, SettingsScreen)
        await room.type("search.limit")
        table = room.app.screen.query_one(DataTable)
        (row,) = (table.get_row_at(at) for at in range(table.row_count))
        assert [str(cell) for cell in row] == ["search.limit", "5", "LRWR_SEARCH_LIMIT"]
        await room.type("x")
        assert table.row_count == 0
        await room.press("escape")
        assert room.on_top


async def test_a_question_before_anything_is_read_says_what_to_do(unread: Path) -> None:
    async with a_room(unread) as room:
        await room.ask("Who keeps the ledger?")
        notes = [str(one.render()) for one in room.transcript.query(".note")]
        assert notes == [
            "No manuscript has been read yet",
            "Press Ctrl+L to read your manuscript.",
        ]


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_what_a_folder_turns_on_is_asked_about_once(
    book: Path, answer: str
) -> None:
    (book / "lrwr.toml").write_text('[web]\nuse = "tavily"\n')
    async with a_room(book) as room:
        assert "Tavily" in str(
            room.app.screen.query_one(".consent-question", Static).render()
        )
        await room.pilot.click(f"#{answer}")
        await room.settle()
        assert room.on_top
    async with a_room(book) as room:
        assert room.on_top


async def test_a_question_that_is_put_off_is_asked_again(book: Path) -> None:
    (book / "lrwr.toml").write_text('[web]\nuse = "tavily"\n')
    for _ in range(2):
        async with a_room(book) as room:
            assert not room.on_top
            await room.press("escape")
            assert room.on_top
