"""Chunks and their vectors, search scopes, and passages returned by a search."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NewType, TypeAlias

from lrwr.core.model.choices import Pipeline
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
    """One unit-length row per text; shape (texts, dimensions)."""

ChunkId = NewType("ChunkId", str)
"""UUID derived from pipeline, document, text and occurrence: same text, same id."""
TextHash = NewType("TextHash", str)
"""Hexadecimal SHA-256 of the embedded text in UTF-8."""


STATES_VERSION = 1
"""Version of the encoding of stored token states; others are computed again."""


class ChunkKind(StrEnum):
    """Whether a chunk is text of the document (`PROSE`, in a note too) or an author's
    comment (`NOTE`).
    """

    PROSE = "prose"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one document, small enough to embed.

    `text` is the canonical text at `span`, verbatim; `text_hash` is the SHA-256 of
    `embedded`, in hex. `ordinal` counts the chunks of the document from 0. `chapter`
    and `scene` are indexes, from 0, into the document's chapters and the chapter's
    scenes; a chunk never crosses a scene boundary.

    `lead` and `heading` are indexed together with the text but never shown: the
    sentences before the chunk in the same scene, verbatim, and a line that names book,
    chapter and scene. Both are empty in pipeline a, whose overlap is in `text`.
    `tokens` counts the embedding model's tokens of `lead` and `text`.
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
        """The text whose embedding is the chunk's vector: `lead`, if any, and `text`."""
        return f"{self.lead}\n\n{self.text}" if self.lead else self.text


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything that one pipeline extracted from one document; stored as a unit.

    `vectors` holds the newly computed embeddings by text hash, in the embedding space
    `space`; the vectors of the other chunks are stored already. `space` is empty if no
    embedding model was available; such chunks are searched by words only. `states` are
    the encoded token states of the texts in `vectors`, if the embedding model has any.

    The other fields are filled by pipeline b. `seams` are possible chunk boundaries:
    the hash of the sentences around each one, and the cosine distance, 0.0 to 2.0,
    between those before and after it. `evidence` and `noted` are JSON: counts of names
    in story text, and names that the author states (people in a note, the point of view
    in the front matter of story text). `usage` is the usage of language models.
    `unfinished` is a sentence that explains why a language model could not analyse
    everything; empty if it did.
    """

    document: Document
    pipeline: Pipeline
    chunks: tuple[Chunk, ...]
    space: str
    vectors: "dict[TextHash, NDArray[np.float32]]"
    states: Mapping[TextHash, bytes] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    seams: Mapping[str, float] = field(default_factory=dict)
    evidence: str = ""
    noted: str = ""
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""


def dot_product(first: "NDArray[Any]", second: "NDArray[Any]") -> float:
    """Return the dot product of two vectors of equal length, computed in 64-bit floats."""
    return float((first.astype("f8") * second.astype("f8")).sum())


def compute_norm(vector: "NDArray[Any]") -> float:
    """Return the Euclidean norm of a vector, computed in 64-bit floats."""
    return math.sqrt(dot_product(vector, vector))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The set of chunks that a search may return; every index enforces it.

    `documents` are the documents allowed; None allows all, an empty set none. `until`
    maps some of them to a character offset: of these only chunks that end at or before
    it may be returned. `kinds` are the kinds of chunks allowed.
    """

    documents: frozenset[DocumentId] | None = None
    until: Mapping[DocumentId, int] = field(default_factory=dict)
    kinds: frozenset[ChunkKind] = frozenset({ChunkKind.PROSE})


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """The id of a chunk with its score in one search; higher is better.

    The scale depends on the index: cosine for vectors, BM25 for words.
    """

    chunk: ChunkId
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk returned by a search, with its position in the story.

    `chapter` is the chapter's number in story order: 0 before the first chapter, None
    in a document outside the story (a note). `scene` counts from 1, None outside the
    story. `score` ranks the passages of one search and cannot be compared between
    searches.
    """

    chunk: Chunk
    type: DocumentType
    chapter: int | None
    chapter_title: str
    scene: int | None
    score: float


def has_other_vectors(spaces: Mapping[str, int], space: str) -> bool:
    """Return whether chunks have vectors of another embedding space than `space`.

    `spaces` are the numbers of chunks by the space of their vector, "" for none.
    """
    return any(name not in {"", space} for name in spaces)


def describe_missing_vectors(total: int, spaces: Mapping[str, int], space: str) -> str:
    """Return a sentence on the passages without a vector in the embedding `space`.

    It ends with what to do. Empty if all passages have one. `total` is the number of
    chunks, `spaces` their numbers by the space of their vector, "" for none.
    """
    missing = total - spaces.get(space, 0)
    if missing <= 0:
        return ""
    passages = "1 passage is" if missing == 1 else f"{missing:,} passages are"
    text = f"{passages} not embedded yet."
    if has_other_vectors(spaces, space):
        text = f"The embedding model changed; {passages} not embedded with it yet."
    return f"{text} Run `lrwr ingest`."
