"""Pieces and windows of a document, and embedding those that have no vector yet.

Pure and local: an edit moves only the windows of its own chapter.
"""

import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from lrwr.core.model.chunks import Chunk, ChunkKind, TextHash
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span
from lrwr.core.ports.models import (
    EXCERPTS_PER_CALL,
    EXTRACTION_WINDOW_TOKENS,
    Embedder,
    Excerpt,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_INK = re.compile(r"\S")
NameFinder = Callable[[str], tuple[str, ...]]
"""The characters that a text names, as they are to be called."""


def build_classify_excerpts(
    document: Document, chunks: Sequence[Chunk], names: NameFinder
) -> list[Excerpt]:
    """Return one excerpt for each chunk of the story's own words, in order."""
    return [
        Excerpt(
            span=chunk.span,
            text=chunk.text,
            before=chunk.lead,
            known=names(chunk.text),
            where=_where(document, chunk),
        )
        for chunk in chunks
        if chunk.kind is ChunkKind.PROSE
    ]


def batch_excerpts(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    """Cut excerpts into runs that are classified in one call each, all about as long:
    no call is made for a few that are left over.
    """
    total = len(excerpts)
    calls = -(-total // EXCERPTS_PER_CALL)
    for n in range(calls):
        yield list(excerpts[total * n // calls : total * (n + 1) // calls])


def build_extract_excerpts(
    document: Document,
    chunks: Sequence[Chunk],
    names: NameFinder,
    *,
    size: int = EXTRACTION_WINDOW_TOKENS,
) -> list[Excerpt]:
    """Return the windows of a document: whole scenes of one chapter, at most `size`
    tokens in total; a longer scene is split between its chunks.

    An author's comment in a window is blanked out: it is no part of the story.
    """
    prose = [chunk for chunk in chunks if chunk.kind is ChunkKind.PROSE]
    excerpts = []
    for _, chapter_chunks in groupby(prose, key=lambda chunk: chunk.chapter):
        for window in _windows(list(chapter_chunks), size):
            span = Span(window[0].span.start, window[-1].span.end)
            text = _told(document, span)
            excerpts.append(
                Excerpt(span, text, "", names(text), _where(document, window[0]))
            )
    return excerpts


def _windows(chunks: Sequence[Chunk], size: int) -> Iterator[list[Chunk]]:
    window: list[Chunk] = []
    tokens = 0
    for _, scene_chunks in groupby(chunks, key=lambda chunk: chunk.scene):
        scene = list(scene_chunks)
        scene_tokens = sum(chunk.tokens for chunk in scene)
        if window and tokens + scene_tokens > size:
            yield window
            window, tokens = [], 0
        for chunk in scene:
            if window and tokens + chunk.tokens > size:
                yield window
                window, tokens = [], 0
            window.append(chunk)
            tokens += chunk.tokens
    if window:
        yield window


def _told(document: Document, span: Span) -> str:
    """Return the text at `span`, every character in its place, comments blanked."""
    text = document.text[span.start : span.end]
    for note in document.notes:
        first, last = (max(0, at - span.start) for at in (note.start, note.end))
        text = text[:first] + _INK.sub(" ", text[first:last]) + text[last:]
    return text


def _where(document: Document, chunk: Chunk) -> str:
    title = document.title
    if chunk.chapter < len(document.chapters):
        chapter = document.chapters[chunk.chapter].title
        title = title if chapter in ("", title) else f"{title}, {chapter}"
    return f"{title}, scene {chunk.scene + 1}"


SLICE = 16
"""Chunks embedded between two signs of life."""


async def embed_missing(
    chunks: Sequence[Chunk], stored_hashes: Collection[TextHash], embedder: Embedder
) -> "AsyncGenerator[dict[TextHash, NDArray[np.float32]]]":
    """Yield the vectors of chunks whose text is not `stored_hashes`, a slice at a time.

    Each text is embedded once, however often it occurs; neighbours in a slice are of
    like length.

    Raises:
        ServiceUnavailable: The embedder did not answer.
    """
    missing = {c.text_hash: c for c in chunks if c.text_hash not in stored_hashes}
    todo = sorted(missing.values(), key=lambda chunk: chunk.tokens)
    for start in range(0, len(todo), SLICE):
        part = todo[start : start + SLICE]
        vectors = await embedder.embed([chunk.embedded for chunk in part])
        yield {c.text_hash: v for c, v in zip(part, vectors, strict=True)}


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
