"""Where the paragraphs of story text stand."""

import re
from collections.abc import Sequence

from lrwr.core.model.text import Span

_BLANK_LINE = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_END = re.compile(r"\n")
_WORD_CHARACTER = re.compile(r"\S")
_LONG_LINE = 110
_NEVER_WRAPPED = 0.2


def find_paragraphs(text: str, parts: Sequence[Span]) -> list[Span]:
    """Return the paragraphs of `parts`, in order, without the space around them.

    An empty line ends a paragraph. Where a writer leaves no empty lines and does not
    wrap lines either, every line is a paragraph.
    """
    found: list[Span] = []
    for part in parts:
        ends = _LINE_END if _lines_are_paragraphs(text, part) else _BLANK_LINE
        start = part.start
        for gap in ends.finditer(text, part.start, part.end):
            _keep(text, start, gap.start(), found)
            start = gap.end()
        _keep(text, start, part.end, found)
    return found


def _keep(text: str, start: int, end: int, found: list[Span]) -> None:
    first = _WORD_CHARACTER.search(text, start, end)
    if first:
        length = len(text[start:end].rstrip())
        found.append(Span(first.start(), start + length))


def _lines_are_paragraphs(text: str, part: Span) -> bool:
    """Say whether long lines follow each other without an empty line between."""
    lines = text[part.start : part.end].split("\n")
    full = [line for line in lines if line.strip()]
    empty = len(lines) - len(full)
    if len(full) < 2 or empty > _NEVER_WRAPPED * len(full):
        return False
    return max(len(line) for line in full) > _LONG_LINE
