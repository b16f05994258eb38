"""Layout and outline of EPUB books: chapters, paragraphs and footnotes in order."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.adapters.source.epub_package import (
    EpubLink,
    EpubPackage,
    fill_missing_targets,
)
from lrwr.core.adapters.source.epub_text import RULE, EpubParagraph, EpubReader
from lrwr.core.adapters.source.layout import (
    MAX_HEADING_CHARS,
    DocumentLayout,
    Footnote,
    Heading,
    find_unmarked_headings,
    is_scene_break,
)
from lrwr.core.model.books import (
    BookOutline,
    BookParagraph,
    BookParagraphKind,
    BookTocEntry,
)
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import LineIndex, Span

_SEPARATOR = "\n\n"
_PICTURE_ONLY = re.compile(r"(?:\[picture: [^\]]*\]\s*)+")
_DEEP = 10
"""Level of headings that the table of contents does not list, above its own levels."""
_INTRODUCTION = 3
"""Paragraphs after the target of an entry whose headings belong to it, such as a number
and a subtitle."""


@dataclass(frozen=True, slots=True)
class EpubBook:
    """A parsed book: the layout of its document, and its outline."""

    layout: DocumentLayout
    outline: BookOutline


def parse_epub(content: bytes, name: str) -> DocumentLayout:
    """Parse the bytes of an EPUB file; `name` is its name in error messages.

    The text of the layout has the paragraphs, separated by empty lines, then the
    footnotes; line numbers are the numbers of paragraphs.

    Raises:
        UnreadableDocument: The file is no EPUB, damaged, protected, too large, or has
            no text.
    """
    return read_epub(content, name).layout


def read_epub(content: bytes, name: str) -> EpubBook:
    """Return the layout and the outline of an EPUB book, as `parse_epub`.

    Raises:
        UnreadableDocument: As `parse_epub`.
    """
    package = EpubPackage(content, name)
    reader = EpubReader()
    for item in package.spine():
        root = package.read_xhtml(item.path)
        if root is not None:
            reader.read(root, item.path, item.step)
    texts = (paragraph.text for paragraph in reader.paragraphs)
    if all(_PICTURE_ONLY.fullmatch(text) or text == RULE for text in texts):
        raise UnreadableDocument(
            f"{name} has no text",
            hint="It may consist of pictures, such as a comic or a scan.",
        )
    links = fill_missing_targets(package.links())
    return _build_book(package, reader, links)


def _build_book(
    package: EpubPackage, reader: EpubReader, links: Iterable[EpubLink]
) -> EpubBook:
    toc = tuple(_resolve_toc(links, reader.targets))
    paragraphs, notes = reader.paragraphs, _order_notes(reader)
    texts = [paragraph.text for paragraph in paragraphs]
    texts += [
        f"[note {number}] {raw.text}" for number, (raw, *_) in enumerate(notes, 1)
    ]
    spans = list(_lay_out(texts))
    story = tuple(
        BookParagraph(span, raw.cfi, _kind(raw), index)
        for index, (span, raw) in enumerate(zip(spans, paragraphs, strict=False))
    )
    asides = tuple(
        BookParagraph(
            span,
            raw.cfi,
            BookParagraphKind.NOTE,
            anchor,
            None if offset is None else spans[anchor].start + offset,
        )
        for span, (raw, anchor, offset) in zip(spans[len(story) :], notes, strict=True)
    )
    metadata = package.metadata()
    outline = BookOutline(
        title=metadata.title[:MAX_HEADING_CHARS] or package.name,
        authors=metadata.authors,
        language=metadata.language,
        identifier=metadata.identifier,
        paragraphs=(*story, *asides),
        length=len(story),
        toc=toc or tuple(_toc_of_headings(paragraphs)),
        warnings=tuple(package.warnings),
        files=tuple((item.step, item.path) for item in package.spine()),
    )
    return EpubBook(_build_layout(outline, paragraphs, texts), outline)


def _resolve_toc(
    links: Iterable[EpubLink], targets: Mapping[tuple[str, str], int]
) -> list[BookTocEntry]:
    """Return the entries of a table of contents whose files are in the reading order,
    sorted by it.
    """
    entries = []
    for link in links:
        index = targets.get((link.path, link.fragment), targets.get((link.path, "")))
        if index is not None:
            title = " ".join(link.title.split())[:MAX_HEADING_CHARS]
            entries.append(BookTocEntry(title, link.depth, index))
    return sorted(entries, key=lambda entry: entry.paragraph)


def _toc_of_headings(paragraphs: Sequence[EpubParagraph]) -> Iterable[BookTocEntry]:
    for index, raw in enumerate(paragraphs):
        if raw.level and len(raw.text) <= MAX_HEADING_CHARS:
            yield BookTocEntry(" ".join(raw.text.split()), raw.level, index)


def _order_notes(
    reader: EpubReader,
) -> list[tuple[EpubParagraph, int, int | None]]:
    """Return the footnotes with the indexes of the paragraphs that refer to them, and the
    offsets at which these do, in the order of both. A note without a reference belongs to
    the paragraph before it; its offset is None.
    """
    referring: dict[tuple[str, str], tuple[int, int | None]] = {
        reference.target: (index, reference.offset)
        for index, raw in reversed(list(enumerate(reader.paragraphs)))
        for reference in reversed(raw.references)
    }
    placed: list[tuple[EpubParagraph, int, int | None]] = []
    for raw, following in reader.notes:
        places = [referring[target] for target in raw.ids if target in referring]
        if not places and placed and placed[-1][0].ids and not raw.ids:
            places = [placed[-1][1:]]  # a later paragraph of the same note
        placed.append((raw, *(places[0] if places else (max(0, following - 1), None))))
    return sorted(placed, key=lambda note: (note[1], note[2] or 0))


def _lay_out(texts: Iterable[str]) -> Iterable[Span]:
    at = 0
    for text in texts:
        yield Span(at, at + len(text))
        at += len(text) + len(_SEPARATOR)


def _kind(raw: EpubParagraph) -> BookParagraphKind:
    if is_scene_break(raw.text):
        return BookParagraphKind.BREAK
    return BookParagraphKind.HEADING if raw.level else BookParagraphKind.TEXT


def _build_layout(
    outline: BookOutline, raw: Sequence[EpubParagraph], texts: Sequence[str]
) -> DocumentLayout:
    paragraphs, length = outline.paragraphs, outline.length
    story = paragraphs[:length]
    body_end = story[-1].span.end if story else 0
    headings = _find_headings(outline, raw)
    return DocumentLayout(
        text=_SEPARATOR.join(texts),
        lines=LineIndex(
            tuple(p.span.start for p in paragraphs),
            tuple(p.anchor + 1 for p in paragraphs),
        ),
        body=Span(0, body_end),
        headings=headings
        or find_unmarked_headings((p.span, texts[i]) for i, p in enumerate(story)),
        breaks=tuple(p.span for p in story if p.kind is BookParagraphKind.BREAK),
        footnotes=tuple(
            Footnote(note.span, note.reference or paragraphs[note.anchor].span.start)
            for note in paragraphs[length:]
        ),
        fields={"title": outline.title},
        warnings=outline.warnings,
    )


def _find_headings(
    outline: BookOutline, raw: Sequence[EpubParagraph]
) -> tuple[Heading, ...]:
    """Return the entries of the table of contents as headings, then other headings,
    below their levels.

    The heading of an entry that begins with prose is empty and stands before it.
    """
    begun = {entry.paragraph: entry for entry in outline.toc}
    headings = [
        Heading(_find_heading_span(entry, outline, raw), entry.depth, entry.title)
        if begun[entry.paragraph] is entry
        # A part and its first chapter begin together.
        else Heading(_start_of(outline, entry.paragraph), entry.depth, entry.title)
        for entry in outline.toc
        if entry.paragraph < outline.length
    ]
    last = -_INTRODUCTION - 1
    for index, paragraph in enumerate(raw):
        if index in begun:
            last = index
        is_title = paragraph.level and len(paragraph.text) <= MAX_HEADING_CHARS
        if is_title and index - last > _INTRODUCTION:
            title = " ".join(paragraph.text.split())
            span, level = outline.paragraphs[index].span, _DEEP + paragraph.level
            headings.append(Heading(span, level, title))
    return tuple(sorted(headings, key=lambda heading: heading.span))


def _find_heading_span(
    entry: BookTocEntry, outline: BookOutline, raw: Sequence[EpubParagraph]
) -> Span:
    paragraph = raw[entry.paragraph]
    if paragraph.level or " ".join(paragraph.text.split()) == entry.title:
        return outline.paragraphs[entry.paragraph].span
    return _start_of(outline, entry.paragraph)


def _start_of(outline: BookOutline, paragraph: int) -> Span:
    start = outline.paragraphs[paragraph].span.start
    return Span(start, start)
