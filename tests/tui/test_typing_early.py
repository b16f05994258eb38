"""What is typed before the room is ready is neither lost nor in the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.runtime.failures import report_crash
from lrwr.core.settings.loader import load_settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.service_thread import ServiceThread
from lrwr.tui.widgets.lists import RowList
from lrwr.tui.widgets.prompt import PromptInputArea
from tests.fakes.room import WIDE, Room, a_room

LEDGER = "Who keeps the ledger?"
NELL = "And who is Nell?"


@asynccontextmanager
async def a_room_that_waits(
    folder: Path, opening: ChatOptions | None = None
) -> AsyncIterator[tuple[Room, asyncio.Event]]:
    """A room that can be typed in, and opens its library when it is told to."""
    variables = {"LRWR_EMBEDDING_MODEL": "off"}
    settings = load_settings(folder, variables, {}, user=folder / "nobody.toml")
    may_open = asyncio.Event()
    here = asyncio.get_running_loop()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Workspace]:
        told = asyncio.run_coroutine_threadsafe(may_open.wait(), here)
        await asyncio.wrap_future(told)
        async with open_workspace(settings) as workspace:
            yield workspace

    async with ServiceThread(opened) as stage:
        app = WritingRoom(stage, settings, opening or ChatOptions(), report_crash)
        async with app.run_test(size=WIDE) as pilot:
            yield Room(pilot, app, stage), may_open


def asked(room: Room) -> list[str]:
    """The questions that are answered."""
    views = room.transcript.views
    return [view.turn.question for view in views if view.turn is not None]


async def test_letters_and_enter_typed_at_once_ask_the_whole_question(
    book: Path,
) -> None:
    async with a_room(book, settled=False) as room:
        await room.type(LEDGER)
        await room.press("enter")
        assert asked(room) == [LEDGER]
        assert len(room.transcript.views) == 1


@pytest.mark.exhaustive
async def test_a_question_asked_early_stands_below_the_conversation_that_was(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
    async with a_room(book, opening=ChatOptions(thread="1"), settled=False) as room:
        await room.type(NELL)
        await room.press("enter")
        assert asked(room) == [LEDGER, NELL]


async def test_what_is_written_early_is_still_there_when_all_is_loaded(
    book: Path,
) -> None:
    async with a_room(book, settled=False) as room:
        await room.type(LEDGER)
        await room.settle()
        assert room.screen.query_one(PromptInputArea).text == LEDGER


@pytest.mark.parametrize("keys", [("enter", "escape"), ("enter", "escape", "escape")])
@pytest.mark.exhaustive
async def test_a_question_that_is_stopped_before_all_is_loaded_leaves_room_for_others(
    book: Path, keys: tuple[str, ...]
) -> None:
    async with a_room_that_waits(book) as (room, may_open):
        await room.type(LEDGER)
        await room.pilot.press(*keys)
        may_open.set()
        await room.settle()
        await room.ask(NELL)
        assert NELL in asked(room)


async def test_a_question_sent_while_the_library_opens_says_that_it_waits(
    book: Path,
) -> None:
    async with a_room_that_waits(book) as (room, may_open):
        hint = room.screen.query_one("#prompt-hint", Static)
        await room.type(LEDGER)
        await room.pilot.press("enter")
        while not hint.display:
            await room.pilot.pause(0.01)
        assert "as soon as the library is open" in str(hint.render())
        may_open.set()
        await room.settle()
        assert asked(room) == [LEDGER]
        assert not hint.display


async def test_an_answer_under_way_outlives_a_second_look_at_the_library(
    book: Path,
) -> None:
    async with a_room_that_waits(book) as (room, may_open):
        await room.type(LEDGER)
        await room.pilot.press("enter")
        room.screen.load()
        await room.pilot.pause()
        may_open.set()
        await room.settle()
        assert asked(room) == [LEDGER]


async def test_a_question_asked_before_anything_is_read_outlives_the_reading(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        await room.type(LEDGER)
        await room.pilot.press("enter")
        room.screen.load()
        await room.settle()
        assert [view.question for view in room.transcript.views] == [LEDGER]


async def test_a_list_that_is_opened_early_outlives_a_watch_that_begins(
    book: Path,
) -> None:
    async with a_room_that_waits(book, ChatOptions(watch=True)) as (room, may_open):
        await room.pilot.press("f2")
        may_open.set()
        await room.settle()
        await room.type("Nell")
        await room.press("enter")
        assert room.screen.scope.character == "Nell Tallow"


async def test_keys_pressed_right_after_a_list_is_opened_filter_it_and_choose(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.hit("f2", *"Nell", "enter")
        assert room.on_top
        assert room.screen.query_one(PromptInputArea).text == ""
        assert room.screen.scope.character == "Nell Tallow"


async def test_a_key_pressed_before_the_rows_are_loaded_acts_on_the_first_row(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.hit("f6", "enter", *"Green")
        dialog = room.app.screen
        assert isinstance(dialog, TextInputScreen)
        assert dialog.query_one(Input).value == "Green"


async def test_a_title_typed_right_after_its_key_runs_no_other_key(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("f5")
        await room.hit("r", "ctrl+u", *"udder", "enter")
        rows = room.app.screen.query_one(RowList)
        assert rows.row is not None
        assert rows.row.name.endswith("udder")


async def test_keys_of_one_burst_edit_the_question_in_their_order(book: Path) -> None:
    async with a_room(book) as room:
        await room.hit(*"abc", "backspace", *"def", "left", "left", *"xy", "home", "z")
        assert room.screen.query_one(PromptInputArea).text == "zabdxyef"


async def test_keys_of_one_burst_edit_a_title_in_their_order(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("alt+r")
        await room.hit("ctrl+u", *"abc", "backspace", *"def", "home", "z")
        assert room.app.screen.query_one(Input).value == "zabdef"


async def test_escape_right_after_a_key_leaves_nothing_typed(book: Path) -> None:
    async with a_room(book) as room:
        await room.hit("f7", *"abc", "escape", "escape")
        await room.press("escape")
        assert room.on_top
        assert room.screen.query_one(PromptInputArea).text == ""


async def test_keys_for_the_sources_do_nothing_before_the_sources_are_shown(
    book: Path,
) -> None:
    async with a_room(book, settled=False) as room:
        screen = room.screen
        for node in room.app.query("#split-view"):
            await node.remove()
        screen._split_view = None
        await room.type("Who")
        screen.action_jump("1")
        screen.action_side()
        await screen.action_stop()
        assert screen.query_one(PromptInputArea).text == "Who"
        assert screen.query_one(PromptInputArea).has_focus


async def test_no_empty_screen_is_laid_out_before_the_chat(book: Path) -> None:
    async with a_room(book, settled=False) as room:
        assert room.app.screen_stack == [room.app.screen]
