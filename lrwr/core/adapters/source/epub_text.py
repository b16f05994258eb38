"""Paragraphs of the XHTML files of EPUB books, with CFIs, footnotes and pictures."""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from lrwr.core.adapters.source.epub_package import (
    EPUB_TYPE,
    local_name,
    read_text,
    split_address,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

RULE = "---"
"""Text of a horizontal line, which is a scene break."""
_BLOCKS = frozenset(
    {
        "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "dt", "dd", "blockquote", "pre",
        "td", "th", "figcaption", "caption", "div", "section", "article", "aside", "body",
        "header", "footer", "address", "tr", "table", "ul", "ol", "dl", "figure", "hr",
        "main", "nav", "center", "form", "fieldset", "level", "level1", "level2",
        "level3", "level4", "level5", "level6", "frontmatter", "bodymatter", "rearmatter",
        "doctitle", "docauthor", "line", "linegroup", "poem", "sidebar",
    }
)  # fmt: skip
"""Elements of XHTML and of DTBook that begin a new paragraph."""
_SKIPPED = frozenset(
    {"script", "style", "head", "template", "rp", "rt", "title", "noscript"}
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NOTE_TYPES = frozenset(
    {
        "footnote", "endnote", "rearnote", "footnotes", "endnotes", "rearnotes",
        "doc-footnote", "doc-endnote", "doc-endnotes",
    }
)  # fmt: skip
_REFERENCE_TYPES = frozenset({"noteref", "doc-noteref"})
_PAGE_BREAK_TYPES = frozenset({"pagebreak", "doc-pagebreak"})
"""Marks of the printed edition's pages, which contain their numbers."""
_BACKLINK_TYPES = frozenset({"backlink", "doc-backlink"})
_GENERATED_TYPES = frozenset(
    {"toc", "doc-toc", "landmarks", "page-list", "doc-pagelist"}
)
_ISLANDS = frozenset({"math", "svg"})
"""Elements of other languages, which are read as a whole."""
_READ_ELEMENTS = _BLOCKS | _SKIPPED | _ISLANDS | {"br", "img", "image"}
_READ_ATTRIBUTES = frozenset({"id", "name", "role", EPUB_TYPE})
"""Elements that are not among `_READ_ELEMENTS` and have none of these attributes only
contain text.
"""
_LINE_BREAK = "\x0b"
"""Stands for `<br>`; XML has no such character."""
_PICTURE = "[picture: "


@dataclass(frozen=True, slots=True)
class NoteReference:
    """A footnote mark: the file and the id that it leads to, and the offset of the end of
    the word before it in the text of its paragraph.
    """

    target: tuple[str, str]
    offset: int


@dataclass(frozen=True, slots=True)
class EpubParagraph:
    """A paragraph as it stands in its file.

    `cfi` leads to it. `level` is that of a heading, 0 for other paragraphs.
    `ids` are the elements that enclose it as a footnote, each a file and an id in it, and
    `references` its footnote marks.
    """

    text: str
    cfi: str
    level: int = 0
    ids: tuple[tuple[str, str], ...] = ()
    references: tuple[NoteReference, ...] = ()


@dataclass(slots=True)
class _OpenBlock:
    """A block element that is being read.

    `name` is the element's name, `steps` its CFI. `has_inner` says that it contains
    another block, so that its text is no paragraph by itself; `first` then leads to its
    first node, as in `EpubReader._find_steps_of`. `references` are the targets of footnote
    marks, with the number of `pieces` before each.
    """

    element: "_Element"
    name: str
    steps: str
    note: bool
    has_inner: bool = False
    first: tuple[int, ...] = ()
    pieces: list[str] = field(default_factory=list)
    references: list[tuple[tuple[str, str], int]] = field(default_factory=list)


class EpubReader:
    """Collects the paragraphs of a book, file by file, in reading order.

    `paragraphs` are those of the story, `notes` the footnotes with the index of the
    paragraph before which they stand. `targets` maps files and ids to the index of the
    first paragraph there.
    """

    def __init__(self) -> None:
        self.paragraphs: list[EpubParagraph] = []
        self.notes: list[tuple[EpubParagraph, int]] = []
        self.targets: dict[tuple[str, str], int] = {}
        self._path = self._prefix = ""
        self._counts: list[int] = []
        self._blocks: list[_OpenBlock] = []
        self._note_ids: list[tuple[str, str]] = []

    def read(self, root: "_Element", path: str, step: str) -> None:
        """Read the body of one file, whose CFI begins with `step`."""
        self._path = path
        self.targets.setdefault((path, ""), len(self.paragraphs))
        body = next((e for e in root.iter("{*}body", "{*}book")), root)
        self._prefix = _find_steps(body, step)
        self._blocks = [_OpenBlock(body, "body", self._prefix, note=_is_note(body))]
        self._walk(body)
        self._flush()
        self._blocks = []

    def _walk(self, body: "_Element") -> None:
        # For each open element, the number of its child elements so far.
        self._counts = [0]
        self._add(body.text)
        walker = etree.iterwalk(body, events=("start", "end", "comment", "pi"))
        for event, element in walker:
            if element is body:
                continue
            if event == "start":
                if not self._open(element):
                    walker.skip_subtree()
                continue
            if event == "end":
                self._close(element)
            if tail := element.tail:
                self._add(tail)

    def _open(self, element: "_Element") -> bool:
        """Begin an element; return whether its content is read."""
        self._counts[-1] += 1
        self._counts.append(0)
        name = local_name(element)
        # Most elements only contain text: looking at each takes half of the time.
        if name not in _READ_ELEMENTS and _READ_ATTRIBUTES.isdisjoint(element.keys()):
            if text := element.text:
                self._add(text)
            return True
        if self._is_skipped(element, name):
            return False
        self._start(element, name)
        return True

    def _close(self, element: "_Element") -> None:
        self._counts.pop()
        if self._blocks[-1].element is element:
            self._flush()
            self._blocks.pop()

    def _is_skipped(self, element: "_Element", name: str) -> bool:
        if name in _SKIPPED:
            return True
        if name in _ISLANDS:
            self._add(_describe_island(element, name), is_element=True)
            return True
        types = _types(element)
        if not types:
            return False
        if types & _REFERENCE_TYPES:
            target = self._target(element.get("href", ""))
            block = self._blocks[-1]
            block.references.append((target, len(block.pieces)))
            return True
        if types & _PAGE_BREAK_TYPES:
            self._add_target(element, name)
            return True
        is_generated = name == "nav" and types & _GENERATED_TYPES
        return bool(is_generated or types & _BACKLINK_TYPES)

    def _target(self, href: str) -> tuple[str, str]:
        path, fragment = split_address(href) or ("", "")
        if not path:
            return self._path, fragment
        folder = posixpath.dirname(self._path)
        return posixpath.normpath(posixpath.join(folder, unquote(path))), fragment

    def _start(self, element: "_Element", name: str) -> None:
        if name in _BLOCKS:
            self._start_block(element, name)
        self._add_target(element, name)
        if name == "br":
            self._add(_LINE_BREAK)
        elif name in ("img", "image") and element.get("alt", "").strip():
            alternative = " ".join(element.get("alt", "").split())
            self._add(f" {_PICTURE}{alternative}] ", is_element=True)
        self._add(element.text)

    def _add_target(self, element: "_Element", name: str) -> None:
        identifier = element.get("id") or (element.get("name") if name == "a" else None)
        if identifier:
            self.targets.setdefault((self._path, identifier), len(self.paragraphs))
            if self._blocks[-1].note:
                self._note_ids.append((self._path, identifier))

    def _start_block(self, element: "_Element", name: str) -> None:
        block = self._blocks[-1]
        block.has_inner = True
        self._flush()
        note = block.note or _is_note(element)
        steps = self._find_steps_of((*self._counts[:-1], -1))
        self._blocks.append(_OpenBlock(element, name, steps, note))
        follows_heading = not self.paragraphs or self.paragraphs[-1].level
        if name == "hr" and not note and not follows_heading:
            self.paragraphs.append(EpubParagraph(RULE, steps))

    def _find_steps_of(self, counts: Sequence[int]) -> str:
        """Return the CFI of the text after the child elements counted in `counts`, from
        the body down; the last is -1 for the element itself.
        """
        steps = [f"/{2 * count}" for count in counts[:-1]]
        text = [] if counts[-1] < 0 else [f"/{2 * counts[-1] + 1}"]
        return self._prefix + "".join((*steps, *text))

    def _add(self, text: str | None, *, is_element: bool = False) -> None:
        """Add text of the innermost open element to the innermost block.

        `is_element` says that `text` stands for the whole element.
        """
        if not text:
            return
        block = self._blocks[-1]
        if not block.first and not text.isspace():
            block.first = (*self._counts[:-1], -1 if is_element else self._counts[-1])
        block.pieces.append(text)

    def _flush(self) -> None:
        """End the paragraph that the innermost block contains so far."""
        block = self._blocks[-1]
        if not block.pieces:
            return
        name, pieces, is_preformatted = block.name, block.pieces, block.name == "pre"
        text = _join_pieces(pieces, is_preformatted=is_preformatted)
        first = block.first
        block.pieces, block.first = [], ()
        if not text:
            block.references = [(target, 0) for target, _ in block.references]
            return
        references = tuple(
            NoteReference(
                target,
                len(_join_pieces(pieces[:count], is_preformatted=is_preformatted)),
            )
            for target, count in block.references
        )
        block.references = []
        level = int(name[1]) if name in _HEADINGS else 0
        cfi = self._find_steps_of(first) if block.has_inner else block.steps
        if not block.note:
            raw = EpubParagraph(text, cfi, level, references=references)
            self.paragraphs.append(raw)
        elif not level:  # the title of a list of notes says nothing
            ids, self._note_ids = tuple(self._note_ids), []
            raw = EpubParagraph(text, cfi, ids=ids)
            self.notes.append((raw, len(self.paragraphs)))


def _types(element: "_Element") -> frozenset[str]:
    """Return the values of `epub:type` and `role`."""
    kind, role = element.get(EPUB_TYPE), element.get("role")
    if kind is None and role is None:
        return frozenset()
    return frozenset((*(kind or "").split(), *(role or "").split()))


def _describe_island(element: "_Element", name: str) -> str:
    """Return the text of a formula or a drawing, and a drawing's title as a picture."""
    if name == "math":
        return read_text(element) or element.get("alttext", "")
    title = next(map(read_text, element.iter("{*}title")), "")
    picture = f" {_PICTURE}{title}] " if title else " "
    return picture + " ".join(map(read_text, element.iter("{*}text")))


def _is_note(element: "_Element") -> bool:
    return bool(_types(element) & _NOTE_TYPES)


def _join_pieces(pieces: Iterable[str], *, is_preformatted: bool) -> str:
    """Return the text of a paragraph in Unicode NFC, with white space as a browser
    shows it.
    """
    joined = "".join(pieces)
    lines = joined.split(_LINE_BREAK)
    if len(lines) == 1 and not is_preformatted:
        text = " ".join(joined.split())
    elif is_preformatted:
        text = "\n".join(line.rstrip() for line in lines).strip("\n")
        text = re.sub(r"\n\s*\n", "\n", text)  # an empty line separates paragraphs
    else:
        text = "\n".join(" ".join(line.split()) for line in lines).strip()
        text = re.sub(r"\n{2,}", "\n", text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _find_steps(element: "_Element", prefix: str) -> str:
    """Return the CFI of `element` in its file, which `prefix` leads to."""
    steps = []
    while (parent := element.getparent()) is not None:
        children = [child for child in parent if isinstance(child.tag, str)]
        steps.append(f"/{2 * (children.index(element) + 1)}")
        element = parent
    return prefix + "".join(reversed(steps))
