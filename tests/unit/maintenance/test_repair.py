import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.app.maintenance.repair import (
    recover_from_file,
    rename_database_aside,
    repair_library,
)
from lrwr.core.adapters.storage.sqlite.database import (
    SCHEMA_VERSION,
    SqliteDatabase,
    open_sqlite_library,
)
from lrwr.core.adapters.vectors.base import build_shard_name
from lrwr.core.adapters.vectors.edge import open_edge_index
from lrwr.core.adapters.vectors.maintenance import (
    ShardState,
    clear_shards,
    inspect_shard,
    list_shards,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.errors import NotFound, StoreProblem, UnreadableDocument
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.library import Library
from tests.fakes.damaged import (
    a_talkative_library,
    find_root,
    flip_bit,
    read_plainly,
    zero_page,
)
from tests.fakes.libraries import Library as Records
from tests.fakes.libraries import over
from tests.fakes.records import DIMENSIONS, ONE, SPACE, Clock

NOW = 1_000_000.0
NAME = build_shard_name(Pipeline.NAIVE, SPACE)


@pytest.fixture
async def records(tmp_path: Path) -> AsyncIterator[Records]:
    database = SqliteDatabase(tmp_path / ".lrwr" / "library.db")
    opened = over(database, Clock())
    await opened.keep_texts(ONE, [f"The frog {n} sat." for n in range(20)])
    yield opened
    await database.aclose()


@pytest.fixture
def library(records: Records, tmp_path: Path) -> Library:
    assert records
    return Library(tmp_path, tmp_path / ".lrwr")


async def make_shard(library: Library, records: Records, space: str = SPACE) -> None:
    index = await open_edge_index(
        library.index_dir,
        records.feed,
        pipeline=Pipeline.NAIVE,
        space=space,
        dimensions=DIMENSIONS,
    )
    assert index is not None
    await index.catch_up()
    await index.aclose()


def test_what_is_whole_stays_and_its_indexes_are_made_anew(library: Library) -> None:
    with closing(sqlite3.connect(library.database)) as connection:
        connection.execute("delete from chunk_fts_a_data where id > 10")
        connection.commit()
    report = repair_library(library, now=NOW)
    assert report.moved is None
    assert "database is intact" in report.steps[0]
    with closing(sqlite3.connect(library.database)) as connection:
        sql = "select count(*) from chunk_fts_a where chunk_fts_a match 'frog'"
        assert connection.execute(sql).fetchone() == (20,)


async def test_replies_that_were_paid_for_outlive_an_emptied_word_index(
    library: Library, records: Records
) -> None:
    usage = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
    await records.analysis.save_replies({"k": "[1]"}, usage)
    with closing(sqlite3.connect(library.database)) as connection:
        for index in ("chunk_fts_a", "chunk_fts_b", "fact_fts", "turn_fts"):
            connection.execute(f"delete from {index}_data")
        connection.commit()
    assert repair_library(library, now=NOW).moved is None
    assert await records.analysis.replies(["k"]) == {"k": "[1]"}
    found = await records.words.search_words(
        ["frog"], pipeline=Pipeline.NAIVE, scope=SearchScope(), limit=99
    )
    assert len(found) == 20


async def test_every_shard_is_thrown_away_and_the_search_makes_it_anew(
    library: Library, records: Records
) -> None:
    await make_shard(library, records)
    await make_shard(library, records, "former")
    assert len(list_shards(library.index_dir)) == 2
    report = repair_library(library, now=NOW)
    assert any("2 shards" in step for step in report.steps)
    assert list_shards(library.index_dir) == []
    await make_shard(library, records)
    looked = inspect_shard(library.index_dir, NAME, DIMENSIONS)
    assert looked.cursor is not None
    assert looked.cursor.points == 20


async def test_a_shard_that_another_process_holds_is_left_alone(
    library: Library, records: Records
) -> None:
    index = await open_edge_index(
        library.index_dir,
        records.feed,
        pipeline=Pipeline.NAIVE,
        space=SPACE,
        dimensions=DIMENSIONS,
    )
    assert index is not None
    await index.catch_up()
    held = inspect_shard(library.index_dir, NAME, DIMENSIONS)
    assert held.state is ShardState.HELD
    assert clear_shards(library.index_dir).in_use == (NAME,)
    assert await index.catch_up() == 0
    await index.aclose()
    assert clear_shards(library.index_dir).deleted == (NAME,)


async def test_a_look_at_a_shard_tells_missing_broken_and_opened_apart(
    library: Library, records: Records
) -> None:
    def state() -> ShardState:
        return inspect_shard(library.index_dir, NAME, DIMENSIONS).state

    assert state() is ShardState.MISSING
    await make_shard(library, records)
    assert state() is ShardState.OPENED
    for file in (library.index_dir / NAME).rglob("*"):
        if file.is_file():
            file.write_bytes(b"")
    assert state() is ShardState.BROKEN


def test_an_index_that_leads_elsewhere_is_not_followed(
    library: Library, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "a-precious").mkdir(parents=True)
    library.index_dir.symlink_to(elsewhere)
    with pytest.raises(StoreProblem, match="is a link"):
        repair_library(library, now=NOW)
    assert list_shards(library.index_dir) == []
    assert (elsewhere / "a-precious").is_dir()


def test_a_shard_that_leads_elsewhere_is_left_alone(
    library: Library, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    library.index_dir.mkdir()
    (library.index_dir / NAME).symlink_to(elsewhere)
    assert clear_shards(library.index_dir).deleted == ()
    assert elsewhere.is_dir()


def test_what_cannot_be_mended_is_moved_aside(
    tmp_path: Path,
) -> None:
    library = Library(tmp_path, tmp_path / ".lrwr")
    library.state_dir.mkdir()
    library.database.write_bytes(b"no library at all" * 300)
    report = repair_library(library, now=NOW)
    assert report.moved is not None
    assert report.moved.name.startswith("library.db.broken-")
    assert report.moved.read_bytes().startswith(b"no library")
    assert not library.database.exists()
    assert "was not changed" in " ".join(report.steps)
    assert "lrwr ingest" in report.remedy


@pytest.fixture
def talkative(tmp_path: Path) -> Library:
    library = Library(tmp_path, tmp_path / ".lrwr")
    a_talkative_library(library.database)
    return library


def test_repair_copies_the_threads_of_a_damaged_database(talkative: Library) -> None:
    original = read_plainly(talkative.database)
    zero_page(talkative.database, find_root(talkative.database, "quotation_by_speaker"))
    report = repair_library(talkative, now=NOW)
    assert report.moved is not None
    assert report.moved.exists()
    assert read_plainly(talkative.database) == original
    assert report.recovered["turn"].copied == len(original["turn"])
    assert "72 turns copied." in report.steps
    assert report.remedy == "Run `lrwr ingest` now."
    assert repair_library(talkative, now=NOW + 1).moved is None
    assert read_plainly(talkative.database) == original


def test_repair_says_how_many_rows_are_unreadable_and_where_to_get_them(
    talkative: Library,
) -> None:
    with closing(sqlite3.connect(talkative.database)) as connection:
        connection.execute("pragma ignore_check_constraints = on")
        connection.execute("update reply set finding = '{' where key < '2'")
        connection.commit()
    zero_page(talkative.database, find_root(talkative.database, "quotation_by_speaker"))
    report = repair_library(talkative, now=NOW)
    lost = report.recovered["reply"].unreadable
    assert lost > 0
    assert any(step.endswith(f"copied, {lost} unreadable.") for step in report.steps)
    assert "lrwr restore --latest" in report.remedy


def test_an_older_damaged_file_is_merged_and_stays(talkative: Library) -> None:
    original = read_plainly(talkative.database)
    damaged = rename_database_aside(talkative.database, "broken-1")
    zero_page(damaged, find_root(damaged, "quotation_by_speaker"))
    content = damaged.read_bytes()
    a_talkative_library(talkative.database, threads=1, turns=2)
    ours = read_plainly(talkative.database)
    recover_from_file(talkative, damaged, now=NOW)
    merged = read_plainly(talkative.database)
    assert merged["turn"].keys() == original["turn"].keys() | ours["turn"].keys()
    again = recover_from_file(talkative, damaged, now=NOW)
    assert read_plainly(talkative.database) == merged
    assert not any(counts.copied for counts in again.recovered.values())
    assert damaged.read_bytes() == content


def test_a_file_without_rows_of_lrwr_is_refused(talkative: Library) -> None:
    (talkative.root / "novel.txt").write_text("The lamp burned. " * 999)
    with pytest.raises(UnreadableDocument, match="no readable data"):
        recover_from_file(talkative, talkative.root / "novel.txt", now=NOW)
    with pytest.raises(NotFound, match="no file"):
        recover_from_file(talkative, talkative.root / "missing.db", now=NOW)


def test_a_library_that_is_in_use_is_not_replaced(talkative: Library) -> None:
    zero_page(talkative.database, find_root(talkative.database, "quotation_by_speaker"))
    with closing(sqlite3.connect(talkative.database)) as other:
        other.execute("begin immediate")
        with pytest.raises(StoreProblem, match="locked"):
            repair_library(talkative, now=NOW)
    assert repair_library(talkative, now=NOW).moved is not None


def test_a_flipped_version_number_does_not_stop_the_repair(talkative: Library) -> None:
    original = read_plainly(talkative.database)
    lowest_bit = (SCHEMA_VERSION & -SCHEMA_VERSION).bit_length() - 1
    flip_bit(talkative.database, 63, lowest_bit)
    assert repair_library(talkative, now=NOW).moved is not None
    assert read_plainly(talkative.database) == original


def test_a_schema_that_is_no_unicode_is_damage_and_is_repaired(
    talkative: Library,
) -> None:
    original = read_plainly(talkative.database)
    place = talkative.database.read_bytes().index(b"apart integer not null default")
    flip_bit(talkative.database, place + len("apart integer not null defaul"), 7)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        open_sqlite_library(talkative.database, patience=1.0, say=lambda _: None)
    assert repair_library(talkative, now=NOW).moved
    assert read_plainly(talkative.database)["turn"] == original["turn"]


def test_the_log_of_a_database_moves_with_it(tmp_path: Path) -> None:
    for name in ("library.db", "library.db-wal", "library.db-shm"):
        (tmp_path / name).write_text(name)
    moved = rename_database_aside(tmp_path / "library.db", "old")
    assert moved.read_text() == "library.db"
    assert (tmp_path / "library.db.old-wal").read_text() == "library.db-wal"
    assert (tmp_path / "library.db.old-shm").read_text() == "library.db-shm"


def test_a_damaged_memory_is_moved_aside(library: Library) -> None:
    library.memory.write_text("{")
    report = repair_library(library, now=NOW)
    assert "lrwr ingest FOLDER" in " ".join(report.steps)
    assert not library.memory.exists()
    library.database.unlink()
    library.memory.write_text("{")
    assert "lrwr ingest FOLDER" in repair_library(library, now=NOW + 1).remedy


def test_a_newer_library_is_left_alone(library: Library) -> None:
    with closing(sqlite3.connect(library.database)) as connection:
        connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreProblem, match="newer version of lrwr"):
        repair_library(library, now=NOW)
    assert library.database.exists()


def test_where_nothing_is_there_is_nothing_to_repair(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no library"):
        repair_library(Library(tmp_path, tmp_path / ".lrwr"), now=NOW)
