"""Books that are read, not written: their paragraphs and table of contents."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.text import Span


class BookParagraphKind(StrEnum):
    """What a paragraph of a book is: text, a heading, a scene break or a footnote."""

    TEXT = "text"
    HEADING = "heading"
    BREAK = "break"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class BookParagraph:
    """A paragraph of a book.

    `span` is its position in the canonical text of the book's document. `cfi` is its
    EPUB Canonical Fragment Identifier without `epubcfi()`, such as "/6/8!/4/2/6".
    `anchor` is, for a footnote, the index of the paragraph that refers to it; for other
    paragraphs their own index. `reference` is, for a footnote, the offset in the canonical
    text of the end of the word after which that paragraph refers to it; None if unknown.
    """

    span: Span
    cfi: str
    kind: BookParagraphKind
    anchor: int
    reference: int | None = None


@dataclass(frozen=True, slots=True)
class BookTocEntry:
    """An entry of a table of contents.

    `depth` counts from 1. `paragraph` is the index of the first paragraph of the part;
    it may be the number of paragraphs, for an empty part at the end.
    """

    title: str
    depth: int
    paragraph: int


@dataclass(frozen=True, slots=True)
class BookOutline:
    """A book without its text.

    `paragraphs` are those of the story, in reading order, then the footnotes, in the
    order of their references; `length` is the number of the former. `toc` is in reading
    order. `identifier` is the book's own, such as a URN. `warnings` are sentences about
    parts that could not be read. `files` are the beginnings of CFIs, such as "/6/4!",
    with the paths in the package that they lead to.
    """

    title: str
    authors: tuple[str, ...]
    language: str
    identifier: str
    paragraphs: tuple[BookParagraph, ...]
    length: int
    toc: tuple[BookTocEntry, ...]
    warnings: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()

    def find_paragraph(self, offset: int) -> int:
        """Return the index of the paragraph that contains the character at `offset`,
        else that of the one before it; 0 before the first.
        """
        starts = [paragraph.span.start for paragraph in self.paragraphs]
        return max(0, bisect_right(starts, offset) - 1)

    def find_toc_entry(self, paragraph: int) -> BookTocEntry | None:
        """Return the last entry that begins at or before the paragraph with this index;
        None before the first.
        """
        started = [entry for entry in self.toc if entry.paragraph <= paragraph]
        return started[-1] if started else None

    def notes_of(self, paragraphs: Sequence[int]) -> list[int]:
        """Return the indexes of the footnotes to which `paragraphs` refer, in order."""
        anchors = frozenset(paragraphs)
        return [
            index
            for index in range(self.length, len(self.paragraphs))
            if self.paragraphs[index].anchor in anchors
        ]
