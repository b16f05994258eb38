"""Conversations are found, opened, renamed, written out, deleted and had back."""

from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Static

from lrwr.core.model.choices import AnswerMode
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.widgets.lists import RowList
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.sources import Sources
from tests.fakes.model_server import Hang, ModelServer, Say
from tests.fakes.paired import (
    highlighted,
    shown_lines,
    shown_note,
    shown_rows,
    until,
    write_line,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room

LEDGER, FOG = "Who keeps the ledger?", "What does the fog do?"
ODD = "[bold]x[/] \x1b[31mred\x1b[0m שלום e\u0301 🪔"


async def two_talks(room: Room) -> None:
    """Leave two conversations behind, and begin a third."""
    await room.ask(LEDGER)
    await room.press("ctrl+n")
    await room.ask(FOG)
    await room.press("ctrl+n")


def titles(room: Room) -> list[str]:
    return [row.partition("  ")[0].removeprefix("◆ ") for row in shown_rows(room)]


async def test_a_conversation_is_opened_where_it_left_off(book: Path) -> None:
    opening = ChatOptions(character="Nell", mode=AnswerMode.IN_CHARACTER, as_of="ch3")
    async with a_room(book, opening=opening) as room:
        await two_talks(room)
        room.screen.action_do("mode", "analytical")
        await room.press("f5")
        assert titles(room) == [FOG, LEDGER]
        assert "with Nell" in shown_rows(room)[0]
        await room.press("down")
        assert any(LEDGER in line for line in shown_lines(room)[1:])
        await room.press("enter")
        assert isinstance(room.app.screen, ChatScreen)
        sitting = room.screen.scope
        assert (sitting.title, sitting.as_of) == (LEDGER, "ch3")
        assert sitting.speaker == "Nell"
        (view,) = room.transcript.views
        assert view.question == LEDGER
        await room.type("And then?")
        await room.press("enter")
        assert [one.question for one in room.transcript.views] == [LEDGER, "And then?"]


async def test_titles_are_found_at_once_and_words_after_a_pause(book: Path) -> None:
    async with a_room(book) as room:
        await two_talks(room)
        await room.press("ctrl+n")
        await room.ask("How old is Nell?")
        await room.press("f5", "slash")
        await room.type("fog d")
        await room.settle()
        assert titles(room)[0] == FOG  # words of answers follow after a pause
        await room.press(*["backspace"] * 5)
        await room.type("twelve opens")
        await until(room, lambda: "Found in questions and answers" in shown_rows(room))
        assert titles(room)[-1] == "How old is Nell?"
        await room.press("enter")
        assert room.screen.scope.title == "How old is Nell?"
        assert room.screen.query_one(Sources).views


async def test_a_title_is_changed_in_place(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("f5", "r")
        assert isinstance(room.app.screen, TextInputScreen)
        await write_line(room, ODD)
        assert "to “[bold]x[/] red שלום e\u0301 🪔”" in shown_note(room)
        assert titles(room) == ["[bold]x[/] red שלום e\u0301 🪔"]
        await room.press("escape")
        assert room.screen.scope.title == "[bold]x[/] red שלום e\u0301 🪔"


async def test_what_is_deleted_can_be_had_back(book: Path) -> None:
    async with a_room(book) as room:
        await two_talks(room)
        await room.press("f5", "down", "d")
        assert titles(room) == [FOG]
        assert f"Deleted “{LEDGER}”. Press u" in shown_note(room)
        assert "lrwr threads undo" in shown_note(room)
        await room.press("u")
        assert titles(room) == [FOG, LEDGER]
        assert highlighted(room).startswith(LEDGER)
        await room.press("u")
        assert shown_note(room) == "There is no deleted thread to restore."


async def test_the_talk_that_is_deleted_is_over(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("f5", "d")
        assert shown_rows(room) == []
        assert "Ask a question to start one" in shown_lines(room)[0]
        await room.press("escape")
        assert room.screen.scope.thread is None
        assert room.transcript.views == []
        await room.ask(FOG)
        await room.press("f5")
        assert titles(room) == [FOG]


def dialog_text(room: Room) -> str:
    """Return what the dialog on top says."""
    parts = room.app.screen.query(Static)
    return " ".join(str(part.content) for part in parts)


async def test_a_talk_is_written_out_beside_the_library(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("f5", "e")
        await room.press("enter")
        file = book.parent / "who-keeps-the-ledger.md"
        assert shown_note(room) == f"Exported to {file}."
        assert file.read_text(encoding="utf-8").startswith(f"# {LEDGER}")
        await room.press("e")
        assert isinstance(room.app.screen, TextInputScreen)
        await write_line(room, str(file))
        # The dialog stays open: typed letters are no commands of the list.
        assert isinstance(room.app.screen, TextInputScreen)
        assert "already exists. Choose another file name." in dialog_text(room)
        await write_line(room, str(book / "chapters" / "talk.md"))
        assert isinstance(room.app.screen, TextInputScreen)
        assert "is in a manuscript folder" in dialog_text(room)
        assert not (book / "chapters" / "talk.md").exists()
        await room.press("escape")
        assert titles(room) == [LEDGER]


async def test_this_talk_is_renamed_and_written_out_by_words(book: Path) -> None:
    async with a_room(book) as room:
        for deed in ("rename", "export"):
            room.screen.action_do(deed, "x")
            await room.settle()
        told = [str(one.message) for one in room.app._notifications]
        assert all("is still empty" in one for one in told)
        assert len(told) == 2
        await room.ask(LEDGER)
        room.screen.action_do("rename", "Tides")
        await room.settle()
        assert room.screen.scope.title == "Tides"
        file = book.parent / "tides.md"
        room.screen.action_do("export", str(file))
        await room.settle()
        assert file.read_text(encoding="utf-8").startswith("# Tides")
        await room.press("alt+r")
        await write_line(room, "Ebb")
        assert room.screen.scope.title == "Ebb"


async def test_a_new_talk_keeps_whom_and_where(book: Path) -> None:
    opening = ChatOptions(character="Nell", as_of="ch3")
    async with a_room(book, opening=opening) as room:
        await room.ask(LEDGER)
        first = room.screen.scope.thread
        await room.press("ctrl+n")
        assert room.screen.scope.thread is None
        assert room.screen.scope.character == "Nell"
        await room.ask(FOG)
        assert room.screen.scope.thread not in (None, first)


@pytest.mark.exhaustive
async def test_an_answer_under_way_is_kept_where_it_was_asked(book: Path) -> None:
    with ModelServer(key="") as server:
        server.answering(
            lambda asked: Hang() if FOG in "".join(asked.texts) else Say("Mags. [1]")
        )
        async with a_room(book, model=server) as room:
            await room.ask(LEDGER)
            first = room.screen.scope.thread
            await room.press("ctrl+n")
            room.screen.query_one(PromptInputArea).post_message(Paste(FOG))
            await room.pilot.press("enter")
            while not any(FOG in "".join(one.texts) for one in server.chats):
                await room.pilot.pause(0.02)
            await room.pilot.press("f5")
            while room.on_top or not shown_rows(room):
                await room.pilot.pause(0.02)
            await room.pilot.press("enter")
            await until(room, lambda: room.on_top and room.screen.scope.title != "")
            assert room.screen.scope.thread == first
            assert [one.question for one in room.transcript.views] == [LEDGER]
            await room.press("f5")
            assert sorted(titles(room)) == sorted([FOG, LEDGER])


async def test_a_click_shows_a_talk_and_another_opens_it(book: Path) -> None:
    async with a_room(book) as room:
        await two_talks(room)
        await room.press("f5")
        await room.pilot.click(RowList, offset=(4, 1))
        await room.settle()
        assert highlighted(room).startswith(LEDGER)
        await room.pilot.click(RowList, offset=(4, 1))
        await room.settle()
        assert room.screen.scope.title == LEDGER


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_the_list_looks_as_it_should(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await room.press("f5")
        await check_picture(room.app, f"threads-{width}-{theme}")


async def test_a_reopened_thread_has_the_horizon_chosen_last_and_says_so(
    book: Path,
) -> None:
    async with a_room(book) as room:
        room.screen.action_do("horizon", "ch2")
        await room.settle()
        await room.ask(LEDGER)
        room.screen.action_do("horizon", "ch5")
        await room.settle()
        await room.press("ctrl+n")
        room.screen.action_do("horizon", "all")
        await room.settle()
        await room.press("f5", "enter")
        assert room.screen.scope.as_of == "ch5"
        messages = [notification.message for notification in room.app._notifications]
        assert any("up to chapter 5" in message for message in messages)
