from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.indexes import VectorIndex
from tests.fakes.libraries import Library
from tests.fakes.records import (
    DIMENSIONS,
    ONE,
    SPACE,
    TWO,
    a_chunk,
    a_vector,
    hash_of,
    some_chunks,
    some_knowledge,
)
from tests.fakes.suite import examples
from tests.fakes.vector_indexes import opened

TEXTS = ("The frog is shy.", "The well is deep.", "Rain fell.")
DOCUMENTS = tuple(DocumentId(f"{n}.md") for n in range(5))
EVERYTHING = SearchScope(kinds=frozenset(ChunkKind))

Vector = NDArray[np.float32]


@pytest.fixture(params=["scan", "edge", "qdrant", "server"])
def kind(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture
async def index(
    kind: str, library: Library, tmp_path: Path
) -> AsyncIterator[VectorIndex]:
    async with opened(kind, library, tmp_path) as one:
        yield one


async def everything(index: VectorIndex) -> set[ChunkId]:
    found = await index.nearest(a_vector("any"), scope=EVERYTHING, limit=999)
    return {scored.chunk for scored in found}


def ids(chunks: Iterable[Chunk]) -> set[ChunkId]:
    return {chunk.id for chunk in chunks}


async def test_an_empty_library_has_nothing_near(index: VectorIndex) -> None:
    assert await index.catch_up() == 0
    assert await everything(index) == set()
    assert await index.similarities(a_vector("x"), [a_chunk("x").id]) == [0.0]


async def test_the_nearest_chunk_comes_first(
    library: Library, index: VectorIndex
) -> None:
    chunks = some_chunks(TEXTS)
    await library.keep(some_knowledge(chunks))
    assert await index.catch_up() == 3
    found = await index.nearest(a_vector(TEXTS[1]), scope=SearchScope(), limit=2)
    assert found[0].chunk == chunks[1].id
    assert found[0].score == pytest.approx(1.0)
    assert len(found) == 2
    assert found[1].score < found[0].score


async def test_a_query_of_any_length_means_its_direction(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await index.catch_up()
    short = await index.nearest(a_vector("q"), scope=SearchScope(), limit=3)
    long = await index.nearest(a_vector("q") * 40, scope=SearchScope(), limit=3)
    assert [one.chunk for one in short] == [one.chunk for one in long]
    assert long[0].score == pytest.approx(short[0].score, abs=1e-6)


async def test_a_query_without_a_direction_is_near_to_nothing(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await index.catch_up()
    nowhere = np.zeros(DIMENSIONS, np.float32)
    found = await index.nearest(nowhere, scope=SearchScope(), limit=3)
    assert [one.score for one in found] == [0.0, 0.0, 0.0]


async def test_equal_scores_are_ordered_by_id_even_at_the_limit(
    library: Library, index: VectorIndex
) -> None:
    same = a_vector("same")
    for document in DOCUMENTS:
        chunks = some_chunks([f"{document} {n}" for n in range(20)], document=document)
        vectors = dict.fromkeys((chunk.text_hash for chunk in chunks), same)
        await library.keep(some_knowledge(chunks, vectors=vectors))
    await index.catch_up()
    whole = await index.nearest(a_vector("q"), scope=SearchScope(), limit=999)
    assert len(whole) == 100
    assert len({one.score for one in whole}) == 1
    assert [one.chunk for one in whole] == sorted(one.chunk for one in whole)
    for limit in (1, 7, 50, 99):
        some = await index.nearest(a_vector("q"), scope=SearchScope(), limit=limit)
        assert some == whole[:limit]


async def test_no_limit_no_kind_and_no_document_find_nothing(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await index.catch_up()
    query = a_vector("q")
    assert await index.nearest(query, scope=SearchScope(), limit=0) == []
    for scope in (SearchScope(documents=frozenset()), SearchScope(kinds=frozenset())):
        assert await index.nearest(query, scope=scope, limit=9) == []


async def test_similarities_come_in_the_order_asked_for(
    library: Library, index: VectorIndex
) -> None:
    one, two, three = some_chunks(TEXTS)
    await library.keep(some_knowledge([one, two, three]))
    await index.catch_up()
    asked = [three.id, a_chunk("not there").id, one.id, three.id]
    query = a_vector("q")
    found = await index.similarities(query, asked)
    scores = {
        scored.chunk: scored.score
        for scored in await index.nearest(query, scope=SearchScope(), limit=9)
    }
    assert found == [scores[three.id], 0.0, scores[one.id], scores[three.id]]
    assert found[0] == pytest.approx(float(query @ a_vector(three.text)), abs=1e-6)
    assert await index.similarities(query, []) == []


async def test_chunks_without_a_vector_are_not_found(
    library: Library, index: VectorIndex
) -> None:
    one, two, three = some_chunks(TEXTS)
    vectors = {two.text_hash: a_vector(two.text)}
    await library.keep(some_knowledge([one, two, three], vectors=vectors))
    await index.catch_up()
    assert await everything(index) == {two.id}
    assert (await index.similarities(a_vector("q"), [one.id])) == [0.0]


async def test_the_index_follows_every_change(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.keep_texts(TWO, TEXTS)
    await index.catch_up()
    changed = some_chunks(("Quite new.", *TEXTS[1:]))
    await library.keep(some_knowledge(changed))
    await library.remove(TWO)
    assert await index.catch_up() > 0
    assert await everything(index) == ids(changed)
    assert await index.catch_up() == 0


async def test_a_chunk_that_moved_is_bounded_by_its_new_end(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await index.catch_up()
    bound = SearchScope(until={ONE: len(TEXTS[0])})
    assert len(await index.nearest(a_vector("q"), scope=bound, limit=9)) == 1
    await library.keep_texts(ONE, ["A beginning that pushes all of it on.", *TEXTS])
    await index.catch_up()
    assert await index.nearest(a_vector("q"), scope=bound, limit=9) == []


async def test_a_chunk_that_left_the_space_is_not_found(
    library: Library, index: VectorIndex
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await index.catch_up()
    await library.keep(some_knowledge(some_chunks(TEXTS), space="another"))
    await index.catch_up()
    assert await everything(index) == set()


async def test_an_index_opened_again_knows_what_it_knew_and_what_is_new(
    kind: str, library: Library, tmp_path: Path
) -> None:
    await library.keep_texts(ONE, TEXTS)
    async with opened(kind, library, tmp_path) as index:
        await index.catch_up()
    await library.keep_texts(TWO, TEXTS)
    await library.remove(ONE)
    async with opened(kind, library, tmp_path) as index:
        await index.catch_up()
        assert await everything(index) == ids(some_chunks(TEXTS, document=TWO))


async def test_closing_twice_is_safe(index: VectorIndex) -> None:
    await index.catch_up()
    await index.aclose()
    await index.aclose()


def oracle(
    stored: list[Chunk], query: Vector, scope: SearchScope, limit: int
) -> list[ScoredChunk]:
    found = [
        ScoredChunk(chunk.id, float(np.dot(query.astype(float), a_vector(chunk.text))))
        for chunk in stored
        if chunk.kind in scope.kinds
        and (scope.documents is None or chunk.document in scope.documents)
        and chunk.span.end <= scope.until.get(chunk.document, chunk.span.end)
    ]
    return sorted(found, key=lambda one: (-one.score, one.chunk))[:limit]


@pytest.fixture
async def filled(
    library: Library, index: VectorIndex
) -> AsyncIterator[tuple[VectorIndex, list[Chunk]]]:
    stored: list[Chunk] = []
    for document in DOCUMENTS:
        texts = [f"{document}, passage {n}." for n in range(12)]
        chunks = [*some_chunks(texts, document=document)]
        texts = [f"{document}, note {n}?" for n in range(3)]
        for n, text in enumerate(texts):
            note = a_chunk(
                text, document=document, start=80 * n, kind=ChunkKind.NOTE, ordinal=n
            )
            chunks.append(note)
        await library.keep(some_knowledge(chunks))
        stored += chunks
    await index.catch_up()
    yield index, stored


scopes = st.builds(
    SearchScope,
    documents=st.none() | st.frozensets(st.sampled_from([*DOCUMENTS, ONE])),
    until=st.dictionaries(st.sampled_from([*DOCUMENTS, ONE]), st.integers(-1, 260)),
    kinds=st.frozensets(st.sampled_from(list(ChunkKind))),
)


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(scope=scopes, limit=st.integers(1, 80), question=st.text(max_size=5))
async def test_every_scope_is_kept_as_comparing_one_by_one_would(
    filled: tuple[VectorIndex, list[Chunk]],
    scope: SearchScope,
    limit: int,
    question: str,
) -> None:
    index, stored = filled
    query = a_vector("q" + question.encode("utf-8", "replace").decode())
    found = await index.nearest(query, scope=scope, limit=limit)
    expected = oracle(stored, query, scope, limit)
    assert [one.chunk for one in found] == [one.chunk for one in expected]
    assert [one.score for one in found] == pytest.approx(
        [one.score for one in expected], abs=1e-6
    )


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    edits=st.lists(
        st.tuples(
            st.sampled_from(DOCUMENTS),
            st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6),
            st.booleans(),
        ),
        max_size=8,
    )
)
async def test_any_history_of_edits_ends_with_what_the_records_hold(
    library: Library,
    index: VectorIndex,
    edits: list[tuple[DocumentId, list[str], bool]],
) -> None:
    for document in DOCUMENTS:
        await library.remove(document)
    texts: dict[DocumentId, list[str]] = {}
    for document, said, look in edits:
        await library.keep_texts(document, said)
        texts[document] = said
        if look:
            await index.catch_up()
    await index.catch_up()
    stored = {
        chunk.id
        for document, said in texts.items()
        for chunk in some_chunks(said, document=document)
    }
    assert await everything(index) == stored
    known = {hash_of(text) for said in texts.values() for text in said}
    assert await library.knowledge.known_vectors(SPACE, known) == known
