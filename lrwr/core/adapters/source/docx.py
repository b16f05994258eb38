"""Layout of Word documents: paragraphs, headings, tables, footnotes and comments."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from lrwr.core.adapters.source.docx_text import (
    DocxAnchors,
    DocxPackage,
    DocxParagraphReader,
    DocxRun,
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
    MAX_HEADING_CHARS,
    DocumentLayout,
    Footnote,
    Heading,
    find_unmarked_headings,
    is_scene_break,
    parse_heading_line,
)
from lrwr.core.model.text import LineIndex, Span

if TYPE_CHECKING:
    from lxml.etree import _Element

_SEPARATOR = "\n\n"
_RULE = "---"
"""Text of a horizontal line, which is a scene break."""
_LINE_ABOVE, _LINE_BELOW = frozenset({"top"}), frozenset({"bottom"})
_LINE_BORDERS = frozenset({"top", "bottom", "between"})
_OFFICE_HR = "{urn:schemas-microsoft-com:office:office}hr"
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
        self._line_above = self._line_below = False
        self.length = 0

    def read_body(self, body: "_Element") -> None:
        """Read the paragraphs and tables of the body, in text order."""
        for items in _join_deleted_marks(_iterate_items(body)):
            if items[0].tag == W + "tbl":
                self._add_line_below(frozenset())
                for row in items[0].iter(W + "tr"):
                    self._read_row(row)
            elif items[0].tag == W + "p":
                self._read_paragraph(items)
            else:
                self._anchor_comment(items[0])

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

    def _read_paragraph(self, paragraphs: "Sequence[_Element]") -> None:
        self._add_line_below(self._words.style_of(paragraphs[-1]).borders)
        self._number += 1
        self._add_paragraph(paragraphs)
        boxes = chain.from_iterable(map(find_text_box_paragraphs, paragraphs))
        for in_box in _join_deleted_marks(boxes):
            self._add_paragraph(in_box)

    def _add_paragraph(self, paragraphs: "Sequence[_Element]") -> None:
        """Add one paragraph, made of those whose marks between them were deleted.

        The last one's style applies, because its mark remains.
        """
        anchors = DocxAnchors()
        style = self._words.style_of(paragraphs[-1])
        pieces = self._pieces(paragraphs, anchors)
        words = join_runs(pieces)
        if words and style.level is None:
            self._add_line_above(style.borders)
        at = self._next_start()
        if not words and _is_rule(paragraphs, style):
            self._add_rule()
        elif not style.generated:
            self._add_words(words, join_runs_as_markdown(pieces), style)
        self._anchor(anchors, _AnchorPosition(self._number, at))

    def _pieces(
        self, paragraphs: "Iterable[_Element]", anchors: DocxAnchors
    ) -> list[DocxRun]:
        return [
            piece
            for paragraph in paragraphs
            for piece in self._words.pieces(paragraph, anchors)
        ]

    def _add_rule(self) -> None:
        """Add a scene break for a line, unless it is the ornament of a heading."""
        self._line_below = False
        last = self._units[-1] if self._units else None
        after_heading = self._headings and self._headings[-1].span.end == self.length
        after_title = (
            last and last.span.end == self.length and parse_heading_line(last.text)
        )
        if not after_heading and not after_title:
            self._breaks.append(self._add(_RULE, self._number))

    def _add_line_below(self, next_borders: frozenset[str]) -> None:
        """Add the scene break that the border below the last paragraph is.

        Word draws one line below the last of several paragraphs with the same borders.
        """
        if self._line_below and next_borders != _LINE_BELOW:
            self._add_rule()

    def _add_line_above(self, borders: frozenset[str]) -> None:
        """Add the scene break that the border above the next paragraph is."""
        if borders == _LINE_ABOVE and not self._line_above:
            self._add_rule()
        self._line_above = borders == _LINE_ABOVE

    def _add_words(self, words: str, text: str, style: DocxStyle) -> None:
        if not words:
            return
        self._line_below = style.borders == _LINE_BELOW and style.level is None
        if is_scene_break(words):
            self._breaks.append(self._add(words, self._number))
        elif style.level is not None and len(words) <= MAX_HEADING_CHARS:
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
            join_runs_as_markdown(self._pieces(items, anchors))
            for items in _join_deleted_marks(_iterate_items(cell))
            if items[0].tag == W + "p"
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
                join_runs_as_markdown(self._pieces(items, DocxAnchors()))
                for items in _join_deleted_marks(note.iter(W + "p"))
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


def _join_deleted_marks(
    items: "Iterable[_Element]",
) -> "Iterator[Sequence[_Element]]":
    """Yield paragraphs in groups, and every other item alone, in text order.

    Tracked changes are accepted: a paragraph whose mark was deleted or moved away is
    one with the next paragraph, unless a table follows.
    """
    joined: list[_Element] = []
    for item in items:
        if item.tag != W + "p":
            if item.tag == W + "tbl" and joined:
                yield joined
                joined = []
            yield [item]
            continue
        joined.append(item)
        if not _has_deleted_mark(item):
            yield joined
            joined = []
    if joined:
        yield joined


def _has_deleted_mark(paragraph: "_Element") -> bool:
    mark = paragraph.find(f"{W}pPr/{W}rPr")
    return mark is not None and any(
        mark.find(W + name) is not None for name in ("del", "moveFrom")
    )


def _is_rule(paragraphs: "Iterable[_Element]", style: DocxStyle) -> bool:
    """Return whether a paragraph without words is a horizontal line.

    That is Word's own line (VML's `o:hr`, which pandoc writes, too), or a border above
    or below the paragraph.
    """
    if style.borders and style.borders <= _LINE_BORDERS:
        return True
    shapes = (
        shape
        for paragraph in paragraphs
        for picture in paragraph.iter(W + "pict")
        for shape in picture
    )
    return any(shape.get(_OFFICE_HR) in ("t", "true", "1") for shape in shapes)
