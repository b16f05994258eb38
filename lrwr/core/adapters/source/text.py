"""Plain text: chapters and scenes told by their words alone."""

import re
from collections.abc import Iterator

from lrwr.core.adapters.source.layout import Layout, break_lines, spoken_headings
from lrwr.core.adapters.source.text_decoder import decode
from lrwr.core.model.text import LineIndex, Span


def read_text(content: bytes, name: str) -> Layout:
    """Read a `.txt` file; the canonical text is the whole file as decoded.

    Raises:
        UnreadableDocument: The bytes are no text.
    """
    text, warnings = decode(content, name)
    return Layout(
        text=text,
        lines=LineIndex.of(text),
        body=Span(0, len(text)),
        headings=spoken_headings(blocks_of(text)),
        breaks=tuple(_line_from(text, at) for at in break_lines(text)),
        warnings=warnings,
    )


def blocks_of(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the stretches of lines between empty lines, trimmed."""
    for found in re.finditer(r"\S[^\n]*(?:\n[ \t]*\S[^\n]*)*", text):
        block = found[0].rstrip()
        yield Span(found.start(), found.start() + len(block)), block


def _line_from(text: str, at: int) -> Span:
    end = text.find("\n", at)
    line = text[at:] if end < 0 else text[at:end]
    return Span(at, at + len(line.rstrip()))
