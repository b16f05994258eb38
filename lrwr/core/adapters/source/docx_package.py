"""A Word file opened with care: a zip of XML that may be broken, or meant to harm."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docx import Document
from lxml import etree

from lrwr.core.model.errors import UnreadableDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

UNPACKED_LIMIT = 200 * 1024 * 1024
"""The most bytes that a Word file may hold when unpacked, pictures included."""

XML_LIMIT = 64 * 1024 * 1024
"""The most bytes of text and structure that are unpacked."""

RATIO_LIMIT = 300
"""How many times smaller than its content a packed part of some size may be."""

_SMALL = 4 * 1024 * 1024
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_UNUSED = (
    "style", "theme", "settings", "websettings", "fonttable", "numbering", "header",
    "footer", "glossary", "people",
)  # fmt: skip
_STRICT = (
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
    """The parts of a Word file that hold words, as XML; None where there is none."""

    body: "_Element"
    styles: bytes
    footnotes: "_Element | None"
    endnotes: "_Element | None"
    comments: "_Element | None"


def open_docx_package(content: bytes, name: str) -> DocxPackage:
    """Open a `.docx`.

    Raises:
        UnreadableDocument: It is broken, locked, another format, or a zip bomb.
    """
    if content.startswith(_OLE):
        raise _locked_or_old(content, name)
    if not content.startswith(b"PK"):
        raise UnreadableDocument(
            f"{name} is not a Word document, whatever its name says",
            hint="Open it in the program that made it and save it as .docx.",
        )
    try:
        parts = dict(_unpacked(content, name))
        return _opened(parts)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise build_damaged_docx_error(name) from error
    except UnreadableDocument:
        raise
    except Exception as error:  # python-docx raises anything on damaged parts
        raise build_damaged_docx_error(name) from error


def parse_docx_xml(xml: bytes) -> "_Element":
    """Parse XML without entities, document types or network."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    return etree.fromstring(xml, parser)


def _unpacked(content: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the parts; those that hold none of the writer's words as an empty one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [m for m in archive.infolist() if not m.is_dir()]
        _check_sizes(members, name)
        left = XML_LIMIT
        for member in members:
            if not _holds_words(member.filename):
                yield member.filename, b"<unused/>"
                continue
            with archive.open(member) as part:
                xml = part.read(left + 1)
            left -= len(xml)
            if left < 0:
                raise _too_large(name)
            yield member.filename, _checked(xml, name)


def _check_sizes(members: list[zipfile.ZipInfo], name: str) -> None:
    if any(member.flag_bits & 1 for member in members):
        raise _locked(name)
    if sum(member.file_size for member in members) > UNPACKED_LIMIT:
        raise _too_large(name)
    if any(
        member.file_size > max(_SMALL, RATIO_LIMIT * member.compress_size)
        for member in members
    ):
        raise _too_large(name)


def _holds_words(member: str) -> bool:
    base = member.rpartition("/")[2].lower()
    if base.endswith(".rels") or member == "[Content_Types].xml":
        return True
    if not base.endswith(".xml") or member.startswith(("docProps/", "customXml/")):
        return False
    return base == "styles.xml" or not base.startswith(_UNUSED)


def _checked(xml: bytes, name: str) -> bytes:
    head = xml[:4]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        raise build_damaged_docx_error(name)
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise UnreadableDocument(
            f"{name} holds XML definitions that no Word document needs",
            hint="Open it in Word and save it again as .docx.",
        )
    for strict, usual in _STRICT:
        xml = xml.replace(strict, usual)
    return xml


def _opened(parts: dict[str, bytes]) -> DocxPackage:
    """Let python-docx find the parts in a package without pictures and styles."""
    styles = next((n for n in parts if n.lower().endswith("/styles.xml")), "")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for member, xml in parts.items():
            archive.writestr(member, b"<unused/>" if member == styles else xml)
    packed.seek(0)
    document = Document(packed)
    found: dict[str, _Element] = {}
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in ("footnotes", "endnotes", "comments") and not relation.is_external:
            found.setdefault(kind, parse_docx_xml(relation.target_part.blob))
    return DocxPackage(
        body=document.element.body,
        styles=parts.get(styles, b""),
        footnotes=found.get("footnotes"),
        endnotes=found.get("endnotes"),
        comments=found.get("comments"),
    )


def _locked_or_old(content: bytes, name: str) -> UnreadableDocument:
    if _LOCKED in content:
        return _locked(name)
    return UnreadableDocument(
        f"{name} is in Word's old format (.doc)",
        hint="Open it in Word and save it as .docx.",
    )


def _locked(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} is locked with a password",
        hint="Save a copy of it without a password.",
    )


def build_damaged_docx_error(name: str) -> UnreadableDocument:
    """Say that the Word file called `name` is damaged."""
    return UnreadableDocument(
        f"{name} is damaged: it cannot be opened as a Word document",
        hint="Open it in Word, let Word repair it, and save it again.",
    )


def _too_large(name: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{name} unpacks to more than lrwr opens",
        hint="Split it, or save a copy without pictures.",
    )
