"""The drafts screen: board, card, brief, check, text and decisions."""

from pathlib import Path

import pytest
from textual.widgets import Static

from lrwr.tui.screens.drafts import DraftsScreen
from lrwr.tui.widgets.lists import LineList, RowList
from tests.fakes.paired import (
    paired,
    shown_lines,
    shown_note,
    shown_rows,
    write_line,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room

CARD = """
### Chapter 11

#### The tide bell ^ch11-s1
- pov: Nell Tallow
- people: BrineHob
- words: 60

Nell rings the tide bell, and Hob hears it.
"""
DRAFT = "Nell's eyes were green. She rang the bell twice, and {who} heard it.\n"


def add_scene(book: Path, *drafts: str) -> None:
    """Add a card to the board, with drafts numbered from 1."""
    board = book / "drafts" / "board.md"
    board.write_text(board.read_text(encoding="utf-8") + CARD, encoding="utf-8")
    for number, text in enumerate(drafts, start=1):
        file = book / "drafts" / "scenes" / "ch11-s1" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


async def open_board(room: Room, book: Path, *drafts: str) -> None:
    """Make the board of the sample, add a scene with drafts, and highlight it."""
    await room.press("alt+g")
    assert isinstance(room.app.screen, DraftsScreen)
    await room.press("m")
    assert "has a card for each scene" in shown_note(room)
    add_scene(book, *drafts)
    await room.press("escape", "alt+g", "slash", *"tide", "enter")


async def test_without_a_board_one_key_makes_it(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+g")
        assert any("There is no board" in line for line in shown_lines(room))
        await room.press("m")
        assert "Scene 1  in the manuscript" in shown_rows(room)
        assert any(line.startswith("text: chapters/01-") for line in shown_lines(room))


async def test_a_scene_has_its_card_brief_text_and_difference(book: Path) -> None:
    async with a_room(book) as room:
        drafts = DRAFT.format(who="Hob"), DRAFT.format(who="nobody")
        await open_board(room, book, *drafts)
        assert "The tide bell  2 proposals" in shown_rows(room)
        assert "people: BrineHob" in shown_lines(room)
        await room.press("b")
        brief = shown_lines(room)
        assert brief[0].startswith("Brief of “The tide bell”, the story up to")
        assert any("chapters/" in line for line in brief)
        await room.press("t")
        assert drafts[1].strip() in shown_lines(room)
        await room.press("f")
        assert f"-{drafts[0].strip()}" in shown_lines(room)
        assert f"+{drafts[1].strip()}" in shown_lines(room)
        await room.press("k")
        assert "people: BrineHob" in shown_lines(room)


async def test_the_last_rows_are_about_all_scenes(book: Path) -> None:
    async with a_room(book) as room:
        await open_board(room, book, DRAFT.format(who="Hob"))
        await room.press("slash", *["backspace"] * 4, "enter")
        rows = shown_rows(room)
        assert rows[-4:] == [
            "All scenes",
            "What the plan leaves open",
            "Duplicates and orphans",
            "What became of each draft",
        ]
        list_ = paired(room).query_one(RowList)
        list_.highlighted = len(rows) - 1
        await room.settle()
        assert any(line.startswith("ch11-s1/1  ") for line in shown_lines(room))
        list_.highlighted = len(rows) - 3
        await room.settle()
        assert {"Intent", "Sheets", "Scenes"} <= {*shown_lines(room)}
        before = shown_lines(room)
        await room.press("b")
        assert shown_lines(room) == before, "these rows have no brief"
        list_.highlighted = len(rows) - 2
        await room.settle()
        assert "hint" in shown_lines(room)[-1]


async def test_findings_of_a_draft_open_at_its_line(book: Path) -> None:
    async with a_room(book) as room:
        await open_board(room, book, f"The bell hung still.\n\n{DRAFT}")
        await room.press("c")
        lines = paired(room).query_one(LineList)
        assert any("green" in line for line in shown_lines(room))
        assert lines.evidence is not None


async def test_a_draft_is_accepted_as_a_new_file_and_undone(book: Path) -> None:
    async with a_room(book) as room:
        await open_board(room, book, DRAFT.format(who="Hob"))
        await room.press("a")
        note = str(room.app.screen.query_one(".input-note", Static).render())
        assert note.startswith("It has ")
        assert "1 contradiction" in note
        await write_line(room, "chapters/11-the-tide-bell.md")
        file = book / "chapters" / "11-the-tide-bell.md"
        assert file.read_text(encoding="utf-8") == DRAFT.format(who="Hob")
        assert "chapters/11-the-tide-bell.md created" in shown_note(room)
        await room.press("u")
        assert not file.exists()
        assert "removed; the draft stays" in shown_note(room)


async def test_a_file_of_the_manuscript_is_never_replaced(book: Path) -> None:
    before = (book / "chapters" / "10-a-clean-page.md").read_bytes()
    async with a_room(book) as room:
        await open_board(room, book, DRAFT.format(who="Hob"))
        await room.press("a")
        await write_line(room, "chapters/10-a-clean-page.md")
        assert "already exists" in shown_note(room)
    assert (book / "chapters" / "10-a-clean-page.md").read_bytes() == before


async def test_a_rejected_draft_gives_way_to_the_one_before(book: Path) -> None:
    async with a_room(book) as room:
        drafts = DRAFT.format(who="Hob"), DRAFT.format(who="nobody")
        await open_board(room, book, *drafts)
        await room.press("x")
        assert shown_note(room).startswith("ch11-s1/2 is rejected")
        await room.press("t")
        assert drafts[0].strip() in shown_lines(room)


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_it_looks_so(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await open_board(room, book, DRAFT.format(who="Hob"))
        await room.press("escape", "alt+g")
        await check_picture(room.app, f"drafts-{width}-{theme}")
