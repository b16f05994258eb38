"""Screens that show what the commands show: search, check, relations, quotes, recap."""

from pathlib import Path

import pytest
import typer
from textual.widgets import Input, Static
from typer.core import TyperGroup

from lrwr.cli.chat.commands import PLAIN_COMMANDS
from lrwr.cli.main import app as commands
from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS
from lrwr.tui.queries.search import split_chapters
from lrwr.tui.screens.check import CheckScreen
from lrwr.tui.screens.reader import ReaderScreen
from lrwr.tui.screens.scope import CharactersScreen, HorizonScreen
from lrwr.tui.screens.search import SearchScreen
from lrwr.tui.widgets.lists import LineList
from tests.fakes.paired import (
    highlighted,
    paired,
    shown_lines,
    shown_note,
    shown_rows,
    write_line,
)
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, Room, a_room
from tools.pictures import SHOTS

PAGE = Path(__file__).parents[2] / "docs" / "chat.md"
CANON = "lrwr.canon.toml"


async def found(room: Room, words: str) -> list[str]:
    """Type words into the search screen, and return its rows after the delay."""
    await room.type(words)
    await wait_for_typed(room)
    return shown_rows(room)


async def wait_for_typed(room: Room) -> None:
    """Wait until a search that starts after a delay is shown."""
    await room.pilot.pause(0.3)
    await room.settle()


async def test_a_search_shows_passages_while_typing_and_by_meaning_on_enter(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        assert isinstance(room.app.screen, SearchScreen)
        rows = await found(room, "lantern")
        assert rows
        assert "lantern" in rows[0].lower()
        await room.press("enter")
        assert isinstance(room.app.focused, Input)
        await room.press("enter")
        assert isinstance(room.app.focused, LineList)
        place = shown_lines(room)[0].split(":")[0]
        await room.press("alt+m")
        assert isinstance(room.app.screen, ReaderScreen)
        assert place.endswith((".md", ".docx"))


async def test_a_search_is_filtered_by_type_character_and_chapter(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        await found(room, "lantern")
        await room.press("f4")
        assert "type: scene" not in shown_note(room) or shown_rows(room)
        assert "type: all" not in shown_note(room)
        await room.press("f2")
        assert isinstance(room.app.screen, CharactersScreen)
        await room.type("nell")
        await room.press("enter")
        assert "character: Nell Tallow" in shown_note(room)
        await room.press("f3")
        assert isinstance(room.app.screen, HorizonScreen)
        await room.type("chapter 2")
        await room.press("enter")
        assert "up to: chapter 2" in shown_note(room)


async def test_a_search_is_limited_to_chapters_that_are_typed_or_chosen(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        rows = await found(room, "between ch2 and ch3 lantern")
        assert rows
        assert {row.split()[0] for row in rows} <= {"ch2", "ch3"}
        assert "chapters: ch2-ch3" in shown_note(room)
        paired(room).query_one(Input).value = "lantern"
        await room.press("f5")
        await write_line(room, "ch4")
        await wait_for_typed(room)
        assert {row.split()[0] for row in shown_rows(room)} == {"ch4"}
        await room.press("f5")
        await write_line(room, "all")
        assert "chapters: all" in shown_note(room)


@pytest.mark.parametrize(
    ("typed", "words", "chapters"),
    [
        ("storm ch5-ch8", "storm", "ch5-ch8"),
        ("storm in chapter 7", "storm", "ch7"),
        ("from ch5 to 8 storm", "storm", "ch5-8"),
        ("ch7", "", "ch7"),
        ("the watch5 storm", "the watch5 storm", ""),
    ],
)
def test_chapters_are_split_from_the_words_of_a_search(
    typed: str, words: str, chapters: str
) -> None:
    assert split_chapters(typed) == (words, chapters)


async def test_a_passage_without_the_quoted_phrase_is_marked(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        rows = await found(room, '"counted the cans"')
        marked = ["(without the phrase)" in row for row in rows]
        assert marked == sorted(marked)
        assert not marked[0]
        assert marked[-1]


async def test_a_search_without_results_says_so(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        assert await found(room, "zyzzyva [bold]") == []
        assert shown_lines(room) == ["No passage found for “zyzzyva [bold]”."]


async def test_function_words_are_searched_only_on_enter(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        assert await found(room, "the") == []
        assert shown_lines(room)[0].startswith("Press Enter to search for “the”")
        await room.press("enter")
        assert shown_rows(room)


async def test_a_missing_word_is_named_while_typing(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("ctrl+f")
        assert await found(room, "lantern zyzzyva")
        assert "zyzzyva" in shown_note(room)


async def test_both_passages_of_a_contradiction_are_shown(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+c", "down")
        assert highlighted(room).startswith("Nell Tallow, eyes: brown in ch2")
        left = "\n".join(shown_lines(room))
        assert "chapters/02-the-reeves-offer.md:47" in left
        right = paired(room).query_one("#check-found", LineList)
        assert right.evidence is not None
        assert right.evidence.document == "chapters/07-third-bell.docx"


async def test_a_contradiction_is_marked_as_intended_and_undone(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+c")
        rows = shown_rows(room)
        await room.press("i")
        await write_line(room, "she lies about it")
        assert shown_rows(room) == rows[1:]
        assert "she lies about it" in (book / CANON).read_text(encoding="utf-8")
        await room.press("u")
        assert shown_note(room).startswith("Undone: Marked as intended")
        assert shown_rows(room) == rows


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("alt+k", "OchraMags’s brother  GreyAnsel"),
        ("alt+q", "PurpleFrog  “Nine.”"),
        ("alt+y", "scene 1  BrineHob, Nell Tallow, PurpleFrog"),
    ],
)
async def test_lists_of_the_story_bible_have_a_key_each(
    book: Path, key: str, row: str
) -> None:
    async with a_room(book) as room:
        await room.press(key)
        assert row in shown_rows(room)
        assert any(".md:" in line for line in shown_lines(room))


@pytest.mark.parametrize(
    "key", ["alt+c", "alt+d", "alt+p", "alt+n", "alt+k", "alt+q", "alt+y"]
)
async def test_without_a_library_each_says_what_to_do(unread: Path, key: str) -> None:
    async with a_room(unread) as room:
        await room.press(key)
        assert "Press Ctrl+L to read your manuscript." in shown_lines(room)


async def test_changes_since_the_last_ingest_are_a_screen(book: Path) -> None:
    chapter = book / "chapters" / "02-the-reeves-offer.md"
    text = chapter.read_text().replace("which were brown", "which were green")
    chapter.write_text(f"{text}\n\nHob's beard was white.\n")
    async with a_room(book) as room:
        await room.press("alt+d")
        rows = shown_rows(room)
        assert rows[0] == "Documents"
        changed = "\n".join(shown_lines(room))
        assert "+ Hob's beard was white." in changed
        assert "which were brown" in changed
        assert "which were green" in changed
        assert any("1 paragraph" in row or "1 new" in row for row in rows)
        assert "last ingest" in shown_note(room)


async def test_without_changes_the_screen_shows_those_of_the_last_ingest(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("alt+d")
        assert shown_lines(room) == ["last ingest -> now: no changes."]
        await room.press("escape")
        chapter = book / "chapters" / "06-fog.md"
        text = chapter.read_text(encoding="utf-8")
        chapter.write_text(f"{text}\n\nHob's beard was white.\n", encoding="utf-8")
        room.screen.action_do("ingest")
        await room.settle()
        await room.press("alt+d")
        assert "+ Hob's beard was white." in "\n".join(shown_lines(room))
        assert "that the last ingest read" in shown_note(room)


async def test_quotes_are_those_of_the_speaker_in_a_chapter(book: Path) -> None:
    async with a_room(book) as room:
        room.screen.action_do("quotes", "Nell ch2")
        await room.settle()
        rows = shown_rows(room)
        assert [row for row in rows if row.startswith("Chapter")] == rows[:1]
        assert rows[0].startswith("Chapter 2")
        assert all(row.startswith("Nell Tallow") for row in rows[1:])


async def test_characters_are_shown_with_their_last_scene(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        assert "last ch" in shown_rows(room)[0]
        assert any(line.startswith("acts or speaks in") for line in shown_lines(room))


async def test_characters_are_shown_with_what_they_are_connected_with(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("f7")
        lines = shown_lines(room)
        connections = lines[lines.index("Connected with:") :]
        assert any("together in" in line for line in connections)
        details = paired(room).query_one(LineList)
        details.focus()
        details.highlighted = len(lines) - 1
        assert details.evidence is not None
        assert details.evidence.document.endswith((".md", ".docx"))


async def test_characters_who_do_not_appear_after_a_chapter_are_listed(
    book: Path,
) -> None:
    async with a_room(book) as room:
        room.screen.action_do("people", "since ch1")
        await room.settle()
        early = shown_rows(room)
        await room.type("since ch9")  # in place of the words, which are selected
        await room.settle()
        later = shown_rows(room)
        assert set(early) <= set(later)
        assert later
        assert all("last ch" in row and "last ch10" not in row for row in later)
        await room.press(*"00")
        assert len(shown_rows(room)) > len(later)


@pytest.mark.parametrize(("words", "title"), [("ch2", ", up to chapter 2"), ("", "")])
async def test_a_recap_ends_at_the_chapter_that_is_named(
    book: Path, words: str, title: str
) -> None:
    async with a_room(book) as room:
        room.screen.action_do("recap", words)
        await room.settle()
        chapters = [row for row in shown_rows(room) if row.startswith("Chapter")]
        assert len(chapters) == (2 if words else 10)
        shown = paired(room).query_one("#master-detail-title", Static).content
        assert shown == f"Recap{title}"


async def test_an_answer_from_an_outdated_library_says_so(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask("Who is Nell?")
        assert not any("Answered from" in text for text in notes(room))
        (book / "chapters" / "11-new.md").write_text("# Eleven\n\nNell slept.\n")
        await room.ask("Who is Hob?")
        assert any("Answered from 27 of 28 files" in text for text in notes(room))
        assert "1 file to read" in str(
            room.screen.query_one("#status-index", Static).content
        )


def notes(room: Room) -> list[str]:
    return [str(note.content) for note in room.screen.query(Static).results(Static)]


async def test_the_reason_typed_replaces_the_suggested_one(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+c", "i", *"lies")
        await room.press("enter")
        canon = (book / CANON).read_text(encoding="utf-8")
        assert '"lies"' in canon
        await room.press("s")
        assert any("intended: lies" in row for row in shown_rows(room))


def test_every_picture_of_the_docs_is_made_by_the_tool() -> None:
    pictures = PAGE.parent / "pictures"
    names = {path.stem for path in pictures.glob("*.svg")}
    assert names == {shot.name for shot in SHOTS}


NOT_PLAIN = {
    "copy": "the terminal's own copy takes text that is no screen",
    "side": "there are no panes",
    "stop": "Ctrl-C stops an answer",
    "watch": "`lrwr watch` in another terminal",
}
"""Commands of the screen that the line-based chat lacks, with the reason."""


def test_the_line_based_chat_has_every_command_of_the_screen() -> None:
    slashes = {action.slash for action in ROOM_ACTIONS if action.slash}
    assert slashes - {*PLAIN_COMMANDS, "quit"} == set(NOT_PLAIN)


def test_every_command_has_a_screen_or_a_reason() -> None:
    group = typer.main.get_command(commands)
    assert isinstance(group, TyperGroup)
    rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    listed = {
        name.strip("` "): shown for names, shown in rows for name in names.split(",")
    }
    assert sorted(listed) == sorted(group.list_commands(typer.Context(group)))
    assert all(listed.values())


def test_screens_of_the_table_are_one_key_and_one_command_away() -> None:
    slashes = {action.slash: action.keys for action in ROOM_ACTIONS if action.slash}
    for name in (
        "search",
        "check",
        "diff",
        "review",
        "timeline",
        "relations",
        "quotes",
        "recap",
        "gaps",
    ):
        assert slashes[name]


@pytest.mark.parametrize("name", ["check", "search", "quotes"])
@pytest.mark.parametrize(("width", "size", "theme"), LOOKS)
async def test_it_looks_so(
    book: Path, name: str, width: str, size: tuple[int, int], theme: str
) -> None:
    async with a_room(book, size=size, LRWR_SCREEN_THEME=theme) as room:
        room.screen.action_do(name, "lantern" if name == "search" else "")
        await room.settle()
        if name == "search":
            await wait_for_typed(room)
            await room.press("enter")
            await wait_for_typed(room)
        assert not isinstance(room.app.screen, CheckScreen) or shown_rows(room)
        await check_picture(room.app, f"{name}-{width}-{theme}")
