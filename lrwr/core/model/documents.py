"""A manuscript file as lrwr understands it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from lrwr.core.model.text import LineIndex, Span

DocumentId = NewType("DocumentId", str)
"""A manuscript file's path, relative to the library's root, with `/`."""


class DocumentType(StrEnum):
    """What a document is to the writer."""

    SCENE = "scene"
    CHARACTER = "character"
    SETTING = "setting"
    WORLDBUILDING = "worldbuilding"


class DocumentFormat(StrEnum):
    """How a manuscript file is written."""

    MARKDOWN = "md"
    DOCX = "docx"
    TEXT = "txt"


@dataclass(frozen=True, slots=True)
class Scene:
    """A run of text between two scene breaks.

    `span` covers it from end to end. `parts` are the story's own words, in order:
    the stretches of `span` that are no author's comment, then the footnotes of a
    `.docx` that the scene refers to, which stand after `span`, at the end of the
    text. A scene that is nothing but comments has no parts.
    """

    span: Span
    parts: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter inside one document.

    `title` is the heading's text. Without one it is empty, save in a document of one
    chapter, which then bears the document's title. `opening` marks what stands before
    the first chapter of a book: a title page, a preface, a prologue; story order
    numbers it 0. `volume` and `number` are what the heading says
    ("Volume II", "Chapter 7"), when it says so.
    """

    title: str
    span: Span
    scenes: tuple[Scene, ...]
    opening: bool = False
    volume: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A manuscript file, parsed.

    `text` is the canonical text: Unicode NFC, lines ended by `\\n`, no byte order
    mark. For `.md` and `.txt` it is the whole file; for `.docx` it is its paragraphs
    with an empty line between them, then footnotes, then comments. Every span in
    lrwr is a span of it. `notes` are the author's comments: never canon. A note
    belongs to the scene on whose lines it stands, in a `.docx` by the number of the
    paragraph it comments. `order` is the front matter's place in story order.
    `warnings` tell what was odd about the file ("read as Latin-1"), one sentence each.
    `fields` are those of the front matter, names in lower case, values as written.
    """

    id: DocumentId
    format: DocumentFormat
    type: DocumentType
    title: str
    text: str
    lines: LineIndex
    chapters: tuple[Chapter, ...]
    notes: tuple[Span, ...] = ()
    order: float | None = None
    words: int = 0
    warnings: tuple[str, ...] = field(default=())
    fields: Mapping[str, str] = field(default_factory=dict)


class BlockKind(StrEnum):
    """What a block is to its reader."""

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    """One of a list."""
    QUOTE = "quote"
    """Words of the manuscript, verbatim."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of a document. No text in it is markup.

    `level` is a heading's, from 1. `lead` are words set off before an item's text.
    `place` says where a quote stands.
    """

    kind: BlockKind
    text: str
    level: int = 0
    lead: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """What story order needs to know of a document, and what a list of them shows."""

    id: DocumentId
    type: DocumentType
    title: str
    words: int
    order: float | None
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far the story has been read: a chapter in story order, from 0.

    `scene` counts the scenes of that chapter from 1; None means the whole chapter, 0
    nothing of it but what opens it and shares its number.
    """

    chapter: int
    scene: int | None = None
