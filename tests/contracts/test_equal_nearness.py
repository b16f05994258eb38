"""Whoever keeps the vectors, a search finds the same, in the same order."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lrwr.core.model.chunks import Chunk, ChunkKind, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from tests.fakes.libraries import Library
from tests.fakes.records import DIMENSIONS, a_chunk, some_chunks, some_knowledge
from tests.fakes.suite import sampled
from tests.fakes.vector_indexes import opened

DOCUMENTS = tuple(DocumentId(f"manuscript/{n:02}.md") for n in range(6))
PROSE_AND_NOTES = frozenset(ChunkKind)
SCOPES = (
    SearchScope(),
    SearchScope(kinds=PROSE_AND_NOTES),
    SearchScope(documents=frozenset(DOCUMENTS[:3])),
    SearchScope(until=dict.fromkeys(DOCUMENTS, 300)),
    SearchScope(until={DOCUMENTS[0]: 90, DOCUMENTS[5]: -1}, kinds=PROSE_AND_NOTES),
    SearchScope(documents=frozenset(DOCUMENTS[2:6]), until={DOCUMENTS[4]: 333}),
    SearchScope(kinds=frozenset({ChunkKind.NOTE})),
)
QUERIES_A_SCOPE = 40
LIMITS = (1, 10, 30, 1_000)


def chunks_of(document: DocumentId) -> list[Chunk]:
    """Twenty passages and four notes."""
    texts = [f"{document}, passage {n}." for n in range(20)]
    notes = [
        a_chunk(
            f"{document}, note {n}",
            document=document,
            start=100 * n,
            kind=ChunkKind.NOTE,
        )
        for n in range(4)
    ]
    return [*some_chunks(texts, document=document), *notes]


async def fill(library: Library) -> None:
    """Keep vectors of random numbers; some are the same as others, to the bit."""
    random = np.random.default_rng(7)
    for document in DOCUMENTS:
        chunks = chunks_of(document)
        drawn = random.normal(size=(len(chunks), DIMENSIONS)).astype(np.float32)
        drawn[::7] = drawn[0]
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        vectors = {c.text_hash: v for c, v in zip(chunks, drawn, strict=True)}
        await library.keep(some_knowledge(chunks, vectors=vectors))


async def answers(kind: str, library: Library, folder: Path) -> list[list[ScoredChunk]]:
    random = np.random.default_rng(11)
    found: list[list[ScoredChunk]] = []
    async with opened(kind, library, folder) as index:
        await index.catch_up()
        for scope in SCOPES:
            for n in range(QUERIES_A_SCOPE):
                query = random.normal(size=DIMENSIONS).astype(np.float32)
                limit = LIMITS[n % len(LIMITS)]
                found.append(await index.nearest(query, scope=scope, limit=limit))
    return found


def equal(one: Sequence[ScoredChunk], other: Sequence[ScoredChunk]) -> bool:
    """Say whether two answers are the same chunks in one order, with their scores."""
    return [a.chunk for a in one] == [b.chunk for b in other] and np.allclose(
        [a.score for a in one], [b.score for b in other], rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("kind", sampled(["scan", "qdrant", "server"]))
async def test_280_queries_find_the_same_as_with_edge(
    kind: str, library: Library, tmp_path: Path
) -> None:
    await fill(library)
    edge = await answers("edge", library, tmp_path)
    theirs = await answers(kind, library, tmp_path)
    same = sum(equal(a, b) for a, b in zip(edge, theirs, strict=True))
    assert (same, len(edge)) == (280, 280)
    assert sum(bool(found) for found in edge) == 280
    assert sum(map(len, edge)) > 5_000
