"""`lrwr read` in a terminal: reading on, selecting, annotating, finding and asking."""

import json
from threading import Event

import pytest
from textual.events import Key
from textual.widgets import Input, Static

from lrwr.app.books import (
    BookRecord,
    Bookshelf,
)
from lrwr.tui.book_app import BookScreen
from lrwr.tui.screens.book import BookContents, BookPane
from lrwr.tui.screens.dialogs import ConsentScreen
from lrwr.tui.screens.help import HelpScreen
from tests.fakes.book_screen import (
    LONGEST,
    is_last_whole_one,
    open_screen,
    press,
    settle,
    shown,
    visible,
    wait_until,
)
from tests.fakes.model_server import Asked, ModelServer, Say
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS


async def test_reading_begins_at_the_first_page_and_space_reads_on(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        assert "counted 11 lamps" in visible(room)
        assert "counted 12 lamps" not in visible(room)
        await wait_until(room, lambda: shelf.position(lanterns.id) == 12)
        await press(room, "space")
        assert "counted 19 lamps" in visible(room)
        await wait_until(room, lambda: shelf.position(lanterns.id) == 20)
        assert "Flood" not in shown(room, "title")
        await press(room, "space")
        assert "Hob sold the lamps" in visible(room)
        await wait_until(room, lambda: "(100 %)" in shown(room, "title"))
        await press(room, "space")
        assert "whole book" in shown(room, "status")
    async with open_screen(lanterns, shelf) as room:
        assert "Hob sold the lamps" in visible(room)
        await press(room, "down")
        assert "For silver." in shown(room, "detail")


async def test_nothing_after_the_position_is_on_the_screen(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        tree = room.app.screen.query_one(BookContents)
        labels = [str(node.label) for node in tree.root.children]
        assert labels == ["Chapter 1. Ebb"]
        await press(room, "j", "j", "j", "j", "j", "j", "j", "j", "j", "j", "j", "j")
        assert "Space shows the next page" in shown(room, "status")
        assert "counted 12" not in visible(room)
        await press(room, "slash")
        await room.pilot.press(*"sold")
        await press(room, "enter")
        assert "not in what you have read" in shown(room, "status")


async def test_a_paragraph_or_a_sentence_is_highlighted_and_commented(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down", "2")
        await press(room, "down", "right", "right", "e")
        await room.pilot.press(*"Lonely")
        await press(room, "enter")
        assert "Your note: Lonely" in shown(room, "detail")
        first, second = shelf.annotations(lanterns.id)
        assert (first.color, first.note) == ("green", "")
        assert first.quote.endswith("Nobody else did.")
        assert (second.quote, second.note) == ("Nobody else did.", "Lonely")
        tree = room.app.screen.query_one(BookContents)
        assert [str(n.label) for n in tree.root.children[-1].children][1] == "Lonely"
        await press(room, "d")
        assert len(shelf.annotations(lanterns.id)) == 1
        await press(room, "d")
        assert "no highlight or note here" in shown(room, "status")
    async with open_screen(lanterns, shelf) as room:
        await press(room, "tab", "down", "down", "enter")
        assert shown(room, "detail") == "Highlighted in green"


async def test_annotations_that_begin_alike_have_their_paragraphs(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down", "right", "right", "1", "down", "right", "right", "1")
        tree = room.app.screen.query_one(BookContents)
        labels = [str(n.label) for n in tree.root.children[-1].children]
        assert [label.partition(" ")[0] for label in labels] == ["2:", "3:"]
        await press(room, "d")
        (node,) = tree.root.children[-1].children
        assert str(node.label).startswith("“")


async def test_words_are_found_in_what_has_been_read_forward_and_back(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "n")
        assert "Press / to find text" in shown(room, "status")
        await press(room, "slash")
        await room.pilot.press(*"Nobody")
        await press(room, "enter")
        assert shown(room, "status").startswith("Paragraph 2 ")
        await press(room, "n")
        assert shown(room, "status").startswith("Paragraph 3 ")
        await press(room, "N", "N")
        assert shown(room, "status").startswith("Paragraph 12  match 11 of 11 ")


async def test_the_word_with_a_footnote_is_marked_also_in_the_margin(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        pane = room.app.screen.query_one(BookPane)
        assert "†" not in " ".join(pane.render_line(y).text for y in range(20))
        await press(room, "space", "space")
        rows = [pane.render_line(y).text for y in range(pane.size.height)]
        assert [row.strip() for row in rows if "†" in row] == [
            "22 † Hob sold the lamps."
        ]
        (row,) = (y for y, text in enumerate(rows) if "†" in text)
        word = pane.get_component_rich_style("text-pane--note").color
        marked = [
            s.text for s in pane.render_line(row) if s.style and s.style.color == word
        ]
        assert marked == ["† ", "lamps"]


async def test_escape_ends_a_search_before_the_book_and_leaving_the_line_closes_it(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "slash", *"Nobody", "enter")
        assert "1 yellow" in shown(room, "status")
        await press(room, "escape")
        assert room.app.is_running
        await press(room, "n")
        assert "Press / to find text" in shown(room, "status")
        await press(room, "slash")
        line = room.app.screen.query_one("#book-input", Input)
        assert line.display
        room.app.screen.set_focus(room.app.screen.query_one(BookContents))
        await press(room, "down")
        assert not line.display


async def test_a_question_about_the_selection_is_answered_with_steps_and_paragraphs(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    reply = {"step": "current_page", "phrasings": [], "chapter": 0, "part": 0}
    server.will(
        Say(json.dumps(reply)),
        Say(json.dumps({**reply, "step": "answer"})),
        Say("She counts lamps [1]."),
    )
    async with open_screen(lanterns, shelf, model=server) as room:
        await press(room, "down", "a")
        await room.pilot.press(*"Why?")
        await press(room, "enter")
        detail = shown(room, "detail")
        assert "Why?\nShe counts lamps [1]." in detail
        assert "[1] paragraph 2 “Nell counted 1 lamps" in detail
        assert "passage in question" in server.asked[0].texts[1]
        assert "counted 12" not in "".join(t for a in server.asked for t in a.texts)
        await press(room, "escape")
        assert "She counts" not in shown(room, "detail")
        await press(room, "escape")
    assert room.app.return_value is None


async def test_without_a_model_the_book_is_quoted(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "space", "a")
        await room.pilot.press(*"Who counted 3 lamps?")
        await press(room, "enter")
        assert "lamps" in shown(room, "detail").partition("\n")[2]


async def test_escape_closes_what_was_opened_last(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "slash")
        assert isinstance(room.app.focused, Input)
        await press(room, "escape")
        assert isinstance(room.app.focused, BookPane)
        await press(room, "tab")
        assert isinstance(room.app.focused, BookContents)
        await press(room, "tab")
        assert isinstance(room.app.focused, BookPane)


@pytest.mark.parametrize(("name", "size", "theme"), LOOKS)
async def test_the_screen_looks_so(
    lanterns: BookRecord,
    shelf: Bookshelf,
    name: str,
    size: tuple[int, int],
    theme: str,
) -> None:
    async with open_screen(lanterns, shelf, size=size, LRWR_SCREEN_THEME=theme) as room:
        await press(room, "down", "1", "down", "right", "4", "right")
        await check_picture(room.app, f"book-{name}-{theme}")


async def test_the_position_is_the_last_paragraph_that_was_wholly_on_the_screen(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf, size=(60, 14)) as room:
        positions = []
        for _ in range(3):
            await wait_until(room, lambda: is_last_whole_one(room, shelf, lanterns))
            positions.append(shelf.position(lanterns.id))
            await press(room, "space")
        assert positions == sorted(set(positions))
        assert positions[0] < 12


async def test_a_book_that_reads_on_begins_with_the_paragraph_after_the_position(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    shelf.store_position(lanterns.id, 5)
    async with open_screen(lanterns, shelf, size=(60, 14), reads_on=True) as room:
        await wait_until(room, lambda: is_last_whole_one(room, shelf, lanterns))
        assert 5 < shelf.position(lanterns.id) < 12
        assert visible(room).startswith("Nell counted 5 lamps")
        assert shown(room, "status").startswith("Paragraph 6 ")


async def test_after_a_scroll_the_first_paragraph_on_the_screen_is_selected(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf, size=(60, 14)) as room:
        await press(room, "space", "2")
        (annotation,) = shelf.annotations(lanterns.id)
        assert annotation.quote.split(" on ")[0] in visible(room)
        assert "counted 1 lamps" not in annotation.quote


async def test_highlighting_the_same_paragraph_again_changes_its_colour(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down", "1", "1", "2")
        (annotation,) = shelf.annotations(lanterns.id)
        assert annotation.color == "green"


async def test_a_note_on_highlighted_words_is_added_to_the_highlight_and_edited(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down", "2", "e", *"Dim", "enter")
        await press(room, "e", *"mer", "enter")
        (annotation,) = shelf.annotations(lanterns.id)
        assert (annotation.color, annotation.note) == ("green", "Dimmer")


async def test_escape_closes_the_note_below_the_text_before_the_book(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down", "1")
        details = room.app.screen.query_one("#book-details")
        assert details.has_class("shown")
        await press(room, "escape")
        assert room.app.is_running
        assert not details.has_class("shown")
        await press(room, "down", "up")
        assert details.has_class("shown")


async def test_the_keys_of_the_colours_are_shown(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "down")
        assert "1 yellow  2 green  3 blue  4 pink" in shown(room, "status")


async def test_a_question_asked_during_an_answer_is_answered_after_it(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    answer = {"step": "answer", "phrasings": [], "chapter": 0, "part": 0}
    may_answer = Event()

    def reply(asked: Asked) -> str:
        if asked.schema:
            return json.dumps(answer)
        may_answer.wait(LONGEST)
        return (
            "She likes it." if "question: Why?" in asked.texts[1] else "Nobody knows."
        )

    server.answering(reply)
    async with open_screen(lanterns, shelf, model=server) as room:
        await room.pilot.press("a", *"Why?", "enter")
        await wait_until(room, lambda: len(server.asked) == 2)
        await room.pilot.press("a", *"Who?", "enter")
        await wait_until(room, lambda: "1 question waiting" in shown(room, "status"))
        may_answer.set()
        await wait_until(room, lambda: "Nobody knows." in shown(room, "detail"))
        detail = shown(room, "detail")
        assert detail.index("She likes it.") < detail.index("Who?")
        assert detail.index("Who?") < detail.index("Nobody knows.")
        assert "Reader: Why?" in "".join(server.asked[2].texts)


async def test_a_deleted_note_is_restored_by_the_key_shown(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "u")
        assert "Nothing was deleted" in shown(room, "status")
        await press(room, "down", "e", *"Dim", "enter")
        before = shelf.annotations(lanterns.id)
        await press(room, "d")
        assert shelf.annotations(lanterns.id) == []
        assert "u restores it" in shown(room, "status")
        await press(room, "u")
        assert shelf.annotations(lanterns.id) == before
        assert "Dim" in shown(room, "detail")


async def test_a_jump_by_the_contents_does_not_move_the_position(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    shelf.store_position(lanterns.id, lanterns.outline.length)
    async with open_screen(lanterns, shelf) as room:
        await press(room, "tab", "up", "up", "enter")
        assert "counted 1 lamps" in visible(room)
        assert "(100 %)" in shown(room, "title")
    assert shelf.position(lanterns.id) == lanterns.outline.length


async def test_consent_is_asked_before_the_first_question_is_sent(
    lanterns: BookRecord, shelf: Bookshelf, server: ModelServer
) -> None:
    folder = shelf.folder_of(lanterns.id)
    text = f'[model]\nuse = "local"\nbase_url = "{server.base_url}"\nname = "m"\n'
    (folder / "lrwr.toml").write_text(text, encoding="utf-8")
    answer = {"step": "answer", "phrasings": [], "chapter": 0, "part": 0}
    server.will(Say(json.dumps(answer)), Say("The text so far does not say it."))
    async with open_screen(lanterns, shelf) as room:
        await room.pilot.press("a", *"Why?", "enter")
        await wait_until(room, lambda: isinstance(room.app.screen, ConsentScreen))
        assert not server.asked
        shown_question = room.app.screen.query_one(".consent-question", Static)
        assert "questions about the book" in str(shown_question.content)
        assert "manuscript" not in str(shown_question.content)
        await room.pilot.press("tab", "enter")
        await wait_until(room, lambda: isinstance(room.app.screen, BookScreen))
        await settle(room)
        assert "does not say it" in shown(room, "detail")
        assert len(server.asked) == 2


async def test_what_is_typed_while_the_book_is_loaded_is_kept(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    hold = Event()
    async with open_screen(lanterns, shelf, hold=hold) as room:
        for key in ("down", "2", "slash", *"lamps 3"):
            room.app.post_message(Key(key, key if len(key) == 1 else None))
        await room.pilot.pause()
        assert shown(room, "status") == "Loading…"
        hold.set()
        line = room.app.screen.query_one("#book-input", Input)
        await wait_until(room, lambda: line.value == "lamps 3")
        (annotation,) = shelf.annotations(lanterns.id)
        assert (annotation.color, annotation.quote) == (
            "green",
            "Nell counted 1 lamps on the Strake. Nobody else did.",
        )


async def test_a_book_closes_while_keys_wait_for_it(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    hold = Event()
    async with open_screen(lanterns, shelf, hold=hold) as room:
        room.app.post_message(Key("2", "2"))
        await room.pilot.pause(0.1)
        room.app.exit()
        hold.set()
    assert not shelf.annotations(lanterns.id)


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_shows_the_keys_of_the_book_first(
    lanterns: BookRecord, shelf: Bookshelf, key: str
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, key)
        assert isinstance(room.app.screen, HelpScreen)
        text = str(room.app.screen.query_one(Static).content)
        assert "Highlight the selection in yellow" in text
        assert "Choose a character" not in text
        await press(room, "escape", "down")
        assert shown(room, "status").startswith("Paragraph 2 ")


async def test_help_does_not_lose_a_question_that_is_being_typed(
    lanterns: BookRecord, shelf: Bookshelf
) -> None:
    async with open_screen(lanterns, shelf) as room:
        await press(room, "a", *"Why", "question_mark", "f1", "escape")
        line = room.app.screen.query_one("#book-input", Input)
        assert (line.value, line.display) == ("Why?", True)
        assert room.app.focused is line
