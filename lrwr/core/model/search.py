"""What is searched for, and what is found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind
from lrwr.core.model.documents import DocumentId, DocumentType


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
