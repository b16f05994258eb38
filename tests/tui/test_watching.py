"""Each save is read while the room is open, and a line says what it brought."""

from pathlib import Path

from textual.widgets import Static

from lrwr.tui.scope import ChatOptions
from lrwr.tui.widgets.lists import RowList
from lrwr.tui.widgets.status import StatusLine
from tests.fakes.room import Room, a_room


async def until_index(room: Room, wanted: str) -> None:
    status = room.screen.query_one(StatusLine)
    while wanted not in status.status.index:
        await room.pilot.pause(0.02)


async def test_a_save_is_read_and_told(book: Path) -> None:
    chapter = sorted((book / "chapters").glob("*.md"))[0]
    async with a_room(book, opening=ChatOptions(watch=True)) as room:
        await until_index(room, "up to date")
        before = chapter.read_text()
        chapter.write_text(f"{before}\n\nCorin Vale's eyes were as grey as slate.\n")
        await until_index(room, "read ")
        assert chapter.name in room.screen.query_one(StatusLine).status.index
        assert "watching" in room.screen.query_one(StatusLine).status.index
        (notice,) = room.screen.ingest_notices
        assert notice.startswith(f"{chapter.name} read: 1 passage")


async def test_a_deleted_file_is_named_so(book: Path) -> None:
    chapter = sorted((book / "chapters").glob("*.md"))[-1]
    async with a_room(book, opening=ChatOptions(watch=True)) as room:
        await until_index(room, "up to date")
        chapter.unlink()
        await until_index(room, f"watching · {chapter.name} deleted")
        assert f"{chapter.name} deleted." in room.screen.ingest_notices[0]


async def test_chapters_that_are_suddenly_away_are_kept_and_named(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(watch=True)) as room:
        await until_index(room, "up to date")
        (book / "chapters").rename(book.parent / "away")
        while not room.screen.ingest_notices:
            await room.pilot.pause(0.02)
        (notice,) = room.screen.ingest_notices
        assert "documents are missing from chapters and were not deleted" in notice
        assert "`lrwr ingest --forget-missing`" in notice
        await room.ask("Who keeps the ledger?")
        assert room.transcript.views[0].citations


async def test_a_notice_names_the_threads_that_cite_a_changed_passage(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.ask("Who keeps the ledger?")
        await room.press("alt+1")
        (cited, *_) = room.transcript.views[0].citations
        room.screen.action_do("watch")
        await until_index(room, "watching")
        file = book / cited.document
        words = " ".join(cited.text.split())[:30]
        file.write_text(file.read_text().replace(words.split()[-1], "altered"))
        await until_index(room, "read ")
        assert (
            "Cited in the thread “Who keeps the ledger?”."
            in (room.screen.ingest_notices[0])
        )


async def test_watching_is_begun_and_ended_by_a_command(book: Path) -> None:
    async with a_room(book) as room:
        await until_index(room, "up to date")  # by a look at the files, once
        room.screen.query_one(StatusLine).update_fields(index="")
        room.screen.action_do("watch")
        await until_index(room, "up to date")
        room.screen.action_do("watch")
        await room.settle()
        while any(one.group == "watch" for one in room.app.workers):
            await room.pilot.pause(0.02)
        assert room.screen.query_one(StatusLine).status.index == ""


async def test_an_open_list_shows_what_a_save_brought(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(watch=True)) as room:
        await until_index(room, "up to date")
        await room.press("f6")
        rows = room.app.screen.query_one(RowList)
        before = rows.option_count
        await room.press("down")
        highlighted = rows.row
        new = book / "chapters" / "11-new.md"
        new.write_text("# Eleven\n\nNell slept. TODO: where does she sleep?\n")
        await until_index(room, "read ")
        await room.settle()
        assert rows.option_count == before + 1
        assert rows.row == highlighted


async def test_the_open_reader_shows_a_save_at_the_same_place(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(watch=True)) as room:
        await until_index(room, "up to date")
        room.screen.action_do("reader", "ch1")
        await room.settle()
        chapter = sorted((book / "chapters").glob("*.md"))[0]
        text = chapter.read_text(encoding="utf-8")
        chapter.write_text(f"{text}\n\nThe zeppelin slept.\n", encoding="utf-8")
        await until_index(room, "read ")
        await room.settle()
        await room.press("slash", *"zeppelin", "enter")
        status = room.app.screen.query_one("#reader-status", Static)
        assert "“zeppelin”: 1 match here" in str(status.content)
