"""Word files: safe opening of the zip package, and the text of its paragraphs.

The package may be damaged or hostile. Bold and italic text is marked as in Markdown,
and tracked changes are accepted.
"""

import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from docx import Document
from lxml import etree

from lrwr.core.model.errors import UnreadableDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

UNPACKED_LIMIT = 200 * 1024 * 1024
"""Bytes of the largest Word file when unpacked, with pictures."""
XML_LIMIT = 64 * 1024 * 1024
"""Bytes of XML that are unpacked at most."""
RATIO_LIMIT = 300
"""Highest compression ratio of a part; a zip bomb has a higher one."""
_SMALL_PART_BYTES = 4 * 1024 * 1024
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_NAME = "EncryptedPackage".encode("utf-16-le")
_UNUSED_PARTS = (
    "style", "theme", "settings", "websettings", "fonttable", "numbering", "header",
    "footer", "glossary", "people",
)  # fmt: skip
_STRICT_NAMESPACES = (
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
)


@dataclass(frozen=True, slots=True)
class DocxPackage:
    """The parsed XML parts of a Word file that contain text; None for a missing part.

    `styles` are the bytes of the styles part; empty if it is missing.
    """

    body: "_Element"
    styles: bytes
    footnotes: "_Element | None"
    endnotes: "_Element | None"
    comments: "_Element | None"


def open_docx_package(content: bytes, name: str) -> DocxPackage:
    """Unpack and parse the bytes of a Word file; `name` is its name in error messages.

    Raises:
        UnreadableDocument: The file is damaged, encrypted, in another format, or too
            large when unpacked.
    """
    if content.startswith(_OLE_SIGNATURE):
        raise _ole_error(content, name)
    if not content.startswith(b"PK"):
        raise UnreadableDocument(
            f"{name} is not a Word document, although its name ends in .docx",
            hint="Open it in the program that wrote it and save it as .docx.",
        )
    try:
        parts = dict(_unpack(content, name))
        return _open_parts(parts)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise build_damaged_docx_error(name) from error
    except UnreadableDocument:
        raise
    except Exception as error:  # python-docx raises anything on damaged parts
        raise build_damaged_docx_error(name) from error


def parse_docx_xml(xml: bytes) -> "_Element":
    """Parse XML without resolving entities, document types or network addresses.

    Raises:
        lxml.etree.XMLSyntaxError: The XML is invalid.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    return etree.fromstring(xml, parser)


def _unpack(content: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of all parts.

    Parts without text become an empty element.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [m for m in archive.infolist() if not m.is_dir()]
        _check_sizes(members, name)
        remaining = XML_LIMIT
        for member in members:
            if not _holds_words(member.filename):
                yield member.filename, b"<unused/>"
                continue
            with archive.open(member) as part:
                xml = part.read(remaining + 1)
            remaining -= len(xml)
            if remaining < 0:
                raise _too_large_error(name)
            yield member.filename, _check_xml(xml, name)


def _check_sizes(members: list[zipfile.ZipInfo], name: str) -> None:
    if any(member.flag_bits & 1 for member in members):
        raise _encrypted_error(name)
    if sum(member.file_size for member in members) > UNPACKED_LIMIT:
        raise _too_large_error(name)
    if any(
        member.file_size > max(_SMALL_PART_BYTES, RATIO_LIMIT * member.compress_size)
        for member in members
    ):
        raise _too_large_error(name)


def _holds_words(member: str) -> bool:
    base = member.rpartition("/")[2].lower()
    if base.endswith(".rels") or member == "[Content_Types].xml":
        return True
    if not base.endswith(".xml") or member.startswith(("docProps/", "customXml/")):
        return False
    return base == "styles.xml" or not base.startswith(_UNUSED_PARTS)


def _check_xml(xml: bytes, name: str) -> bytes:
    head = xml[:4]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        raise build_damaged_docx_error(name)
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise UnreadableDocument(
            f"{name} contains XML that lrwr does not accept, for security",
            hint="Open it in Word and save it again as .docx.",
        )
    for strict, usual in _STRICT_NAMESPACES:
        xml = xml.replace(strict, usual)
    return xml


def _open_parts(parts: dict[str, bytes]) -> DocxPackage:
    """Open the parts with python-docx, which finds footnotes and comments among them."""
    styles = next((n for n in parts if n.lower().endswith("/styles.xml")), "")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for member, xml in parts.items():
            archive.writestr(member, b"<unused/>" if member == styles else xml)
    packed.seek(0)
    document = Document(packed)
    elements: dict[str, _Element] = {}
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in ("footnotes", "endnotes", "comments") and not relation.is_external:
            elements.setdefault(kind, parse_docx_xml(relation.target_part.blob))
    return DocxPackage(
        body=document.element.body,
        styles=parts.get(styles, b""),
        footnotes=elements.get("footnotes"),
        endnotes=elements.get("endnotes"),
        comments=elements.get("comments"),
    )


def _ole_error(content: bytes, name: str) -> UnreadableDocument:
    if _ENCRYPTED_NAME in content:
        return _encrypted_error(name)
    return UnreadableDocument(
        f"{name} is in Word's old format (.doc)",
        hint="Open it in Word and save it as .docx.",
    )


def _encrypted_error(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} is protected with a password",
        hint="Save a copy without a password.",
    )


def build_damaged_docx_error(name: str) -> UnreadableDocument:
    """Return the error for a damaged Word file called `name`."""
    return UnreadableDocument(
        f"{name} is damaged and cannot be opened as a Word document",
        hint="Open it in Word, let Word repair it, and save it again.",
    )


def _too_large_error(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} is too large when unpacked",
        hint="Split it, or save a copy without pictures.",
    )


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""XML namespace of Word's elements."""
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SKIPPED_TAGS = frozenset(
    W + name
    for name in ("del", "moveFrom", "pPr", "rPr", "sdtPr", "sdtEndPr", "tbl", "p")
)
_OFF_VALUES = ("0", "false", "off", "none")
_MAX_STYLE_CHAIN = 12


@dataclass(frozen=True, slots=True)
class DocxStyle:
    """Formatting of a paragraph or character style.

    `level` is the outline level of a heading, 0 for a title, None for body text.
    `generated` marks the lines of a table of contents. `borders` are the sides with a
    border, such as "top".
    """

    bold: bool = False
    italic: bool = False
    level: int | None = None
    generated: bool = False
    borders: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DocxRun:
    """A piece of text with the same formatting throughout."""

    text: str
    bold: bool = False
    italic: bool = False


@dataclass(slots=True)
class DocxAnchors:
    """Ids of the footnotes, endnotes and comments that a paragraph refers to, in text
    order.
    """

    footnotes: list[str] = field(default_factory=list)
    endnotes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


class DocxParagraphReader:
    """Reads the text of paragraphs of a Word file.

    `styles` maps style ids to the document's styles.
    """

    def __init__(self, styles: Mapping[str, DocxStyle]) -> None:
        self._styles = styles

    def style_of(self, paragraph: "_Element") -> DocxStyle:
        """Return the style of `paragraph`; the default style if it names none.

        An outline level and borders set at the paragraph itself override the style's.
        """
        properties = paragraph.find(W + "pPr")
        if properties is None:
            return DocxStyle()
        style = self._styles.get(_value(properties, "pStyle"), DocxStyle())
        outline_level, borders = _outline_level(properties), _borders(properties)
        if outline_level is not None:
            style = replace(style, level=outline_level)
        return style if borders is None else replace(style, borders=borders)

    def pieces(self, element: "_Element", anchors: DocxAnchors) -> Iterator[DocxRun]:
        """Yield the visible runs of text in `element`, in text order.

        The ids of footnotes, endnotes and comments that it refers to are added to
        `anchors`.
        """
        for child in element:
            tag = child.tag
            if not isinstance(tag, str) or tag in _SKIPPED_TAGS:
                continue
            if tag == W + "r":
                yield from self._run(child, anchors)
            elif tag == W + "commentRangeStart":
                _add_id(anchors.comments, child)
            elif tag == _COMPATIBILITY + "AlternateContent":
                yield from self.pieces(_choose_alternative(child), anchors)
            else:
                yield from self.pieces(child, anchors)

    def _run(self, run: "_Element", anchors: DocxAnchors) -> Iterator[DocxRun]:
        properties = run.find(W + "rPr")
        bold = italic = False
        if properties is not None:
            if _is_on(properties, "vanish"):
                return
            style = self._styles.get(_value(properties, "rStyle"), DocxStyle())
            bold = _is_on(properties, "b", default=style.bold)
            italic = _is_on(properties, "i", default=style.italic)
        text = "".join(_run_text(run, anchors))
        if text:
            yield DocxRun(text, bold, italic)


def find_text_box_paragraphs(paragraph: "_Element") -> "Iterator[_Element]":
    """Yield the paragraphs of text boxes that are anchored in `paragraph`, in text
    order.
    """
    for box in paragraph.iter(W + "txbxContent"):
        if not any(a.tag == _COMPATIBILITY + "Fallback" for a in box.iterancestors()):
            yield from box.iterchildren(W + "p")


def _run_text(run: "_Element", anchors: DocxAnchors) -> Iterator[str]:
    for child in run:
        match child.tag:
            case "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t":
                yield re.sub(r"[\r\n]+", " ", child.text or "")
            case tag if isinstance(tag, str) and tag in _CHARACTERS_BY_TAG:
                yield _CHARACTERS_BY_TAG[tag]
            case tag if tag == W + "br":
                yield "" if child.get(W + "type") in ("page", "column") else "\n"
            case tag if tag == W + "footnoteReference":
                _add_id(anchors.footnotes, child)
            case tag if tag == W + "endnoteReference":
                _add_id(anchors.endnotes, child)
            case tag if tag == W + "commentReference":
                _add_id(anchors.comments, child)


_CHARACTERS_BY_TAG = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}


def join_runs(pieces: Iterable[DocxRun]) -> str:
    """Return the text of the runs without formatting, in Unicode NFC, trimmed."""
    return unicodedata.normalize("NFC", "".join(p.text for p in pieces)).strip()


def join_runs_as_markdown(pieces: Iterable[DocxRun]) -> str:
    """Return the text of the runs with `*italics*` and `**bold**`, in Unicode NFC,
    trimmed.

    White space at the edge of a run stays outside of its asterisks.
    """
    out: list[str] = []
    open_marks: list[str] = []
    space = ""
    for piece in pieces:
        core = piece.text.strip()
        if not core:
            space += piece.text
            continue
        lead = piece.text[: len(piece.text) - len(piece.text.lstrip())]
        run_marks = [m for m, on in (("**", piece.bold), ("*", piece.italic)) if on]
        closed, opened = _switch_marks(open_marks, run_marks)
        out += [*closed, space + lead, *opened, core]
        space = piece.text[len(lead) + len(core) :]
    out += reversed(open_marks)
    return unicodedata.normalize("NFC", "".join(out) + space).strip()


def _switch_marks(
    open_marks: list[str], run_marks: list[str]
) -> tuple[list[str], list[str]]:
    """Return the marks to close and to open so that `run_marks` are open.

    `open_marks` is updated; the innermost mark closes first.
    """
    closed: list[str] = []
    while any(mark not in run_marks for mark in open_marks):
        closed.append(open_marks.pop())
    opened = [mark for mark in run_marks if mark not in open_marks]
    open_marks += opened
    return closed, opened


@lru_cache(maxsize=8)
def parse_docx_styles(xml: bytes) -> Mapping[str, DocxStyle]:
    """Return the styles in the styles part of a Word file, by id; none if `xml` is
    empty.

    A style inherits from the styles that it is based on. Results are cached.
    """
    if not xml:
        return {}
    elements = {
        style.get(W + "styleId", ""): style
        for style in parse_docx_xml(xml).iter(W + "style")
    }
    return {name: _resolve_style(name, elements) for name in elements}


def _resolve_style(name: str, elements: "Mapping[str, _Element]") -> DocxStyle:
    bold = italic = generated = None
    level: int | None = None
    borders: frozenset[str] | None = None
    for _ in range(_MAX_STYLE_CHAIN):
        style = elements.get(name)
        if style is None:
            break
        properties = style.find(W + "rPr")
        if properties is not None:
            bold = _first_known(bold, _switch(properties, "b"))
            italic = _first_known(italic, _switch(properties, "i"))
        paragraph_properties = style.find(W + "pPr")
        if borders is None and paragraph_properties is not None:
            borders = _borders(paragraph_properties)
        level = _style_level(style, name) if level is None else level
        generated = generated or _value(style, "name").lower().startswith("toc ")
        name = _value(style, "basedOn")
    borders = borders or frozenset()
    return DocxStyle(bool(bold), bool(italic), level, bool(generated), borders)


def _style_level(style: "_Element", style_id: str) -> int | None:
    names = (_value(style, "name").lower(), style_id.lower())
    if "title" in names:
        return 0
    for name in names:
        heading = re.fullmatch(r"heading ?([1-9])", name)
        if heading:
            return int(heading[1])
    properties = style.find(W + "pPr")
    return None if properties is None else _outline_level(properties)


def _outline_level(properties: "_Element") -> int | None:
    """Return the outline level, 1 to 9.

    None for body text (`outlineLvl` counts from 0).
    """
    level = _value(properties, "outlineLvl")
    return int(level) + 1 if re.fullmatch("[0-8]", level) else None


def _borders(properties: "_Element") -> frozenset[str] | None:
    """Return the sides with a visible border; None if borders are not set here."""
    borders = properties.find(W + "pBdr")
    if borders is None:
        return None
    return frozenset(
        border.tag.removeprefix(W)
        for border in borders.iterchildren(W + "*")
        if border.get(W + "val") not in ("none", "nil")
    )


def _add_id(names: list[str], element: "_Element") -> None:
    name = element.get(W + "id", "")
    if name not in names:
        names.append(name)


def _choose_alternative(alternatives: "_Element") -> "_Element":
    choice = alternatives.find(_COMPATIBILITY + "Choice")
    if choice is None:
        choice = alternatives.find(_COMPATIBILITY + "Fallback")
    return alternatives if choice is None else choice


def _value(element: "_Element", name: str) -> str:
    child = element.find(W + name)
    return "" if child is None else child.get(W + "val", "")


def _switch(properties: "_Element", name: str) -> bool | None:
    child = properties.find(W + name)
    return (
        None if child is None else child.get(W + "val", "1").lower() not in _OFF_VALUES
    )


def _is_on(properties: "_Element", name: str, *, default: bool = False) -> bool:
    switch = _switch(properties, name)
    return default if switch is None else switch


def _first_known(value: bool | None, fallback: bool | None) -> bool | None:
    return fallback if value is None else value
