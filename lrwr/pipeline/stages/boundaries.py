"""The stretches of a document's text that no chunk leaves."""

from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span


@dataclass(frozen=True, slots=True)
class ChunkRegion:
    """The stretch of text that a chunk may not leave, and where it stands."""

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind


def find_chunk_regions(document: Document) -> Iterator[ChunkRegion]:
    """Yield the parts of every scene in reading order, then the notes."""
    for chapter, told in enumerate(document.chapters):
        for number, scene in enumerate(told.scenes):
            for part in scene.parts:
                yield ChunkRegion(part, chapter, number, ChunkKind.PROSE)
    for note in document.notes:
        yield ChunkRegion(note, *_place(document, note), ChunkKind.NOTE)


def _place(document: Document, note: Span) -> tuple[int, int]:
    """Return chapter and scene of a note: those that began last on its line or before.

    By lines, since a comment in a `.docx` stands at the end of the text.
    """
    line, place = document.lines.line_of(note.start), (0, 0)
    for chapter, told in enumerate(document.chapters):
        for number, scene in enumerate(told.scenes):
            if document.lines.line_of(scene.span.start) <= line:
                place = chapter, number
    return place
