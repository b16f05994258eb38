"""Passages small enough to embed, with their location, and products of their vectors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NewType, TypeAlias

from lrwr.core.model.documents import Document, DocumentId, DocumentType
from lrwr.core.model.facts import Fact
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineRange, Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One row for each text, of length 1.0; shape (texts, dimensions)."""

ChunkId = NewType("ChunkId", str)
"""A UUID made from pipeline, document, text and occurrence: same text, same id."""
TextHash = NewType("TextHash", str)
"""SHA-256 of the words that are embedded, in UTF-8, in hexadecimal."""


class Pipeline(StrEnum):
    """The recipe that made a chunk."""

    NAIVE = "a"
    AGENTIC = "b"


class ChunkKind(StrEnum):
    """Whether a chunk is the story's own words or the author's comment on them."""

    PROSE = "prose"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one document: `text` is the canonical text at `span`, verbatim.

    `ordinal` counts the chunks of the document from 0. `chapter` and `scene` are
    indexes into the document's chapters and that chapter's scenes, from 0; a chunk
    never crosses either. `tokens` are the embedder's own, those of `lead` included.

    `lead` and `heading` are indexed with the text and never shown as it: the
    sentences that stand before it in the same scene, verbatim, and words on where it
    stands. Pipeline a has neither: its overlap is part of the text.
    """

    id: ChunkId
    document: DocumentId
    ordinal: int
    span: Span
    lines: LineRange
    chapter: int
    scene: int
    kind: ChunkKind
    text: str
    text_hash: TextHash
    tokens: int
    lead: str = ""
    heading: str = ""

    @property
    def embedded(self) -> str:
        """The words whose meaning becomes the chunk's vector."""
        return f"{self.lead}\n\n{self.text}" if self.lead else self.text


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that one recipe found in one document; what gets stored, whole.

    `vectors` holds what was embedded anew, by text hash, for the embedding space
    `space`; every other chunk's vector is in the store already. `space` is empty
    when no embedder was there: such chunks are found by words alone.

    The rest is pipeline b's. `seams` are the distances between neighbouring sentences
    by the key of their words. `evidence` and `noted` are what the document says of
    names, as JSON: in the story, and in a note. `usage` is what a language model was
    asked for it; `unfinished` says in a sentence why it could not be asked for all.
    """

    document: Document
    pipeline: Pipeline
    chunks: tuple[Chunk, ...]
    space: str
    vectors: "dict[TextHash, NDArray[np.float32]]"
    facts: tuple[Fact, ...] = ()
    seams: Mapping[str, float] = field(default_factory=dict)
    evidence: str = ""
    noted: str = ""
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""


def dot_product(first: "NDArray[Any]", second: "NDArray[Any]") -> float:
    """Return the dot product of two vectors of one length, summed in 64 bits."""
    return float((first.astype("f8") * second.astype("f8")).sum())


def compute_norm(vector: "NDArray[Any]") -> float:
    """Return how long a vector is (its Euclidean norm), summed in 64 bits."""
    return math.sqrt(dot_product(vector, vector))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Which chunks may be found at all; a hard bound, kept by every index.

    `documents` None means every document. `until` bounds some of those documents
    further: only chunks that end at or before that character may be found.
    """

    documents: frozenset[DocumentId] | None = None
    until: Mapping[DocumentId, int] = field(default_factory=dict)
    kinds: frozenset[ChunkKind] = frozenset({ChunkKind.PROSE})


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk and how well it fits; higher is better."""

    chunk: ChunkId
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that was found, with its place in the story.

    `chapter` is the chapter's number in story order, 0 for what comes before the
    first, None for a document outside the story (a note on a character or a place).
    `scene` counts from 1. `score` orders passages of one search and means nothing
    across searches.
    """

    chunk: Chunk
    type: DocumentType
    chapter: int | None
    chapter_title: str
    scene: int | None
    score: float
