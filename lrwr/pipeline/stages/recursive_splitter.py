"""Splitter of pipeline a: packs paragraphs into chunks of a fixed size.

Text is split at blank lines; pieces that are too long are split again at line ends,
sentence ends, spaces, and finally anywhere. Pieces fill a chunk until the next would
not fit. Once a chunk is half full, it may end at a boundary chosen by a hash of the
following text, so that after an edit the later boundaries soon match the old ones.
A chunk starts with the last pieces of the previous one, as far as the overlap
allows. No chunk crosses a scene or an author's comment.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from zlib import crc32

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span
from lrwr.pipeline.stages.units import (
    ChunkCut,
    ChunkRegion,
    build_chunks,
    find_chunk_regions,
)
from lrwr.pipeline.stages.windows import (
    CHARACTERS_A_TOKEN,
    SEPARATORS,
    SizedSpan,
    split_at_separator,
    split_to_fit,
)
from lrwr.pipeline.stages.windows import CountTokens as CountTokens

FULL_ENOUGH = 0.5
"""Minimum share of `size` that new text must fill before a chunk may end early."""

DRAWN = 40
"""Number of characters of a piece that are hashed to rank the boundary before it."""


def split_recursively(
    document: Document, count: CountTokens, *, size: int, overlap: int
) -> tuple[Chunk, ...]:
    """Split a document into chunks of at most `size` tokens, in text order.

    `count` returns the numbers of tokens of texts. `overlap` is the maximum number of
    tokens repeated from the previous chunk; they count towards `size`. Authors'
    comments are separate chunks at the end. Each chunk's text equals the document's
    text at its span.
    """
    regions = list(find_chunk_regions(document))
    pieces = _split_paragraphs(document.text, regions, count)
    cuts: list[ChunkCut] = []
    for region, coarse in zip(regions, pieces, strict=True):
        fine = split_to_fit(document.text, coarse, count, size)
        cuts += [
            ChunkCut(span, region.chapter, region.scene, region.kind, tokens)
            for span, tokens in _pack(document.text, fine, size, overlap)
        ]
    return build_chunks(document, cuts, Pipeline.NAIVE)


def _split_paragraphs(
    text: str, regions: Sequence[ChunkRegion], count: CountTokens
) -> list[list[SizedSpan]]:
    """Split every region at blank lines, counting all tokens in one call."""
    spans = [
        list(split_at_separator(text, region.span, SEPARATORS[0])) for region in regions
    ]
    tokens = iter(count([text[s.start : s.end] for group in spans for s in group]))
    return [[SizedSpan(span, next(tokens)) for span in group] for group in spans]


def _pack(
    text: str, pieces: Sequence[SizedSpan], size: int, overlap: int
) -> Iterator[tuple[Span, int]]:
    """Yield the span and token count of each chunk."""
    totals = [0, *accumulate(piece.tokens for piece in pieces)]
    start = fresh = 0
    while fresh < len(pieces):
        end = _choose_end(text, pieces, totals, start, fresh, size)
        span = Span(pieces[start].span.start, pieces[end - 1].span.end)
        yield span, totals[end] - totals[start]
        before, start, fresh = start, end, end
        while start - 1 > before and _fits_overlap(
            pieces, totals, start, fresh, size, overlap
        ):
            start -= 1


def _choose_end(
    text: str,
    pieces: Sequence[SizedSpan],
    totals: Sequence[int],
    start: int,
    fresh: int,
    size: int,
) -> int:
    """Return the index after the last piece of the chunk that begins at `start`.

    Among the boundaries that leave the chunk at least half full, take the one with the
    smallest hash of the text that follows.
    """
    last = fresh + 1
    while last < len(pieces) and not (
        totals[last + 1] - totals[start] > size
        or _is_too_long(pieces, start, last, size)
        or _splits_word(pieces, last)
    ):
        last += 1
    if last == len(pieces):
        return last
    least = totals[fresh] + FULL_ENOUGH * size
    ends = [n for n in range(fresh + 1, last + 1) if totals[n] >= least]
    return min(ends, key=lambda n: _hash_start(text, pieces[n]), default=last)


def _hash_start(text: str, piece: SizedSpan) -> int:
    start = piece.span.start
    return crc32(text[start : min(piece.span.end, start + DRAWN)].encode())


def _splits_word(pieces: Sequence[SizedSpan], n: int) -> bool:
    """Return whether a word was split before piece `n`: its tokens do not add up."""
    return pieces[n - 1].span.end == pieces[n].span.start


def _is_too_long(pieces: Sequence[SizedSpan], start: int, end: int, size: int) -> bool:
    length = pieces[end].span.end - pieces[start].span.start
    return length > size * CHARACTERS_A_TOKEN


def _fits_overlap(
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
        and not _splits_word(pieces, start)
        and not _is_too_long(pieces, start - 1, fresh, size)
    )
