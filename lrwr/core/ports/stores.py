"""The library's truth: what was read, and what was made of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.chunks import Chunk, ChunkId, Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import DocumentId, DocumentOutline
from lrwr.core.model.facts import Fact
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineIndex
from lrwr.core.model.turns import (
    Citation,
    GapFlag,
    NarrativeState,
    Thread,
    ThreadId,
    Turn,
    TurnId,
)

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


class AnalysisStore(Protocol):
    """Kept by content: what was worked out once is found again wherever it stands."""

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the document's distances between sentences, by their key."""
        ...

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return those replies of language models that are kept, by key."""
        ...

    async def keep_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Keep replies at once: they were paid for. `usage` is that of all of them."""
        ...


class FileStore(Protocol):
    """Files of one library, each under the SHA-256 of what it holds, in hex.

    A file is there whole or not at all, and what a name stands for never changes.
    Every call but a first `put` may be made again and changes nothing more.

    Raises, from each: `StoreProblem` where files cannot be kept or read there, and of a
    service also `LrwrError`, nobody is signed in, and `ServiceUnavailable`, it did not
    answer. What was done until then stays done.
    """

    async def put(self, content: bytes) -> str:
        """Keep `content` and return its name; kept twice, it is there once.

        A file that was damaged is whole after it.
        """
        ...

    async def get(self, sha256: str) -> bytes:
        """Return what is kept under a name.

        Raises:
            NotFound: Nothing is.
            StoreProblem: What is there is damaged: it is not what its name says.
        """
        ...

    async def held(self) -> set[str]:
        """Return the names of what is kept; that each is whole is not looked at."""
        ...

    async def remove(self, names: Collection[str]) -> int:
        """Take files away; return how many were there. Other names are let be."""
        ...


@dataclass(frozen=True, slots=True)
class QuotedFact:
    """A fact, and the words of the text that it rests on first."""

    fact: Fact
    words: str


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """What is known of one document.

    `passages` are its texts in order. `facts` are in order of place; those that only
    say of what kind a passage or scene is are left out. `people` are the characters
    that are named in it, by their names in the cast.
    """

    passages: tuple[str, ...] = ()
    facts: tuple[QuotedFact, ...] = ()
    people: frozenset[str] = frozenset()


class DocumentSnapshotStore(Protocol):
    """What the library holds of single documents, each read in one snapshot."""

    async def held(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, DocumentSnapshot]:
        """Return what a pipeline knows of these documents, all at one moment.

        Those that it has not read are left out. Pipeline a knows passages alone.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecordedGap:
    """What an answer left open. `as_of` is where its question stood in the story, as
    the writer gave it, empty for the whole."""

    gap: GapFlag
    as_of: str


@dataclass(frozen=True, slots=True)
class TurnCitations:
    """A kept answer, and those of its citations that were asked for."""

    thread: ThreadId
    turn: TurnId
    citations: tuple[Citation, ...]


class ThreadStore(Protocol):
    """Conversations of one library. A deleted one can be had back until it is purged."""

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        ...

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation.

        Raises:
            NotFound: There is none, or it is deleted.
        """
        ...

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them.

        There are none where it is deleted or was never begun.
        """
        ...

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing; return the conversation.

        A thread that does not exist begins with `title`; a deleted one is back. The
        turn gets the next number, whatever number it has; kept twice, it is there once.
        Characters that are not Unicode become `?`.
        """
        ...

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title.

        Raises:
            NotFound: There is no such conversation.
        """
        ...

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away, at a time in seconds since 1970.

        Raises:
            NotFound: There is no such conversation.
        """
        ...

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last; None where nothing is left to bring."""
        ...

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time; return how many threads."""
        ...

    async def gaps(self) -> list[RecordedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        ...

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return what answers of kept conversations cite, oldest first.

        Only citations of `documents`, where they are named; an answer without one is
        left out. A stopped answer counts like a whole one.
        """
        ...

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first."""
        ...
