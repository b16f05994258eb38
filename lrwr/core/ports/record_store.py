"""The library's truth: what was read, and what was made of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.chunks import Chunk, ChunkId, Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.story import DocumentOutline
from lrwr.core.model.text import LineIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """What was read of a document, by one pipeline.

    `revision` is empty where this machine has never had the file. `content` is the
    SHA-256 of the file's bytes. `recipe` names everything else that
    the chunks depend on: parser, splitter, embedding space.
    """

    id: DocumentId
    revision: str
    content: str
    recipe: str


@dataclass(frozen=True, slots=True)
class ChunkChange:
    """One step of the change feed: a chunk that is new, or gone.

    `vector` is None for a chunk that is gone, or that was never embedded.
    """

    seq: int
    chunk: ChunkId
    document: DocumentId
    end: int
    kind: str
    vector: "NDArray[np.float32] | None"


class KnowledgeStore(Protocol):
    """What ingestion writes. Every method is one short transaction."""

    async def seen(self, pipeline: Pipeline) -> list[DocumentVersion]:
        """Return what this pipeline has read, ordered by document."""
        ...

    async def known_vectors(
        self, space: str, texts: Collection[TextHash]
    ) -> set[TextHash]:
        """Return which of `texts` are embedded in `space` already."""
        ...

    async def replace(
        self, knowledge: Knowledge, document_version: DocumentVersion, claim: JobClaim
    ) -> bool:
        """Make `knowledge` the whole of what its pipeline knows of its document.

        Chunks that stay are not touched. The document is marked as seen last and
        the job complete, all in one transaction. Doing it twice is the same as doing
        it once. Returns False, and writes nothing, when `claim` has been lost.

        Raises:
            StoreProblem: The library cannot be written.
        """
        ...

    async def forget(self, document: DocumentId, claim: JobClaim) -> bool:
        """Take away what the claim's pipeline knows of `document`; as `replace`."""
        ...

    async def touch(
        self,
        pipeline: Pipeline,
        document_versions: Sequence[DocumentVersion],
        claim: JobClaim | None = None,
    ) -> int:
        """Note new revisions of documents whose content and recipe are those in `document_versions`.

        What another run has made of a document meanwhile stays as it is. If all are
        known so, the `claim` is complete. Returns how many are.
        """
        ...


class PassageStore(Protocol):
    """What answering reads."""

    async def outlines(self) -> list[DocumentOutline]:
        """Return an outline of each document, ordered by id."""
        ...

    async def chunks(self, ids: Sequence[ChunkId]) -> list[Chunk]:
        """Return those chunks that exist, in the order asked for."""
        ...

    async def chunks_of(self, document: DocumentId, pipeline: Pipeline) -> list[Chunk]:
        """Return a pipeline's chunks of one document, in order; none if it has none."""
        ...

    async def text(self, document: DocumentId) -> "DocumentText":
        """Return a document's canonical text and its lines.

        Raises:
            NotFound: No such document.
        """
        ...

    async def counts(self, pipeline: Pipeline) -> "LibraryCounts":
        """Return how much the library holds."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's canonical text, and how its characters fall into lines."""

    text: str
    lines: LineIndex


@dataclass(frozen=True, slots=True)
class LibraryCounts:
    """How much a library holds, for one pipeline."""

    documents: int
    words: int
    chunks: int
    embedded: int
    newest: float | None
    """When a document was last stored: seconds since 1970, UTC; None if never."""
