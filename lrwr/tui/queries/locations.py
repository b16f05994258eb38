"""Where a cited passage stands in its file, as it is on the disk. Runs in the service thread."""

import asyncio
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.anchors import (
    AnchoredCitation,
    QuoteLocation,
    anchor_citations,
)
from lrwr.core.retrieval.freshness import FreshnessService

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

LONGEST = 20_000_000
"""Bytes of a file that are searched for a passage; it is opened all the same."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A line of a file, counted from 1; of a `.docx`, a paragraph. `file` is absolute.

    `gone` says that nothing like the passage stands there: the line is its former one.
    """

    file: Path
    line: int
    paragraphs: bool
    gone: bool = False


async def locate_citation(workspace: "Workspace", citation: Citation) -> FileLocation:
    """Return the current location of a citation's text, or its last known one.

    Raises:
        NotFound: The file is not there.
    """
    (anchor,) = await FreshnessService(workspace.passages).anchors([citation])
    return await asyncio.to_thread(_on_disk, workspace.library.root, anchor)


async def locate_document_line(
    workspace: "Workspace", document: str, line: int
) -> FileLocation:
    """Return a line of a document as it was read.

    Raises:
        NotFound: The file is not there.
    """
    return _spot(workspace.library.root, document, line)


def _on_disk(root: Path, anchored_citation: AnchoredCitation) -> FileLocation:
    cited, now = anchored_citation.citation, anchored_citation.now
    lines = now.lines if now else cited.lines
    spot = _spot(root, now.document if now else cited.document, lines.first)
    if now is None:
        return replace(spot, gone=anchored_citation.freshness == "gone")
    if spot.paragraphs:
        return spot
    return replace(spot, line=_line_now(spot.file, cited, now) or spot.line)


def _spot(root: Path, document: str, line: int) -> FileLocation:
    file = (root / document).absolute()
    if not file.is_file():
        raise NotFound(
            f"{document} is not there any more",
            hint="Ctrl+L reads your manuscript again, so that its places are known.",
        )
    return FileLocation(file, line, paragraphs=file.suffix.lower() == ".docx")


def _line_now(file: Path, cited: Citation, now: QuoteLocation) -> int | None:
    """Return the line in the file itself, which may have been saved since it was read."""
    text = _read(file)
    if text is None or _stands(text, now.span, now.text):
        return None
    document_text = DocumentText(text, LineIndex.of(text))
    current_citation = replace(
        cited, document=now.document, span=now.span, text=now.text
    )
    (anchor,) = anchor_citations([current_citation], {now.document: document_text})
    return anchor.now.lines.first if anchor.now else None


def _read(file: Path) -> str | None:
    """Return a file's text as lines are counted in it; None if it cannot be read."""
    try:
        if file.stat().st_size > LONGEST:
            return None
        content = file.read_bytes()
    except OSError:
        return None
    text = content.decode("utf-8-sig", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def _stands(text: str, span: Span, words: str) -> bool:
    return text[span.start : span.end] == words
