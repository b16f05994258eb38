"""Passages small enough to embed, that still know where they came from."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NewType, TypeAlias

from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.text import Lines, Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One row for each text, of length 1.0; shape (texts, dimensions)."""

ChunkId = NewType("ChunkId", str)
"""A UUID made from pipeline, document, text and occurrence: same text, same id."""

TextHash = NewType("TextHash", str)
"""SHA-256 of a chunk's text in UTF-8, in hexadecimal."""


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
    never crosses either. `tokens` are the embedder's own.
    """

    id: ChunkId
    document: DocumentId
    ordinal: int
    span: Span
    lines: Lines
    chapter: int
    scene: int
    kind: ChunkKind
    text: str
    text_hash: TextHash
    tokens: int


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that one recipe found in one document; what gets stored, whole.

    `vectors` holds what was embedded anew, by text hash, for the embedding space
    `space`; every other chunk's vector is in the store already. `space` is empty
    when no embedder was there: such chunks are found by words alone.
    """

    document: Document
    pipeline: Pipeline
    chunks: tuple[Chunk, ...]
    space: str
    vectors: "dict[TextHash, NDArray[np.float32]]"
