"""Layout of EPUB books: chapters, paragraphs with CFIs, footnotes and pictures."""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from lrwr.core.adapters.source.epub_package import (
    EPUB_TYPE,
    EpubLink,
    EpubPackage,
    fill_missing_targets,
    local_name,
    read_text,
    split_address,
)
from lrwr.core.adapters.source.layout import (
    MAX_HEADING_CHARS,
    DocumentLayout,
    Footnote,
    Heading,
    find_unmarked_headings,
    is_scene_break,
)
from lrwr.core.model.books import (
    BookOutline,
    BookParagraph,
    BookParagraphKind,
    BookTocEntry,
)
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import LineIndex, Span

if TYPE_CHECKING:
    from lxml.etree import _Element

_SEPARATOR = "\n\n"
_RULE = "---"
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
_BACKLINK_TYPES = frozenset({"backlink", "doc-backlink"})
_GENERATED_TYPES = frozenset(
    {"toc", "doc-toc", "landmarks", "page-list", "doc-pagelist"}
)
_ISLANDS = frozenset({"math", "svg"})
"""Elements of other languages, which are read as a whole."""
_LINE_BREAK = "\x0b"
"""Stands for `<br>`; XML has no such character."""
_PICTURE = "[picture: "
_PICTURE_ONLY = re.compile(r"(?:\[picture: [^\]]*\]\s*)+")
_DEEP = 10
"""Level of headings that the table of contents does not list, above its own levels."""
_INTRODUCTION = 3
"""Paragraphs after the target of an entry whose headings belong to it, such as a number
and a subtitle."""


@dataclass(frozen=True, slots=True)
class EpubBook:
    """A parsed book: the layout of its document, and its outline."""

    layout: DocumentLayout
    outline: BookOutline


def parse_epub(content: bytes, name: str) -> DocumentLayout:
    """Parse the bytes of an EPUB file; `name` is its name in error messages.

    The text of the layout has the paragraphs, separated by empty lines, then the
    footnotes; line numbers are the numbers of paragraphs.

    Raises:
        UnreadableDocument: The file is no EPUB, damaged, protected, too large, or has
            no text.
    """
    return read_epub(content, name).layout


def read_epub(content: bytes, name: str) -> EpubBook:
    """Return the layout and the outline of an EPUB book, as `parse_epub`.

    Raises:
        UnreadableDocument: As `parse_epub`.
    """
    package = EpubPackage(content, name)
    reader = _EpubReader()
    for item in package.spine():
        root = package.read_xhtml(item.path)
        if root is not None:
            reader.read(root, item.path, item.step)
    texts = (paragraph.text for paragraph in reader.paragraphs)
    if all(_PICTURE_ONLY.fullmatch(text) or text == _RULE for text in texts):
        raise UnreadableDocument(
            f"{name} has no text",
            hint="It may consist of pictures, such as a comic or a scan.",
        )
    links = fill_missing_targets(package.links())
    return _build_book(package, reader, links)


@dataclass(frozen=True, slots=True)
class _RawParagraph:
    """A paragraph as it stands in its file.

    `path` is the file, `ids` those of the elements that enclose it as footnotes;
    `references` are the targets of its footnote marks. `level` is that of a heading, 0
    for other paragraphs.
    """

    text: str
    cfi: str
    level: int = 0
    ids: tuple[tuple[str, str], ...] = ()
    references: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _OpenBlock:
    """A block element that is being read.

    `name` is the element's name, `steps` its CFI. `has_inner` says that it contains another block, so that its text
    is no paragraph by itself; `first` then leads to its first node, as in
    `_EpubReader._find_steps_of`.
    """

    element: "_Element"
    name: str
    steps: str
    note: bool
    has_inner: bool = False
    first: tuple[int, ...] = ()
    pieces: list[str] = field(default_factory=list)
    references: list[tuple[str, str]] = field(default_factory=list)


class _EpubReader:
    """Collects the paragraphs of a book, file by file, in reading order.

    `paragraphs` are those of the story, `notes` the footnotes with the index of the
    paragraph before which they stand. `targets` maps files and ids to the index of the
    first paragraph there.
    """

    def __init__(self) -> None:
        self.paragraphs: list[_RawParagraph] = []
        self.notes: list[tuple[_RawParagraph, int]] = []
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
        self._counts = counts = [0]
        self._add(body.text)
        walker = etree.iterwalk(body, events=("start", "end", "comment", "pi"))
        for event, element in walker:
            if element is body:
                continue
            if event == "start":
                counts[-1] += 1
                counts.append(0)
                name = local_name(element)
                if name == "br" and element.get("id") is None:
                    self._blocks[-1].pieces.append(_LINE_BREAK)
                elif self._is_skipped(element, name):
                    walker.skip_subtree()
                else:
                    self._start(element, name)
                continue
            if event == "end":
                counts.pop()
                if self._blocks[-1].element is element:
                    self._flush()
                    self._blocks.pop()
            self._add(element.tail)

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
            self._blocks[-1].references.append(target)
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
        identifier = element.get("id") or (element.get("name") if name == "a" else None)
        if identifier:
            self.targets.setdefault((self._path, identifier), len(self.paragraphs))
            if self._blocks[-1].note:
                self._note_ids.append((self._path, identifier))
        if name == "br":
            self._add(_LINE_BREAK)
        elif name in ("img", "image") and element.get("alt", "").strip():
            alternative = " ".join(element.get("alt", "").split())
            self._add(f" {_PICTURE}{alternative}] ", is_element=True)
        self._add(element.text)

    def _start_block(self, element: "_Element", name: str) -> None:
        block = self._blocks[-1]
        block.has_inner = True
        self._flush()
        note = block.note or _is_note(element)
        steps = self._find_steps_of((*self._counts[:-1], -1))
        self._blocks.append(_OpenBlock(element, name, steps, note))
        follows_heading = not self.paragraphs or self.paragraphs[-1].level
        if name == "hr" and not note and not follows_heading:
            self.paragraphs.append(_RawParagraph(_RULE, steps))

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
        name = block.name
        text = _join_pieces(block.pieces, is_preformatted=name == "pre")
        references, first = block.references, block.first
        block.pieces, block.first = [], ()
        if not text:
            return
        block.references = []
        level = int(name[1]) if name in _HEADINGS else 0
        cfi = self._find_steps_of(first) if block.has_inner else block.steps
        if not block.note:
            raw = _RawParagraph(text, cfi, level, references=tuple(references))
            self.paragraphs.append(raw)
        elif not level:  # the title of a list of notes says nothing
            ids, self._note_ids = tuple(self._note_ids), []
            raw = _RawParagraph(text, cfi, ids=ids)
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
    lines = "".join(pieces).split(_LINE_BREAK)
    if is_preformatted:
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


def _build_book(
    package: EpubPackage, reader: _EpubReader, links: Iterable[EpubLink]
) -> EpubBook:
    toc = tuple(_resolve_toc(links, reader.targets))
    paragraphs, notes = reader.paragraphs, _order_notes(reader)
    texts = [paragraph.text for paragraph in paragraphs]
    texts += [f"[note {number}] {raw.text}" for number, (raw, _) in enumerate(notes, 1)]
    spans = list(_lay_out(texts))
    story = tuple(
        BookParagraph(span, raw.cfi, _kind(raw), index)
        for index, (span, raw) in enumerate(zip(spans, paragraphs, strict=False))
    )
    asides = tuple(
        BookParagraph(span, raw.cfi, BookParagraphKind.NOTE, anchor)
        for span, (raw, anchor) in zip(spans[len(story) :], notes, strict=True)
    )
    metadata = package.metadata()
    outline = BookOutline(
        title=metadata.title[:MAX_HEADING_CHARS] or package.name,
        authors=metadata.authors,
        language=metadata.language,
        identifier=metadata.identifier,
        paragraphs=(*story, *asides),
        length=len(story),
        toc=toc or tuple(_toc_of_headings(paragraphs)),
        warnings=tuple(package.warnings),
        files=tuple((item.step, item.path) for item in package.spine()),
    )
    return EpubBook(_build_layout(outline, paragraphs, texts), outline)


def _resolve_toc(
    links: Iterable[EpubLink], targets: Mapping[tuple[str, str], int]
) -> list[BookTocEntry]:
    """Return the entries of a table of contents whose files are in the reading order,
    sorted by it.
    """
    entries = []
    for link in links:
        index = targets.get((link.path, link.fragment), targets.get((link.path, "")))
        if index is not None:
            title = " ".join(link.title.split())[:MAX_HEADING_CHARS]
            entries.append(BookTocEntry(title, link.depth, index))
    return sorted(entries, key=lambda entry: entry.paragraph)


def _toc_of_headings(paragraphs: Sequence[_RawParagraph]) -> Iterable[BookTocEntry]:
    for index, raw in enumerate(paragraphs):
        if raw.level and len(raw.text) <= MAX_HEADING_CHARS:
            yield BookTocEntry(" ".join(raw.text.split()), raw.level, index)


def _order_notes(reader: _EpubReader) -> list[tuple[_RawParagraph, int]]:
    """Return the footnotes with the indexes of the paragraphs that refer to them, in
    the order of these. A note without a reference belongs to the paragraph before it.
    """
    referring = {
        target: index
        for index, raw in reversed(list(enumerate(reader.paragraphs)))
        for target in raw.references
    }
    placed: list[tuple[_RawParagraph, int]] = []
    for raw, following in reader.notes:
        anchors = [referring[target] for target in raw.ids if target in referring]
        if not anchors and placed and placed[-1][0].ids and not raw.ids:
            anchors = [placed[-1][1]]  # a later paragraph of the same note
        placed.append((raw, anchors[0] if anchors else max(0, following - 1)))
    return sorted(placed, key=lambda note: note[1])


def _lay_out(texts: Iterable[str]) -> Iterable[Span]:
    at = 0
    for text in texts:
        yield Span(at, at + len(text))
        at += len(text) + len(_SEPARATOR)


def _kind(raw: _RawParagraph) -> BookParagraphKind:
    if is_scene_break(raw.text):
        return BookParagraphKind.BREAK
    return BookParagraphKind.HEADING if raw.level else BookParagraphKind.TEXT


def _build_layout(
    outline: BookOutline, raw: Sequence[_RawParagraph], texts: Sequence[str]
) -> DocumentLayout:
    paragraphs, length = outline.paragraphs, outline.length
    story = paragraphs[:length]
    body_end = story[-1].span.end if story else 0
    headings = _find_headings(outline, raw)
    return DocumentLayout(
        text=_SEPARATOR.join(texts),
        lines=LineIndex(
            tuple(p.span.start for p in paragraphs),
            tuple(p.anchor + 1 for p in paragraphs),
        ),
        body=Span(0, body_end),
        headings=headings
        or find_unmarked_headings((p.span, texts[i]) for i, p in enumerate(story)),
        breaks=tuple(p.span for p in story if p.kind is BookParagraphKind.BREAK),
        footnotes=tuple(
            Footnote(note.span, paragraphs[note.anchor].span.start)
            for note in paragraphs[length:]
        ),
        fields={"title": outline.title},
        warnings=outline.warnings,
    )


def _find_headings(
    outline: BookOutline, raw: Sequence[_RawParagraph]
) -> tuple[Heading, ...]:
    """Return the entries of the table of contents as headings, then other headings,
    below their levels.

    The heading of an entry that begins with prose is empty and stands before it.
    """
    begun = {entry.paragraph: entry for entry in outline.toc}
    headings = [
        Heading(_find_heading_span(entry, outline, raw), entry.depth, entry.title)
        if begun[entry.paragraph] is entry
        # A part and its first chapter begin together.
        else Heading(_start_of(outline, entry.paragraph), entry.depth, entry.title)
        for entry in outline.toc
        if entry.paragraph < outline.length
    ]
    last = -_INTRODUCTION - 1
    for index, paragraph in enumerate(raw):
        if index in begun:
            last = index
        is_title = paragraph.level and len(paragraph.text) <= MAX_HEADING_CHARS
        if is_title and index - last > _INTRODUCTION:
            title = " ".join(paragraph.text.split())
            span, level = outline.paragraphs[index].span, _DEEP + paragraph.level
            headings.append(Heading(span, level, title))
    return tuple(sorted(headings, key=lambda heading: heading.span))


def _find_heading_span(
    entry: BookTocEntry, outline: BookOutline, raw: Sequence[_RawParagraph]
) -> Span:
    paragraph = raw[entry.paragraph]
    if paragraph.level or " ".join(paragraph.text.split()) == entry.title:
        return outline.paragraphs[entry.paragraph].span
    return _start_of(outline, entry.paragraph)


def _start_of(outline: BookOutline, paragraph: int) -> Span:
    start = outline.paragraphs[paragraph].span.start
    return Span(start, start)
