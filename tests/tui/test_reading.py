"""What is known of people, the world and what happens, each claim with its place."""

import asyncio
from pathlib import Path

import pytest

from lrwr.core.bible.values import Bible
from lrwr.core.retrieval.story import natural_key
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.widgets.lists import LineList, RowList
from lrwr.tui.widgets.status import RoomHeader
from tests.fakes.paired import (
    highlighted,
    paired,
    shown_lines,
    shown_note,
    shown_rows,
    until,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, NARROW, Room, a_room, look_again

ODD_NAME = "Nell [bold]Tallow[/]"


async def do(room: Room, name: str, words: str) -> None:
    room.screen.action_do(name, words)
    await room.settle()


async def test_a_profile_gives_every_claim_its_words_and_place(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7", "down")
        assert highlighted(room).startswith("Nell Tallow")
        lines = shown_lines(room)
        assert lines[0].startswith("Nell Tallow")
        assert any("notes/characters/" in line and "“" in line for line in lines)
        assert any("Traits, values, behaviour" in line for line in lines)
        assert any("not analysed (needs a language" in line for line in lines)


async def test_words_after_the_command_look_for_somebody(book: Path) -> None:
    async with a_room(book) as room:
        await do(room, "people", "bellman")
        assert shown_rows(room)[0].startswith("BrineHob")
        assert shown_lines(room)[0].startswith("BrineHob")


async def test_enter_on_words_opens_their_place_in_the_editor(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked.txt"
    editor = tmp_path / "code"
    editor.write_text(f'#!/bin/sh\necho "$@" >> "{asked}"\n', encoding="utf-8")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    async with a_room(book) as room:
        await room.press("f7", "enter")
        lines = paired(room).query_one(LineList)
        assert paired(room).focused is lines
        while lines.line is None or lines.line.evidence is None:
            await room.press("down")
        evidence = lines.line.evidence
        await room.press("enter")
        while not asked.exists() or not asked.read_text(encoding="utf-8"):
            await room.pilot.pause(0.02)
        opened = asked.read_text(encoding="utf-8")
        assert f"{evidence.document}:{evidence.lines.first}" in opened
        await room.press("left")
        assert paired(room).focused is paired(room).query_one(RowList)
        await room.press("escape")
        assert isinstance(room.app.screen, ChatScreen)


async def test_the_world_is_read_the_same_way(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f8")
        assert "Half House  setting" in shown_rows(room)
        await room.type("tide rul")
        await room.settle()
        assert shown_lines(room)[0].startswith("The tide rules")
        assert "Other technology, factions" in shown_note(room)


async def test_what_happens_is_told_in_order_and_by_character(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f9")
        chapters = [one for one in shown_rows(room) if one.startswith("Chapter")]
        assert chapters == sorted(chapters, key=natural_key)
        assert chapters[0].startswith("Chapter 1")
        await room.type("bellman")
        await room.settle()
        rows = [one for one in shown_rows(room) if not one.startswith("Chapter")]
        assert rows
        assert all("BrineHob" in one for one in rows)
        assert shown_lines(room)[0].startswith("Chapter 1")


async def test_nothing_of_later_is_known_under_a_horizon(book: Path) -> None:
    whole, early = {}, {}
    async with a_room(book) as room:
        for key in ("f7", "f8", "f9"):
            await room.press(key)
            whole[key] = len(shown_rows(room))
            await room.press("escape")
        room.screen.action_do("horizon", "ch1:s1")
        await room.settle()
        for key in ("f7", "f8", "f9"):
            await room.press(key)
            early[key] = len(shown_rows(room))
            lines = "\n".join(shown_lines(room))
            assert "chapters/02" not in lines
            assert "notes/" not in lines
            await room.press("escape")
    assert all(early[key] < whole[key] for key in whole)


async def test_what_is_like_nothing_is_said(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        await room.type("zzzzzz")
        await room.settle()
        assert shown_rows(room) == []
        assert shown_lines(room) == ["Nothing matches “zzzzzz”."]
        await room.press("enter")
        assert "zzzzzz" in shown_lines(room)[0]


async def test_where_nothing_was_read_every_screen_says_what_to_do(
    unread: Path,
) -> None:
    async with a_room(unread) as room:
        for key in ("f5", "f6", "f7", "f8", "f9"):
            await room.press(key)
            assert shown_lines(room)[-1] == "Press Ctrl+L to read your manuscript."
            await room.press("escape")


async def test_names_that_look_like_markup_are_shown_as_they_are(
    book: Path, home: Path
) -> None:
    (book / "notes/characters/odd.md").write_text(
        f"# {ODD_NAME}\n\nHas [red]hair[/] and \x1b[31mink. {'very ' * 900}long.\n",
        encoding="utf-8",
    )
    await asyncio.to_thread(look_again, book)
    async with a_room(book) as room:
        await room.press("f7")
        await room.type("[bold]")
        await room.settle()
        assert shown_rows(room)[0].startswith(ODD_NAME)
        lines = shown_lines(room)
        assert lines[0].startswith(ODD_NAME)
        assert "description: Has [red]hair[/] and ink.  confirmed" in lines


async def test_a_page_of_rows_is_turned_while_one_types(book: Path) -> None:
    async with a_room(book, size=NARROW) as room:
        await room.press("f7", "pagedown")
        rows = shown_rows(room)
        assert highlighted(room) in rows[3:]
        await room.press("pageup", "pageup")
        assert highlighted(room) == rows[0]


@pytest.mark.parametrize("key", ["f7", "f8", "f9", "alt+k", "alt+q", "alt+y"])
async def test_details_of_a_row_go_when_nothing_matches(book: Path, key: str) -> None:
    async with a_room(book) as room:
        await room.press(key)
        await room.hit(*"n", *"qqqzzz")
        await room.settle()
        assert not shown_rows(room)
        assert shown_lines(room) == ["Nothing matches “nqqqzzz”."]


async def test_details_that_are_still_loaded_do_not_come_back(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f9")
        screen = paired(room)
        screen._highlighted()
        screen.show_no_match("Nothing matches “x”.")
        await room.settle()
        assert shown_lines(room) == ["Nothing matches “x”."]


async def test_a_chapter_narrows_the_timeline_and_the_characters(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f9")
        await room.type("ch1")
        await room.settle()
        headings = [row for row in shown_rows(room) if row.startswith("Chapter")]
        assert len(headings) == 1
        assert "Chapter 1" in shown_lines(room)[0]
        await room.press("escape", "f7")
        everybody = shown_rows(room)
        await room.type("ch2")
        await room.settle()
        assert 0 < len(shown_rows(room)) < len(everybody)
        await room.type("99")
        await room.settle()
        assert shown_lines(room) == ["Nobody was found in chapter 299."]


async def test_quotes_from_one_character_to_another_are_found_by_both_names(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("alt+q")
        bible = getattr(paired(room), "bible", None)
        assert isinstance(bible, Bible)
        pair = next((q.speaker, q.addressee) for q in bible.quotes if q.addressee)
        said = [q for q in bible.quotes if (q.speaker, q.addressee) == pair]
        await room.type(" to ".join(pair).lower())
        await room.settle()
        rows = [row for row in shown_rows(room) if "  “" in row]
        assert len(rows) == len(said)
        assert all(name in shown_lines(room)[0] for name in pair)
        chapter = said[0].evidence.chapter
        await room.type(f" ch{chapter}")
        await room.settle()
        rows = [row for row in shown_rows(room) if "  “" in row]
        assert len(rows) == sum(q.evidence.chapter == chapter for q in said)


async def test_the_horizon_is_in_the_title_line_of_a_narrow_screen(book: Path) -> None:
    opening = ChatOptions(character="Nell", as_of="ch5")
    async with a_room(book, size=(60, 24), opening=opening) as room:
        header = room.screen.query_one(RoomHeader)
        await until(room, lambda: "up to chapter 5" in header.render_line(0).text)


async def test_a_click_reads_of_somebody(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        await room.pilot.click(RowList, offset=(4, 2))
        await room.settle()
        assert shown_lines(room)[0].startswith("OchraMags")
        await room.pilot.click(RowList, offset=(4, 2))
        assert paired(room).focused is paired(room).query_one(LineList)


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_each_screen_looks_as_it_should(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    opening = ChatOptions(as_of="ch5")
    async with a_room(
        book, size=size, opening=opening, LRWR_SCREEN_THEME=theme
    ) as room:
        for key, name in (("f7", "people"), ("f8", "world"), ("f9", "timeline")):
            await room.press(key, "down")
            await check_picture(room.app, f"{name}-{width}-{theme}")
            await room.press("escape")
