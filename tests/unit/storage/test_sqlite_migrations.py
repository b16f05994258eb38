"""A library of the first schema, brought up to date with all that it holds."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.app.maintenance.backup import DATABASE, BackupManifest, pack_archive
from lrwr.app.maintenance.repair import repair_library
from lrwr.app.maintenance.restore import restore_library
from lrwr.core.adapters.storage.sqlite import database as migrator
from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION, SqliteDatabase
from lrwr.core.adapters.storage.sqlite.maintenance import inspect_database
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobStage, JobState
from lrwr.core.settings.library import Library as Place
from tests.fakes.libraries import Library, over
from tests.fakes.records import SPACE, Clock, some_chunks, some_knowledge

SHIPPED = Path(migrator.__file__).with_name("migrations")
NOW = 1_000_000.0

# One row a state, as the first schema had them; the ids leave a gap.
JOBS = f"""
insert into job (id, kind, document_id, pipeline, state, stage, worker, lease_until,
  attempts, error, hint, created_at, updated_at) values
  (3, 'process', '1.md', 'a', 'complete', null, 'w', null, 1, '', '', 1.5, 2.5),
  (5, 'forget', '2.md', 'a', 'failed', null, 'w', null, 3, 'No.', 'Try.', 1.0, 2.0),
  (8, 'process', '3.md', 'a', 'running', 'embedding', 'w', {NOW - 1}, 1, '', '', 1, 2),
  (9, 'process', '4.md', 'a', 'pending', null, null, null, 0, '', '', 1, 2);
"""

# Three passages of pipeline a, whose text is found by words and has a vector.
CHUNKS = f"""
insert into document (id, format, type, title, words, updated_at, warnings, chapters,
  paragraphs, text)
values ('1.md', 'md', 'scene', 'One', 9, 1.0, '[]', '[]', '',
  'The frog sat. It rained. The pony left.');
insert into processed (document_id, pipeline, revision, content, recipe)
values ('1.md', 'a', 'r1', 'c1', 'size-64');
insert into chunk (id, document_id, pipeline, ordinal, char_start, char_end,
  line_first, line_last, chapter, scene, kind, tokens, space, text_hash, text)
values
  ('k0', '1.md', 'a', 0, 0, 13, 1, 1, 0, 0, 'prose', 3, '{SPACE}', 'h0', 'The frog sat.'),
  ('k1', '1.md', 'a', 1, 14, 24, 1, 1, 0, 0, 'prose', 2, '{SPACE}', 'h1', 'It rained.'),
  ('k2', '1.md', 'a', 2, 25, 39, 1, 1, 0, 0, 'note', 3, '', 'h2', 'The pony left.');
insert into embedding (space, text_hash, vector) values
  ('{SPACE}', 'h0', zeroblob(32)), ('{SPACE}', 'h1', zeroblob(32));
"""

KEPT = {
    "library": "id, created, generation, pruned",
    "document": "*",
    "processed": "document_id, pipeline, revision, content",
    "embedding": "space, text_hash, vector",
    "change": "*",
    "job": "*",
}


@pytest.fixture
async def first(tmp_path: Path) -> Path:
    """A library as the first lrwr left it: work done, failed, cut short and waiting."""
    scripts = tmp_path / "first"
    scripts.mkdir()
    shutil.copy(SHIPPED / "001_initial.sql", scripts)
    path = tmp_path / ".lrwr" / "library.db"
    database = SqliteDatabase(path, migrations=scripts)
    await database.write(lambda connection: fill(connection))
    await database.aclose()
    assert rows(path, "pragma user_version") == [(1,)]
    return path


def fill(connection: sqlite3.Connection) -> None:
    for statement in (*CHUNKS.split(";\n"), JOBS):
        connection.execute(statement)


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def kept(path: Path) -> dict[str, list[tuple[object, ...]]]:
    tables = {
        name: rows(path, f"select {columns} from {name} order by 1")
        for name, columns in KEPT.items()
    }
    columns = "id, ordinal, char_start, char_end, kind, tokens, space, text_hash, text"
    return {**tables, "chunk": rows(path, f"select {columns} from chunk order by n")}


@pytest.fixture
async def library(first: Path) -> AsyncIterator[Library]:
    database = SqliteDatabase(first)
    yield over(database, Clock(NOW))
    await database.aclose()


async def test_every_row_is_kept_and_the_writer_is_told(first: Path) -> None:
    before, said = kept(first), list[str]()
    database = SqliteDatabase(first, say=said.append)
    await database.read(lambda connection: None)
    await database.aclose()
    assert rows(first, "pragma user_version") == [(SCHEMA_VERSION,)]
    assert kept(first) == before
    assert said == [f"The library was upgraded from schema 1 to {SCHEMA_VERSION}."]
    assert rows(first, "pragma integrity_check") == [("ok",)]
    assert rows(first, "pragma foreign_key_check") == []
    assert inspect_database(first, now=NOW).words_fit is True


async def test_it_has_the_same_schema_as_a_new_library(
    first: Path, tmp_path: Path
) -> None:
    shapes = []
    for path in (first, tmp_path / "new.db"):
        database = SqliteDatabase(path)
        await database.read(lambda connection: None)
        await database.aclose()
        sql = "select type, name, tbl_name, sql from sqlite_schema order by name"
        shapes.append(rows(path, sql))
    assert shapes[0] == shapes[1]


async def test_its_passages_are_found_as_before(library: Library) -> None:
    found = await library.words.search_words(
        ["frog"], pipeline=Pipeline.NAIVE, scope=SearchScope(), limit=9
    )
    (chunk,) = await library.passages.chunks([scored.chunk for scored in found])
    assert (chunk.text, chunk.lead, chunk.heading) == ("The frog sat.", "", "")
    feed = await library.feed.changes(Pipeline.NAIVE, SPACE, after=0, limit=9)
    assert [change.chunk for change in feed] == ["k0", "k1", "k2"]
    counts = await library.passages.counts(Pipeline.NAIVE)
    assert (counts.documents, counts.chunks, counts.embedded) == (1, 3, 2)


async def test_its_work_goes_on_where_it_stood(library: Library) -> None:
    jobs = {job.id: job for job in await library.queue.jobs(limit=9)}
    assert {id_: job.state for id_, job in jobs.items()} == {
        3: JobState.COMPLETE,
        5: JobState.FAILED,
        8: JobState.RUNNING,
        9: JobState.PENDING,
    }
    cut_short = await library.queue.claim("now", lease=10.0)
    assert cut_short is not None
    assert (cut_short.job, cut_short.order.document) == (8, "3.md")
    assert await library.queue.renew(cut_short, JobStage.ANALYSE, lease=10.0)
    waiting = await library.queue.claim("now", lease=10.0)
    assert waiting is not None
    assert waiting.job == 9


async def test_pipeline_b_reads_into_it_beside_pipeline_a(library: Library) -> None:
    two = DocumentId("5.md")
    told = ["Nell lit the lamp.", "The marsh lay still."]
    chunks = some_chunks(told, document=two, pipeline=Pipeline.AGENTIC)
    await finish_what_waits(library)
    await library.keep(some_knowledge(chunks, pipeline=Pipeline.AGENTIC))
    found = await library.words.search_words(
        ["lamp"], pipeline=Pipeline.AGENTIC, scope=SearchScope(), limit=9
    )
    assert [scored.chunk for scored in found] == [chunks[0].id]
    assert (await library.passages.counts(Pipeline.NAIVE)).chunks == 3


@pytest.mark.parametrize("harm", ["", "delete from chunk_fts_a_data"])
def test_repair_brings_it_up_to_date_and_keeps_every_row(
    first: Path, tmp_path: Path, harm: str
) -> None:
    before = kept(first)
    with closing(sqlite3.connect(first)) as connection:
        connection.executescript(harm)
    report = repair_library(Place(tmp_path, first.parent), now=NOW)
    assert report.moved is None
    assert (
        f"The library was upgraded from schema 1 to {SCHEMA_VERSION}." in report.steps
    )
    assert kept(first) == before
    assert rows(first, "pragma integrity_check") == [("ok",)]
    assert inspect_database(first, now=NOW).words_fit is True
    sql = "select rowid from chunk_fts_a where chunk_fts_a match 'frog'"
    assert rows(first, sql) == [(1,)]


async def finish_what_waits(library: Library) -> None:
    while claim := await library.queue.claim("now", lease=10.0):
        await library.queue.fail(claim, "Not now.", "")


async def test_a_backup_of_it_can_still_be_restored(
    first: Path, tmp_path: Path
) -> None:
    with (tmp_path / "old.zip").open("wb") as file:
        pack_archive(
            file, {DATABASE: first}, BackupManifest("0.1", 1, "2026-01-01", {})
        )
    place = Place(tmp_path / "again", tmp_path / "again" / ".lrwr")
    place.root.mkdir()
    restore_library(place, tmp_path / "old.zip", force=False, now=NOW)
    database = SqliteDatabase(place.database)
    await database.read(lambda connection: None)
    await database.aclose()
    assert kept(place.database) == kept(first)
    assert rows(place.database, "pragma user_version") == [(SCHEMA_VERSION,)]
