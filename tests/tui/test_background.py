"""Reading goes on in the background; only Ctrl+C or Ctrl+Q, pressed twice, end it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.widgets import Input, Static

from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.screens.people import PeopleScreen
from lrwr.tui.widgets.lists import LineList, RowList
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.status import StatusLine
from tests.fakes.embedding_server import MODEL, EmbeddingServer
from tests.fakes.hosted_server import Json
from tests.fakes.room import Room, a_room, breathe


class SlowEmbeddings(EmbeddingServer):
    """An embedding server that holds all but the first answers to long requests until
    `released` is set. Questions, which are few texts, are answered at once.
    """

    def __init__(self, answers: int) -> None:
        super().__init__(key="", sizes={MODEL: 64}, changing=self._hold)
        self.released = Event()
        self._left = answers

    def _hold(self, reply: Json) -> Json:
        if len(reply["data"]) > 3:
            self._left -= 1
            if self._left < 0:
                self.released.wait(30)
        return reply


@asynccontextmanager
async def reading_room(folder: Path) -> AsyncIterator[tuple[Room, SlowEmbeddings]]:
    """Open a room, and start to read the folder from its library screen.

    The reading stores a few documents and does not end before the server is released.
    """
    with SlowEmbeddings(answers=30) as server:
        async with a_room(
            folder,
            LRWR_EMBEDDING_MODEL="server",
            LRWR_EMBEDDING_NAME=MODEL,
            LRWR_EMBEDDING_DIMENSIONS="64",
            LRWR_EMBEDDING_BASE_URL=server.base_url,
        ) as room:
            await room.press("ctrl+l")
            await room.type(".")
            await room.pilot.press("enter")
            while not room.screen.ingestion.finished:
                await room.pilot.pause(0.01)
            try:
                yield room, server
            finally:
                server.released.set()


def index(room: Room) -> str:
    return room.screen.query_one(StatusLine).status.index


def part(room: Room, name: str) -> str:
    return str(room.app.screen.query_one(f"#{name}", Static).render())


def notices(room: Room) -> list[str]:
    return [notification.message for notification in room.app._notifications]


async def until_read(room: Room, server: SlowEmbeddings | None = None) -> None:
    if server is not None:
        server.released.set()
    while room.screen.ingestion.is_running:
        await room.pilot.pause(0.02)
    await room.settle()


async def test_escape_closes_the_library_and_reading_goes_on(unread: Path) -> None:
    async with reading_room(unread) as (room, server):
        assert isinstance(room.app.screen, LibraryScreen)
        assert "Reading goes on" in part(room, "progress")
        await room.pilot.press("escape", "escape", "escape")
        assert isinstance(room.app.screen, ChatScreen)
        assert room.screen.ingestion.is_running
        assert index(room).startswith("reading: ")
        await until_read(room, server)
        assert room.screen.ingestion.words > 20_000
        assert any("documents processed" in notice for notice in notices(room))
        assert index(room) == "up to date"
        await room.ask("Who keeps the ledger?")
        assert room.transcript.last is not None
        assert room.transcript.last.output.citations


async def test_text_typed_while_reading_goes_where_the_cursor_is(unread: Path) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", *"Who?")
        assert room.screen.query_one(PromptInputArea).text == "Who?"
        await until_read(room, server)
        assert room.screen.query_one(PromptInputArea).text == "Who?"


async def test_a_question_while_reading_is_answered_and_says_so(unread: Path) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape")
        prompt = room.screen.query_one(PromptInputArea)
        prompt.insert("Who keeps the ledger?")
        prompt.action_send()
        await room.pilot.pause()
        assert room.screen.ingestion.is_running
        await until_read(room, server)
        notes = [str(note.render()) for note in room.transcript.query(".note")]
        assert any("was still being read" in note for note in notes)


async def test_a_question_before_anything_is_stored_says_to_ask_again(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        prompt = room.screen.query_one(PromptInputArea)
        room.screen.action_do("ingest", ".")
        prompt.insert("Who keeps the ledger?")
        prompt.action_send()
        await until_read(room)
        notes = [str(note.render()) for note in room.transcript.query(".note")]
        assert any("gain" in note for note in notes)


async def test_reading_stops_at_the_second_ctrl_c_and_goes_on_later(
    unread: Path,
) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", "ctrl+c")
        assert room.screen.ingestion.is_running
        assert any("Ctrl+C again" in notice for notice in notices(room))
        await room.pilot.press("ctrl+c")
        await until_read(room, server)
        (line,) = room.screen.ingestion.lines
        assert line.startswith("Stopped reading.")
        assert "stay in the library" in line
        assert line in notices(room)
        assert "to read (Ctrl+L)" in index(room)
        stored = room.screen.ingestion.finished
        await room.press("ctrl+l")
        assert line in part(room, "report")
        await room.pilot.press("r")
        await until_read(room, server)
        assert "processed" in part(room, "report")
        assert room.screen.ingestion.total is not None
        assert room.screen.ingestion.total <= 27 - stored


@pytest.mark.parametrize("keys", [("ctrl+l",), ("ctrl+f",), ("f1",), ("ctrl+t",)])
async def test_reading_stops_at_the_second_ctrl_c_below_an_open_screen(
    unread: Path, keys: tuple[str, ...]
) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", *keys)
        while room.on_top:
            await room.pilot.pause(0.01)
        await room.pilot.press("ctrl+c")
        assert any("Ctrl+C again" in notice for notice in notices(room))
        await room.pilot.press("ctrl+c")
        await until_read(room, server)
        (line,) = room.screen.ingestion.lines
        assert line.startswith("Stopped reading.")


async def test_characters_opened_while_reading_are_listed_when_it_is_done(
    unread: Path,
) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", "f7")
        while "No characters" not in (shown := details(room)):
            assert "Loading" in shown or not shown
            await room.pilot.pause(0.01)
        assert "The manuscript is still being read" in shown
        assert room.screen.ingestion.is_running
        await until_read(room, server)
        assert isinstance(room.app.screen, PeopleScreen)
        rows = room.app.screen.query_one(RowList)
        assert rows.option_count > 3


async def test_characters_of_a_stopped_reading_say_how_much_is_not_read(
    unread: Path,
) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", "f7")
        room.screen.action_do("stop_ingestion")
        await until_read(room, server)
        await room.settle()
        assert "documents are not ingested yet. Run `lrwr ingest`" in details(room)


def details(room: Room) -> str:
    """Return the lines beside the list of the screen on top; empty before it opens."""
    lists = room.app.screen.query(LineList)
    return "\n".join(str(option.prompt) for lines in lists for option in lines.options)


async def test_closing_the_room_while_reading_needs_the_key_twice(unread: Path) -> None:
    async with reading_room(unread) as (room, _):
        await room.pilot.press("ctrl+q")
        assert room.screen.ingestion.is_running
        assert room.app.is_running
        assert any("Ctrl+Q again" in notice for notice in notices(room))
        await room.pilot.press("ctrl+q")
        assert room.app._exit


async def test_a_second_reading_is_not_begun(unread: Path) -> None:
    async with reading_room(unread) as (room, server):
        await room.pilot.press("escape", "alt+l")
        assert any("Already reading" in notice for notice in notices(room))
        await until_read(room, server)


async def test_an_empty_folder_is_named_and_can_be_corrected(
    unread: Path,
) -> None:
    (unread / "drafts").mkdir()
    async with a_room(unread) as room:
        await room.press("ctrl+l")
        await room.type("drafts")
        await room.press("enter")
        assert "No .md, .docx or .txt files found in" in part(room, "error")
        folder = room.app.screen.query_one("#folder", Input)
        assert room.app.screen.focused is folder
        folder.value = "chapters"
        await room.press("enter")
        assert "documents processed" in part(room, "report")


async def test_a_folder_that_is_gone_is_named_and_the_library_stays(
    book: Path,
) -> None:
    (book / "chapters").rename(book.parent / "away")
    (book / "notes").rename(book.parent / "notes")
    async with a_room(book) as room:
        await room.press("ctrl+l", "r")
        assert "were not deleted" in part(room, "report")
        await room.press("escape")
        await room.ask("Who keeps the ledger?")
        assert room.transcript.last is not None
        assert room.transcript.last.output.citations


async def test_tab_completes_the_folder_and_enter_reads_it(unread: Path) -> None:
    async with a_room(unread) as room:
        await room.press("ctrl+l", "c", "h", "tab")
        folder = room.app.screen.query_one("#folder", Input)
        assert folder.value == "chapters/"
        assert room.app.screen.focused is folder


async def test_keys_typed_before_the_folder_is_asked_for_are_not_lost(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        room.screen.action_do("library")
        while not isinstance(room.app.screen, LibraryScreen):
            await breathe()
        await room.hit("c", "r", "y")
        assert room.app.screen.query_one("#folder", Input).value == "cry"


async def test_tab_pressed_before_the_folder_is_asked_for_completes_the_path(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        await room.hit("ctrl+l", *"chap", "tab")
        assert room.app.screen.query_one("#folder", Input).value == "chapters/"


async def test_after_reading_an_empty_thread_says_what_is_read(book: Path) -> None:
    async with a_room(book) as room:
        room.screen.action_do("ingest")
        await until_read(room)
        await room.settle()
        greeting = " ".join(
            str(line.render()) for line in room.transcript.query(Static)
        )
        assert "27 documents read" in greeting
        assert "is being read" not in greeting
