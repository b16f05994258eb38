"""`lrwr books`: the e-books on the shelf, and their tables of contents."""

import time
from pathlib import Path
from typing import Annotated

import typer

from lrwr.app.books import (
    BookRecord,
    add_book,
    build_book_settings,
    hash_book,
    open_bookshelf,
    open_bounded_book,
    read_book_file,
)
from lrwr.app.container import open_workspace
from lrwr.app.presenters.books import (
    SHORT_ID,
    book_as_json,
    contents_as_json,
    render_contents,
    render_shelf,
)
from lrwr.app.presenters.text import format_count, sanitize_line, shorten_excerpt
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.services import (
    ask_yes_no,
    can_prompt,
    create_progress_listener,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.reading.annotations import carry_annotations, carry_position
from lrwr.core.reading.bounded_book import BoundedBook
from lrwr.core.settings.model import Settings

EPILOG = (
    "Examples: lrwr books add alice.epub · lrwr books · lrwr books toc alice ·"
    " lrwr books remove alice"
)

BookArgument = Annotated[
    str,
    typer.Argument(
        metavar="BOOK", help="A book: its file, its id, or words of its title."
    ),
]
WholeTocOption = Annotated[
    bool, typer.Option("--whole", help="Show entries after your position too.")
]

app = typer.Typer(name="books", epilog=EPILOG)


@app.callback(invoke_without_command=True)
def books_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the e-books that you read, or add and remove them.

    Each book has a library of its own in your data folder; its file stays where it is.
    """
    if context.invoked_subcommand is not None:
        return
    _, output = start_session(context)
    shelf = open_bookshelf()
    books = [(record, shelf.position(record.id)) for record in shelf.books()]
    if as_json:
        output.json([book_as_json(*book) for book in books])
    elif books:
        output.show(render_shelf(books))
    else:
        output.answer("No books yet. Add one with `lrwr books add FILE.epub`.")


@app.command("add", epilog=EPILOG)
def books_add_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An EPUB file.")],
    as_json: JsonOption = False,
) -> None:
    """Add an e-book: EPUB 2 or 3, without DRM. Nothing is sent."""
    settings, output = start_session(context)
    content = read_book_file(file.expanduser())
    is_known = open_bookshelf().has(hash_book(content))
    record = add_book_file(settings, output, file)
    if as_json:
        output.json(book_as_json(record, open_bookshelf().position(record.id)))
        return
    words = format_count(record.words, "word")
    chapters = max((chapter.number for chapter in record.chapters), default=0)
    already = " It is among your books already." * is_known
    output.answer(
        f"{sanitize_line(record.title)}: {words} in"
        f" {format_count(chapters, 'chapter')}.{already}"
        f" Read it with `lrwr read {record.id[:SHORT_ID]}`."
    )


@app.command("toc", epilog=EPILOG)
def books_toc_command(
    context: typer.Context,
    book: BookArgument,
    whole: WholeTocOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the table of contents of a book, up to your position."""
    settings, output = start_session(context)
    shelf = open_bookshelf()
    record = shelf.find(book)
    position = record.outline.length if whole else shelf.position(record.id)
    if whole:
        _announce_whole(output)
    contents = load_bounded_book(settings, output, record, position)
    if as_json:
        output.json(contents_as_json(contents))
    else:
        output.show(render_contents(contents))


@app.command("remove", epilog=EPILOG)
def books_remove_command(
    context: typer.Context,
    book: BookArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete what lrwr stores about a book: library, position and answers.

    The file of the book is not touched.
    """
    _, output = start_session(context)
    shelf = open_bookshelf()
    record = shelf.find(book)
    title = sanitize_line(record.title)
    if not yes:
        question = f"Delete what lrwr stores about {title}? Its file stays. [y/N]"
        if not can_prompt():
            raise SettingsProblem(
                "Nothing was deleted, because nobody can be asked",
                hint="Add `--yes`.",
            )
        if not ask_yes_no(output, question):
            output.answer("Nothing was deleted.")
            return
    shelf.remove(record.id)
    output.answer(f"Removed {title}.")


def add_book_file(settings: Settings, output: Output, file: Path) -> BookRecord:
    """Put the e-book `file` on the shelf, with progress and warnings on stderr."""
    with output.progress("Reading", None) as advance:
        record = run_async(
            add_book(
                open_bookshelf(),
                settings,
                file.expanduser(),
                now=time.time(),
                say=output.info,
                emit=create_progress_listener(advance, output),
            )
        )
    for warning in record.outline.warnings:
        output.warn(warning)
    _carry_reading(settings, output, record)
    return record


def _carry_reading(settings: Settings, output: Output, record: BookRecord) -> None:
    """Take over the position and the annotations of an earlier edition, and say which are
    lost.
    """
    shelf = open_bookshelf()
    earlier = shelf.find_earlier_edition(record)
    if earlier is None:
        return
    length = record.outline.length
    text = load_bounded_book(settings, output, record, length).text
    read = load_bounded_book(settings, output, earlier, shelf.position(earlier.id))
    if position := carry_position(read, text, record.outline):
        shelf.store_position(record.id, position)
        output.info(
            f"Your position in your earlier edition ({earlier.id[:SHORT_ID]}) taken over:"
            f" paragraph {position:,} of {length:,}."
        )
    annotations = shelf.annotations(earlier.id)
    if not annotations:
        return
    result = carry_annotations(annotations, text, record.outline)
    shelf.store_annotations(record, result.carried, time.time())
    count = format_count(len(result.carried), "annotation")
    output.info(
        f"{count} of your earlier edition ({earlier.id[:SHORT_ID]}) taken over."
    )
    for annotation in result.lost:
        quote = shorten_excerpt(sanitize_line(annotation.quote))
        output.warn(f"Not in this edition, or several times: “{quote}”")


def _announce_whole(output: Output) -> None:
    output.info("Using the whole book, also after your position.")


def load_bounded_book(
    settings: Settings, output: Output, record: BookRecord, position: int
) -> BoundedBook:
    """Return a book on the shelf up to `position`, from its library."""
    folder = open_bookshelf().folder_of(record.id)

    async def load() -> BoundedBook:
        book_settings = build_book_settings(settings, folder)
        async with open_workspace(book_settings, say=output.info) as workspace:
            return await open_bounded_book(workspace, record, position)

    return run_async(load())
