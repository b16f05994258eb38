"""Layout of Word documents: paragraphs, headings, tables, footnotes and comments."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.core.adapters.source.docx_text import (
    DocxAnchors,
    DocxPackage,
    DocxParagraphReader,
    DocxStyle,
    W,
    build_damaged_docx_error,
    find_text_box_paragraphs,
    join_runs,
    join_runs_as_markdown,
    open_docx_package,
    parse_docx_styles,
)
from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    Footnote,
    Heading,
    find_unmarked_headings,
    is_scene_break,
)
from lrwr.core.model.text import LineIndex, Span

if TYPE_CHECKING:
    from lxml.etree import _Element

_SEPARATOR = "\n\n"
_WRAPPERS = frozenset(
    W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")
)


def parse_docx(content: bytes, name: str) -> DocumentLayout:
    """Parse the bytes of a Word file; `name` is its name in error messages.

    The text of the layout has one line per paragraph and per table row, separated by
    empty lines; line numbers are the numbers of paragraphs, a table row counting as
    one. Footnotes and comments follow the body.

    Raises:
        UnreadableDocument: The file is damaged, encrypted, in another format, or too
            large when unpacked.
    """
    package = open_docx_package(content, name)
    try:
        styles = parse_docx_styles(package.styles)
    except SyntaxError as error:  # lxml raises it for broken XML
        raise build_damaged_docx_error(name) from error
    reader = _DocxReader(DocxParagraphReader(styles))
    reader.read_body(package.body)
    body_end = reader.length
    reader.read_notes(package)
    reader.read_comments(package)
    return reader.layout(body_end)


@dataclass(frozen=True, slots=True)
class _DocxUnit:
    """A paragraph or a table row: its span in the canonical text, and its unmarked
    text.
    """

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class _AnchorPosition:
    """Where a note is referred to: the paragraph's number and the offset of its start."""

    number: int
    at: int


class _DocxReader:
    """Builds the canonical text of one document, paragraph by paragraph."""

    def __init__(self, words: DocxParagraphReader) -> None:
        self._words = words
        self._texts: list[str] = []
        self._numbers: list[int] = []
        self._starts: list[int] = []
        self._units: list[_DocxUnit] = []
        self._headings: list[Heading] = []
        self._breaks: list[Span] = []
        self._notes: list[Span] = []
        self._footnotes: list[Footnote] = []
        self._anchors: dict[tuple[str, str], _AnchorPosition] = {}
        self._number = 0
        self.length = 0

    def read_body(self, body: "_Element") -> None:
        """Read the paragraphs and tables of the body, in text order."""
        for item in _iterate_items(body):
            if item.tag == W + "tbl":
                for row in item.iter(W + "tr"):
                    self._read_row(row)
            elif item.tag == W + "p":
                self._read_paragraph(item)
            else:
                self._anchor_comment(item)

    def read_notes(self, package: DocxPackage) -> None:
        """Append footnotes, then endnotes, each in the order of their references."""
        count = 0
        for kind, part in (
            ("footnote", package.footnotes),
            ("endnote", package.endnotes),
        ):
            texts = self._texts_by_id(part, kind)
            for (referred, name), position in self._anchors.items():
                if referred == kind and texts.get(name):
                    count += 1
                    span = self._add(f"[note {count}] {texts[name]}", position.number)
                    self._footnotes.append(Footnote(span, position.at))

    def read_comments(self, package: DocxPackage) -> None:
        """Append the author's comments; skip those without a reference in the text."""
        texts = self._texts_by_id(package.comments, "comment")
        for (kind, name), position in self._anchors.items():
            if kind == "comment" and texts.get(name):
                self._notes.append(self._add(texts[name], position.number))

    def layout(self, body_end: int) -> DocumentLayout:
        """Return the layout of everything read.

        The body ends at the offset `body_end`.
        """
        text = _SEPARATOR.join(self._texts)
        blocks = ((unit.span, unit.text) for unit in self._units)
        return DocumentLayout(
            text=text,
            lines=LineIndex(tuple(self._starts) or (0,), tuple(self._numbers) or (1,)),
            body=Span(0, body_end),
            headings=tuple(self._headings) or find_unmarked_headings(blocks),
            breaks=tuple(self._breaks),
            notes=tuple(self._notes),
            footnotes=tuple(self._footnotes),
        )

    def _read_paragraph(self, paragraph: "_Element") -> None:
        self._number += 1
        for piece in (paragraph, *find_text_box_paragraphs(paragraph)):
            self._add_paragraph(piece)

    def _add_paragraph(self, paragraph: "_Element") -> None:
        anchors = DocxAnchors()
        style = self._words.style_of(paragraph)
        pieces = list(self._words.pieces(paragraph, anchors))
        at = self._next_start()
        if not style.generated:
            self._add_words(join_runs(pieces), join_runs_as_markdown(pieces), style)
        self._anchor(anchors, _AnchorPosition(self._number, at))

    def _add_words(self, words: str, text: str, style: DocxStyle) -> None:
        if not words:
            return
        if is_scene_break(words):
            self._breaks.append(self._add(words, self._number))
        elif style.level is not None:
            span = self._add(words, self._number)
            self._headings.append(Heading(span, style.level, " ".join(words.split())))
        else:
            self._units.append(_DocxUnit(self._add(text, self._number), words))

    def _read_row(self, row: "_Element") -> None:
        self._number += 1
        anchors = DocxAnchors()
        cells = [self._cell(cell, anchors) for cell in row.findall(W + "tc")]
        at = self._next_start()
        if any(cells):
            self._add(" | ".join(cells), self._number)
        self._anchor(anchors, _AnchorPosition(self._number, at))

    def _cell(self, cell: "_Element", anchors: DocxAnchors) -> str:
        paragraphs = (
            join_runs_as_markdown(self._words.pieces(paragraph, anchors))
            for paragraph in _iterate_items(cell)
            if paragraph.tag == W + "p"
        )
        return " ".join(" ".join(paragraphs).split())

    def _texts_by_id(self, part: "_Element | None", tag: str) -> dict[str, str]:
        if part is None:
            return {}
        texts: dict[str, str] = {}
        for note in part.iter(W + tag):
            if note.get(W + "type") not in (None, "normal"):
                continue
            paragraphs = (
                join_runs_as_markdown(self._words.pieces(p, DocxAnchors()))
                for p in note.iter(W + "p")
            )
            texts[note.get(W + "id", "")] = "\n".join(p for p in paragraphs if p)
        return texts

    def _anchor(self, anchors: DocxAnchors, position: _AnchorPosition) -> None:
        for kind, names in (
            ("footnote", anchors.footnotes),
            ("endnote", anchors.endnotes),
            ("comment", anchors.comments),
        ):
            for name in names:
                self._anchors.setdefault((kind, name), position)

    def _anchor_comment(self, item: "_Element") -> None:
        name = item.get(W + "id", "")
        position = _AnchorPosition(self._number + 1, self._next_start())
        self._anchors.setdefault(("comment", name), position)

    def _next_start(self) -> int:
        return self.length + len(_SEPARATOR) if self._texts else 0

    def _add(self, text: str, number: int) -> Span:
        start = self._next_start()
        self._texts.append(text)
        self._starts.append(start)
        self._numbers.append(number)
        self.length = start + len(text)
        return Span(start, self.length)


def _iterate_items(parent: "_Element") -> "Iterator[_Element]":
    """Yield paragraphs, tables and comment starts of `parent`, also those inside
    wrappers.
    """
    for child in parent:
        if child.tag in (W + "p", W + "tbl", W + "commentRangeStart"):
            yield child
        elif child.tag in _WRAPPERS:
            yield from _iterate_items(child)
