"""The reading screen of a small e-book in tests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Event

from textual.widgets import Static

from lrwr.app.books import BookRecord, Bookshelf, build_book_settings
from lrwr.app.container import Workspace, open_workspace
from lrwr.cli.runtime.failures import report_crash
from lrwr.core.settings.loader import load_settings
from lrwr.tui.book_app import BookApp
from lrwr.tui.screens.book import BookPane
from lrwr.tui.service_thread import ServiceThread
from tests.fakes.model_server import ModelServer
from tests.fakes.room import WIDE, Room, with_model

LONGEST = 30
"""Seconds after which what is held goes on anyway."""
LOOKS_AT_MOST = 500
"""Looks at a screen until what it shows is given up."""

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


@asynccontextmanager
async def open_screen(
    record: BookRecord,
    shelf: Bookshelf,
    *,
    size: tuple[int, int] = WIDE,
    model: ModelServer | None = None,
    hold: Event | None = None,
    reads_on: bool = False,
    **env: str,
) -> AsyncIterator[Room]:
    """Open a book; with `hold` its library opens when that is set, else before."""
    variables = {"LRWR_EMBEDDING_MODEL": "off", **env}
    variables |= with_model(model) if model else {}
    folder = shelf.folder_of(record.id)
    settings = load_settings(folder, variables, {}, user=folder / "nobody.toml")
    settings = build_book_settings(settings, folder)

    @asynccontextmanager
    async def open_library() -> AsyncIterator[Workspace]:
        if hold is not None:
            await asyncio.to_thread(hold.wait, LONGEST)
        async with open_workspace(settings) as workspace:
            yield workspace

    async with ServiceThread(open_library) as stage:
        app = BookApp(stage, settings, record, report_crash, reads_on=reads_on)
        async with app.run_test(size=size) as pilot:
            room = Room(pilot, app, stage)
            if hold is None:
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
