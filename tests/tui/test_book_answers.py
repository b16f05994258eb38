"""Answers on the reading screen: as they are stored, scrolled, and brought into view."""

import json
from functools import partial

from textual.widgets import Input, Static

from lrwr.app.books import BookRecord, Bookshelf
from lrwr.app.container import Workspace
from lrwr.core.model.turns import Turn
from tests.fakes.book_screen import open_screen, press, shown, wait_until
from tests.fakes.model_server import ModelServer, Refuse, Say
from tests.fakes.room import Room

ANSWER_STEP = json.dumps({"step": "answer", "phrasings": [], "chapter": 0, "part": 0})
PAGE_STEP = json.dumps({**json.loads(ANSWER_STEP), "step": "current_page"})


async def read_only_turn(workspace: Workspace) -> Turn:
    (thread,) = await workspace.threads.threads()
    (turn,) = await workspace.threads.turns(thread.id)
    return turn


def lines_of_answer(room: Room) -> str:
    """Return what is seen of the answer."""
    details = room.app.screen.query_one("#book-details")
    strips = room.app.screen.query_one("#book-detail", Static)
    top = int(details.scroll_offset.y)
    rows = range(top, top + details.scrollable_content_region.height)
    return "\n".join(strips.render_line(y).text for y in rows if y < strips.size.height)


def is_seen_in_answer(room: Room, words: str) -> bool:
    return words in lines_of_answer(room)


async def test_a_finished_answer_has_the_numbers_with_which_it_is_stored(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    server.will(
        Say(PAGE_STEP),
        Say(ANSWER_STEP),
        Say(
            "“Nell counted 16 lamps” [1]. “Nell counted 19 lamps” [1]. She leaves [77]."
        ),
    )
    async with open_screen(lanterns, shelf, model=server) as room:
        await press(room, "space", "a")
        await room.pilot.press(*"Why?")
        await press(room, "enter")
        text = (await room.stage.run(read_only_turn)).output.response_text
        assert text in shown(room, "detail")
        assert text.count("[1]") == 1
        assert "[77]" in shown(room, "detail").partition("She leaves.")[2]


async def test_a_question_without_a_selection_is_about_no_passage(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    server.will(Say(ANSWER_STEP), Say("The text so far does not say it."))
    async with open_screen(lanterns, shelf, model=server) as room:
        await press(room, "space", "a")
        line = room.app.screen.query_one("#book-input", Input)
        assert line.placeholder == "Ask about what you have read…"
        await press(room, *"Why?", "enter")
        turn = await room.stage.run(read_only_turn)
        assert turn.question == "Why?"
        assert "passage in question" not in server.asked[0].texts[1]


async def test_citations_are_opened_one_after_another_and_left_by_the_same_key(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    server.will(
        Say(PAGE_STEP), Say(ANSWER_STEP),
        Say("“Nell counted 12 lamps” [1]. She counts “18 lamps on the Strake” [2]."),
    )  # fmt: skip
    async with open_screen(lanterns, shelf, model=server) as room:
        await press(room, "o")
        assert "No answer is shown" in shown(room, "status")
        await press(room, "space", "down", "a", *"Why?", "enter")
        detail, start = shown(room, "detail"), shown(room, "status").split()[1]
        assert "[1] paragraph 13 “Nell counted 12 lamps”" in detail
        assert "paragraph 19 “18 lamps on the Strake”" in detail
        position = shelf.position(lanterns.id)
        places = []
        for key in ("o", "o", "o", "o", "O"):
            await press(room, key)
            places.append(shown(room, "status").split()[1])
        assert places == ["13", "19", start, "13", start]
        assert shelf.position(lanterns.id) == position
        await press(room, "b", "o", "O", "a")
        line = room.app.screen.query_one("#book-input", Input)
        assert line.placeholder == "Ask about what you have read…"


async def test_an_error_is_shown_on_as_many_lines_as_it_has(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    server.will(Refuse(400))
    async with open_screen(lanterns, shelf, size=(60, 30), model=server) as room:
        await press(room, "a", *"Why?", "enter")
        status = room.app.screen.query_one("#book-status", Static)
        assert len(str(status.content)) > 60
        await wait_until(room, lambda: status.size.height > 1)
        await press(room, "down")
        await wait_until(room, lambda: status.size.height == 1)


async def test_a_long_answer_is_scrolled_by_the_keys_shown_and_the_text_stays(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    lines = [f"Line {n} says nothing." for n in range(1, 41)]
    server.will(Say(ANSWER_STEP), Say("\n".join(lines)))
    async with open_screen(lanterns, shelf, size=(80, 30), model=server) as room:
        await press(room, "a")
        await room.pilot.press(*"Why?")
        await press(room, "enter")
        assert "s, S scroll the answer" in shown(room, "status")
        position = shelf.position(lanterns.id)
        assert "Why?" in lines_of_answer(room)
        await press(room, "s")
        assert "Why?" not in lines_of_answer(room)
        assert "Line 12 says" in lines_of_answer(room)
        await press(room, *"s" * 20)
        assert shelf.position(lanterns.id) == position
        await press(room, *"S" * 20)
        assert "Why?" in lines_of_answer(room)


async def test_a_further_answer_is_brought_into_view(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    long = "\n".join(f"Line {n} says nothing." for n in range(1, 41))
    server.will(Say(ANSWER_STEP), Say(long), Say(ANSWER_STEP), Say(long + "\nLast."))
    async with open_screen(lanterns, shelf, size=(80, 30), model=server) as room:
        for question in ("Why?", "Who?"):
            await press(room, "a")
            await room.pilot.press(*question)
            await press(room, "enter")
            await wait_until(room, partial(is_seen_in_answer, room, question))
        assert lines_of_answer(room).strip().startswith("Who?")
