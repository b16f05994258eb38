"""Finds cited passages in the current text and in the files on disk."""

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.presenters.citations import describe_story_place, format_place
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.documents import (
    DocumentId,
    DocumentOutline,
    Horizon,
    has_paragraph_numbers,
)
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    Freshness,
    QuoteLocation,
    anchor_citations,
)
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.story import StoryOrder

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_CONTEXT_CHARS = 300
"""Maximum number of characters shown before a passage, and after it."""
MIN_WRAPPED_CHARS = 50
"""Minimum length of a line that may have been hard-wrapped."""
_LINE_END = re.compile(r"(?<=\S)\n(?=[^\s#>*+|\-\d])")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def require_ingested(workspace: "Workspace") -> None:
    """Raise an error unless the library exists.

    Raises:
        NotFound: No manuscript was ingested.
    """
    if not workspace.is_ingested:
        raise NotFound(
            "No manuscript has been read yet",
            hint="Press Ctrl+L to read your manuscript.",
        )


@dataclass(frozen=True, slots=True)
class CitationContext:
    """A cited passage at its current location, or its former text if it is gone.

    `number` is that of the citation. `span` are offsets in `document`, and `lines` its
    lines; both are the former ones if the passage is gone. `place` is the location and
    `chapter` the part of the story, for display; `chapter` is empty if unknown.
    `change` says what happened to the passage since it was cited, empty if nothing did;
    `stale` means that its text was edited or deleted. `before` and `after` surround
    `words`, the passage's text. All texts are sanitized for display.
    """

    number: int
    document: DocumentId
    span: Span
    lines: LineRange
    place: str
    chapter: str
    change: str
    stale: bool
    before: str
    words: str
    after: str


async def load_citation_contexts(
    workspace: "Workspace", citations: Sequence[Citation]
) -> list[CitationContext]:
    """Return each cited passage in the current text, in the order of `citations`.

    A passage that is gone has its former text. Chapters are empty if the story order
    cannot be read.

    Raises:
        LrwrError: The library cannot be read.
    """
    if not citations:
        return []
    anchored = await FreshnessService(workspace.passages).anchor(citations)
    try:
        order = await workspace.finder().story_order()
    except LrwrError:
        order = None  # the passages are worth showing without their chapters
    texts: dict[DocumentId, str] = {}
    for document in {
        anchor.now.document for anchor in anchored if anchor.now is not None
    }:
        with suppress(NotFound):  # it was read a moment ago, and is forgotten since
            texts[document] = (await workspace.passages.text(document)).text
    return [
        build_citation_context(
            anchor, texts.get(anchor.now.document, "") if anchor.now else "", order
        )
        for anchor in anchored
    ]


def build_citation_context(
    anchored_citation: AnchoredCitation, text: str, order: "StoryOrder | None"
) -> CitationContext:
    """Return a cited passage with the text around it in `text`, its current document.

    `order` supplies the chapter; None leaves it empty. If the passage is gone, `text`
    is ignored.
    """
    cited, now = anchored_citation.citation, anchored_citation.now
    document = now.document if now else cited.document
    span, lines = (now.span, now.lines) if now else (cited.span, cited.lines)
    before, after = cut_surroundings(text, span) if now and text else ("", "")
    return CitationContext(
        number=cited.number,
        document=document,
        span=span,
        lines=lines,
        place=sanitize_text(format_place(document, lines)),
        chapter=_chapter_of(document, span, order) if now and order else "",
        change=_describe_change(anchored_citation),
        stale=anchored_citation.changed,
        before=join_wrapped_lines(sanitize_text(before)),
        words=join_wrapped_lines(sanitize_text(now.text if now else cited.text)),
        after=join_wrapped_lines(sanitize_text(after)),
    )


def cut_surroundings(text: str, span: Span) -> tuple[str, str]:
    """Return the text before `span`, and the text after it.

    Each is cut from at most the next `MAX_CONTEXT_CHARS` characters of `text`: at a
    paragraph break if there is one, else at a space, marked by an ellipsis. YAML front
    matter at the start of `text` is left out.
    """
    return _before(text, span.start), _after(text, span.end)


def join_wrapped_lines(text: str) -> str:
    """Return `text` with the lines of hard-wrapped paragraphs joined by spaces.

    A line shorter than `MIN_WRAPPED_CHARS` keeps its line break, as in verse; so does a
    line before a list item, heading or quotation.
    """

    def join(match: re.Match[str]) -> str:
        begun = text.rfind("\n", 0, match.start()) + 1
        return " " if match.start() - begun >= MIN_WRAPPED_CHARS else "\n"

    return _LINE_END.sub(join, text)


def _before(text: str, end: int) -> str:
    start = max(0, end - MAX_CONTEXT_CHARS)
    if start == 0:
        return _FRONT_MATTER.sub("", text[:end]).lstrip("\n")
    window = text[start:end]
    paragraph = window.rstrip("\n").find("\n\n")
    if paragraph >= 0:
        return window[paragraph:].lstrip("\n")
    word = window.find(" ")
    return f"… {window[word + 1 :]}"


def _after(text: str, start: int) -> str:
    end = start + MAX_CONTEXT_CHARS
    if end >= len(text):
        return text[start:].rstrip("\n")
    window = text[start:end]
    paragraph = window.rfind("\n\n")
    if window[: max(0, paragraph)].strip():
        return window[:paragraph]
    word = window.rfind(" ")
    return f"{window[:word] if word > 0 else window} …"


def _describe_change(anchored_citation: AnchoredCitation) -> str:
    cited = anchored_citation.citation
    was = sanitize_text(format_place(cited.document, cited.lines))
    match anchored_citation.freshness:
        case Freshness.EDITED:
            return "edited since"
        case Freshness.GONE:
            return "no longer in the text; it was:"
        case Freshness.NOT_EVALUATED | Freshness.DAMAGED:
            return "not checked against the current text"
        case Freshness.CURRENT:
            return f"moved from {was}" if anchored_citation.moved else ""


def _chapter_of(document: DocumentId, span: Span, order: StoryOrder) -> str:
    outline = order.outlines.get(document)
    if outline is None:
        return ""
    chapter, scene = _find_scene(outline, span.start)
    titled = outline.chapters[chapter : chapter + 1]
    return describe_story_place(
        outline.type,
        order.chapter_number(document, chapter),
        sanitize_text(titled[0].title if titled else outline.title),
        scene + 1,
    )


def _find_scene(outline: DocumentOutline, at: int) -> tuple[int, int]:
    """Return the indexes, from 0, of the chapter and scene that contain an offset.

    Footnotes of a `.docx` are at the end of the text but belong to an earlier scene.
    """
    near = (0, 0)
    for number, chapter in enumerate(outline.chapters):
        for place, scene in enumerate(chapter.scenes):
            if any(part.start <= at < part.end for part in scene.parts):
                return number, place
            if scene.span.start <= at:
                near = (number, place)
    return near


MAX_SEARCHED_BYTES = 20_000_000
"""Larger files are opened at the library's line, without a search."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A location in `file`, an absolute path.

    `line` counts lines from 1; if `paragraphs` is true, as for a `.docx` or `.epub`, it counts
    paragraphs. `gone` means that the passage is no longer in the text: `line` is the
    last known one.
    """

    file: Path
    line: int
    paragraphs: bool
    gone: bool = False


async def locate_citation(workspace: "Workspace", citation: Citation) -> FileLocation:
    """Return the file and first line of a cited passage.

    The file is searched, because it may be newer than the library. If the passage is
    gone, return its last known line.

    Raises:
        NotFound: The file does not exist.
    """
    (anchor,) = await FreshnessService(workspace.passages).anchor([citation])
    return await asyncio.to_thread(_locate_on_disk, workspace.library.root, anchor)


async def locate_document_line(
    workspace: "Workspace", document: str, line: int
) -> FileLocation:
    """Return the file of an ingested document, with `line`, counted from 1.

    `document` is the document's id.

    Raises:
        NotFound: The file does not exist.
    """
    return _file_location(workspace.library.root, document, line)


def find_story_point(point: Horizon, order: StoryOrder) -> tuple[DocumentId, int]:
    """Return the document and offset where the chapter or scene `point` starts.

    It must exist.
    """
    document, chapter = [
        (document, chapter)
        for document, chapter, number in order.iter_chapters()
        if number == point.chapter
    ][-1]  # the last one: an opening has the number of the chapter after it
    span = chapter.scenes[point.scene - 1].span if point.scene else chapter.span
    return document, span.start


def _locate_on_disk(root: Path, anchored_citation: AnchoredCitation) -> FileLocation:
    cited, now = anchored_citation.citation, anchored_citation.now
    lines = now.lines if now else cited.lines
    location = _file_location(
        root, now.document if now else cited.document, lines.first
    )
    if now is None:
        return replace(location, gone=anchored_citation.freshness == "gone")
    if location.paragraphs:
        return location
    return replace(
        location, line=_find_line(location.file, cited, now) or location.line
    )


def _file_location(root: Path, document: str, line: int) -> FileLocation:
    file = (root / document).absolute()
    if not file.is_file():
        raise NotFound(
            f"{document} no longer exists",
            hint="Run `lrwr ingest`, or press Ctrl+L and then r in the chat.",
        )
    return FileLocation(file, line, paragraphs=has_paragraph_numbers(file.name))


def _find_line(file: Path, cited: Citation, now: QuoteLocation) -> int | None:
    """Return the passage's line in the file, which may be newer than the library.

    None if the library's line is right or the file cannot be read.
    """
    text = _read_text(file)
    if text is None or _has_text_at(text, now.span, now.text):
        return None
    document_text = DocumentText(text, LineIndex.of(text))
    current_citation = replace(
        cited, document=now.document, span=now.span, text=now.text
    )
    (anchor,) = anchor_citations([current_citation], {now.document: document_text})
    return anchor.now.lines.first if anchor.now else None


def _read_text(file: Path) -> str | None:
    """Return a file's text, normalized as during ingestion; None if unreadable."""
    try:
        if file.stat().st_size > MAX_SEARCHED_BYTES:
            return None
        content = file.read_bytes()
    except OSError:
        return None
    text = content.decode("utf-8-sig", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def _has_text_at(text: str, span: Span, words: str) -> bool:
    return text[span.start : span.end] == words
