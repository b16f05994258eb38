"""Manuscript files as lrwr parses them, their outlines, and points in story order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NewType

from lrwr.core.model.text import LineIndex, Span

DocumentId = NewType("DocumentId", str)
"""Path of a manuscript file, relative to the manuscript folder, with `/` separators."""


class DocumentType(StrEnum):
    """What a document contains: story text (`SCENE`), or notes about characters,
    settings or the world of the story.
    """

    SCENE = "scene"
    CHARACTER = "character"
    SETTING = "setting"
    WORLDBUILDING = "worldbuilding"


class DocumentFormat(StrEnum):
    """File format of a document, by its file extension: md, docx, txt or epub."""

    MARKDOWN = "md"
    DOCX = "docx"
    TEXT = "txt"
    EPUB = "epub"


PARAGRAPH_SUFFIXES = (".docx", ".epub")
"""File endings, in lower case, of documents whose lines are paragraphs: their files are
no text that an editor could open at a line."""


def has_paragraph_numbers(document: str) -> bool:
    """Return whether the lines of `document`, a path, are numbers of paragraphs."""
    return document.lower().endswith(PARAGRAPH_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Scene:
    """The text of a chapter between two scene breaks.

    `span` covers the scene from end to end. `parts` are the spans of its story text, in
    text order: `span` without the author's comments, followed by the footnotes that the
    scene refers to (only in `.docx`, where they are at the end of the canonical text,
    outside `span`). A scene that consists of comments has no parts.
    """

    span: Span
    parts: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of one document.

    `title` is the text of its heading. Without a heading it is empty, except in a
    document with a single chapter, which takes the document's title. `opening` marks
    text before the first chapter, such as a preface or prologue; story order gives it
    the number 0. `volume` and `number` are parsed from the heading ("Volume II",
    "Chapter 7") and are None where it names none.
    """

    title: str
    span: Span
    scenes: tuple[Scene, ...]
    opening: bool = False
    volume: int | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    r"""A parsed manuscript file.

    `text` is the canonical text: Unicode NFC, lines separated by `\n`, no byte order
    mark. It is the whole file for `.md` and `.txt`; for `.docx` it is the paragraphs,
    separated by empty lines, then the footnotes, then the comments. Every `Span` in
    lrwr refers to the canonical text of its document.

    `notes` are the spans of the author's comments, which never count as story text. A
    comment belongs to the scene whose lines contain it; in `.docx`, to the scene of the
    paragraph that it comments on. `order` is the `order:` value of the front matter,
    None without one. `words` counts words. `warnings` are sentences about problems with
    the file, such as "Read as Latin-1." `fields` are the front matter's values as
    written, by lower-case field name. `scene_files` are the documents that an index
    note lists in story order; None if the document is no index.
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
    scene_files: tuple[DocumentId, ...] | None = None


class BlockKind(StrEnum):
    """Kind of a block in an exported document: heading, text, list item, quotation or
    entry of the table of contents.
    """

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    """One item of a list."""
    QUOTE = "quote"
    """A quotation from the manuscript, verbatim."""
    CONTENTS = "contents"
    """A heading's text, as an entry of the table of contents."""


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph of a document that lrwr exports; its texts are plain, not markup.

    `level` is the level of a heading, from 1; 0 for other kinds. `lead` is a label
    written before the text of a list item. `place` is the location of a quotation, such
    as "chapters/03.md:15"; empty for other kinds.
    """

    kind: BlockKind
    text: str
    level: int = 0
    lead: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document without its text, for story order and lists of documents.

    `words` is the number of words. `order` is the `order:` value of the front matter,
    None without one. `scene_files` are the documents that an index note lists in story
    order; empty for other documents.
    """

    id: DocumentId
    type: DocumentType
    title: str
    words: int
    order: float | None
    chapters: tuple[Chapter, ...]
    scene_files: tuple[DocumentId, ...] = ()

    @property
    def is_numbered_by_name(self) -> bool:
        """Whether `order` is the first number in the file name."""
        number = re.search(r"\d+", PurePosixPath(self.id).name)
        return number is not None and int(number[0]) == self.order


def find_positions(by_path: Sequence[DocumentOutline]) -> list[float]:
    """Return the position of each document in the story if it had no `order:`.

    It counts from 1 by path, so that a file with `order: 3` comes third. Documents
    whose `order:` is the number in their file name keep their neighbours: those between
    two of them share the positions between them, however many they are.
    """
    marks = [
        (place, outline.order)
        for place, outline in enumerate(by_path, start=1)
        if outline.order is not None and outline.is_numbered_by_name
    ]
    values = [value for _, value in marks]
    if not marks or values != sorted(set(values)):
        return [float(place) for place in range(1, len(by_path) + 1)]
    (first, lowest), (last, highest) = marks[0], marks[-1]
    beyond = len(by_path) + 1
    bounds = [(0, lowest - first), *marks, (beyond, highest + beyond - last)]
    return [
        low + (high - low) * step / (end - start)
        for (start, low), (end, high) in pairwise(bounds)
        for step in range(end - start)
    ][1:]


@dataclass(frozen=True, slots=True)
class Horizon:
    """The last point of the story that may be used: a chapter, counted in story order.

    `chapter` 0 is the text before chapter 1. `scene` counts the scenes of that chapter
    from 1 and is included; None includes the whole chapter. With scene 0 only the text
    that opens the chapter and shares its number, such as the title page of a volume, is
    included. `offset` is a point inside the chapter, as for a reader of a book: of the
    chapter's document only the characters before it may be used.
    """

    chapter: int
    scene: int | None = None
    offset: int | None = None


BEFORE_THE_STORY = Horizon(-1)
"""The horizon before the first word: nothing may be used."""
