"""EPUB files: safe opening of the zip package, its spine and its table of contents.

The package may be damaged or hostile: sizes are limited, nothing is fetched, and
entities are expanded only if the file itself declares them, up to libxml2's limit.
"""

import io
import posixpath
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from html.entities import html5
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lxml import etree

from lrwr.core.adapters.source.text import decode_text
from lrwr.core.model.errors import UnreadableDocument

if TYPE_CHECKING:
    from lxml.etree import _Element

TEXT_LIMIT = 64 * 1024 * 1024
"""Bytes of text that are unpacked at most, without pictures and fonts."""
RATIO_LIMIT = 300
"""Highest compression ratio of a part; a zip bomb has a higher one."""
_SMALL_PART_BYTES = 4 * 1024 * 1024
_MAX_MEMBERS = 50_000
_ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
    ValueError, IndexError, OverflowError,
)  # fmt: skip
"""What `zipfile` raises for damaged archives."""
EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
"""The attribute `epub:type`."""
_FONT_ALGORITHMS = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
"""Obfuscation of fonts, which hides no text."""
_TEXT_TYPES = (
    "application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document",
)  # fmt: skip
_MAX_FALLBACKS = 10
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_DECLARED_ENTITY = re.compile(r"<!ENTITY\s+([A-Za-z_][\w.-]*)\s")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCTYPE_CHARS = 20_000
_EMPTY_ELEMENT = re.compile(
    r"<((?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)"
    r"[A-Za-z][\w:-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)/>"
)
"""An element closed in its start tag, which an HTML parser would leave open."""


@dataclass(frozen=True, slots=True)
class EpubLink:
    """An entry of the table of contents: its target is `path`, a member of the zip, and
    an id in it, empty for its start. `depth` counts from 1.
    """

    title: str
    path: str
    fragment: str
    depth: int


@dataclass(frozen=True, slots=True)
class EpubSpineItem:
    """A file of the reading order.

    `step` is the part of a CFI that leads to it, such as "/6/4!".
    """

    path: str
    step: str


@dataclass(frozen=True, slots=True)
class EpubMetadata:
    """What the package says about the book; texts are empty if it says nothing."""

    title: str
    authors: tuple[str, ...]
    language: str
    identifier: str


class EpubPackage:
    """An opened EPUB file; `name` is its name in error messages.

    Raises:
        UnreadableDocument: It is no EPUB, damaged, protected, or too large.
    """

    def __init__(self, content: bytes, name: str) -> None:
        self.name = name
        self.warnings: list[str] = []
        self._remaining = TEXT_LIMIT
        if not content.startswith(b"PK"):
            is_named_so = name.lower().endswith(".epub")
            ending = ", although its name ends in .epub" if is_named_so else ""
            raise UnreadableDocument(
                f"{name} is not an e-book in EPUB format{ending}",
                hint="Download it again, or convert it to EPUB.",
            )
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except _ZIP_ERRORS as error:
            raise self._damaged_error() from error
        self._members = {info.filename: info for info in self._archive.infolist()}
        if len(self._members) > _MAX_MEMBERS:
            raise self._too_large_error()
        self._check_protection()
        self.path = self._find_package_path()
        self._package = self._read_required(self.path)
        self._items = {
            item.get("id", ""): item
            for item in _iter_named(self._package, "item")
            if item.get("href")
        }

    def metadata(self) -> EpubMetadata:
        """Return the book's title, authors, language and identifier."""
        return EpubMetadata(
            title=next(iter(self._texts("title")), ""),
            authors=self._texts("creator"),
            language=next(iter(self._texts("language")), ""),
            identifier=next(iter(self._texts("identifier")), ""),
        )

    def spine(self) -> Iterator[EpubSpineItem]:
        """Yield the text files in reading order, without a generated table of
        contents.
        """
        elements = [child for child in self._package if isinstance(child.tag, str)]
        generated = self._generated_paths()
        for number, spine in enumerate(elements, 1):
            if local_name(spine) != "spine":
                continue
            references = [child for child in spine if isinstance(child.tag, str)]
            for place, reference in enumerate(references, 1):
                item = self._find_text_item(reference.get("idref", ""))
                path = self._resolve(item.get("href", "")) if item is not None else ""
                if path and path not in generated:
                    yield EpubSpineItem(path, f"/{2 * number}/{2 * place}!")

    def links(self) -> list[EpubLink]:
        """Return the table of contents: that of EPUB 3, else that of EPUB 2; empty if
        there is none.
        """
        for item in self._items.values():
            if "nav" in item.get("properties", "").split():
                links = list(self._read_navigation(self._resolve(item.get("href", ""))))
                if links:
                    return links
        ncx = "application/x-dtbncx+xml"
        for item in self._items.values():
            if item.get("media-type") == ncx or item.get("href", "").endswith(".ncx"):
                return list(self._read_ncx(self._resolve(item.get("href", ""))))
        return []

    def read_xhtml(self, path: str) -> "_Element | None":
        """Return the root element of a text file; None with a warning if it is missing
        or damaged.
        """
        try:
            content = self._read(path)
        except (KeyError, *_ZIP_ERRORS):
            self.warnings.append(f"{path} is missing or damaged; its text is left out.")
            return None
        root = None if _NEEDS_DECODING.search(content) else _parse_bytes(content)
        if root is None:
            try:
                text, _ = decode_text(content, path)
            except UnreadableDocument:
                text = ""
            root = _parse_markup(text)
        if root is None:
            self.warnings.append(f"{path} is no XHTML; its text is left out.")
        return root

    def _read_required(self, path: str) -> "_Element":
        """Return the root element of an XML file without which there is no book."""
        try:
            content = self._read(path)
        except KeyError as error:
            raise UnreadableDocument(
                f"{self.name} is not an e-book: it lacks {path}",
                hint="Download it again, or open it in the program that made it.",
            ) from error
        except _ZIP_ERRORS as error:
            raise self._damaged_error() from error
        try:
            text, _ = decode_text(content, path)
        except UnreadableDocument as error:
            raise self._damaged_error() from error
        root = _parse_xml(text, recover=True)
        if root is None:
            raise self._damaged_error()
        return root

    def _find_package_path(self) -> str:
        container = self._read_required("META-INF/container.xml")
        for rootfile in _iter_named(container, "rootfile"):
            path = rootfile.get("full-path", "")
            if path:
                return path
        raise UnreadableDocument(
            f"{self.name} is not an e-book: META-INF/container.xml names no package",
            hint="Download it again, or open it in the program that made it.",
        )

    def _check_protection(self) -> None:
        if "META-INF/encryption.xml" not in self._members:
            return
        encryption = self._read_required("META-INF/encryption.xml")
        algorithms = {
            method.get("Algorithm", "")
            for data in _iter_named(encryption, "EncryptedData")
            for method in data
            if isinstance(method.tag, str) and local_name(method) == "EncryptionMethod"
        }
        if algorithms - _FONT_ALGORITHMS:
            raise UnreadableDocument(
                f"{self.name} is protected with DRM, which lrwr does not remove",
                hint="Get a copy without protection from its publisher or library.",
            )

    def _read(self, path: str) -> bytes:
        """Return the bytes of a member; KeyError if there is none."""
        info = self._members.get(path)
        if info is None:
            raise KeyError(path)
        if info.flag_bits & 1:
            raise UnreadableDocument(
                f"{self.name} is protected with a password",
                hint="Save a copy without a password.",
            )
        most = max(_SMALL_PART_BYTES, RATIO_LIMIT * info.compress_size)
        if info.file_size > min(most, self._remaining):
            raise self._too_large_error()
        with self._archive.open(info) as member:
            content = member.read(self._remaining + 1)
        self._remaining -= len(content)
        if self._remaining < 0:
            raise self._too_large_error()
        return content

    def _resolve(self, href: str, base: str = "") -> str:
        """Return the member at `href`, relative to the member `base` (the package if
        empty); empty if it is outside the book.
        """
        address = split_address(href)
        if address is None:
            return ""
        path = posixpath.normpath(
            posixpath.join(posixpath.dirname(base or self.path), unquote(address[0]))
        )
        return path if address[0] else base or self.path

    def _texts(self, name: str) -> tuple[str, ...]:
        texts = (read_text(element) for element in _iter_named(self._package, name))
        return tuple(text for text in texts if text)

    def _find_text_item(self, identifier: str) -> "_Element | None":
        item = self._items.get(identifier)
        for _ in range(_MAX_FALLBACKS):
            if item is None or item.get("media-type") in _TEXT_TYPES:
                return item
            item = self._items.get(item.get("fallback", ""))
        return None

    def _generated_paths(self) -> set[str]:
        """Return the files that only list the chapters, which a reader may not know."""
        addresses = (
            reference.get("href", "")
            for reference in _iter_named(self._package, "reference")
            if reference.get("type") == "toc"
        )
        # With a fragment, the list is a part of a file with other text.
        return {self._resolve(href) for href in addresses if "#" not in href}

    def _read_navigation(self, path: str) -> Iterator[EpubLink]:
        root = self.read_xhtml(path)
        navigations = [] if root is None else list(_iter_named(root, "nav"))
        for navigation in navigations:
            types = f"{navigation.get(EPUB_TYPE, '')} {navigation.get('role', '')}"
            if not {"toc", "doc-toc"} & set(types.split()):
                continue
            for element in navigation.iter("{*}a", "{*}span"):
                parent = element.getparent()
                is_label = parent is not None and local_name(parent) == "li"
                if local_name(element) == "a" or is_label:
                    yield self._link(
                        _read_label(element), element.get("href", ""), path,
                        sum(1 for _ in element.iterancestors("{*}ol")),
                    )  # fmt: skip
            return

    def _read_ncx(self, path: str) -> Iterator[EpubLink]:
        root = self.read_xhtml(path)
        for point in () if root is None else _iter_named(root, "navPoint"):
            label, href = "", ""
            for child in point:
                if not isinstance(child.tag, str):
                    continue
                if local_name(child).lower() == "navlabel":
                    label = read_text(child)
                elif local_name(child) == "content":
                    href = child.get("src", "")
            depth = 1 + sum(1 for _ in point.iterancestors("{*}navPoint"))
            yield self._link(label, href, path, depth)

    def _link(self, title: str, href: str, base: str, depth: int) -> EpubLink:
        address = split_address(href)
        if not href or address is None:
            return EpubLink(title, "", "", max(1, depth))
        return EpubLink(title, self._resolve(href, base), address[1], max(1, depth))

    def _damaged_error(self) -> UnreadableDocument:
        return UnreadableDocument(
            f"{self.name} is damaged and cannot be opened as an e-book",
            hint="Download it again, or save it again in the program that made it.",
        )

    def _too_large_error(self) -> UnreadableDocument:
        return UnreadableDocument(
            f"{self.name} is too large when unpacked",
            hint="Split it into volumes.",
        )


_NEEDS_DECODING = re.compile(rb"\r(?!\n)|&(?!#|(?:amp|lt|gt|quot|apos);)")
"""What XML in UTF-8 may have that only `decode_text` and `_parse_markup` resolve."""


def local_name(element: "_Element") -> str:
    """Return the name of an element without its namespace."""
    return _strip_namespace(str(element.tag))


@lru_cache(maxsize=1_024)
def _strip_namespace(tag: str) -> str:
    return tag.rpartition("}")[2]


def read_text(element: "_Element") -> str:
    """Return the text in an element, with single spaces, in Unicode NFC."""
    text = " ".join("".join(map(str, element.itertext())).split())
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def split_address(href: str) -> tuple[str, str] | None:
    """Return the path and the fragment of `href`; None if it is not inside the book."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return None
    return parts.path, unquote(parts.fragment)


def fill_missing_targets(links: list[EpubLink]) -> list[EpubLink]:
    """Return `links` in which a heading without a target, such as that of a part, has
    the target of the entry after it.
    """
    filled: list[EpubLink] = []
    following = EpubLink("", "", "", 1)
    for link in reversed(links):
        if not link.path:
            link = replace(link, path=following.path, fragment=following.fragment)
        filled.append(link)
        following = link
    return [link for link in reversed(filled) if link.path and link.title]


def _iter_named(root: "_Element", name: str) -> "Iterator[_Element]":
    return root.iter(f"{{*}}{name}")


def _read_label(element: "_Element") -> str:
    label = read_text(element)
    if label:
        return label
    pictures = (picture.get("alt", "") for picture in element.iter("{*}img"))
    return next(filter(None, pictures), element.get("title", ""))


def _parse_markup(text: str) -> "_Element | None":
    """Parse XHTML; if it is not well-formed, as HTML. None if there is nothing."""
    root = _parse_xml(text, recover=False)
    if root is not None:
        return root
    closed = _EMPTY_ELEMENT.sub(r"<\1\2></\1>", _XML_DECLARATION.sub("", text, count=1))
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False)
    try:
        return etree.fromstring(closed.encode(errors="replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _parse_xml(text: str, *, recover: bool) -> "_Element | None":
    """Parse XML; None if it is not well-formed. With `recover` errors are skipped."""
    text = _XML_DECLARATION.sub("", _resolve_named_entities(text), count=1)
    return _parse_bytes(text.encode(errors="replace"), recover=recover)


def _parse_bytes(content: bytes, *, recover: bool = False) -> "_Element | None":
    """Parse XML in UTF-8, as `_parse_xml`."""
    parser = etree.XMLParser(
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True, load_dtd=False, huge_tree=False,
        recover=recover, encoding="utf-8",
    )  # fmt: skip
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _resolve_named_entities(text: str) -> str:
    """Replace the named entities of HTML, which XML does not know, by their characters.

    Entities that the file declares itself stay for the XML parser.
    """
    if "&" not in text:
        return text
    declared = {*_XML_ENTITIES, *_DECLARED_ENTITY.findall(text[:_DOCTYPE_CHARS])}

    def resolve(match: re.Match[str]) -> str:
        name = match[1]
        if name in declared:
            return match[0]
        return html5.get(f"{name};", f"&amp;{name};")

    return _ENTITY.sub(resolve, text)
