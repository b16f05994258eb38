"""`lrwr annotations`: highlights and notes on e-books, and those of beta readers."""

import json
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lrwr.app.books import (
    BookRecord,
    open_bookshelf,
)
from lrwr.app.presenters.books import (
    LOST,
    annotations_as_json,
    export_csv,
    export_markdown,
    render_annotations,
    short_annotation_id,
)
from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.cli.commands.books import BookArgument, load_bounded_book
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, WholeBookOption, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.cli.runtime.question_file import read_input_bytes
from lrwr.cli.runtime.services import open_story_services
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import NotFound, SettingsProblem, UnreadableDocument
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.reading.annotations import (
    Annotation,
    AnnotationFile,
    HighlightColor,
    PlacedAnnotation,
    create_annotation,
    export_readest,
    export_w3c,
    find_quote,
    find_typed_words,
    import_annotations,
    place_annotations,
)
from lrwr.core.reading.bounded_book import BoundedBook
from lrwr.core.settings.files import check_output_file, write_output_file
from lrwr.core.settings.model import Settings

EPILOG = (
    'Examples: lrwr annotations add alice "so very remarkable" --note "Irony" ·'
    " lrwr annotations list alice · lrwr annotations export alice --to ../alice.json ·"
    " lrwr annotations import notes.json --book alice ·"
    " lrwr annotations import notes.json --manuscript"
)
_ENDINGS = (".json", ".md", ".csv")

app = typer.Typer(
    name="annotations",
    no_args_is_help=True,
    epilog=EPILOG,
    help="Mark and comment e-books; place beta readers' notes in the manuscript.",
)


def _open_book(
    settings: Settings, output: Output, name: str, whole: bool
) -> tuple[BookRecord, BoundedBook]:
    """Return a book up to the position, or with `whole` all of it."""
    shelf = open_bookshelf()
    record = shelf.find(name)
    position = record.outline.length if whole else shelf.position(record.id)
    if whole:
        output.info("Using the whole book, also after your position.")
    return record, load_bounded_book(settings, output, record, position)


@app.command("add", epilog=EPILOG)
def annotations_add_command(
    context: typer.Context,
    book: BookArgument,
    words: Annotated[
        str, typer.Argument(metavar="WORDS", help="Words of the book, verbatim.")
    ],
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="Your note.")
    ] = "",
    color: Annotated[
        str,
        typer.Option("--color", metavar="COLOR", help="yellow, green, blue or pink."),
    ] = "yellow",
) -> None:
    """Mark words that you have read, and comment them."""
    settings, output = start_session(context)
    chosen_color = parse_choice(HighlightColor, color, "--color")
    record, opened = _open_book(settings, output, book, whole=False)
    spans = find_typed_words(opened.text, words)
    if len(spans) != 1:
        raise NotFound(
            f"“{words}” is {len(spans)} times in what you have read"
            if spans
            else f"“{words}” is not in what you have read",
            hint="Give more of the words, as they stand in the book.",
        )
    annotation = create_annotation(
        opened.text,
        record.outline,
        spans[0],
        color=chosen_color,
        note=note,
        now=time.time(),
    )
    _store(record, [annotation])
    output.answer(f"Marked {short_annotation_id(annotation.id)}.")


def _store(record: BookRecord, annotations: Sequence[Annotation]) -> int:
    """Add annotations to those of a book, each id once; return how many were new."""
    shelf = open_bookshelf()
    stored = {annotation.id: annotation for annotation in shelf.annotations(record.id)}
    merged = {**{a.id: a for a in annotations}, **stored}
    shelf.store_annotations(record, list(merged.values()), time.time())
    return len(merged) - len(stored)


@app.command("list", epilog=EPILOG)
def annotations_list_command(
    context: typer.Context,
    book: BookArgument,
    whole: WholeBookOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the annotations of a book, up to your position."""
    settings, output = start_session(context)
    shown, places, hidden = _place(*_open_book(settings, output, book, whole))
    if as_json:
        output.json(
            {"annotations": annotations_as_json(shown, places), "hidden": hidden}
        )
        return
    output.show(render_annotations(shown, places))
    if hidden:
        count = format_count(hidden, "annotation")
        output.notice(f"{count} after your position, or not in this edition.")
    elif not shown:
        output.answer("No annotations.")


def _place(
    record: BookRecord, opened: BoundedBook
) -> tuple[list[PlacedAnnotation], list[str], int]:
    """Return the annotations up to the position with their places, and the number of
    the others. With the whole book, lost ones are returned too.
    """
    outline = record.outline
    annotations = open_bookshelf().annotations(record.id)
    placed = place_annotations(annotations, opened.text)
    is_whole = opened.position >= outline.length
    shown = [item for item in placed if item.span or is_whole]
    places = [
        f"paragraph {outline.find_paragraph(item.span.start) + 1}"
        if item.span
        else LOST
        for item in shown
    ]
    return shown, places, len(placed) - len(shown)


@app.command("delete", epilog=EPILOG)
def annotations_delete_command(
    context: typer.Context,
    book: BookArgument,
    annotation: Annotated[
        str, typer.Argument(metavar="ID", help="An id that `list` shows.")
    ],
) -> None:
    """Delete an annotation of a book."""
    _, output = start_session(context)
    shelf = open_bookshelf()
    record = shelf.find(book)
    stored = shelf.annotations(record.id)
    rest = [a for a in stored if short_annotation_id(a.id) != annotation]
    if len(rest) != len(stored) - 1:
        raise NotFound(
            f"There is no annotation {annotation!r}",
            hint="`lrwr annotations list` shows the ids.",
        )
    shelf.store_annotations(record, rest, time.time())
    output.answer(f"Deleted {annotation}.")


@app.command("export", epilog=EPILOG)
def annotations_export_command(
    context: typer.Context,
    book: BookArgument,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FILE.json|.md|.csv",
            help="W3C EPUB Annotations (.json), Markdown or CSV.",
        ),
    ],
    readest: Annotated[
        bool, typer.Option("--readest", help="Write the JSON of Readest, not of W3C.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Export all annotations of a book; the file tells what they mark."""
    settings, output = start_session(context)
    check_output_file(to, settings, _ENDINGS, force=force)
    record = open_bookshelf().find(book)
    length = record.outline.length
    opened = load_bounded_book(settings, output, record, length)
    shown, places, _ = _place(record, opened)
    outline, annotations = record.outline, [item.annotation for item in shown]
    match to.suffix.lower():
        case ".json" if readest:
            text = _format_json(export_readest(annotations, outline))
        case ".json":
            text = _format_json(export_w3c(annotations, outline, time.time()))
        case ".md":
            text = export_markdown(shown, places, outline)
        case _:
            text = export_csv(shown, places, outline)
    write_output_file(to, text.encode(), force=force)
    output.answer(str(to))


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


@app.command("import", epilog=EPILOG)
def annotations_import_command(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Annotations as JSON, of W3C or Readest."),
    ],
    book: Annotated[
        str | None,
        typer.Option("--book", metavar="BOOK", help="Add them to this book."),
    ] = None,
    manuscript: Annotated[
        bool,
        typer.Option("--manuscript", help="Show where they are in your manuscript."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import annotations of a book, or show beta readers' notes in the manuscript.

    Their words are looked for. With --manuscript nothing is stored: each note is shown
    with its file and line, and those whose words are not there, or are there several
    times, are listed last.
    """
    settings, output = start_session(context)
    if manuscript == (book is not None):
        raise SettingsProblem(
            "Say what the annotations belong to",
            hint="Add either `--book BOOK` or `--manuscript`.",
        )
    imported = _read_annotations(file)
    if book is not None:
        report = _import_in_book(settings, output, file.name, imported, book)
        if as_json:
            output.json(report)
        else:
            count = format_count(report["added"], "annotation")
            considered = report["annotations"] - report["not_added"]
            existing = considered - report["added"]
            there = f"; {existing} {'was' if existing == 1 else 'were'} there already"
            title = sanitize_line(report["title"])
            output.answer(f"{count} added to {title}{there * bool(existing)}.")
        return
    placed, places = run_async(
        _place_in_manuscript(settings, output, imported.annotations)
    )
    if as_json:
        output.json({"annotations": annotations_as_json(placed, places)})
    else:
        output.show(render_annotations(placed, places))


def _import_in_book(
    settings: Settings, output: Output, name: str, imported: AnnotationFile, book: str
) -> dict[str, Any]:
    """Add the annotations of the file `name` to a book, warn about those without a
    place, and return the counts. Of a file for another book only those with a place are
    added.

    Raises:
        NotFound: None has a place in the book, or there is no such book.
    """
    record = open_bookshelf().find(book)
    length = record.outline.length
    text = load_bounded_book(settings, output, record, length).text
    placed = place_annotations(imported.annotations, text)
    fitting = [item.annotation for item in placed if item.span]
    title, total = sanitize_line(record.title), len(placed)
    is_other = not imported.is_made_for(record.outline)
    made_for = f"“{sanitize_line(imported.title)}”" if imported.title else "another one"
    if placed and not fitting:
        raise NotFound(
            f"No annotation in {name} has a place in {title}",
            hint=f"The file was made for {made_for}."
            if is_other
            else "Check with `lrwr books` that it is this book's.",
        )
    if is_other:
        output.warn(f"{name} was made for {made_for}, another book than {title}")
    missing = total - len(fitting)
    if missing:
        subject = f"{missing} of its {format_count(total, 'annotation')}"
        verb = "has" if missing == 1 else "have"
        end = (
            f", and {'was' if missing == 1 else 'were'} not added"
            if is_other
            else f"; `lrwr annotations list {shlex.quote(book)} --whole` lists what is lost"
        )
        output.warn(f"{subject} {verb} no place in {title}{end}")
    return {
        "title": record.title,
        "made_for": imported.title,
        "another_book": is_other,
        "annotations": total,
        "placed": len(fitting),
        "added": _store(record, fitting if is_other else imported.annotations),
        "not_added": missing if is_other else 0,
    }


def _read_annotations(file: Path) -> AnnotationFile:
    content = read_input_bytes(file)
    try:
        return import_annotations(parse_json(content), file.name)
    except ValueError as error:
        raise UnreadableDocument(
            f"{file.name} is not JSON",
            hint="Export the annotations as W3C (JSON) from the reading program.",
        ) from error


async def _place_in_manuscript(
    settings: Settings, output: Output, annotations: Sequence[Annotation]
) -> tuple[list[PlacedAnnotation], list[str]]:
    """Return the annotations in story order with their places as `FILE:LINE`."""
    async with open_story_services(settings, output) as workspace:
        order = await workspace.finder().story_order()
        texts = await workspace.passages.texts(order.story)
    outlines = order.outlines
    story = [d for d in order.story if outlines[d].type is DocumentType.SCENE]
    placed: list[tuple[int, int, PlacedAnnotation, str]] = []
    for annotation in annotations:
        matches = [
            (rank, span)
            for rank, document in enumerate(story)
            if document in texts
            for span in find_quote(
                texts[document].text,
                annotation.quote,
                annotation.before,
                annotation.after,
            )
        ]
        if len(matches) == 1:
            rank, span = matches[0]
            place = format_place(story[rank], texts[story[rank]].lines.lines_of(span))
            entry = PlacedAnnotation(annotation, span)
            placed.append((rank, span.start, entry, place))
        else:
            lost = f"{len(matches)} places fit" if matches else "not in the manuscript"
            placed.append((len(story), 0, PlacedAnnotation(annotation, None), lost))
    placed.sort(key=lambda row: row[:2])
    return [row[2] for row in placed], [row[3] for row in placed]
