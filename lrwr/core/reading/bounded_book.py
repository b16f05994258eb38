"""A book as its reader knows it: text and table of contents up to a position."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lrwr.core.model.books import BookOutline, BookParagraphKind, BookTocEntry

PAGE_PARAGRAPHS = 12
"""Paragraphs of a page."""


@dataclass(frozen=True, slots=True)
class BookChapterStart:
    """Where a chapter begins: its number in story order, 0 before chapter 1, and the
    index of its first paragraph.
    """

    number: int
    title: str
    paragraph: int


@dataclass(frozen=True, slots=True)
class ReadParagraph:
    """A paragraph that the reader has reached, and the footnotes that it refers to.

    `index` counts from 0. `references` are the offsets in `text` at which it refers to each
    of `notes`; None where that is unknown.
    """

    index: int
    text: str
    cfi: str
    kind: BookParagraphKind
    notes: tuple[str, ...] = ()
    references: tuple[int | None, ...] = ()


class BoundedBook:
    """Shows a book up to a position: its first `position` paragraphs.

    Nothing after the position is returned: no text, no title, no footnote. `text` is
    the canonical text of the book's document, `chapters` are in reading order.
    """

    def __init__(
        self,
        outline: BookOutline,
        chapters: Sequence[BookChapterStart],
        text: str,
        position: int,
    ) -> None:
        self.outline = outline
        self.position = max(0, min(position, outline.length))
        self._chapters = tuple(chapters)
        self._text = text

    @cached_property
    def end(self) -> int:
        """The offset of the first character of the text that may not be shown."""
        if not self.position:
            return 0
        return self.outline.paragraphs[self.position - 1].span.end

    @property
    def text(self) -> str:
        """The text up to the position; at the end of the book with all footnotes."""
        is_whole = self.position >= self.outline.length
        return self._text if is_whole else self._text[: self.end]

    @property
    def chapter(self) -> BookChapterStart | None:
        """The chapter of the position; None before the first."""
        begun = self.chapters()
        return begun[-1] if begun else None

    def chapters(self) -> tuple[BookChapterStart, ...]:
        """Return the chapters that begin before the position."""
        return tuple(c for c in self._chapters if c.paragraph < self.position)

    def contents(self) -> tuple[BookTocEntry, ...]:
        """Return the entries of the table of contents that begin before the position."""
        toc = self.outline.toc
        return tuple(entry for entry in toc if entry.paragraph < self.position)

    def paragraphs(self, first: int, end: int) -> tuple[ReadParagraph, ...]:
        """Return the paragraphs from index `first` up to `end`, exclusive, as far as the
        position.
        """
        return tuple(
            self._read(index) for index in range(max(0, first), min(end, self.position))
        )

    def page(self) -> tuple[ReadParagraph, ...]:
        """Return the last page before the position; it begins in the chapter of the
        position.
        """
        start = self.chapter.paragraph if self.chapter else 0
        first = max(start, self.position - PAGE_PARAGRAPHS)
        return self.paragraphs(first, self.position)

    def _read(self, index: int) -> ReadParagraph:
        paragraph = self.outline.paragraphs[index]
        notes = self.outline.notes_of([index])
        places = (self.outline.paragraphs[note].reference for note in notes)
        start = paragraph.span.start
        return ReadParagraph(
            index,
            self._slice(index),
            paragraph.cfi,
            paragraph.kind,
            tuple(map(self._slice, notes)),
            tuple(None if place is None else place - start for place in places),
        )

    def _slice(self, index: int) -> str:
        span = self.outline.paragraphs[index].span
        return self._text[span.start : span.end]


def find_next_position(
    outline: BookOutline, chapters: Sequence[BookChapterStart], position: int
) -> int:
    """Return the position after the next page; it ends with the chapter at the latest."""
    most = min(position + PAGE_PARAGRAPHS, outline.length)
    starts = [chapter.paragraph for chapter in chapters]
    return next((start for start in starts if position < start < most), most)


def build_horizon_text(book: BoundedBook) -> str:
    """Return the position as a horizon that `parse_horizon` reads, such as
    `ch3@5120`.
    """
    number = book.chapter.number if book.chapter else 0
    return f"ch{number}@{book.end}"
