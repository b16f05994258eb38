import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ExitCode, NotFound
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    DocumentFinished,
    DocumentsPending,
    IngestPlanned,
    JobKind,
    JobOrder,
    JobStage,
    JobState,
    StageStarted,
)
from lrwr.core.ports.stores import LibraryCounts
from lrwr.pipeline.report import IngestReport
from lrwr.pipeline.service import LEASE
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder
from tests.unit.source.word_files import paragraphs

if TYPE_CHECKING:
    pass

ONE = "# Chapter 1\n\nThe frog sat by the lamp.\n\n* * *\n\nFog came in."
TWO = "# Chapter 2\n\nMags opened the ledger."


@pytest.fixture
def book(desk: Desk) -> Desk:
    desk.write("01.md", ONE)
    desk.write("02.md", TWO)
    return desk


async def counts(desk: Desk) -> LibraryCounts:
    return await desk.library.passages.counts(Pipeline.NAIVE)


async def seen(desk: Desk) -> list[str]:
    return [
        s.id for s in await desk.library.knowledge.document_versions(Pipeline.NAIVE)
    ]


async def test_a_new_manuscript_is_read_whole(book: Desk) -> None:
    report = await book.ingest()
    assert report == IngestReport(
        found=2, processed=2, words=17, chunks=3, tokens=22, embedded=3
    )
    assert await counts(book) == LibraryCounts(
        2, 17, 3, {"words-32": 3}, book.library.clock.time
    )
    assert await book.told() == [
        "# Chapter 1\n\nThe frog sat by the lamp.",
        "Fog came in.",
        TWO,
    ]
    jobs = await book.library.queue.jobs(limit=9)
    assert {job.state for job in jobs} == {JobState.COMPLETE}


async def test_what_happens_can_be_watched(book: Desk) -> None:
    await book.ingest()
    assert book.events[0] == IngestPlanned(process=2, forget=0)
    document = DocumentId("01.md")
    stages = [
        event.stage
        for event in book.events
        if isinstance(event, StageStarted) and event.document == document
    ]
    assert stages == [JobStage.READ, JobStage.SPLIT, JobStage.EMBED, JobStage.STORE]
    assert sum(e.chunks for e in book.events if isinstance(e, ChunksEmbedded)) == 3
    assert any(
        isinstance(event, DocumentFinished) and event.document == document
        for event in book.events
    )


async def test_a_second_look_costs_nothing_and_writes_nothing(book: Desk) -> None:
    await book.ingest()
    before = await book.written()
    book.embedder = WordEmbedder()
    report = await book.ingest()
    assert report == IngestReport(found=2, unchanged=2)
    assert book.embedder.asked == []
    assert await book.written() == before
    assert len(await book.library.queue.jobs(limit=9)) == 2


async def test_an_edit_embeds_the_changed_passage_alone(book: Desk) -> None:
    await book.ingest()
    before = {change.chunk for change in await book.changes()}
    book.embedder = WordEmbedder()
    book.write("01.md", ONE.replace("Fog", "Mist"))
    report = await book.ingest()
    assert (report.processed, report.unchanged) == (1, 1)
    assert (report.embedded, report.reused) == (1, 1)
    assert book.embedder.asked == ["Mist came in."]
    after = {change.chunk for change in await book.changes() if change.document}
    assert len(after - before) == 1
    assert "Mist came in." in await book.told()
    assert "Fog came in." not in await book.told()


async def test_a_file_that_was_touched_but_says_the_same_is_unchanged(
    book: Desk,
) -> None:
    await book.ingest()
    before = await book.written()
    os.utime(book.folder / "01.md", ns=(5, 5))
    report = await book.ingest()
    assert report == IngestReport(found=2, unchanged=2)
    assert await book.written() == before
    changes = await book.service().scan()
    assert changes.unchanged == ("01.md", "02.md")


async def test_what_a_look_found_is_read_without_looking_again(book: Desk) -> None:
    service = book.service()
    changes = await service.scan()
    assert changes.changed == ("01.md", "02.md")
    book.write("03.md", "The lamp burned on.")
    assert (await service.process(book.events.append)).processed == 2
    report = await service.process(book.events.append)
    assert (report.found, report.processed, report.unchanged) == (3, 1, 2)


async def test_verify_reads_what_seems_unchanged(book: Desk) -> None:
    await book.ingest()
    path = book.folder / "02.md"
    status = path.stat()
    report = await book.ingest(verify=True)
    assert report == IngestReport(found=2, unchanged=2)
    path.write_text(TWO.replace("Mags", "Nell"), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    report = await book.ingest(verify=True)
    assert (report.processed, report.unchanged) == (1, 1)


async def test_a_deleted_file_is_forgotten(book: Desk) -> None:
    await book.ingest()
    (book.folder / "02.md").unlink()
    report = await book.ingest()
    assert (report.forgotten, report.unchanged, report.processed) == (1, 1, 0)
    assert await seen(book) == ["01.md"]
    assert (await counts(book)).chunks == 2


async def test_a_renamed_file_is_known_again_and_embedded_no_second_time(
    book: Desk,
) -> None:
    await book.ingest()
    book.embedder = WordEmbedder()
    (book.folder / "02.md").rename(book.folder / "03.md")
    report = await book.ingest()
    assert report.renamed == {DocumentId("03.md"): DocumentId("02.md")}
    assert (report.embedded, report.reused, report.forgotten) == (0, 1, 1)
    assert book.embedder.asked == []
    assert await seen(book) == ["01.md", "03.md"]
    assert (await counts(book)).embedded == 3


async def test_one_file_that_cannot_be_read_stops_no_other(book: Desk) -> None:
    book.write("03.docx", b"this is no zip file")
    report = await book.ingest()
    assert (report.processed, report.found) == (2, 3)
    (problem,) = report.problems
    assert problem.document == "03.docx"
    assert problem.exit_code == ExitCode.UNREADABLE
    assert problem.hint
    assert DocumentFinished(problem.document, problem.message) in book.events
    (job,) = await book.library.queue.jobs(limit=9, state=JobState.FAILED)
    assert (job.error, job.hint) == (problem.message, problem.hint)
    again = await book.ingest()
    assert again.problems == report.problems
    assert again.unchanged == 2


async def test_what_was_known_of_a_file_that_broke_is_kept(book: Desk) -> None:
    whole = paragraphs("The well is deep.")  # made again, it bears another time
    book.write("03.docx", whole)
    await book.ingest()
    before = await book.told()
    book.write("03.docx", b"this is no zip file")
    report = await book.ingest()
    assert len(report.problems) == 1
    assert await book.told() == before
    book.write("03.docx", whole)
    assert (await book.ingest()).unchanged == 3


async def test_what_is_odd_about_a_file_is_remarked(desk: Desk) -> None:
    desk.write("a.md", "")
    report = await desk.ingest()
    assert report.remarks == ["a.md: The file is empty."]
    assert report.processed == 1


async def test_another_chunk_size_reads_everything_again(book: Desk) -> None:
    book.write("03.md", "# Chapter 3\n\n" + "The tide came over the stones. " * 40)
    await book.ingest()
    report = await book.ingest(size=32)
    assert (report.processed, report.unchanged) == (3, 0)
    assert report.reused
    assert (await book.ingest(size=32)).unchanged == 3
    assert (await counts(book)).chunks == report.chunks


async def test_another_embedding_space_embeds_everything_again(book: Desk) -> None:
    await book.ingest()
    book.embedder = WordEmbedder("another")
    report = await book.ingest()
    assert (report.embedded, report.reused) == (3, 0)
    assert all(c.vector is not None for c in await book.changes() if c.document)


async def test_without_an_embedder_the_words_are_kept(book: Desk) -> None:
    book.embedder = None
    report = await book.ingest()
    assert report == IngestReport(found=2, processed=2, words=17, chunks=3)
    assert (await counts(book)).embedded == 0


@pytest.mark.parametrize("answers", [0, 1])
async def test_when_the_embedder_is_away_words_are_kept_and_the_next_run_embeds(
    book: Desk, answers: int
) -> None:
    book.embedder = WordEmbedder(patience=answers)
    report = await book.ingest()
    assert (report.processed, report.problems) == (2, [])
    (remark,) = report.remarks
    assert "Keyword search only" in remark
    assert "The model is away." in remark
    assert (await counts(book)).chunks == 3
    assert (await counts(book)).embedded < 3
    book.embedder = WordEmbedder()
    report = await book.ingest()
    assert report.remarks == []
    assert (await counts(book)).embedded == 3
    assert (await book.ingest()).unchanged == 2


async def test_an_edit_while_the_embedder_is_away_costs_no_vector(book: Desk) -> None:
    await book.ingest()
    book.embedder = WordEmbedder(patience=0)
    book.write("01.md", ONE.replace("Fog", "Mist"))
    report = await book.ingest()
    assert (report.chunks, report.embedded, report.reused) == (2, 0, 0)
    assert (await counts(book)).embedded == 2
    book.embedder = WordEmbedder()
    await book.ingest()
    assert book.embedder.asked == ["Mist came in."]


async def test_a_dry_run_tells_the_cost_and_writes_nothing(book: Desk) -> None:
    report = await book.ingest(dry_run=True)
    assert report == IngestReport(
        dry_run=True, found=2, processed=2, words=17, chunks=3, tokens=22, embedded=3
    )
    assert book.embedder is not None
    assert book.embedder.asked == []
    assert await book.changes() == []
    assert await seen(book) == []
    assert await book.library.queue.jobs(limit=9) == []


async def test_a_dry_run_over_a_known_library_leaves_it_alone(book: Desk) -> None:
    await book.ingest()
    before = await book.library.knowledge.document_versions(Pipeline.NAIVE)
    feed, jobs = await book.written(), await book.library.queue.jobs(limit=9)
    os.utime(book.folder / "01.md", ns=(5, 5))
    (book.folder / "02.md").rename(book.folder / "03.md")
    book.write("04.docx", b"broken")
    report = await book.ingest(dry_run=True)
    real = replace(await book.ingest(), dry_run=True)
    assert report == real
    assert (report.unchanged, report.forgotten, report.reused) == (1, 1, 1)
    assert len(report.problems) == 1
    assert before != await book.library.knowledge.document_versions(Pipeline.NAIVE)
    assert feed != await book.written()
    assert jobs != await book.library.queue.jobs(limit=9)


async def test_a_dry_run_does_not_even_note_a_new_revision(book: Desk) -> None:
    await book.ingest()
    os.utime(book.folder / "01.md", ns=(5, 5))
    before = await book.library.knowledge.document_versions(Pipeline.NAIVE)
    await book.ingest(dry_run=True)
    assert await book.library.knowledge.document_versions(Pipeline.NAIVE) == before


async def test_reading_one_file_forgets_no_other(book: Desk) -> None:
    await book.ingest()
    book.write("01.md", ONE + "\n\nThen rain.")
    report = await book.ingest("01.md")
    assert (report.found, report.processed, report.forgotten) == (1, 1, 0)
    assert await seen(book) == ["01.md", "02.md"]


async def test_a_folder_that_vanished_is_not_found_and_nothing_is_forgotten(
    desk: Desk,
) -> None:
    path = desk.write("part/01.md", ONE)
    await desk.ingest("part")
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(NotFound) as caught:
        await desk.ingest("part")
    assert caught.value.hint
    assert await seen(desk) == ["part/01.md"]


async def test_a_file_that_vanishes_after_the_look_is_forgotten(book: Desk) -> None:
    await book.ingest()
    book.write("01.md", ONE + "\n\nMore.")

    def vanish(event: object) -> None:
        if isinstance(event, IngestPlanned):
            (book.folder / "01.md").unlink()

    report = await book.service().process(vanish)
    assert report.problems == []
    assert await seen(book) == ["02.md"]


async def test_two_services_at_once_leave_the_library_of_one(
    book: Desk,
) -> None:
    for number in range(3, 20):
        book.write(f"{number:02}.md", f"# Chapter {number}\n\nThe lamp burned on.")
    one, two = book.service(worker="one"), book.service(worker="two")
    reports = await asyncio.gather(
        one.process(book.events.append), two.process(book.events.append)
    )
    assert await seen(book) == [f"{number:02}.md" for number in range(1, 20)]
    assert (await counts(book)).chunks == 20
    assert (await counts(book)).embedded == 20
    assert sum(report.processed for report in reports) >= 19
    assert (await book.ingest()).unchanged == 19


async def leave(desk: Desk, document: str) -> None:
    """Queue a document, take it up, and die at it."""
    order = JobOrder(JobKind.PROCESS, DocumentId(document), Pipeline.NAIVE)
    await desk.library.queue.enqueue([order])
    claim = await desk.library.queue.claim("dead", lease=LEASE)
    assert claim is not None


async def test_what_a_dead_worker_left_is_done_by_the_next_run(book: Desk) -> None:
    await leave(book, "01.md")
    book.library.clock.time += LEASE + 1
    report = await book.ingest()
    assert await seen(book) == ["01.md", "02.md"]
    assert report.problems == []
    states = {job.state for job in await book.library.queue.jobs(limit=9)}
    assert states == {JobState.COMPLETE}


async def test_what_another_run_is_at_is_waited_for(book: Desk) -> None:
    await leave(book, "01.md")
    began = book.library.clock.time
    report = await book.ingest()
    assert (report.processed, await seen(book)) == (2, ["01.md", "02.md"])
    assert began + LEASE < book.library.clock.time < began + LEASE + 5
    assert DocumentsPending(1) in book.events


async def test_what_waits_elsewhere_is_not_forgotten_by_a_run_over_another_folder(
    desk: Desk,
) -> None:
    desk.write("part/01.md", ONE)
    await desk.ingest("part")
    desk.write("notes/frog.md", "Green.")
    await leave(desk, "part/01.md")
    desk.library.clock.time += LEASE + 1
    report = await desk.ingest("notes")
    assert report.forgotten == 0
    assert await seen(desk) == ["notes/frog.md", "part/01.md"]
    desk.write("part/01.md", TWO)
    await desk.ingest("part")
    assert await desk.told() == ["Green.", TWO]
    assert await desk.library.queue.jobs(limit=9, state=JobState.RUNNING) == []
