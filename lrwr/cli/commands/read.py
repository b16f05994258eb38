"""`lrwr read`: an e-book, page by page, up to a position that is remembered."""

import re
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrwr.app.books import (
    BookRecord,
    Bookshelf,
    build_book_settings,
    open_bookshelf,
)
from lrwr.app.container import Workspace
from lrwr.app.presenters.books import SHORT_ID, page_as_json, render_page
from lrwr.cli.commands.books import (
    BookArgument,
    add_book_file,
    load_bounded_book,
)
from lrwr.cli.runtime.failures import report_crash
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, is_terminal, start_session
from lrwr.cli.runtime.screens import run_screen
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.reading.bounded_book import PAGE_PARAGRAPHS, find_next_position
from lrwr.core.settings.model import Settings
from lrwr.tui.service_thread import ServiceThread

if TYPE_CHECKING:
    from lrwr.tui.app import WritingRoom

READ_EPILOG = (
    "Examples: lrwr read alice.epub · lrwr read alice --plain · lrwr read alice --next · lrwr read alice --at ch3 ·"
    ' lrwr read alice --at 120 --json · lrwr ask --book alice "Who is the Duchess?"'
)
_CHAPTER = re.compile(r"ch(?:apter)?\s*(\d{1,6})", re.IGNORECASE)

app = typer.Typer()


@app.command("read", epilog=READ_EPILOG)
def read_command(
    context: typer.Context,
    book: BookArgument,
    next_page: Annotated[
        bool, typer.Option("--next", help="Read the next page.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Go to a chapter (ch3) or a paragraph (120), and read from there.",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print a page instead of opening a screen.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read an e-book, page by page; its position is remembered.

    In a terminal a screen opens at your position, with contents, search, highlights,
    notes, and questions about what you select. With --plain, --next or --json, and in a
    pipe, the page that you read last is printed; --next is the next one. Nothing after your
    position is shown, searched or sent: not by `lrwr ask --book` and `lrwr search
    --book`, nor in a table of contents. A book that is not on the shelf is added.
    """
    settings, output = start_session(context)
    if next_page and at:
        raise SettingsProblem(
            "`--next` and `--at` cannot be combined", hint="Leave out one of them."
        )
    shelf = open_bookshelf()
    record = _find_or_add(settings, output, shelf, book)
    position = shelf.position(record.id)
    start = _find_place(record, at) if at else position
    if next_page and position >= record.outline.length:
        output.info("You have read the whole book.")
    has_screen = is_terminal(sys.stdin) and output.interactive
    if has_screen and not (plain or next_page or as_json):
        # The screen moves the position when a paragraph has been on it.
        _move(output, shelf, record, start, is_announced=bool(at))
        book_settings = build_book_settings(settings, shelf.folder_of(record.id))
        run_screen(book_settings, output, partial(_create_app, record, bool(at)))
        return
    if next_page or at or not position:
        position = find_next_position(record.outline, record.chapters, start)
        _move(output, shelf, record, position, is_announced=bool(at))
    opened = load_bounded_book(settings, output, record, position)
    if as_json:
        output.json(page_as_json(opened, opened.page()))
        return
    with output.paged():
        output.show(render_page(opened, opened.page()))


def _move(
    output: Output,
    shelf: Bookshelf,
    record: BookRecord,
    position: int,
    *,
    is_announced: bool,
) -> None:
    """Store the position; say from where it moved, unless that was the beginning."""
    before = shelf.position(record.id)
    if position == before:
        return
    shelf.store_position(record.id, position)
    if not (before and is_announced):
        return
    starts = [c.paragraph for c in record.chapters if c.paragraph < before]
    first = max(0, before - PAGE_PARAGRAPHS, *starts) + 1
    direction = "forward" if position > before else "back"
    place = f"{position:,}" if position else "the beginning"
    output.info(
        f"Your position moved {direction} from paragraph {before:,} to {place}."
        f" To return: `lrwr read {record.id[:SHORT_ID]} --at {first}`."
    )


def _create_app(
    record: BookRecord,
    reads_on: bool,
    stage: ServiceThread[Workspace],
    settings: Settings,
) -> "WritingRoom":
    module = import_module("lrwr.tui.book_app")
    app: WritingRoom = module.BookApp(
        stage, settings, record, report_crash, reads_on=reads_on
    )
    return app


def _find_or_add(
    settings: Settings, output: Output, shelf: Bookshelf, book: str
) -> BookRecord:
    is_file = Path(book).suffix.lower() == ".epub" and Path(book).is_file()
    return add_book_file(settings, output, Path(book)) if is_file else shelf.find(book)


def _find_place(record: BookRecord, place: str) -> int:
    """Return the index of the paragraph that the user names."""
    match = _CHAPTER.fullmatch(place.strip())
    if match:
        for chapter in record.chapters:
            if chapter.number == int(match[1]):
                return chapter.paragraph
    elif place.strip().isdecimal() and 0 < int(place) <= record.outline.length:
        return int(place) - 1
    last = max((chapter.number for chapter in record.chapters), default=0)
    raise NotFound(
        f"The book has no {place!r}",
        hint=f"Write ch1 to ch{last}, or a paragraph from 1 to {record.outline.length}.",
    )
