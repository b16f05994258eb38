from dataclasses import replace

import numpy as np
import pytest

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ChunkKind
from lrwr.core.model.documents import (
    Chapter,
    Document,
    DocumentFormat,
    DocumentId,
    DocumentOutline,
    DocumentType,
    Scene,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.jobs import JobKind, JobState
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.ports.stores import DocumentText, DocumentVersion, LibraryCounts
from tests.fakes.libraries import Library
from tests.fakes.records import (
    ONE,
    SPACE,
    TWO,
    a_chunk,
    a_claim,
    a_document,
    a_vector,
    hash_of,
    seen,
    some_chunks,
    some_knowledge,
)

TEXTS = ("The frog is shy.", "The well is deep.", "Rain fell.")
A_DAY_AND_MORE = 30 * 3600.0


async def newest_seq(library: Library) -> int:
    changes = await library.feed.changes(Pipeline.NAIVE, SPACE, after=0, limit=999)
    return changes[-1].seq if changes else 0


async def test_an_empty_library_has_seen_nothing(library: Library) -> None:
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == []
    assert await library.passages.outlines() == []
    counts = await library.passages.counts(Pipeline.NAIVE)
    assert counts == LibraryCounts(0, 0, 0, {}, None)


async def test_chunks_come_back_as_they_were_in_the_order_asked_for(
    library: Library,
) -> None:
    chunks = some_chunks(TEXTS)
    note = a_chunk("Make him older?", start=90, kind=ChunkKind.NOTE, chapter=4)
    await library.keep(some_knowledge([*chunks, note]))
    asked = [note.id, chunks[2].id, ChunkId("not there"), chunks[0].id]
    assert await library.passages.chunks(asked) == [note, chunks[2], chunks[0]]


async def test_a_documents_chunks_come_in_order_and_by_pipeline(
    library: Library,
) -> None:
    chunks = some_chunks(TEXTS)
    await library.keep(some_knowledge(chunks))
    assert await library.passages.chunks_of(ONE, Pipeline.NAIVE) == [*chunks]
    assert await library.passages.chunks_of(ONE, Pipeline.AGENTIC) == []
    assert await library.passages.chunks_of(TWO, Pipeline.NAIVE) == []


async def test_what_is_stored_is_seen_under_its_revision(library: Library) -> None:
    await library.keep(some_knowledge(some_chunks(TEXTS, document=TWO)), "r7")
    await library.keep(some_knowledge(some_chunks(TEXTS, document=ONE)), "r8")
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == [
        DocumentVersion(ONE, "r8", "content-r8", "recipe"),
        DocumentVersion(TWO, "r7", "content-r7", "recipe"),
    ]
    assert await library.knowledge.document_versions(Pipeline.AGENTIC) == []


async def test_replace_forgets_what_the_document_no_longer_says(
    library: Library,
) -> None:
    before = some_chunks(TEXTS)
    await library.keep(some_knowledge(before))
    after = some_chunks(("The frog is bold.", TEXTS[1]))
    await library.keep(some_knowledge(after), "r2")
    ids = [chunk.id for chunk in (*before, *after)]
    assert set(await library.passages.chunks(ids)) == set(after)


async def test_a_chunk_that_moved_stays_and_knows_its_new_place(
    library: Library,
) -> None:
    await library.keep(some_knowledge(some_chunks(TEXTS)))
    moved = some_chunks(("A new beginning.", *TEXTS))
    await library.keep(some_knowledge(moved), "r2")
    assert await library.passages.chunks([chunk.id for chunk in moved]) == list(moved)


async def test_a_chunk_that_gives_words_to_its_lead_no_longer_has_them_itself(
    library: Library,
) -> None:
    (before,) = some_chunks(("The frog is shy. The frog sang.",))
    await library.keep(some_knowledge([before]))
    after = replace(
        before, lead="The frog is shy.", text="The frog sang.", span=Span(17, 31)
    )
    await library.keep(some_knowledge([after]), "r2")
    assert await library.passages.chunks([before.id]) == [after]


async def test_storing_the_same_again_changes_nothing_but_the_mark(
    library: Library,
) -> None:
    knowledge = some_knowledge(some_chunks(TEXTS))
    await library.keep(knowledge)
    before = await newest_seq(library)
    await library.keep(knowledge, "r2")
    assert await newest_seq(library) == before
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == [
        seen(ONE, "r2")
    ]


async def test_replace_completes_the_job(library: Library) -> None:
    await library.keep(some_knowledge(some_chunks(TEXTS)))
    assert [job.state for job in await library.queue.jobs(limit=9)] == [
        JobState.COMPLETE
    ]


async def test_a_lost_claim_stores_nothing(library: Library) -> None:
    claim = await a_claim(library.queue)
    library.clock.time += 61.0
    other = await library.queue.claim("another", lease=60.0)
    assert other is not None
    knowledge = some_knowledge(some_chunks(TEXTS))
    assert not await library.knowledge.replace(knowledge, seen(), claim)
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == []
    assert await library.passages.outlines() == []
    assert await newest_seq(library) == 0
    assert await library.knowledge.known_vectors(SPACE, [hash_of(TEXTS[0])]) == set()
    assert await library.knowledge.replace(knowledge, seen(), other)


async def test_an_earlier_claim_by_the_same_worker_is_lost_too(
    library: Library,
) -> None:
    claim = await a_claim(library.queue, worker="only one")
    library.clock.time += 61.0
    assert await library.queue.claim("only one", lease=60.0)
    knowledge = some_knowledge(some_chunks(TEXTS))
    assert not await library.knowledge.replace(knowledge, seen(), claim)
    assert not await library.knowledge.forget(ONE, claim)


async def test_a_claim_stores_once(library: Library) -> None:
    claim = await a_claim(library.queue)
    knowledge = some_knowledge(some_chunks(TEXTS))
    assert await library.knowledge.replace(knowledge, seen(), claim)
    assert not await library.knowledge.replace(knowledge, seen(ONE, "r2"), claim)
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == [seen()]


async def test_an_expired_lease_that_nobody_took_still_stores(
    library: Library,
) -> None:
    claim = await a_claim(library.queue)
    library.clock.time += 61.0
    knowledge = some_knowledge(some_chunks(TEXTS))
    assert await library.knowledge.replace(knowledge, seen(), claim)


async def test_forget_takes_a_document_away_and_completes_the_job(
    library: Library,
) -> None:
    chunks = some_chunks(TEXTS)
    await library.keep(some_knowledge(chunks))
    await library.keep_texts(TWO, ["Elsewhere."])
    await library.remove(ONE)
    assert await library.passages.chunks([chunk.id for chunk in chunks]) == []
    assert [one.id for one in await library.passages.outlines()] == [TWO]
    assert [
        one.id for one in await library.knowledge.document_versions(Pipeline.NAIVE)
    ] == [TWO]
    assert not await library.queue.jobs(limit=9, state=JobState.RUNNING)


async def test_forgetting_what_was_never_known_is_done_at_once(
    library: Library,
) -> None:
    claim = await a_claim(library.queue, kind=JobKind.FORGET)
    assert await library.knowledge.forget(ONE, claim)


async def test_a_document_stays_while_one_pipeline_knows_it(library: Library) -> None:
    for pipeline in Pipeline:
        chunks = some_chunks(TEXTS, pipeline=pipeline)
        await library.keep(some_knowledge(chunks, pipeline=pipeline))
    await library.remove(ONE, Pipeline.NAIVE)
    assert [one.id for one in await library.passages.outlines()] == [ONE]
    assert (await library.passages.counts(Pipeline.AGENTIC)).chunks == len(TEXTS)
    assert (await library.passages.counts(Pipeline.NAIVE)).chunks == 0
    await library.remove(ONE, Pipeline.AGENTIC)
    assert await library.passages.outlines() == []


async def test_vectors_are_known_by_text_and_space(library: Library) -> None:
    await library.keep_texts(ONE, TEXTS)
    asked = [hash_of(TEXTS[0]), hash_of("never said")]
    known = library.knowledge.known_vectors
    assert await known(SPACE, asked) == {hash_of(TEXTS[0])}
    assert await known("another", asked) == set()
    assert await known(SPACE, []) == set()


async def test_text_that_moves_to_another_document_keeps_its_vector(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.remove(ONE)
    texts = [hash_of(text) for text in TEXTS]
    assert await library.knowledge.known_vectors(SPACE, texts) == set(texts)
    moved = some_chunks(TEXTS, document=TWO)
    await library.keep(some_knowledge(moved, vectors={}))
    assert (await library.passages.counts(Pipeline.NAIVE)).embedded == len(TEXTS)


async def test_a_vector_that_nobody_uses_is_swept_in_the_end(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.keep_texts(TWO, TEXTS[:1])
    await library.remove(ONE)
    library.clock.time += A_DAY_AND_MORE
    await library.keep_texts(DocumentId("3.md"), ["Something else."])
    texts = [hash_of(text) for text in TEXTS]
    known = await library.knowledge.known_vectors(SPACE, texts)
    assert known == {hash_of(TEXTS[0])}
    assert (await library.passages.counts(Pipeline.NAIVE)).embedded == 2


async def test_a_vector_is_no_longer_promised_before_it_is_swept(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    await library.remove(ONE)
    library.clock.time += 24.5 * 3600
    texts = [hash_of(text) for text in TEXTS]
    assert await library.knowledge.known_vectors(SPACE, texts) == set()


async def test_a_chunk_without_a_vector_is_counted_as_not_embedded(
    library: Library,
) -> None:
    chunks = some_chunks(TEXTS)
    vectors = {chunks[0].text_hash: a_vector(TEXTS[0])}
    await library.keep(some_knowledge(chunks, vectors=vectors))
    counts = await library.passages.counts(Pipeline.NAIVE)
    assert (counts.chunks, counts.embedded) == (3, 1)


async def test_chunks_can_be_kept_without_any_embedder(library: Library) -> None:
    await library.keep(some_knowledge(some_chunks(TEXTS), space=""))
    counts = await library.passages.counts(Pipeline.NAIVE)
    assert (counts.chunks, counts.embedded) == (3, 0)
    await library.keep(some_knowledge(some_chunks(TEXTS)), "r2")
    assert (await library.passages.counts(Pipeline.NAIVE)).embedded == 3


async def test_touch_changes_revisions_of_known_documents_only(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    touched = [DocumentVersion(one, "r9", "content-r1", "recipe") for one in (ONE, TWO)]
    assert await library.knowledge.touch(Pipeline.NAIVE, touched) == 1
    assert await library.knowledge.document_versions(Pipeline.NAIVE) == touched[:1]


@pytest.mark.parametrize(
    "taken_for",
    [
        DocumentVersion(ONE, "r9", "what was", "recipe"),
        DocumentVersion(ONE, "r9", "content-r1", "what was"),
    ],
)
async def test_touch_leaves_what_is_known_otherwise_than_was_thought(
    library: Library, taken_for: DocumentVersion
) -> None:
    await library.keep_texts(ONE, TEXTS)
    claim = await a_claim(library.queue)
    assert await library.knowledge.touch(Pipeline.NAIVE, [taken_for], claim) == 0
    marks = await library.knowledge.document_versions(Pipeline.NAIVE)
    assert marks == [DocumentVersion(ONE, "r1", "content-r1", "recipe")]
    assert len(await library.queue.jobs(limit=9, state=JobState.RUNNING)) == 1


async def test_touch_completes_the_job_of_what_is_known_already(
    library: Library,
) -> None:
    await library.keep_texts(ONE, TEXTS)
    known = DocumentVersion(ONE, "r9", "content-r1", "recipe")
    claim = await a_claim(library.queue)
    assert await library.knowledge.touch(Pipeline.NAIVE, [known], claim) == 1
    assert await library.queue.jobs(limit=9, state=JobState.RUNNING) == []


async def test_outlines_hold_chapters_and_scenes_as_they_were(
    library: Library,
) -> None:
    scene = Scene(Span(0, 40), (Span(0, 10), Span(12, 40)))
    chapters = (
        Chapter("", Span(0, 40), (scene,), opening=True),
        Chapter("“Ça va”", Span(40, 50), (), volume=2, number=7),
    )
    document = Document(
        id=TWO,
        format=DocumentFormat.DOCX,
        type=DocumentType.CHARACTER,
        title="Élise\0🐸",
        text="x" * 50,
        lines=LineIndex.of("x"),
        chapters=chapters,
        order=2.5,
        words=12,
    )
    await library.keep(some_knowledge([], document=document))
    await library.keep(some_knowledge([], document=a_document(ONE)))
    first, second = await library.passages.outlines()
    assert first.id == ONE
    assert second == DocumentOutline(
        TWO, DocumentType.CHARACTER, "Élise\0🐸", 12, 2.5, chapters
    )


async def test_a_documents_text_comes_back_whole(library: Library) -> None:
    text = "“Où?”\n\n🐸 — ‘there’\n\0end"
    await library.keep(some_knowledge([], document=a_document(ONE, text)))
    kept = await library.passages.text(ONE)
    assert kept == DocumentText(text, LineIndex.of(text))


async def test_the_paragraph_numbers_of_a_docx_come_back(library: Library) -> None:
    lines = LineIndex(starts=(0, 5, 11), numbers=(1, 4, 9))
    document = replace(a_document(ONE, "One.\n\nTwo.\n\nThree."), lines=lines)
    await library.keep(some_knowledge([], document=document))
    assert (await library.passages.text(ONE)).lines == lines


async def test_the_text_of_an_unknown_document_is_not_found(library: Library) -> None:
    with pytest.raises(NotFound, match="nowhere") as caught:
        await library.passages.text(DocumentId("nowhere.md"))
    assert caught.value.hint


async def test_counts_tell_how_much_and_how_fresh(library: Library) -> None:
    await library.keep_texts(ONE, TEXTS)
    library.clock.time += 5.0
    await library.keep_texts(TWO, ["Two words."])
    counts = await library.passages.counts(Pipeline.NAIVE)
    words = sum(len(text.split()) for text in TEXTS) + 2
    assert counts == LibraryCounts(2, words, 4, {"test-space": 4}, library.clock.time)
    assert counts.embedded == 4


async def test_vectors_come_back_bit_by_bit(library: Library) -> None:
    await library.keep_texts(ONE, TEXTS[:1])
    (change,) = await library.feed.changes(Pipeline.NAIVE, SPACE, after=0, limit=9)
    assert change.vector is not None
    assert change.vector.dtype == np.float32
    assert change.vector.tobytes() == a_vector(TEXTS[0]).tobytes()
