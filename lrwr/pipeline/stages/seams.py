"""Seams: how far apart in meaning a text is before and after a place in it.

A seam is known by the exact sentences around it, so that an edit leaves the distances
of all others as they were, and they need not be embedded again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NewType

from lrwr.core.model.chunks import ChunkKind, compute_norm, dot_product
from lrwr.core.model.documents import Document
from lrwr.core.model.text import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import Vectors

SeamKey = NewType("SeamKey", str)
"""SHA-256 of the sentences around a seam, in hexadecimal."""
AROUND = 3
"""Sentences on each side that a seam's distance is told from; fewer at an edge."""
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Seam:
    """A place where a chunk may end, with the sentences around it in order."""

    key: SeamKey
    before: tuple[str, ...]
    after: tuple[str, ...]


def build_seam(sentences: Sequence[str], place: int) -> Seam:
    """Return the seam before sentence `place` of a home."""
    before = tuple(sentences[max(0, place - AROUND) : place])
    after = tuple(sentences[place : place + AROUND])
    hash_input = "|".join(
        "".join(f"{len(s)}:{s}" for s in side) for side in (before, after)
    )
    return Seam(SeamKey(sha256(hash_input.encode()).hexdigest()), before, after)


def find_missing_seams(
    seams: Iterable[Seam], stored_distances: Mapping[SeamKey, float]
) -> tuple[Seam, ...]:
    """Return the seams whose distance is not stored, each once."""
    return tuple({s.key: s for s in seams if s.key not in stored_distances}.values())


def collect_seam_sentences(seams: Iterable[Seam]) -> tuple[str, ...]:
    """Return the sentences that the distances of `seams` need, each once."""
    return tuple(dict.fromkeys(s for seam in seams for s in seam.before + seam.after))


def compute_seam_distances(
    seams: Iterable[Seam], sentences: Sequence[str], vectors: "Vectors"
) -> dict[SeamKey, float]:
    """Return each seam's distance, from 0.0 (the same) to 2.0.

    It is the cosine distance between the mean vectors of both sides. `vectors` has
    one row for each of `sentences`, which are at least those of `collect_seam_sentences`.
    """
    rows = {sentence: n for n, sentence in enumerate(sentences)}
    return {
        seam.key: _distance(
            vectors[[rows[s] for s in seam.before]].sum(axis=0),
            vectors[[rows[s] for s in seam.after]].sum(axis=0),
        )
        for seam in seams
    }


def _distance(
    left_vector: "NDArray[np.float32]", right_vector: "NDArray[np.float32]"
) -> float:
    lengths = compute_norm(left_vector) * compute_norm(right_vector)
    cosine = dot_product(left_vector, right_vector) / lengths if lengths > 0 else 1.0
    return round(min(2.0, max(0.0, 1.0 - cosine)), DECIMALS)


@dataclass(frozen=True, slots=True)
class ChunkRegion:
    """The stretch of text that a chunk may not leave, and where it stands."""

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind


def find_chunk_regions(document: Document) -> Iterator[ChunkRegion]:
    """Yield the parts of every scene in reading order, then the notes."""
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            for part in scene.parts:
                yield ChunkRegion(part, chapter, number, ChunkKind.PROSE)
    for note in document.notes:
        yield ChunkRegion(note, *_place(document, note), ChunkKind.NOTE)


def _place(document: Document, note: Span) -> tuple[int, int]:
    """Return chapter and scene of a note: the last that begin on its line or before.

    By lines, since a comment in a `.docx` stands at the end of the text.
    """
    line, place = document.lines.line_of(note.start), (0, 0)
    for chapter, chapter_outline in enumerate(document.chapters):
        for number, scene in enumerate(chapter_outline.scenes):
            if document.lines.line_of(scene.span.start) <= line:
                place = chapter, number
    return place
