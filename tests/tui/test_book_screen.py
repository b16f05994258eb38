"""`lrwr read` in a terminal: reading on, selecting, annotating, finding and asking."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from textual.widgets import Input, Static

from lrwr.app.books import (
    BookRecord,
    Bookshelf,
    add_book,
    build_book_settings,
    open_bookshelf,
)
from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.runtime.failures import report_crash
from lrwr.core.model.turns import Turn
from lrwr.core.settings.loader import load_settings
from lrwr.tui.book_app import BookApp, BookScreen
from lrwr.tui.screens.book import BookContents, BookPane
from lrwr.tui.screens.dialogs import ConsentScreen
from lrwr.tui.service_thread import ServiceThread
from tests.fakes.model_server import Asked, ModelServer, Say
from tests.fakes.picture import check_picture
from tests.fakes.room import LOOKS, WIDE, Room, with_model
from tests.unit.source.epub_files import build_epub

LOOKS_AT_MOST = 500
"""Looks at a screen until what it shows is given up."""

LONGEST = 30
"""Seconds after which a held answer comes anyway."""

LAMPS = [
    f"<p>Nell counted {n} lamps on the Strake. Nobody else did.</p>"
    for n in range(1, 20)
]
BODIES = {
    "one": "<h1>Chapter 1. Ebb</h1>" + "".join(LAMPS),
    "two": (
        '<h1>Chapter 2. Flood</h1><p>Hob sold the lamps<a epub:type="noteref"'
        ' href="#n">1</a>.</p><aside epub:type="footnote" id="n"><p>For silver.</p>'
        "</aside>"
    ),
}
NAV = "".join(
    f'<li><a href="{name}.xhtml">{title}</a></li>'
    for name, title in (("one", "Chapter 1. Ebb"), ("two", "Chapter 2. Flood"))
)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bookshelf:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LRWR_EMBEDDING_MODEL", "off")
    return open_bookshelf()


@pytest.fixture
async def lanterns(shelf: Bookshelf, tmp_path: Path) -> BookRecord:
    file = tmp_path / "lanterns.epub"
    file.write_bytes(build_epub(BODIES, nav=NAV))
    env = {"LRWR_EMBEDDING_MODEL": "off"}
    settings = load_settings(tmp_path, env, {}, user=tmp_path / "nobody.toml")
    return await add_book(shelf, settings, file, now=0.0, say=lambda _: None)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as opened:
        yield opened


@asynccontextmanager
async def open_screen(
    record: BookRecord,
    shelf: Bookshelf,
    *,
    size: tuple[int, int] = WIDE,
    model: ModelServer | None = None,
    **env: str,
) -> AsyncIterator[Room]:
    variables = {"LRWR_EMBEDDING_MODEL": "off", **env}
    variables |= with_model(model) if model else {}
    folder = shelf.folder_of(record.id)
    settings = load_settings(folder, variables, {}, user=folder / "nobody.toml")
    settings = build_book_settings(settings, folder)
    async with ServiceThread(lambda: open_workspace(settings)) as stage:
        app = BookApp(stage, settings, record, report_crash)
        async with app.run_test(size=size) as pilot:
            room = Room(pilot, app, stage)
            await settle(room)
            yield room


async def settle(room: Room) -> None:
    while room.app.workers and any(
        not worker.is_finished and worker.group in {"read", "turn"}
        for worker in room.app.workers
    ):
        await room.pilot.pause(0.01)
    await room.pilot.pause()


async def wait_until(room: Room, holds: Callable[[], bool]) -> None:
    """Wait for what follows a refresh and a stored position; fail if it never comes."""
    for _ in range(LOOKS_AT_MOST):
        if holds():
            return
        await room.pilot.pause(0.02)
    assert holds()


def is_last_whole_one(room: Room, shelf: Bookshelf, book: BookRecord) -> bool:
    """Return whether the position is the last paragraph wholly on the screen."""
    read, text = shelf.position(book.id), visible(room)
    next_one = f"counted {read} lamps on the Strake. Nobody else did."
    return f"counted {read - 1} lamps on the Strake." in text and next_one not in text


async def press(room: Room, *keys: str) -> None:
    for key in keys:
        await room.pilot.press(key)
        await settle(room)


def shown(room: Room, name: str) -> str:
    return str(room.app.screen.query_one(f"#book-{name}", Static).content)


def visible(room: Room) -> str:
    pane = room.app.screen.query_one(BookPane)
    rows = [pane.render_line(y).text[8:].rstrip() for y in range(pane.size.height)]
    return " ".join(rows)


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
        assert shown(room, "status").startswith("Paragraph 12 ")


async def test_a_paragraph_with_a_footnote_has_a_mark_in_the_margin(
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
        assert "[1] paragraph 1 “" in detail
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
        await room.pilot.press("tab", "enter")
        await wait_until(room, lambda: isinstance(room.app.screen, BookScreen))
        await settle(room)
        assert "does not say it" in shown(room, "detail")
        assert len(server.asked) == 2
