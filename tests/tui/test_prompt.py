"""Writing in the prompt, with a pilot at the keys."""

from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Static

from lrwr.app.presenters.text import LONGEST
from lrwr.tui.widgets.prompt import ANSWER_RUNNING, PromptInputArea
from tests.fakes.model_server import Hang, ModelServer
from tests.fakes.room import NARROW, Room, a_room


def prompt(room: Room) -> PromptInputArea:
    return room.screen.query_one(PromptInputArea)


def told(room: Room) -> str:
    line = room.screen.query_one("#prompt-hint", Static)
    return str(line.content) if line.display else ""


def questions(room: Room) -> list[str]:
    return [view.question for view in room.transcript.views]


async def paste(room: Room, text: str) -> None:
    room.app.post_message(Paste(text))
    await room.pilot.pause()


async def test_enter_asks_and_other_keys_begin_a_line(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("Who keeps")
        await room.press("alt+enter")
        await room.type("the")
        await room.press("ctrl+j")
        await room.type("ledger?")
        await room.press("shift+enter", "backspace", "enter")
        assert questions(room) == ["Who keeps\nthe\nledger?"]
        assert prompt(room).text == ""


async def test_the_prompt_grows_to_eight_lines(book: Path) -> None:
    async with a_room(book, size=NARROW) as room:
        heights = []
        for _ in range(10):
            heights.append(prompt(room).content_size.height)
            await room.press("alt+enter")
        assert heights == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]


async def test_letters_digits_and_signs_are_typed(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("c1 a2? [3] q")
        assert prompt(room).text == "c1 a2? [3] q"


async def test_letters_that_come_in_one_go_are_asked_with_enter(book: Path) -> None:
    async with a_room(book) as room:
        await room.pilot.press(*"ledger", "enter")
        await room.settle()
        assert questions(room) == ["ledger"]


async def test_former_questions_come_back_the_newest_first(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask("Who keeps the ledger?")
        await room.press("ctrl+n")
        await room.ask("Who is Nell?")
    async with a_room(book) as room:
        await room.type("a draft")
        await room.press("up")
        assert prompt(room).text == "Who is Nell?"
        await room.press("up")
        assert prompt(room).text == "Who keeps the ledger?"
        await room.type(" And why?")
        await room.press("alt+down")
        assert prompt(room).text == "Who is Nell?"
        await room.press("alt+up")
        assert prompt(room).text == "Who keeps the ledger?"
        await room.press("down", "down")
        assert prompt(room).text == "a draft"


async def test_up_and_down_go_through_the_lines_before_they_leave_them(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.ask("one\ntwo")
        await room.type("three\nfour")
        await room.press("up")
        assert prompt(room).text == "three\nfour"
        await room.press("up")
        assert prompt(room).text == "one\ntwo"
        await room.press("down")
        assert prompt(room).text == "three\nfour"


async def test_a_paste_comes_as_it_is_without_what_steers_a_terminal(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await paste(room, "one\r\ntwo\rthree\n\x1b[31mred\x1b[0m\u202e [bold]x[/]\t.")
        assert prompt(room).text == "one\ntwo\nthree\nred [bold]x[/]\t."
        assert questions(room) == []


async def test_a_text_too_long_is_told_of_and_kept(book: Path) -> None:
    long = "word " * (LONGEST // 5)
    async with a_room(book) as room:
        await paste(room, f"{long}and more")
        assert "4,008 characters" in told(room)
        await room.press("enter")
        assert questions(room) == []
        assert prompt(room).text == f"{long}and more"
        await room.press(*["backspace"] * 9)
        assert told(room) == "3,999 of 4,000 characters"


@pytest.mark.parametrize("typed", [" /character of hers?", "//character of hers?"])
async def test_a_question_may_begin_with_a_slash(book: Path, typed: str) -> None:
    async with a_room(book) as room:
        await room.ask(typed)
        assert questions(room) == ["/character of hers?"]


async def test_a_question_waits_while_an_answer_comes_and_a_command_does_not(
    book: Path,
) -> None:
    with ModelServer(key="") as server:
        server.answering(lambda _: Hang())
        async with a_room(book, model=server) as room:
            await room.type("Who is Nell?")
            await room.pilot.press("enter")
            await room.pilot.pause()
            await room.type("Who keeps the ledger?")
            await room.pilot.press("enter")
            await room.pilot.pause()
            assert questions(room) == ["Who is Nell?"]
            assert prompt(room).text == "Who keeps the ledger?"
            assert told(room) == ANSWER_RUNNING
            await room.pilot.press("escape")
            await room.settle()
            await room.pilot.press("ctrl+u")
            await room.type("/stop")
            await room.press("enter")
            assert prompt(room).text == ""
            assert not prompt(room).busy


@pytest.mark.exhaustive
async def test_two_questions_in_one_go_are_not_lost(book: Path) -> None:
    async with a_room(book) as room:
        await room.pilot.press(*"one", "enter", *"two", "enter")
        await room.settle()
        assert questions(room)[0] == "one"
        assert room.transcript.views[0].turn is not None
        assert "two" in (prompt(room).text, *questions(room))


async def test_a_broken_file_of_decisions_is_told_and_commands_go_on(
    book: Path,
) -> None:
    async with a_room(book) as room:
        (book / "lrwr.canon.toml").write_text("[[", encoding="utf-8")
        await room.type("/")
        await room.settle()
        assert any("canon" in one.message for one in room.app._notifications)
        await room.type("side")
        await room.press("enter")
        assert prompt(room).text == ""


async def test_a_question_that_is_not_sent_is_there_at_the_next_start(
    book: Path,
) -> None:
    async with a_room(book) as room:
        await room.type("Who")
        await room.pilot.press("ctrl+q")
        assert room.app._exit
    async with a_room(book) as room:
        assert prompt(room).text == "Who"
        await room.type("m?")
        assert prompt(room).text == "Whom?"
    async with a_room(book) as room:
        assert prompt(room).text == "", "it is shown once"


async def test_a_question_that_cannot_be_kept_is_not_lost_by_one_key(
    tmp_path: Path,
) -> None:
    async with a_room(tmp_path) as room:
        await room.type("Who")
        await room.pilot.press("ctrl+q")
        assert not room.app._exit
        (notice,) = room.app._notifications
        assert notice.message.startswith(
            "Your question is not sent. Press Ctrl+Q again"
        )
        await room.pilot.press("ctrl+q")
        assert room.app._exit


async def test_without_a_question_one_key_closes_the_room(book: Path) -> None:
    async with a_room(book) as room:
        await room.type("/he")
        await room.pilot.press("ctrl+q")
        assert room.app._exit
