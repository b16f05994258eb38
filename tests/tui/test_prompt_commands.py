"""Commands in the prompt: offered, completed, done."""

import asyncio
from pathlib import Path

from textual.widgets import Static

from lrwr.core.model.choices import AnswerMode
from lrwr.tui.widgets.prompt import PromptInputArea, SuggestionList
from lrwr.tui.widgets.sources import Sources
from tests.fakes.paired import until
from tests.fakes.room import Room, a_room, look_again


def prompt(room: Room) -> PromptInputArea:
    return room.screen.query_one(PromptInputArea)


def offered(room: Room) -> list[str]:
    found = room.screen.query_one(SuggestionList)
    shown = [str(one.prompt).split("  ")[0].strip() for one in found.options]
    return shown if found.display else []


async def test_a_slash_offers_the_commands_and_letters_narrow_them(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/")
        await room.settle()
        assert {"/help", "/character [NAME]", "/quit"} <= set(offered(room))
        await room.type("th")
        await room.settle()
        assert offered(room) == ["/threads"]
        await room.press("backspace", "backspace", "backspace")
        assert offered(room) == []


async def test_tab_completes_a_command_and_then_a_name(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/ch")
        await room.press("tab")
        assert prompt(room).text == "/character "
        assert "Nell Tallow" in offered(room)
        await room.type("nel")
        await room.press("tab")
        assert prompt(room).text == "/character Nell Tallow"
        assert offered(room) == []
        await room.press("enter")
        assert room.screen.scope.character == "Nell Tallow"


async def test_enter_takes_what_is_chosen_and_does_it(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/character nel")
        await room.settle()
        await room.press("enter")
        assert room.screen.scope.character == "Nell Tallow"
        await room.type("/mode ")
        await room.settle()
        await room.press("down", "down", "enter")
        assert room.screen.scope.mode is AnswerMode.IN_CHARACTER
        await room.type("/as")
        await room.press("enter")
        await room.type("third")
        await room.press("enter")
        assert room.screen.scope.as_of == "ch7"


async def test_people_are_offered_as_far_as_the_story_has_come(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/character ")
        await room.settle()
        assert "Nell Tallow" in offered(room)
        await room.press("ctrl+u")
        await room.ask("/asof ch1")
        await room.type("/character ")
        await room.settle()
        assert "Nell" in offered(room)
        assert "Nell Tallow" not in offered(room)


async def test_escape_takes_the_offers_away_and_leaves_the_text(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/ch")
        await room.press("escape")
        assert offered(room) == []
        assert prompt(room).text == "/ch"


async def test_a_click_takes_an_offer(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/si")
        await room.settle()
        await room.pilot.click(SuggestionList, offset=(3, 0))
        await room.settle()
        assert prompt(room).text == ""
        assert not room.screen.query_one(Sources).display


async def test_an_unknown_command_is_told_and_stays(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask("/charcter")
        line = room.screen.query_one("#prompt-hint", Static)
        assert (
            str(line.content)
            == "There is no command /charcter. Did you mean /character?"
        )
        assert prompt(room).text == "/charcter"
        await room.press("backspace")
        assert not line.display


async def test_what_came_back_is_not_offered_to_go_on(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask("Who keeps the ledger?")
        await room.ask("/side")
        await room.press("up")
        assert prompt(room).text == "/side"
        await room.press("up")
        assert prompt(room).text == "Who keeps the ledger?"


async def test_tab_goes_on_to_the_next_part_where_there_is_no_command(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.press("tab")
        assert not prompt(room).has_focus


async def test_a_name_of_the_text_is_no_markup(book: Path) -> None:
    from lrwr.tui.input.prompt import CompletionContext

    async with a_room(book) as room:
        await room.type("/character ")
        await room.settle()
        prompt(room).completions = CompletionContext(
            ("[bold]x[/]", "\x1b[31mred", "e\u0301\u202e" * 300)
        )
        await room.pilot.pause()
        assert offered(room)[:2] == ["[bold]x[/]", "red"]


async def test_the_reason_why_a_command_is_refused_stays_after_fast_typing(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.hit(*"/nonsense", "enter")
        hint = room.screen.query_one("#prompt-hint", Static)
        assert "There is no command /nonsense" in str(hint.render())
        assert hint.display
        await room.press("backspace")
        assert not hint.display


async def test_chapters_are_offered_as_they_are_counted_after_reading_went_on(
    book: Path,
) -> None:
    first = min((book / "chapters").glob("*.md"))
    text = first.read_text(encoding="utf-8")
    first.unlink()
    await asyncio.to_thread(look_again, book)
    async with a_room(book) as room:
        await room.type("/")
        await room.settle()
        early = dict(prompt(room).completions.places)
        await room.press("backspace")
        first.write_text(text, encoding="utf-8")
        version = room.screen.library_version
        await room.press("alt+l")
        await until(
            room,
            lambda: (
                room.screen.library_version > version
                and bool(prompt(room).completions.places)
            ),
        )
        assert dict(prompt(room).completions.places) != early
        assert len(prompt(room).completions.places) == len(early) + 1
