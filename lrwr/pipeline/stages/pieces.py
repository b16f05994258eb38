"""A text in pieces: as coarse as a size allows, and finer where it does not."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lrwr.core.model.text import Span

CountTokens: TypeAlias = Callable[[Sequence[str]], list[int]]
"""How many of the embedder's own tokens each text has, in the same order."""

SEPARATORS = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]*_]))\s+"),
    re.compile(r"\s+"),
)
"""Between two pieces, coarsest first; each takes all the white space there is."""

CHARACTERS_A_TOKEN = 8
"""No piece is longer than this for each token allowed: a tokenizer may call a word of
a million letters one unknown token. English prose has about 4.3."""


@dataclass(frozen=True, slots=True)
class SizedSpan:
    """A span that no separator tried so far has cut, and its tokens."""

    span: Span
    tokens: int


def split_at_separator(
    text: str, span: Span, separator: re.Pattern[str]
) -> Iterator[Span]:
    """Yield what stands between the separators, without white space at the ends."""
    start = span.start
    for gap in separator.finditer(text, span.start, span.end):
        if gap.end() >= span.end:
            break
        yield from trim_span(text, start, gap.start())
        start = gap.end()
    yield from trim_span(text, start, span.end)


def trim_span(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the stretch without white space at its end, unless nothing is left."""
    end = start + len(text[start:end].rstrip())
    if end > start:
        yield Span(start, end)


def split_to_fit(
    text: str,
    pieces: Sequence[SizedSpan],
    count: CountTokens,
    size: int,
    level: int = 1,
) -> list[SizedSpan]:
    """Cut pieces of more than `size` tokens with the next finer separators.

    `level` is the separator to begin with, an index into `SEPARATORS`.
    """
    fine: list[SizedSpan] = []
    for piece in pieces:
        if _fits(piece, size):
            fine.append(piece)
            continue
        spans = _finer(text, piece.span, level)
        tokens = count([text[s.start : s.end] for s in spans])
        smaller = [SizedSpan(s, n) for s, n in zip(spans, tokens, strict=True)]
        fine += split_to_fit(text, smaller, count, size, level + 1)
    return fine


def _fits(piece: SizedSpan, size: int) -> bool:
    if len(piece.span) == 1:
        return True
    return piece.tokens <= size and len(piece.span) <= size * CHARACTERS_A_TOKEN


def _finer(text: str, span: Span, level: int) -> list[Span]:
    if level < len(SEPARATORS):
        return list(split_at_separator(text, span, SEPARATORS[level]))
    middle = span.start + len(span) // 2
    return [Span(span.start, middle), Span(middle, span.end)]
