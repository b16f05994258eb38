"""Values for tests: documents, chunks and knowledge, made with few words."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, Knowledge, TextHash
from lrwr.core.model.documents import (
    Chapter,
    Document,
    DocumentFormat,
    DocumentId,
    DocumentType,
    Scene,
)
from lrwr.core.model.jobs import JobClaim, JobKind, JobOrder
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.stores import DocumentVersion, KnowledgeStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = DocumentId("manuscript/01.md")
TWO = DocumentId("manuscript/02.md")
SPACE = "test-space"
DIMENSIONS = 8


class Clock:
    """A clock that is advanced by the test."""

    def __init__(self, start: float = 1_000_000.0) -> None:
        self.time = start

    def __call__(self) -> float:
        return self.time


def a_chunk(
    text: str,
    *,
    document: DocumentId = ONE,
    ordinal: int = 0,
    start: int = 0,
    kind: ChunkKind = ChunkKind.PROSE,
    pipeline: Pipeline = Pipeline.NAIVE,
    chapter: int = 0,
) -> Chunk:
    """A chunk whose id depends on pipeline, document and text alone."""
    name = f"{pipeline}\0{document}\0{text}"
    return Chunk(
        id=ChunkId(str(uuid5(NAMESPACE_URL, name))),
        document=document,
        ordinal=ordinal,
        span=Span(start, start + len(text)),
        lines=LineRange(1, 1),
        chapter=chapter,
        scene=0,
        kind=kind,
        text=text,
        text_hash=hash_of(text),
        tokens=len(text.split()),
    )


def some_chunks(
    texts: Iterable[str],
    *,
    document: DocumentId = ONE,
    pipeline: Pipeline = Pipeline.NAIVE,
    at: int = 0,
) -> tuple[Chunk, ...]:
    """Chunks that follow one another, a character apart, from `at` on."""
    found: list[Chunk] = []
    for ordinal, text in enumerate(texts):
        found.append(
            a_chunk(
                text, document=document, ordinal=ordinal, start=at, pipeline=pipeline
            )
        )
        at += len(text) + 1
    return tuple(found)


def a_document(
    document: DocumentId = ONE,
    text: str = "The frog is shy.",
    *,
    kind: DocumentType = DocumentType.SCENE,
    title: str = "A title",
    order: float | None = None,
) -> Document:
    """A document of one chapter and one scene."""
    whole = Span(0, len(text))
    return Document(
        id=document,
        format=DocumentFormat.MARKDOWN,
        type=kind,
        title=title,
        text=text,
        lines=LineIndex.of(text),
        chapters=(Chapter("One", whole, (Scene(whole, (whole,)),), number=1),),
        order=order,
        words=len(text.split()),
        warnings=("read as Latin-1",),
    )


def a_vector(text: str, dimensions: int = DIMENSIONS) -> "NDArray[np.float32]":
    """A vector of length 1.0 that depends on `text` alone."""
    seed = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def some_knowledge(
    chunks: Sequence[Chunk],
    *,
    document: Document | None = None,
    pipeline: Pipeline = Pipeline.NAIVE,
    space: str = SPACE,
    vectors: "Mapping[TextHash, NDArray[np.float32]] | None" = None,
) -> Knowledge:
    """Knowledge of one document; by default with `a_vector` of each chunk's text."""
    if vectors is None:
        known = chunks if space else ()
        vectors = {chunk.text_hash: a_vector(chunk.text) for chunk in known}
    if document is None:
        which = chunks[0].document if chunks else ONE
        document = a_document(which, "\n".join(chunk.text for chunk in chunks))
    return Knowledge(document, pipeline, tuple(chunks), space, dict(vectors))


def hash_of(text: str) -> TextHash:
    """The hash that a chunk of `text` has."""
    return TextHash(sha256(text.encode()).hexdigest())


def seen(document: DocumentId = ONE, revision: str = "r1") -> DocumentVersion:
    """The mark of a document that was read at `revision`."""
    return DocumentVersion(document, revision, f"content-{revision}", "recipe")


async def a_claim(
    queue: JobQueue,
    document: DocumentId = ONE,
    *,
    kind: JobKind = JobKind.PROCESS,
    pipeline: Pipeline = Pipeline.NAIVE,
    worker: str = "tester",
) -> JobClaim:
    """A claim on a job for `document`, which nothing else may be waiting for."""
    await queue.enqueue([JobOrder(kind, document, pipeline)])
    claim = await queue.claim(worker, lease=60.0)
    assert claim is not None
    assert claim.order == JobOrder(kind, document, pipeline)
    return claim


async def store(
    knowledge_store: KnowledgeStore,
    queue: JobQueue,
    knowledge: Knowledge,
    revision: str = "r1",
) -> None:
    """Put `knowledge` into the store, as a worker does."""
    document = knowledge.document.id
    claim = await a_claim(queue, document, pipeline=knowledge.pipeline)
    assert await knowledge_store.replace(knowledge, seen(document, revision), claim)


async def remove(
    knowledge_store: KnowledgeStore,
    queue: JobQueue,
    document: DocumentId,
    pipeline: Pipeline = Pipeline.NAIVE,
) -> None:
    """Take a document out of the store, as a worker does."""
    claim = await a_claim(queue, document, kind=JobKind.FORGET, pipeline=pipeline)
    assert await knowledge_store.forget(document, claim)
