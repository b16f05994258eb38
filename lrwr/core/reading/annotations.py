"""Annotations of books: highlights and notes, as W3C EPUB Annotations, and how their
words are found again in another edition.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeGuard
from uuid import UUID, uuid5

from lrwr.core.model.books import BookOutline
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import Span
from lrwr.core.reading.bounded_book import BoundedBook

CONTEXT_CHARS = 40
"""Characters before and after the words of an annotation that are stored with it."""
MAX_QUOTE_CHARS = 5_000
MIN_PLACED_WORDS = 5
"""Words from which on a paragraph shows where a reader is in another edition."""
_VARIANTS = (
    ("['’‘]", "['’‘]"),
    ('["“”„]', '["“”„]'),
    (r"(?:\\-){2,3}|—|–", "(?:--|---|—|–)"),
    (r"(?:\\\.){3}|…", r"(?:\.\.\.|…)"),
)
"""Patterns of escaped punctuation, and of what a compiled e-book may have instead."""
_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_CFI_SPECIFICATION = "http://www.idpf.org/epub/linking/cfi/epub-cfi.html"
_CFI = re.compile(r"epubcfi\((.*)\)")
_NAMESPACE = UUID("5d2f4a1e-6a0b-5c57-9d0e-6c7277720026")


class HighlightColor(StrEnum):
    """The colours of highlights."""

    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PINK = "pink"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A highlight, or with `note` a comment, on the words `quote` of a book.

    `before` and `after` are the characters around them. `cfi` is that of the paragraph
    in the edition in which the words were marked, empty if unknown. `created` is in
    seconds since 1970. `author` is empty for the user.
    """

    id: str
    quote: str
    before: str = ""
    after: str = ""
    cfi: str = ""
    color: str = HighlightColor.YELLOW
    note: str = ""
    author: str = ""
    created: float = 0.0


def create_annotation(
    text: str,
    outline: BookOutline,
    span: Span,
    *,
    color: str,
    note: str,
    now: float,
) -> Annotation:
    """Return an annotation of the words at `span` of `text`, made at `now` (seconds).

    Its id depends on words, note and time.
    """
    quote = text[span.start : span.end]
    return Annotation(
        id=f"urn:uuid:{uuid5(_NAMESPACE, repr((span, quote, note, now)))}",
        quote=quote,
        before=text[max(0, span.start - CONTEXT_CHARS) : span.start],
        after=text[span.end : span.end + CONTEXT_CHARS],
        cfi=outline.paragraphs[outline.find_paragraph(span.start)].cfi,
        color=color,
        note=note,
        created=now,
    )


def find_quote(text: str, quote: str, before: str = "", after: str = "") -> list[Span]:
    """Return where `quote` is in `text`; the shape of quotation marks and dashes, marks
    of emphasis and white space may differ.

    If it is there several times, those with the most of the words `before` and `after`
    around them are returned. More than one result means that it cannot be decided.
    """
    return _choose_by_context(text, _find_spans(text, quote), before, after)


def find_typed_words(text: str, words: str) -> list[Span]:
    """Return where `words` that the user typed are in `text`, as `find_quote`; if they are
    nowhere, those that differ only in capitals.
    """
    return _find_spans(text, words) or _find_spans(text, words, re.IGNORECASE)


def _find_spans(text: str, quote: str, flags: int = 0) -> list[Span]:
    pattern = _build_pattern(quote, flags)
    return [Span(*m.span()) for m in pattern.finditer(text)] if pattern else []


def _choose_by_context(
    text: str, spans: list[Span], before: str, after: str
) -> list[Span]:
    """Return the spans that have the most of the words `before` and `after` around them."""
    if len(spans) < 2 or not (before or after):
        return spans
    scores = [_measure_context(text, span, before, after) for span in spans]
    best = max(scores)
    return [span for span, score in zip(spans, scores, strict=True) if score == best]


def _build_pattern(quote: str, flags: int) -> re.Pattern[str] | None:
    words = quote.split()
    if not words:
        return None
    pattern = r"[*_]*\s+[*_]*".join(map(re.escape, words))
    for variants, alternatives in _VARIANTS:
        pattern = re.sub(variants, lambda _, to=alternatives: to, pattern)  # type: ignore[misc]
    return re.compile(pattern, flags)


def _measure_context(text: str, span: Span, before: str, after: str) -> int:
    """Return how many characters before and after `span` are those that were stored."""
    found_before = "".join(text[: span.start][-2 * CONTEXT_CHARS :].split())
    found_after = "".join(text[span.end : span.end + 2 * CONTEXT_CHARS].split())
    return _common_start(
        found_before[::-1], "".join(before.split())[::-1]
    ) + _common_start(found_after, "".join(after.split()))


def _common_start(first: str, second: str) -> int:
    count = 0
    for one_character, other_character in zip(first, second, strict=False):
        if one_character != other_character:
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class PlacedAnnotation:
    """An annotation, and where its words are in a text; None if they are not there, or
    several times and nothing tells which.
    """

    annotation: Annotation
    span: Span | None


def place_annotations(
    annotations: Iterable[Annotation], text: str
) -> list[PlacedAnnotation]:
    """Return the annotations with their places in `text`, in its order, lost ones last."""
    placed = []
    for annotation in annotations:
        spans = find_quote(text, annotation.quote, annotation.before, annotation.after)
        placed.append(
            PlacedAnnotation(annotation, spans[0] if len(spans) == 1 else None)
        )
    last = len(text) + 1
    return sorted(placed, key=lambda p: p.span.start if p.span else last)


def export_w3c(
    annotations: Sequence[Annotation], outline: BookOutline, generated: float
) -> dict[str, Any]:
    """Return an annotation set in the format W3C EPUB Annotations 1.0.

    `generated` is in seconds since 1970.
    """
    about: dict[str, Any] = {"dc:title": outline.title}
    if outline.identifier:
        about["dc:identifier"] = [outline.identifier]
    if outline.authors:
        about["dc:creator"] = list(outline.authors)
    if outline.language:
        about["dc:language"] = [outline.language]
    return {
        "@context": _CONTEXT,
        "id": f"urn:uuid:{uuid5(_NAMESPACE, repr((outline.title, generated)))}",
        "type": "AnnotationSet",
        "generator": {"id": "lrwr", "type": "Software", "name": "lrwr"},
        "generated": _format_time(generated),
        "about": about,
        "items": [
            _export_item(annotation, dict(outline.files)) for annotation in annotations
        ],
    }


def _export_item(annotation: Annotation, files: Mapping[str, str]) -> dict[str, Any]:
    selectors: list[dict[str, Any]] = [
        {
            "type": "TextQuoteSelector",
            "exact": annotation.quote,
            "prefix": annotation.before,
            "suffix": annotation.after,
        }
    ]
    if annotation.cfi:
        selectors.append(
            {
                "type": "FragmentSelector",
                "conformsTo": _CFI_SPECIFICATION,
                "value": f"epubcfi({annotation.cfi})",
            }
        )
    item: dict[str, Any] = {
        "@context": _CONTEXT,
        "id": annotation.id,
        "type": "Annotation",
        "created": _format_time(annotation.created),
        "motivation": "commenting" if annotation.note else "highlighting",
        "body": {
            "type": "TextualBody",
            "value": annotation.note,
            "format": "text/plain",
            "color": annotation.color,
            "highlight": "solid",
        },
        "target": {"selector": selectors},
    }
    step, mark, _ = annotation.cfi.partition("!")
    if source := files.get(step + mark):
        item["target"] = {"source": source, "selector": selectors}
    if annotation.author:
        item["creator"] = {"type": "Person", "name": annotation.author}
    return item


def import_w3c(value: object, name: str) -> list[Annotation]:
    """Return the annotations of a set in the format W3C EPUB Annotations 1.0, or of a
    list of Web Annotations. Those without words are left out.

    Raises:
        UnreadableDocument: `value` is neither; `name` is the file's name.
    """
    items = value.get("items") if isinstance(value, Mapping) else value
    if not isinstance(items, list):
        raise UnreadableDocument(
            f"{name} has no annotations in W3C format",
            hint="Export them as W3C (JSON) from the reading program.",
        )
    return [a for item in items if (a := _import_item(item)) is not None]


def _import_item(item: object) -> Annotation | None:
    if not isinstance(item, Mapping):
        return None
    quote = _find_selector(item, "TextQuoteSelector")
    exact = _text(quote, "exact")[:MAX_QUOTE_CHARS]
    if not exact.strip():
        return None
    body = next(_iter_mappings(item.get("body")), {})
    cfi = _text(_find_selector(item, "FragmentSelector"), "value")
    match = _CFI.fullmatch(cfi)
    creator = next(_iter_mappings(item.get("creator")), {})
    note, color = _text(body, "value"), _text(body, "color")
    created = _parse_time(_text(item, "created"))
    return Annotation(
        id=_text(item, "id") or f"urn:uuid:{uuid5(_NAMESPACE, exact + note)}",
        quote=exact,
        before=_text(quote, "prefix"),
        after=_text(quote, "suffix"),
        cfi=match[1] if match else "",
        color=color or HighlightColor.YELLOW,
        note=note,
        author=_text(creator, "name"),
        created=created,
    )


_READEST_COLORS = {"pink": "red"}
"""Names of colours that differ in Readest."""
_FROM_READEST = {"red": "pink", "violet": "pink"}


def export_readest(
    annotations: Sequence[Annotation], outline: BookOutline
) -> dict[str, Any]:
    """Return annotations as the notes of a book in Readest; what stands around their
    words is lost, and so are authors.
    """
    notes = []
    for annotation in annotations:
        created = round(1000 * annotation.created)
        note = {
            "id": annotation.id,
            "type": "annotation",
            "cfi": f"epubcfi({annotation.cfi})" if annotation.cfi else "",
            "text": annotation.quote,
            "style": "highlight",
            "color": _READEST_COLORS.get(annotation.color, annotation.color),
            "note": annotation.note,
            "createdAt": created,
            "updatedAt": created,
        }
        notes.append(note)
    return {"title": outline.title, "booknotes": notes}


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """The annotations of a file, and the book that it names; empty if it names none."""

    annotations: tuple[Annotation, ...]
    title: str = ""
    identifiers: tuple[str, ...] = ()

    def is_made_for(self, outline: BookOutline) -> bool:
        """Return whether the file names this book, any edition of it, or none."""
        if outline.identifier and outline.identifier in self.identifiers:
            return True
        if self.title:
            return self.title.casefold() == outline.title.casefold()
        return not (self.identifiers and outline.identifier)


def import_annotations(value: object, name: str) -> AnnotationFile:
    """Return the annotations of a file of Readest, or else as `import_w3c`.

    Raises:
        UnreadableDocument: `value` is neither; `name` is the file's name.
    """
    notes = value.get("booknotes") if isinstance(value, Mapping) else value
    entries = [n for n in notes if isinstance(n, Mapping)] if _is_list(notes) else []
    is_readest = isinstance(value, Mapping) and "booknotes" in value
    if is_readest or (entries and all("cfi" in note for note in entries)):
        imported = [a for note in entries if (a := _import_readest(note)) is not None]
    else:
        imported = import_w3c(value, name)
    whole = value if isinstance(value, Mapping) else {}
    about = next(_iter_mappings(whole.get("about")), {})
    listed = about.get("dc:identifier", [])
    identifiers = listed if isinstance(listed, list) else [listed]
    return AnnotationFile(
        tuple(imported),
        (_text(about, "dc:title") or _text(whole, "title")).strip(),
        tuple(text for text in identifiers if isinstance(text, str)),
    )


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _import_readest(note: Mapping[str, Any]) -> Annotation | None:
    """Return a note of Readest; None for deleted ones and those without words."""
    quote, comment = _text(note, "text")[:MAX_QUOTE_CHARS], _text(note, "note")
    if not quote.strip() or note.get("deletedAt"):
        return None
    color = _text(note, "color") or HighlightColor.YELLOW
    created = note.get("createdAt")
    match = _CFI.fullmatch(_text(note, "cfi"))
    return Annotation(
        id=_text(note, "id") or f"urn:uuid:{uuid5(_NAMESPACE, quote + comment)}",
        quote=quote,
        cfi=match[1] if match else "",
        color=_FROM_READEST.get(color, color),
        note=comment,
        created=created / 1000 if isinstance(created, int | float) else 0.0,
    )


@dataclass(frozen=True, slots=True)
class CarriedAnnotations:
    """Annotations of an earlier edition: those whose words are in the new one, once, and
    the rest.
    """

    carried: tuple[Annotation, ...] = ()
    lost: tuple[Annotation, ...] = ()


def carry_annotations(
    annotations: Iterable[Annotation], text: str, outline: BookOutline
) -> CarriedAnnotations:
    """Find annotations in another edition, whose text and outline these are; their words
    there, what stands around them and their CFI replace the former.
    """
    carried, lost = [], []
    for item in place_annotations(annotations, text):
        if item.span is None:
            lost.append(item.annotation)
            continue
        new = create_annotation(
            text, outline, item.span, color=item.annotation.color, note="", now=0.0
        )
        carried.append(
            replace(
                item.annotation,
                quote=new.quote,
                before=new.before,
                after=new.after,
                cfi=new.cfi,
            )
        )
    return CarriedAnnotations(tuple(carried), tuple(lost))


def carry_position(earlier: BoundedBook, text: str, outline: BookOutline) -> int:
    """Return how many paragraphs of another edition, whose text and outline these are,
    have been read: up to the last paragraph of `earlier` before its position whose words
    are there once. 0 without one.

    A paragraph that goes on there after these words does not count as read.
    """
    end = outline.paragraphs[outline.length - 1].span.end if outline.length else 0
    for index in reversed(range(earlier.position)):
        (paragraph,) = earlier.paragraphs(index, index + 1)
        if len(paragraph.text.split()) < MIN_PLACED_WORDS:
            continue
        spans = find_quote(text[:end], paragraph.text)
        if len(spans) == 1:
            place = outline.find_paragraph(spans[0].start)
            return place + (outline.paragraphs[place].span.end <= spans[0].end)
    return 0


def _find_selector(item: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    for target in _iter_mappings(item.get("target")):
        for selector in _iter_mappings(target.get("selector")):
            if selector.get("type") == kind:
                return selector
    return {}


def _iter_mappings(value: object) -> Iterator[Mapping[str, Any]]:
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, Mapping):
            yield entry


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key, "")
    return text if isinstance(text, str) else ""


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _parse_time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
