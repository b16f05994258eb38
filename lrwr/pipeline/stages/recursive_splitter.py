"""Pipeline A's splitter: whole paragraphs where they fit, finer pieces where not.

The separators are tried in order: an empty line, a line's end, a sentence's end, a
space, and at last any character. Pieces are packed into a chunk until the next would
not fit, or until the text itself chooses an end once the chunk is half full; a chunk
begins with the last pieces of the one before, as far as they fit the overlap. No
chunk crosses a scene or a comment, so that a bound in story order falls between
chunks, and an edit moves no chunk beyond its scene.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import accumulate
from uuid import UUID, uuid5
from zlib import crc32

from lrwr.core.model.chunks import Chunk, ChunkId, Pipeline, TextHash
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span
from lrwr.pipeline.stages.units import ChunkRegion, find_chunk_regions
from lrwr.pipeline.stages.windows import (
    CHARACTERS_A_TOKEN,
    SEPARATORS,
    SizedSpan,
    split_at_separator,
    split_to_fit,
)
from lrwr.pipeline.stages.windows import CountTokens as CountTokens

FULL_ENOUGH = 0.5
"""A chunk may end early when it has this share of `size` in text of its own."""

DRAWN = 40
"""Characters of a piece that say how good an end is before it."""

NAIVE_CHUNK_NAMESPACE = UUID("5d2f4a1e-6a0b-5c57-9d0e-6c7277720001")


def split_recursively(
    document: Document, count: CountTokens, *, size: int, overlap: int
) -> tuple[Chunk, ...]:
    """Cut a document into chunks of at most `size` tokens, in reading order.

    `overlap` is how many of those tokens may repeat the chunk before. Notes come
    last, as chunks of their own. The text at each chunk's span is its text.
    """
    homes = list(find_chunk_regions(document))
    pieces = _paragraphs(document.text, homes, count)
    placed: list[tuple[ChunkRegion, Span, int]] = []
    for home, coarse in zip(homes, pieces, strict=True):
        fine = split_to_fit(document.text, coarse, count, size)
        placed += [
            (home, span, n) for span, n in _pack(document.text, fine, size, overlap)
        ]
    return _chunks(document, placed)


def _paragraphs(
    text: str, homes: Sequence[ChunkRegion], count: CountTokens
) -> list[list[SizedSpan]]:
    """Cut every home at empty lines, counting all their tokens in one call."""
    spans = [list(split_at_separator(text, home.span, SEPARATORS[0])) for home in homes]
    tokens = iter(count([text[s.start : s.end] for group in spans for s in group]))
    return [[SizedSpan(span, next(tokens)) for span in group] for group in spans]


def _pack(
    text: str, pieces: Sequence[SizedSpan], size: int, overlap: int
) -> Iterator[tuple[Span, int]]:
    """Yield spans of consecutive pieces, and their tokens."""
    totals = [0, *accumulate(piece.tokens for piece in pieces)]
    start = fresh = 0
    while fresh < len(pieces):
        end = _end(text, pieces, totals, start, fresh, size)
        span = Span(pieces[start].span.start, pieces[end - 1].span.end)
        yield span, totals[end] - totals[start]
        before, start, fresh = start, end, end
        while start - 1 > before and _repeats(
            pieces, totals, start, fresh, size, overlap
        ):
            start -= 1


def _end(
    text: str,
    pieces: Sequence[SizedSpan],
    totals: Sequence[int],
    start: int,
    fresh: int,
    size: int,
) -> int:
    """Say before which piece the chunk ends that begins at `start`.

    Of the ends that leave it full enough, the text itself chooses: after an edit the
    seams behind it soon fall where they fell before.
    """
    last = fresh + 1
    while last < len(pieces) and not (
        totals[last + 1] - totals[start] > size
        or _long(pieces, start, last, size)
        or _one_word(pieces, last)
    ):
        last += 1
    if last == len(pieces):
        return last
    least = totals[fresh] + FULL_ENOUGH * size
    ends = [n for n in range(fresh + 1, last + 1) if totals[n] >= least]
    return min(ends, key=lambda n: _draw(text, pieces[n]), default=last)


def _draw(text: str, piece: SizedSpan) -> int:
    start = piece.span.start
    return crc32(text[start : min(piece.span.end, start + DRAWN)].encode())


def _one_word(pieces: Sequence[SizedSpan], n: int) -> bool:
    """Say whether a word was cut before piece `n`: its tokens do not add up."""
    return pieces[n - 1].span.end == pieces[n].span.start


def _long(pieces: Sequence[SizedSpan], start: int, end: int, size: int) -> bool:
    length = pieces[end].span.end - pieces[start].span.start
    return length > size * CHARACTERS_A_TOKEN


def _repeats(
    pieces: Sequence[SizedSpan],
    totals: Sequence[int],
    start: int,
    fresh: int,
    size: int,
    overlap: int,
) -> bool:
    """Return whether one more piece of the previous chunk fits the next one's overlap."""
    if start == 0 or fresh >= len(pieces):
        return False
    repeated = totals[fresh] - totals[start - 1]
    total = totals[fresh + 1] - totals[start - 1]
    return (
        repeated <= overlap
        and total <= size
        and not _one_word(pieces, start)
        and not _long(pieces, start - 1, fresh, size)
    )


def _chunks(
    document: Document, placed: Sequence[tuple[ChunkRegion, Span, int]]
) -> tuple[Chunk, ...]:
    last_occurrences: dict[TextHash, int] = {}
    chunks = []
    for ordinal, (home, span, tokens) in enumerate(placed):
        text = document.text[span.start : span.end]
        text_hash = TextHash(sha256(text.encode()).hexdigest())
        occurrence = last_occurrences[text_hash] = (
            last_occurrences.get(text_hash, -1) + 1
        )
        name = f"{Pipeline.NAIVE}\n{document.id}\n{text_hash}\n{occurrence}"
        chunks.append(
            Chunk(
                id=ChunkId(str(uuid5(NAIVE_CHUNK_NAMESPACE, name))),
                document=document.id,
                ordinal=ordinal,
                span=span,
                lines=document.lines.lines_of(span),
                chapter=home.chapter,
                scene=home.scene,
                kind=home.kind,
                text=text,
                text_hash=text_hash,
                tokens=tokens,
            )
        )
    return tuple(chunks)
