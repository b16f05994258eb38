"""Plain text: chapters and scenes told by their words alone."""

import re
from collections.abc import Iterator

from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    find_scene_breaks,
    find_unmarked_headings,
)
from lrwr.core.adapters.source.text_decoder import decode_text
from lrwr.core.model.text import LineIndex, Span


def parse_plain_text(content: bytes, name: str) -> DocumentLayout:
    """Read a `.txt` file; the canonical text is the whole file as decoded.

    Raises:
        UnreadableDocument: The bytes are no text.
    """
    text, warnings = decode_text(content, name)
    return DocumentLayout(
        text=text,
        lines=LineIndex.of(text),
        body=Span(0, len(text)),
        headings=find_unmarked_headings(find_text_blocks(text)),
        breaks=tuple(_line_from(text, at) for at in find_scene_breaks(text)),
        warnings=warnings,
    )


def find_text_blocks(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the stretches of lines between empty lines, trimmed."""
    for match in re.finditer(r"\S[^\n]*(?:\n[ \t]*\S[^\n]*)*", text):
        block = match[0].rstrip()
        yield Span(match.start(), match.start() + len(block)), block


def _line_from(text: str, at: int) -> Span:
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return Span(at, at + len(line.rstrip()))
