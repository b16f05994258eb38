"""The reader: opening chapters, going from match to match, and what is marked."""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.widgets import Input, Static

from lrwr.core.model.text import LineIndex, Span
from lrwr.tui.queries.reader import compile_words_pattern, match_spans
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.screens.reader import ReaderScreen
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.sources import Sources
from lrwr.tui.widgets.text_pane import TextPane, wrap_line
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room, look_again

LEDGER = "Who keeps the ledger?"
NELL = "There was no need to have looked at him like that"


def reader(room: Room) -> ReaderScreen:
    assert isinstance(room.app.screen, ReaderScreen), room.app.screen
    return room.app.screen


def shown(room: Room, name: str) -> str:
    """Return a line of the reader: its title, who is present, or its status."""
    return str(reader(room).query_one(f"#reader-{name}", Static).content)


def visible(room: Room) -> str:
    """Return the text that is on the screen, wrapped lines joined."""
    pane = reader(room).query_one(TextPane)
    rows = [pane.render_line(y).text[8:].rstrip() for y in range(pane.size.height)]
    return " ".join(rows)


async def read(room: Room, words: str) -> None:
    room.screen.action_do("reader", words)
    await room.settle()


async def test_a_key_opens_the_first_chapter_with_who_is_present(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+m")
        assert shown(room, "title") == "Reader · Chapter 1 “Lighting-Up”, scene 1"
        assert "PurpleFrog counted the cans aloud" in visible(room)
        assert shown(room, "present").startswith("Present: BrineHob, Nell Tallow")
        assert "1 finding here" in shown(room, "status")
        await room.press("escape")
        assert room.on_top


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("ch6:s2", "Chapter 6 “Fog”, scene 2"),
        (
            "chapters/02-the-reeves-offer.md:47",
            "Chapter 2 “The Reeve’s Offer”, scene 1",
        ),
        ("notes/characters/GreyAnsel.md", "GreyAnsel"),
    ],
)
async def test_it_opens_where_it_is_told_to(book: Path, words: str, title: str) -> None:
    async with a_room(book) as room:
        await read(room, words)
        assert shown(room, "title") == f"Reader · {title}"


async def test_a_chapter_that_does_not_exist_is_reported(book: Path) -> None:
    async with a_room(book) as room:
        await read(room, "ch99")
        assert "The story has no chapter 99" in shown(room, "status")
        await room.press("n", "f", "right_square_bracket", "e", "escape")
        assert room.on_top


async def test_without_a_library_it_says_what_to_do(unread: Path) -> None:
    async with a_room(unread) as room:
        await room.press("alt+m")
        assert "Press Ctrl+L to read your manuscript." in shown(room, "status")


async def test_it_opens_again_where_it_was_closed(book: Path) -> None:
    async with a_room(book) as room:
        await read(room, "ch7")
        await room.press("f")
        place = shown(room, "status")
        await room.press("escape", "alt+m")
        assert shown(room, "title").startswith("Reader · Chapter 7")
        assert shown(room, "status") == place


async def test_it_opens_in_the_next_session_where_it_was_closed(book: Path) -> None:
    async with a_room(book) as room:
        await read(room, "ch7")
        await room.press("escape")
    async with a_room(book) as room:
        await room.press("alt+m")
        assert shown(room, "title").startswith("Reader · Chapter 7")


async def test_the_first_time_it_opens_the_first_chapter_and_not_what_is_before(
    book: Path,
) -> None:
    chapter = book / "chapters" / "01-lighting-up.md"
    preface = "# Preface\n\nFor all who keep lanterns, and for those who do not."
    text = chapter.read_text().replace("# Chapter", f"{preface}\n\n# Chapter", 1)
    chapter.write_text(text)
    await asyncio.to_thread(look_again, book)
    async with a_room(book) as room:
        await room.press("alt+m")
        state = reader(room)._state
        assert state is not None
        assert state.contents.parts[0].name.startswith("Before chapter 1")
        assert shown(room, "title").startswith("Reader · Chapter 1 “Lighting-Up”")


async def test_findings_are_visited_in_turn_and_around(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+m", "f")
        assert shown(room, "status").startswith("ladder, number of rungs: nineteen")
        assert reader(room).query_one("#reader-status").has_class("finding")
        await room.press("f")
        assert shown(room, "status").startswith("Nell Tallow, eyes: brown")
        assert "Chapter 2" in shown(room, "title")
        await room.press("F", "F")
        assert "Chapter 7" in shown(room, "title")
        assert NELL[:30] in visible(room)


async def test_the_chosen_character_is_highlighted_and_found_on_every_page(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("alt+m", "n")
        assert "Nothing is highlighted" in shown(room, "status")
        await room.press("c")
        await room.type("tinto")
        await room.press("enter")
        assert "TinToby: " in shown(room, "status")
        await room.press("n")
        first = shown(room, "title"), shown(room, "status")
        await room.press("n")
        assert (shown(room, "title"), shown(room, "status")) != first
        await room.press("N")
        assert (shown(room, "title"), shown(room, "status")) == first


async def test_words_are_found_in_later_chapters_whatever_their_quotes(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("alt+m", "slash")
        await room.type("It'll want a receipt")
        await room.press("enter")
        assert "Chapter 7" in shown(room, "title")
        assert "“It’ll want a receipt,”" in visible(room)
        await room.press("slash")
        field = reader(room).query_one(Input)
        field.value = "no such [bold]words[/]"
        await room.press("enter")
        assert shown(room, "status") == "“no such [bold]words[/]” is not in the text."


async def test_the_contents_open_chapters_and_scenes(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+m", "tab", "end")
        assert isinstance(room.app.focused, ContentsTree)
        await room.press("enter")
        assert shown(room, "present") == "A note, not part of the story"
        await room.press("tab", "home", "down", "down", "enter")
        assert shown(room, "title").startswith("Reader · Chapter")
        assert isinstance(room.app.focused, TextPane)
        await room.press("tab", "escape")
        assert isinstance(room.app.focused, TextPane)


async def test_pages_and_chapters_are_turned(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+m")
        top = visible(room)
        await room.press("space")
        assert visible(room) != top
        await room.press("b")
        assert visible(room) == top
        await room.press("left_square_bracket")
        assert "Chapter 1 " in shown(room, "title")
        await room.press("right_square_bracket", "right_square_bracket")
        assert "Chapter 3 " in shown(room, "title")


async def test_a_cited_passage_is_shown_in_the_reader(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("alt+1")
        assert isinstance(room.app.focused, Sources)
        turn = room.transcript.last
        assert turn is not None
        citation = turn.output.citations[0]
        await room.press("r")
        assert " ".join(citation.text.split())[:40] in visible(room)


async def test_the_line_of_a_list_is_shown_in_the_reader(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f9")
        await room.press("alt+m")
        assert shown(room, "title").startswith("Reader · Chapter 1")
        await room.press("escape")
        assert not isinstance(room.app.screen, ChatScreen | ReaderScreen)


async def test_text_is_never_markup_and_never_a_terminal_escape(book: Path) -> None:
    file = book / "chapters" / "01-lighting-up.md"
    async with a_room(book) as room:
        await room.press("alt+m")
        pane = reader(room).query_one(TextPane)
        text = file.read_text(encoding="utf-8")
        evil = f"[bold]loud[/] \x1b]0;title\x07 \u202eback\n{text}"
        pane.show(evil, Span(0, len(evil)), LineIndex.of(evil))
        row = pane.render_line(0).text
        assert "[bold]loud[/]" in row
        assert not set(row) & {"\x1b", "\x07", "\u202e"}


@given(st.text(alphabet="ab cdé世\u0301-", max_size=60), st.integers(2, 12))
def test_a_wrapped_line_is_the_whole_line_in_rows_that_fit(
    line: str, columns: int
) -> None:
    rows = list(wrap_line(line, columns))
    assert "".join(line[start:end] for start, end in rows) == line
    assert all(cell_len(line[a:b].rstrip(" ")) <= columns for a, b in rows)


def test_found_words_may_be_split_over_lines() -> None:
    pattern = compile_words_pattern('don\'t  "go"')
    assert pattern.search("He said DON’T\n“go” (twice).")
    assert not pattern.search("don t go")


@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_it_looks_so(
    book: Path, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        await read(room, "ch2")
        await room.press("f")
        await check_picture(room.app, f"reader-{width}-{theme}")


def test_a_name_within_the_name_of_somebody_else_is_no_mention() -> None:
    pattern = re.compile(r"(?<!\w)(?:Corin Vale|(Vale)|Hob)(?!\w)")
    text = "Corin Vale and Hob saw Vale."
    assert match_spans(pattern, text, Span(0, len(text))) == [Span(23, 27)]
    assert match_spans(re.compile("Hob"), text, Span(0, 20)) == [Span(15, 18)]


async def test_the_place_is_kept_when_lrwr_is_closed_from_the_reader(
    book: Path,
) -> None:
    async with a_room(book) as room:
        room.screen.action_do("reader", "ch3")
        await room.settle()
        await room.pilot.press("ctrl+q")
        assert room.app._exit
    async with a_room(book) as room:
        await room.press("alt+m")
        assert "Chapter 3" in shown(room, "title")
