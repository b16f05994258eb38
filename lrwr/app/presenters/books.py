"""Presents books that the user reads: the shelf, contents, pages, annotations."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lrwr.app.presenters.text import (
    NOTE_MARK,
    StyledLine,
    StyledTable,
    StyledText,
    format_count,
    sanitize_line,
    sanitize_text,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.model.books import BookParagraphKind
from lrwr.core.reading.bounded_book import build_horizon_text

if TYPE_CHECKING:
    from lrwr.app.books import BookRecord
    from lrwr.core.model.books import BookOutline
    from lrwr.core.reading.annotations import PlacedAnnotation
    from lrwr.core.reading.bounded_book import BoundedBook, ReadParagraph

SHORT_ID = 8
"""Characters of a book's id that are shown."""
SHORT_ANNOTATION_ID = 6
LOST = "not found in this text"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t")


def render_shelf(books: "Sequence[tuple[BookRecord, int]]") -> Iterator[StyledTable]:
    """Yield a table of the books with the positions at which they are read."""
    rows = [
        (
            record.id[:SHORT_ID],
            sanitize_line(record.title),
            sanitize_line(", ".join(record.outline.authors)),
            describe_progress(position, record.outline.length),
        )
        for record, position in books
    ]
    yield StyledTable(("id", "title", "author", "read"), rows, right=("read",))


def describe_progress(position: int, length: int) -> str:
    """Return how much of a book has been read, in percent."""
    if not position:
        return "not begun"
    return f"{100 * position // max(1, length)} %"


def render_contents(book: "BoundedBook") -> Iterator[StyledLine]:
    """Yield the table of contents up to the position, with the numbers of chapters, and
    how much is hidden.
    """
    numbers = {c.paragraph: c.number for c in book.chapters() if c.number}
    for entry in book.contents():
        number = numbers.pop(entry.paragraph, 0)
        chapter = f"  ch{number}," * bool(number)
        place = StyledText(
            f"{chapter or ' '} paragraph {entry.paragraph + 1:,}", "place"
        )
        yield styled_line(
            sanitize_line(entry.title), place, indent=2 * (entry.depth - 1)
        )
    hidden = len(book.outline.toc) - len(book.contents())
    if hidden:
        entries = format_count(hidden, "entry", "entries")
        text = f"{entries} after your position; --whole shows all."
        yield styled_line(StyledText(text, "faint"))


def render_page(
    book: "BoundedBook", page: "Sequence[ReadParagraph]"
) -> Iterator[StyledLine]:
    """Yield the paragraphs of a page with their footnotes, and the position below."""
    for paragraph in page:
        text = sanitize_text(_mark_references(paragraph))
        if paragraph.kind is BookParagraphKind.HEADING:
            yield styled_line(StyledText(text, "strong"))
        else:
            yield styled_line(text)
        for note in paragraph.notes:
            yield styled_line(StyledText(sanitize_text(note), "faint"), indent=4)
        yield styled_line("")
    yield styled_line(StyledText(describe_position(book), "place"))


def _mark_references(paragraph: "ReadParagraph") -> str:
    """Return the text of a paragraph with a mark where it refers to a footnote."""
    text = paragraph.text
    places = {place for place in paragraph.references if place is not None}
    for place in sorted(places, reverse=True):
        text = f"{text[:place]}{NOTE_MARK}{text[place:]}"
    return text


def describe_position(book: "BoundedBook") -> str:
    """Return the position in words: title, chapter, paragraph and share."""
    title = sanitize_line(book.outline.title)
    if not book.position:
        return f"{title}: not begun"
    chapter = book.chapter
    name = "" if chapter is None else sanitize_line(chapter.title).rstrip(" :")
    place = f", {name}" if name and name != title else ""
    length = book.outline.length
    share = describe_progress(book.position, length)
    return f"{title}{place}: paragraph {book.position:,} of {length:,} ({share})"


def book_as_json(record: "BookRecord", position: int) -> dict[str, Any]:
    """Return a book on the shelf as JSON, without titles of chapters."""
    outline = record.outline
    return {
        "id": record.id,
        "title": outline.title,
        "authors": outline.authors,
        "language": outline.language,
        "file": record.file,
        "words": record.words,
        "paragraphs": outline.length,
        "read": position,
        "warnings": outline.warnings,
    }


def page_as_json(book: "BoundedBook", page: "Sequence[ReadParagraph]") -> Any:
    """Return a page as JSON, with the position as a horizon."""
    return {
        "title": book.outline.title,
        "position": book.position,
        "paragraphs_in_book": book.outline.length,
        "chapter": book.chapter.number if book.chapter else None,
        "chapter_title": book.chapter.title if book.chapter else "",
        "horizon": build_horizon_text(book),
        "paragraphs": [
            {
                "number": paragraph.index + 1,
                "kind": paragraph.kind,
                "cfi": f"epubcfi({paragraph.cfi})",
                "text": paragraph.text,
                "notes": paragraph.notes,
                "references": paragraph.references,
            }
            for paragraph in page
        ],
    }


def contents_as_json(book: "BoundedBook") -> Any:
    """Return the table of contents up to the position as JSON."""
    return {
        "title": book.outline.title,
        "contents": [
            {
                "title": entry.title,
                "depth": entry.depth,
                "paragraph": entry.paragraph + 1,
            }
            for entry in book.contents()
        ],
        "hidden": len(book.outline.toc) - len(book.contents()),
    }


def short_annotation_id(identifier: str) -> str:
    """Return the last characters of an annotation's id, which name it in commands."""
    return identifier.replace("-", "")[-SHORT_ANNOTATION_ID:]


def list_chapter_titles(
    placed: "Sequence[PlacedAnnotation]", outline: "BookOutline"
) -> list[str]:
    """Return for each annotation the entry of the table of contents in which it is;
    empty for lost ones and before the first entry.
    """
    titles = []
    for item in placed:
        paragraph = outline.find_paragraph(item.span.start) if item.span else -1
        if paragraph >= outline.length:  # a footnote
            paragraph = outline.paragraphs[paragraph].anchor
        entry = outline.find_toc_entry(paragraph)
        titles.append(sanitize_line(entry.title) if entry else "")
    return titles


def render_annotations(
    placed: "Sequence[PlacedAnnotation]", places: Sequence[str]
) -> Iterator[StyledLine]:
    """Yield each annotation with its place: words, note, author."""
    for item, place in zip(placed, places, strict=True):
        annotation = item.annotation
        yield styled_line(
            f"{short_annotation_id(annotation.id)}  ",
            StyledText(sanitize_line(place), "place"),
            f"  {sanitize_line(annotation.color)}",
        )
        quote = shorten_excerpt(sanitize_line(annotation.quote))
        yield styled_line(f"“{quote}”", indent=4)
        if annotation.note:
            author = f" ({sanitize_line(annotation.author)})" * bool(annotation.author)
            yield styled_line(f"{sanitize_line(annotation.note)}{author}", indent=4)


def annotations_as_json(
    placed: "Sequence[PlacedAnnotation]", places: Sequence[str]
) -> list[dict[str, Any]]:
    """Return annotations with their places as JSON; `found` says whether there is one."""
    return [
        {
            "id": item.annotation.id,
            "found": item.span is not None,
            "place": place if item.span else None,
            "quote": item.annotation.quote,
            "note": item.annotation.note,
            "color": item.annotation.color,
            "author": item.annotation.author,
        }
        for item, place in zip(placed, places, strict=True)
    ]


def export_markdown(
    placed: "Sequence[PlacedAnnotation]", places: Sequence[str], outline: "BookOutline"
) -> str:
    """Return the annotations of a book as a Markdown page, with headings for chapters."""
    parts = [f"# {sanitize_line(outline.title)}"]
    titles, heading = list_chapter_titles(placed, outline), ""
    for item, place, title in zip(placed, places, titles, strict=True):
        annotation = item.annotation
        if title != heading:
            heading = title
            parts.append(f"## {title or LOST.capitalize()}")
        parts.append(f"> {sanitize_line(annotation.quote)}")
        author = f", {sanitize_line(annotation.author)}" * bool(annotation.author)
        note = f"{sanitize_line(annotation.note)} " * bool(annotation.note)
        color = sanitize_line(annotation.color)
        parts.append(f"{note}({sanitize_line(place)}, {color}{author})")
    return "\n\n".join(parts) + "\n"


def export_csv(
    placed: "Sequence[PlacedAnnotation]", places: Sequence[str], outline: "BookOutline"
) -> str:
    """Return the annotations as CSV, which no spreadsheet takes for formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("chapter", "place", "quote", "note", "color", "author", "id"))
    titles = list_chapter_titles(placed, outline)
    for item, place, title in zip(placed, places, titles, strict=True):
        annotation = item.annotation
        row = (
            title,
            place,
            annotation.quote,
            annotation.note,
            annotation.color,
            annotation.author,
            annotation.id,
        )
        writer.writerow(map(_guard_cell, row))
    return out.getvalue()


def _guard_cell(text: str) -> str:
    text = sanitize_line(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
