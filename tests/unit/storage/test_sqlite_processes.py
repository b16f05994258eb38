import sqlite3
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.document_rows import KEPT_CHANGES
from lrwr.core.adapters.storage.sqlite.job_queue import KEPT_JOBS
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobKind, JobOrder, JobState
from tests.fakes.libraries import sqlite_library
from tests.fakes.processes import workers
from tests.fakes.records import ONE, SPACE, TWO, a_claim, some_chunks
from tests.fakes.suite import examples
from tests.fakes.workers import FILE


async def followed(feed: SqliteChangeFeed) -> dict[ChunkId, tuple[DocumentId, int]]:
    """What an index knows that followed the feed from its beginning."""
    known: dict[ChunkId, tuple[DocumentId, int]] = {}
    seq = 0
    while page := await feed.changes(Pipeline.NAIVE, SPACE, after=seq, limit=50):
        for change in page:
            known.pop(change.chunk, None)
            if change.vector is not None:
                known[change.chunk] = (change.document, change.end)
        seq = page[-1].seq
    return known


def look(folder: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / FILE, isolation_level=None)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_several_processes_may_open_a_new_library_at_once(tmp_path: Path) -> None:
    with workers("open", tmp_path, 4) as started:
        assert [worker.hear() for worker in started] == ["ready"] * 4
        for worker in started:
            worker.go()
        epochs = {tuple(worker.rest()) for worker in started}
    assert len(epochs) == 1
    assert look(tmp_path, "select count(*) from library") == [(1,)]


async def test_four_processes_do_each_of_200_jobs_once(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as library:
        await library.queue.enqueue(
            [
                JobOrder(JobKind.FORGET, DocumentId(f"{n}.md"), Pipeline.NAIVE)
                for n in range(200)
            ]
        )
        with workers("claim", tmp_path, 4) as started:
            assert [worker.hear() for worker in started] == ["ready"] * 4
            for worker in started:
                worker.go()
            done = [job for worker in started for job in worker.rest()]
        complete = await library.queue.jobs(limit=999, state=JobState.COMPLETE)
    assert sorted(map(int, done)) == sorted(job.id for job in complete)
    assert len(done) == 200
    assert {job.attempts for job in complete} == {1}


async def test_a_writer_killed_at_any_moment_leaves_the_library_whole(
    tmp_path: Path,
) -> None:
    for turns in (3, 1, 9)[: examples(3)]:
        with workers("write", tmp_path, 2) as started:
            for _ in range(turns):
                assert all(worker.hear() for worker in started)
    assert look(tmp_path, "pragma integrity_check") == [("ok",)]
    assert look(tmp_path, "pragma foreign_key_check") == []
    check = "insert into chunk_fts_a (chunk_fts_a, rank) values ('integrity-check', 1)"
    assert look(tmp_path, check) == []
    assert not look(
        tmp_path,
        "select c.id from chunk c join document d on d.id = c.document_id"
        " where substr(d.text, c.char_start + 1, c.char_end - c.char_start) <> c.text",
    )
    assert not look(
        tmp_path,
        "select d.id from document d where length(d.text) <> "
        "(select sum(length(c.text) + 1) - 1 from chunk c where c.document_id = d.id)",
    )
    stored = look(tmp_path, "select id, document_id, char_end from chunk")
    async with sqlite_library(tmp_path) as library:
        known = await followed(library.feed)
    assert known == {chunk: (document, end) for chunk, document, end in stored}
    assert known


async def test_a_feed_that_has_grown_long_is_shortened_under_a_new_name(
    tmp_path: Path,
) -> None:
    async with sqlite_library(tmp_path) as library:
        name = await library.feed.epoch()
        for turn in range(KEPT_CHANGES // 1_000 + 5):
            texts = ["Always here.", *(f"{turn} {n}." for n in range(500))]
            await library.keep_texts(ONE, texts)
        assert await library.feed.epoch() != name
        known = await followed(library.feed)
        assert len(look(tmp_path, "select * from change")) < KEPT_CHANGES
        assert set(known) == {chunk.id for chunk in some_chunks(texts)}


async def test_old_jobs_are_forgotten_once_they_are_over(tmp_path: Path) -> None:
    async with sqlite_library(tmp_path) as library:
        await library.keep_texts(ONE, ["Done long ago."])
        claim = await a_claim(library.queue, TWO)
        many = [
            JobOrder(JobKind.PROCESS, DocumentId(f"{n}.md"), Pipeline.NAIVE)
            for n in range(KEPT_JOBS + 10)
        ]
        assert await library.queue.enqueue(many) == len(many)
        jobs = await library.queue.jobs(limit=9_999)
        assert [job.order for job in jobs] == [*reversed(many), claim.order]


def test_processes_that_send_at_once_note_every_request(tmp_path: Path) -> None:
    with workers("send", tmp_path, 2) as started:
        assert [worker.hear() for worker in started] == ["ready"] * 2
        for worker in started:
            worker.go()
        rows = [int(row) for worker in started for row in worker.rest()]
    assert sorted(rows) == list(range(1, 41))
    assert look(tmp_path, "select distinct outcome from sent") == [("answered",)]
