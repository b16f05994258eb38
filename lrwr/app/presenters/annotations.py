"""Presents annotations of books: as lines, Markdown, CSV and JSON."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)

if TYPE_CHECKING:
    from lrwr.core.model.books import BookOutline
    from lrwr.core.reading.annotations import PlacedAnnotation

SHORT_ANNOTATION_ID = 6
LOST = "not found in this text"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t")


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
