"""What is left open is answered, left so, put off and taken back."""

from pathlib import Path

import pytest
from textual.widgets import Input

from lrwr.tui.scope import ChatOptions
from lrwr.tui.widgets.lists import RowList
from tests.fakes.paired import (
    highlighted,
    shown_lines,
    shown_note,
    shown_rows,
    write_line,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room

CANON = "lrwr.canon.toml"


async def open_gaps(room: Room) -> list[str]:
    await room.press("f6")
    return shown_rows(room)


async def test_a_gap_is_shown_with_its_words_and_where_an_answer_goes(
    book: Path,
) -> None:
    async with a_room(book) as room:
        rows = await open_gaps(room)
        assert rows[0] == "Not answered yet"
        assert highlighted(room) == rows[1]
        lines = "\n".join(shown_lines(room))
        assert "notes/characters/GreyAnsel.md:16" in lines
        assert "saved in lrwr.canon.toml" in lines
        assert "not analysed (needs a language model)" in shown_note(room)


async def test_an_answer_is_canon_and_can_be_taken_back(book: Path) -> None:
    canon = book / CANON
    before = canon.read_text(encoding="utf-8") if canon.exists() else ""
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.press("enter")
        await write_line(room, "for [bold]eels[/]")
        assert "for [bold]eels[/]" in canon.read_text(encoding="utf-8")
        assert shown_rows(room) == [rows[0], *rows[2:]]
        assert highlighted(room) == rows[2]
        assert "Saved in lrwr.canon.toml; press u to undo." in shown_note(room)
        await room.press("u")
        assert shown_note(room).startswith("Undone: Answered “GreyAnsel")
        assert shown_rows(room) == rows
        after = canon.read_text(encoding="utf-8") if canon.exists() else ""
        assert after == before


async def test_an_answer_is_changed_and_a_question_left_open_is_answered(
    book: Path,
) -> None:
    canon = book / CANON
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.press("enter")
        await write_line(room, "eels")
        await room.press("d", "s")
        shown = shown_rows(room)
        assert shown[-3:] == ["Answered and closed", *rows[1:3]]
        await room.press("end")
        assert highlighted(room) == rows[2]
        await room.press("enter")
        await write_line(room, "mud")
        text = canon.read_text(encoding="utf-8")
        assert 'answer = "mud"' in text
        assert "wont_say" not in text
        await room.press("end", "up", "enter")
        assert room.app.screen.query_one(Input).value == "eels"
        await write_line(room, "eels and mud")
        assert 'answer = "eels and mud"' in canon.read_text(encoding="utf-8")
        await room.press("end", "up", "d")
        assert "wont_say" in canon.read_text(encoding="utf-8")


async def test_nothing_written_answers_nothing(book: Path) -> None:
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.press("a", "enter")
        await room.press("a", "escape")
        assert shown_rows(room) == rows
        assert not (book / CANON).exists()


async def test_a_gap_is_left_open_on_purpose(book: Path) -> None:
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.press("down", "d")
        assert rows[2] not in shown_rows(room)
        assert "Left open on purpose" in shown_note(room)
        await room.press("u", "u")
        assert shown_rows(room) == rows
        assert "There is no decision to undo" in shown_note(room)


async def test_a_decision_made_elsewhere_is_named_before_it_is_undone(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("alt+c", "i", "enter", "escape")
        await open_gaps(room)
        await room.press("u")
        assert "The last decision was made elsewhere: " in shown_note(room)
        assert "on purpose" in (book / CANON).read_text(encoding="utf-8")
        await room.press("u")
        assert shown_note(room).startswith("Undone: ")
        assert not (book / CANON).exists()


async def test_a_gap_that_is_put_off_goes_to_the_end_and_nothing_is_kept(
    book: Path,
) -> None:
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.press("p")
        assert shown_rows(room)[-2:] == ["Later", rows[1]]
        assert highlighted(room) == rows[2]
        assert not (book / CANON).exists()
        await room.press("escape")
        assert await open_gaps(room) == rows


async def test_what_was_decided_elsewhere_since_is_left_alone(book: Path) -> None:
    from lrwr.app.container import Workspace
    from lrwr.core.canon.decision import CanonChange, NameConfirmed

    async def confirm(workspace: Workspace) -> CanonChange:
        return workspace.canon.decide(NameConfirmed("Monday"))

    async with a_room(book) as room:
        await open_gaps(room)
        await room.press("d")
        await room.stage.run(confirm)
        await room.press("u")
        assert "The last decision was made elsewhere: " in shown_note(room)
        assert "Monday" in (book / CANON).read_text(encoding="utf-8")


async def test_what_this_talk_came_upon_stands_first(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask("What is left open about TallowJack?")
        rows = await open_gaps(room)
        assert rows[0] == "From this thread"
        assert rows[1].startswith("I have not decided what is in the tin")
        assert rows[2] == "Not answered yet"
        assert rows[3].startswith("Undecided on purpose")


async def test_under_a_horizon_nothing_of_later_is_asked(book: Path) -> None:
    async with a_room(book, opening=ChatOptions(as_of="ch1")) as room:
        assert await open_gaps(room) == []
        assert shown_lines(room) == ["No open questions found up to chapter 1."]


async def test_a_gap_is_chosen_by_mouse(book: Path) -> None:
    async with a_room(book) as room:
        rows = await open_gaps(room)
        await room.pilot.click(RowList, offset=(4, 2))
        await room.settle()
        assert highlighted(room) == rows[2]
        await room.pilot.click(RowList, offset=(4, 2))
        await room.settle()
        await write_line(room, "tin")
        assert "tin" in (book / CANON).read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_the_gaps_look_as_they_should(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await room.press("f6", "d")
        await check_picture(room.app, f"gaps-{width}-{theme}")
