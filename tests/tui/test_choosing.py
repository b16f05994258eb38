"""Whom one talks with and where one stands, chosen by keys, by words and by mouse."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.turns import ThreadId
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.screens.scope import CharactersScreen
from lrwr.tui.widgets.lists import RowList
from tests.fakes.paired import (
    highlighted,
    shown_lines,
    shown_note,
    shown_rows,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room


def told(room: Room) -> list[str]:
    return [str(one.message) for one in room.app._notifications]


async def do(room: Room, name: str, words: str) -> None:
    room.screen.action_do(name, words)
    await room.settle()


async def test_a_character_is_found_by_another_name_and_chosen(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f2")
        assert shown_rows(room)[0].startswith("(everyone)")
        assert shown_rows(room)[1].startswith("PurpleFrog  107 times")
        await room.type("sootw")
        await room.settle()
        assert highlighted(room).startswith("Nell Tallow")
        assert "first seen" in "\n".join(shown_lines(room))
        await room.press("enter")
        assert isinstance(room.app.screen, ChatScreen)
        assert room.screen.scope.character == "Nell Tallow"
        assert room.screen.scope.mode is AnswerMode.ANALYTICAL


async def test_one_key_chooses_and_has_them_answer(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f2", "down", "f4")
        assert room.screen.scope.character == "PurpleFrog"
        assert room.screen.scope.speaker == "PurpleFrog"
        await room.press("f2")
        assert "◆ PurpleFrog  107 times" in shown_rows(room)[1]


async def test_nobody_brings_the_analyst_back(book: Path) -> None:
    opening = ChatOptions(character="Mags", mode=AnswerMode.IN_CHARACTER)
    async with a_room(book, opening=opening) as room:
        assert room.screen.scope.speaker == "OchraMags"
        await room.press("f2")
        await room.type("nob")
        await room.press("enter")
        assert room.screen.scope.character == ""
        assert room.screen.scope.mode is AnswerMode.ANALYTICAL


async def test_the_chosen_row_is_in_view_when_a_list_opens(book: Path) -> None:
    async with a_room(book, size=(60, 24), opening=ChatOptions(as_of="ch5")) as room:
        await room.press("f3")
        rows = room.app.screen.query_one(RowList)
        assert rows.highlighted is not None
        assert rows.highlighted in range(
            rows.scroll_offset.y, rows.scroll_offset.y + rows.size.height
        )


async def test_escape_changes_nothing(book: Path) -> None:
    async with a_room(book) as room:
        before = room.screen.scope
        for key in ("f2", "f3"):
            await room.press(key, "down", "escape")
            assert isinstance(room.app.screen, ChatScreen)
        assert room.screen.scope == before


async def test_a_click_shows_a_card_and_another_chooses(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f2")
        await room.pilot.click(RowList, offset=(4, 3))
        await room.settle()
        assert isinstance(room.app.screen, CharactersScreen)
        assert shown_lines(room)[0].startswith("OchraMags")
        await room.pilot.click(RowList, offset=(4, 3))
        await room.settle()
        assert room.screen.scope.character == "OchraMags"


async def test_words_choose_at_once_and_a_wrong_name_offers_the_nearest(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await do(room, "characters", "wren")
        assert room.screen.scope.character == "Nell Tallow"
        await do(room, "characters", "nobody")
        assert room.screen.scope.character == ""
        await do(room, "characters", "Brinehutt")
        assert room.screen.scope.character == ""
        assert any("Did you mean BrineHob?" in one for one in told(room))


async def test_only_who_has_come_up_can_be_chosen(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(as_of="ch1:s1")) as room:
        await room.press("f2")
        early = shown_rows(room)
        await room.press("escape")
        await do(room, "horizon", "everything")
        assert room.screen.scope.as_of == ""
        await room.press("f2")
        assert 1 < len(early) < len(shown_rows(room))


async def test_a_place_is_chosen_from_the_list_of_chapters(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f3")
        assert highlighted(room) == "◆ the whole story"
        await room.press("down", "down", "down")
        assert highlighted(room).startswith("  scene 2  The stair")
        await room.press("enter")
        assert room.screen.scope.as_of == "ch1:s2"
        await room.press("f3")
        assert highlighted(room).startswith("  ◆ scene 2")
        await room.type("ch3")
        await room.press("enter")
        assert room.screen.scope.as_of == "ch3"


async def test_a_place_is_understood_however_it_is_called(book: Path) -> None:
    async with a_room(book) as room:
        await do(room, "horizon", "Chapter 2, scene 1")
        await room.press("f3")
        assert highlighted(room).startswith("  ◆ scene 1  The Reeve came")
        await room.press("escape")
        await do(room, "horizon", "ch99")
        assert room.screen.scope.as_of == "Chapter 2, scene 1"
        assert any("no chapter 99" in one for one in told(room))


async def test_who_is_not_known_yet_is_let_go_and_that_is_said(book: Path) -> None:
    opening = ChatOptions(character="Dorothea Pell", mode=AnswerMode.IN_CHARACTER)
    async with a_room(book, opening=opening) as room:
        await do(room, "horizon", "ch1")
        sitting = room.screen.scope
        assert (sitting.as_of, sitting.character) == ("ch1", "")
        assert sitting.mode is AnswerMode.ANALYTICAL
        assert any("Dorothea Pell does not appear up to" in one for one in told(room))


async def test_what_is_chosen_at_once_is_chosen_one_after_the_other(
    book: Path,
) -> None:
    async with a_room(book) as room:
        for name, words in (
            ("characters", "PurpleFrog"),
            ("horizon", "ch3"),
            ("mode", "in_character"),
        ):
            room.screen.action_do(name, words)
            await asyncio.sleep(0)
        await room.settle()
        sitting = room.screen.scope
        assert (sitting.speaker, sitting.as_of) == ("PurpleFrog", "ch3")


async def test_a_conversation_that_begins_meanwhile_goes_on(book: Path) -> None:
    async with a_room(book) as room:
        room.screen.action_do("horizon", "ch3")
        await asyncio.sleep(0)
        begun = replace(room.screen.scope, thread=ThreadId("begun"), title="Begun")
        room.screen.scope = begun
        await room.settle()
        assert room.screen.scope == replace(begun, as_of="ch3")


async def test_the_mode_goes_to_and_fro_and_asks_for_whom(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f4")
        assert isinstance(room.app.screen, CharactersScreen)
        await room.press("escape")
        assert room.screen.scope.mode is AnswerMode.ANALYTICAL
        await room.press("f4", "down", "enter")
        assert room.screen.scope.speaker == "PurpleFrog"
        await room.press("f4")
        assert room.screen.scope.speaker == ""
        assert room.screen.scope.character == "PurpleFrog"
        await do(room, "mode", "in-character")
        assert room.screen.scope.speaker == "PurpleFrog"
        await do(room, "mode", "analitical")
        assert any("Did you mean `analytical`" in one for one in told(room))


async def test_witnessed_wants_a_witness(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+w", "escape")
        assert not room.screen.scope.witnessed
        await room.press("alt+w", "down", "enter")
        assert room.screen.scope.witnessed
        assert room.screen.scope.character == "PurpleFrog"
        await room.press("alt+w")
        assert not room.screen.scope.witnessed


async def test_where_nothing_was_read_the_list_says_what_to_do(unread: Path) -> None:
    async with a_room(unread) as room:
        for key in ("f2", "f3"):
            await room.press(key)
            assert shown_lines(room)[:2] == [
                "No manuscript has been read yet",
                "Press Ctrl+L to read your manuscript.",
            ]
            assert shown_note(room) == ""
            await room.press("escape")


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_both_lists_look_as_they_should(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    opening = ChatOptions(character="Nell", as_of="ch5")
    async with a_room(
        book, size=size, opening=opening, LRWR_SCREEN_THEME=theme
    ) as room:
        await room.press("f2", "down")
        await check_picture(room.app, f"characters-{width}-{theme}")
        await room.press("escape", "f3")
        await check_picture(room.app, f"horizon-{width}-{theme}")


async def test_keys_are_taken_in_the_order_in_which_they_are_pressed(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("f3")
        await room.hit("down", "down", "enter")
        assert room.screen.scope.as_of == "ch1:s1"
        await room.press("f2")
        await room.hit(*"ochra", "enter")
        assert room.screen.scope.character == "OchraMags"
        await room.press("alt+r")
        await room.hit(*"xyz", "enter")
        assert room.on_top


async def test_a_key_pressed_twice_opens_one_list(book: Path) -> None:
    async with a_room(book) as room:
        await room.hit("f2", "f2")
        assert isinstance(room.app.screen, CharactersScreen)
        await room.press("escape")
        assert room.on_top
