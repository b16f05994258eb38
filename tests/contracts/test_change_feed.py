from lrwr.core.model.choices import Pipeline
from lrwr.core.ports.stores import ChunkChange
from tests.fakes.libraries import Library
from tests.fakes.records import (
    ONE,
    SPACE,
    TWO,
    a_vector,
    some_chunks,
    some_knowledge,
)

TEXTS = ("The frog is shy.", "The well is deep.", "Rain fell.")


async def changes(
    library: Library, after: int = 0, *, space: str = SPACE
) -> list[ChunkChange]:
    return await library.feed.changes(Pipeline.NAIVE, space, after=after, limit=999)


async def test_new_chunks_come_with_their_place_and_vector(library: Library) -> None:
    chunks = some_chunks(TEXTS)
    await library.keep(some_knowledge(chunks))
    found = await changes(library)
    assert [change.chunk for change in found] == [chunk.id for chunk in chunks]
    assert [change.seq for change in found] == sorted({c.seq for c in found})
    for change, chunk in zip(found, chunks, strict=True):
        assert (change.document, change.end) == (ONE, chunk.span.end)
        assert change.kind == "prose"
        assert change.vector is not None
        assert change.vector.tolist() == a_vector(chunk.text).tolist()


async def test_pages_follow_one_another_without_gap_or_repeat(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.keep_texts(TWO, TEXTS)
    whole = [change.seq for change in await changes(library)]
    paged: list[int] = []
    while page := await library.feed.changes(
        Pipeline.NAIVE, SPACE, after=paged[-1] if paged else 0, limit=4
    ):
        paged += [change.seq for change in page]
    assert paged == whole


async def test_a_chunk_that_is_gone_has_no_vector(library: Library) -> None:
    chunks = some_chunks(TEXTS)
    await library.keep(some_knowledge(chunks))
    seq = (await changes(library))[-1].seq
    await library.keep_texts(ONE, TEXTS[:2])
    (gone,) = await changes(library, seq)
    assert (gone.chunk, gone.vector) == (chunks[2].id, None)


async def test_a_chunk_that_came_and_went_is_told_as_it_is_now(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.remove(ONE)
    assert all(change.vector is None for change in await changes(library))
    await library.keep_texts(ONE, TEXTS)
    assert all(change.vector is not None for change in await changes(library))


async def test_a_chunk_whose_end_moved_is_told_again(library: Library) -> None:
    await library.keep_texts(ONE, TEXTS)
    seq = (await changes(library))[-1].seq
    moved = some_chunks(("New.", *TEXTS))
    await library.keep(some_knowledge(moved))
    told = {change.chunk: change.end for change in await changes(library, seq)}
    assert told == {chunk.id: chunk.span.end for chunk in moved}


async def test_a_chunk_that_only_changed_its_lines_is_not_told_again(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    seq = (await changes(library))[-1].seq
    shortened = some_chunks(TEXTS[1:], at=len(TEXTS[0]) + 1)
    await library.keep(some_knowledge(shortened))
    (gone,) = await changes(library, seq)
    assert gone.vector is None
    kept = await library.passages.chunks([chunk.id for chunk in shortened])
    assert [chunk.ordinal for chunk in kept] == [0, 1]


async def test_a_chunk_in_another_space_has_no_vector_here(library: Library) -> None:
    await library.keep_texts(ONE, TEXTS)
    assert all(change.vector is None for change in await changes(library, space="b"))
    seq = (await changes(library))[-1].seq
    await library.keep(some_knowledge(some_chunks(TEXTS), space="b"))
    assert [c.vector for c in await changes(library, seq)] == [None] * 3
    assert all(c.vector is not None for c in await changes(library, seq, space="b"))


async def test_pipelines_have_changes_of_their_own(library: Library) -> None:
    chunks = some_chunks(TEXTS, pipeline=Pipeline.AGENTIC)
    await library.keep(some_knowledge(chunks, pipeline=Pipeline.AGENTIC))
    assert await changes(library) == []
    told = await library.feed.changes(Pipeline.AGENTIC, SPACE, after=0, limit=9)
    assert [change.chunk for change in told] == [chunk.id for chunk in chunks]


async def test_the_feed_keeps_its_name_while_it_grows(library: Library) -> None:
    before = await library.feed.epoch()
    await library.keep_texts(ONE, TEXTS)
    assert await library.feed.epoch() == before != ""
