"""Stores of documents, chunks, model replies and manuscript files."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId, Knowledge, TextHash
from lrwr.core.model.documents import DocumentId, DocumentOutline
from lrwr.core.model.facts import Fact
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The version of a document that one pipeline has ingested.

    `revision` is that of the file (see `ManuscriptFile`), empty if this machine never
    had the file. `content` is the SHA-256 of the file's bytes, in hex. `recipe` names
    everything else that the chunks depend on: parser, splitter and embedding space.
    """

    id: DocumentId
    revision: str
    content: str
    recipe: str


@dataclass(frozen=True, slots=True)
class ChunkChange:
    """One entry of the change feed, the log of added and removed chunks.

    `seq` increases with every entry. `end` is the chunk's end offset in its document,
    in characters. `kind` is a `ChunkKind` value. If the chunk was removed, `end` is 0
    and `document` and `kind` are empty. `vector` is None if the chunk was removed or
    never embedded.
    """

    seq: int
    chunk: ChunkId
    document: DocumentId
    end: int
    kind: str
    vector: "NDArray[np.float32] | None"


class KnowledgeStore(Protocol):
    """Stores the results of ingestion. Every method is one short transaction."""

    async def document_versions(self, pipeline: Pipeline) -> list[DocumentVersion]:
        """Return the versions that `pipeline` has ingested, ordered by document id.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def known_vectors(
        self, space: str, texts: Collection[TextHash], *, with_states: bool = False
    ) -> set[TextHash]:
        """Return those of the hashes `texts` that have a vector in the embedding
        `space`; `with_states`, those that have token states, too.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def replace(
        self, knowledge: Knowledge, document_version: DocumentVersion, claim: JobClaim
    ) -> bool:
        """Replace everything that the pipeline of `knowledge` has stored for its
        document.

        Unchanged chunks are left untouched. The same transaction records
        `document_version` and completes the job of `claim`. Idempotent. Returns False,
        and writes nothing, if another worker has taken over the job.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def forget(self, document: DocumentId, claim: JobClaim) -> bool:
        """Delete everything that the claim's pipeline has stored for `document`.

        Returns False, and deletes nothing, if another worker has taken over the job.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def touch(
        self,
        pipeline: Pipeline,
        document_versions: Sequence[DocumentVersion],
        claim: JobClaim | None = None,
    ) -> int:
        """Update the stored file revisions of documents whose content and recipe are
        unchanged.

        A document that another process has ingested differently in the meantime is
        skipped. If no document is skipped, the job of `claim` is completed. Returns the
        number of updated documents.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...


class PassageStore(Protocol):
    """Reads documents and chunks for search and answers."""

    async def outlines(self) -> list[DocumentOutline]:
        """Return the outline of every stored document, ordered by document id.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def chunks(self, ids: Sequence[ChunkId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order of `ids`; skip ids not stored.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def chunks_of(self, document: DocumentId, pipeline: Pipeline) -> list[Chunk]:
        """Return the chunks of one document in text order.

        Empty if it was not ingested.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def text(self, document: DocumentId) -> "DocumentText":
        """Return a document's canonical text as it was ingested, with its line index.

        Raises:
            NotFound: The document is not stored.
            DamagedDocument: Its stored text is damaged.
            StoreProblem: The library cannot be read.
        """
        ...

    async def texts(
        self, documents: Collection[DocumentId]
    ) -> "dict[DocumentId, DocumentText]":
        """Return what `text` returns for each of `documents`, all from one point in
        time; leave out those that are not stored or are damaged.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def counts(self, pipeline: Pipeline) -> "LibraryCounts":
        """Return the numbers of documents, words, chunks and vectors that `pipeline` has
        stored.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's canonical text, and an index from character offsets to lines."""

    text: str
    lines: LineIndex


@dataclass(frozen=True, slots=True)
class LibraryCounts:
    """How much a library has stored for one pipeline.

    `spaces` counts chunks by the embedding space of their vector; those under "" have
    none. `newest` is when a document was last stored, in seconds since 1970, UTC; None
    if never. `waiting` counts documents that no pipeline has stored yet: their jobs are
    not done, or only their outline is left because the rest was damaged.
    """

    documents: int
    words: int
    chunks: int
    spaces: Mapping[str, int]
    newest: float | None
    waiting: int = 0

    @property
    def embedded(self) -> int:
        """The number of chunks that have a vector, in any embedding space."""
        return sum(count for space, count in self.spaces.items() if space)


class AnalysisStore(Protocol):
    """Caches analysis results by content, so that unchanged text is not analysed again."""

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the stored distances at possible chunk boundaries of a document.

        A key is the hash of the sentences around a boundary; its value is the cosine
        distance, 0.0 to 2.0, between those before and after it in the embedding
        `space`. Empty if none are stored.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return the stored language model replies by cache key; keys without one are
        left out.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Store language model replies by cache key; call it as soon as they arrive,
        because they were paid for.

        `usage` is the total token usage of all `replies`.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...


class FileStore(Protocol):
    """Stores copies of manuscript files under the SHA-256 of their content, in hex.

    A file is stored whole or not at all, and the content of a name never changes.
    All calls are idempotent.

    Every call raises `StoreProblem` if the storage cannot be used; a hosted store also
    raises `LrwrError` if no user is signed in and `ServiceUnavailable` if it does not
    answer. Work done before the error is not rolled back.
    """

    async def put(self, content: bytes) -> str:
        """Store `content` and return its name, the SHA-256 in hex. A damaged copy is
        replaced.

        Raises:
            StoreProblem: The storage cannot be used.
            LrwrError: A hosted store has no signed-in user, or does not answer.
        """
        ...

    async def get(self, sha256: str) -> bytes:
        """Return the content stored under the name `sha256`.

        Raises:
            NotFound: Nothing is stored under this name.
            StoreProblem: The storage cannot be used, or the stored content is damaged:
                its hash is not `sha256`.
            LrwrError: A hosted store has no signed-in user, or does not answer.
        """
        ...

    async def stored_names(self) -> set[str]:
        """Return the names of all stored files, without verifying their content.

        Raises:
            StoreProblem: The storage cannot be used.
            LrwrError: A hosted store has no signed-in user, or does not answer.
        """
        ...

    async def remove(self, names: Collection[str]) -> int:
        """Delete the files with these names and return how many existed; others are
        ignored.

        Raises:
            StoreProblem: The storage cannot be used.
            LrwrError: A hosted store has no signed-in user, or does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class QuotedFact:
    """A fact, and in `words` the text of its first span."""

    fact: Fact
    words: str


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """The passages, facts and characters that the library has stored for one document.

    `passages` are the chunk texts in text order. `facts` are ordered by position and
    exclude the labels of passages and scenes.
    """

    passages: tuple[str, ...] = ()
    facts: tuple[QuotedFact, ...] = ()


class DocumentSnapshotStore(Protocol):
    """Reads snapshots of documents, to compare them before and after a save."""

    async def snapshots(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, DocumentSnapshot]:
        """Return the snapshots of `documents` by id, all from one point in time.

        Documents that `pipeline` has not ingested are absent. For pipeline a, a
        snapshot has passages only.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...
