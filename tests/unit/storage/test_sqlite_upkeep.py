import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION
from lrwr.core.adapters.storage.sqlite.maintenance import (
    checkpoint_database,
    copy_database,
    inspect_change_feed,
    inspect_database,
    rebuild_database_indexes,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.jobs import JobKind, JobOrder
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.records import ONE, SPACE, TWO

WORDS = ("chunk_fts_a", "chunk_fts_b", "fact_fts", "turn_fts")
TEXTS = tuple(f"The frog {n} sat on the sluice gate." for n in range(40))


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    async with sqlite_library(tmp_path) as opened:
        await opened.keep_texts(ONE, TEXTS)
        yield opened


@pytest.fixture
def path(library: Library, tmp_path: Path) -> Path:
    assert library
    return tmp_path / "lrwr.db"


def spoil(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


def overwrite(path: Path) -> None:
    spoil(path, "pragma wal_checkpoint(truncate)")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def checked(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("pragma integrity_check").fetchall()
    return " ".join(row[0] for row in rows)


def complaints(path: Path) -> tuple[str, ...]:
    return inspect_database(path, now=0.0).damage


def words_fit(path: Path) -> bool | None:
    return inspect_database(path, now=0.0).words_fit


async def test_a_look_counts_and_changes_nothing(library: Library, path: Path) -> None:
    before = inspect_database(path, now=0.0)
    assert inspect_database(path, now=0.0) == before
    order = JobOrder(JobKind.PROCESS, TWO, Pipeline.NAIVE)
    await library.queue.enqueue([order])
    facts = inspect_database(path, now=library.clock())
    assert (facts.schema, facts.wanted, facts.damage) == (
        SCHEMA_VERSION,
        SCHEMA_VERSION,
        (),
    )
    assert facts.words_fit is True
    assert facts.counts is not None
    assert (facts.counts.documents, facts.counts.chunks) == (1, 40)
    assert (facts.counts.bare, facts.counts.waiting) == (0, 1)


async def test_jobs_of_the_dead_and_failures_that_stand_are_counted(
    library: Library, path: Path
) -> None:
    three = DocumentId("3.md")
    orders = [JobOrder(JobKind.PROCESS, d, Pipeline.NAIVE) for d in (TWO, three)]
    await library.queue.enqueue(orders)
    await library.queue.claim("gone", lease=10.0)
    library.clock.time += 11
    claim = await library.queue.claim("here", lease=10.0, documents=[three])
    assert claim is not None
    await library.queue.fail(claim, "No.", "")
    counts = inspect_database(path, now=library.clock()).counts
    assert counts is not None
    assert (counts.stuck, counts.running, counts.failed) == (1, 0, 1)
    await library.queue.enqueue(orders[1:])
    claim = await library.queue.claim("here", lease=10.0, documents=[three])
    assert claim is not None
    assert await library.knowledge.forget(three, claim)
    counts = inspect_database(path, now=library.clock()).counts
    assert counts is not None
    assert counts.failed == 0


async def test_the_feed_says_what_an_index_should_hold(
    library: Library, path: Path
) -> None:
    facts = inspect_change_feed(path, Pipeline.NAIVE, SPACE)
    assert facts.epoch == await library.feed.epoch()
    changes = await library.feed.changes(Pipeline.NAIVE, SPACE, after=0, limit=999)
    assert (facts.seq, facts.vectors) == (changes[-1].seq, 40)
    assert inspect_change_feed(path, Pipeline.NAIVE, "other").vectors == 0


@pytest.mark.parametrize(
    "harm",
    [
        "delete from chunk_fts_a_data where id > 10",
        "drop trigger chunk_fts_a_update; update chunk set text = 'toad' where n = 3",
        "insert into chunk_fts_a (rowid, text) values (999, 'nobody')",
    ],
)
def test_a_word_index_that_does_not_fit_is_noticed_and_mended(
    path: Path, harm: str
) -> None:
    spoil(path, harm)
    assert complaints(path) == ()
    assert words_fit(path) is False
    assert rebuild_database_indexes(path) == ()
    assert words_fit(path) is True


@pytest.mark.parametrize(
    "harm",
    [
        "".join(f"delete from {name}_data;" for name in WORDS),
        "drop table chunk_fts_a_data",
        "drop table chunk_fts_a_docsize",
        "delete from chunk_fts_a_config",
        "drop table chunk_fts_a",
    ],
)
async def test_a_word_index_that_cannot_even_be_opened_is_made_anew(
    library: Library, path: Path, harm: str
) -> None:
    spoil(path, harm)
    assert words_fit(path) is False
    assert rebuild_database_indexes(path) == ()
    assert words_fit(path) is True
    assert checked(path) == "ok"
    await library.keep_texts(TWO, ["A newt climbed the gate."])
    found = await library.words.search_words(
        ["gate"], pipeline=Pipeline.NAIVE, scope=SearchScope(), limit=99
    )
    assert len(found) == 41


def test_damaged_pages_of_a_word_index_cost_nothing_else(path: Path) -> None:
    root = "select rootpage from sqlite_schema where name = 'chunk_fts_a_data'"
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute(root).fetchone()
        (size,) = connection.execute("pragma page_size").fetchone()
        before = connection.execute("select * from chunk").fetchall()
    spoil(path, "pragma wal_checkpoint(truncate)")
    content = bytearray(path.read_bytes())
    path = path.with_name("closed.db")
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)
    with pytest.raises(StoreProblem, match="damaged"):
        inspect_database(path, now=0.0)
    assert rebuild_database_indexes(path) == ()
    assert checked(path) == "ok"
    assert words_fit(path) is True
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select * from chunk").fetchall() == before


def test_a_lost_entry_of_an_index_is_mended(path: Path) -> None:
    spoil(
        path,
        """
        pragma writable_schema = on;
        update sqlite_schema set sql = sql || ' where ordinal < 3'
          where name = 'chunk_by_text';
        """,
    )
    spoil(path, "reindex chunk_by_text")
    spoil(
        path,
        """
        pragma writable_schema = on;
        update sqlite_schema set sql = replace(sql, ' where ordinal < 3', '')
          where name = 'chunk_by_text';
        """,
    )
    assert "chunk_by_text" in checked(path)
    assert rebuild_database_indexes(path) == ()
    assert checked(path) == "ok"


def test_a_file_that_cannot_be_mended_says_why(path: Path) -> None:
    overwrite(path)
    assert rebuild_database_indexes(path) != ()


def test_a_file_that_is_no_library_cannot_be_mended(tmp_path: Path) -> None:
    path = tmp_path / "lrwr.db"
    path.write_text("Chapter One. " * 400)
    assert rebuild_database_indexes(path) != ()
    with pytest.raises(StoreProblem, match="not an lrwr library") as caught:
        inspect_database(path, now=0.0)
    assert "lrwr repair" in caught.value.hint


def test_a_newer_library_is_looked_at_and_never_mended(path: Path) -> None:
    spoil(path, f"pragma user_version = {SCHEMA_VERSION + 1}")
    facts = inspect_database(path, now=0.0)
    assert (facts.schema, facts.counts, facts.words_fit) == (
        SCHEMA_VERSION + 1,
        None,
        None,
    )
    with pytest.raises(StoreProblem, match="newer"):
        rebuild_database_indexes(path)


async def test_a_copy_is_whole_while_the_library_is_in_use(
    library: Library, path: Path, tmp_path: Path
) -> None:
    copy_database(path, tmp_path / "copy.db")
    assert inspect_database(tmp_path / "copy.db", now=0.0) == inspect_database(
        path, now=0.0
    )
    assert not (tmp_path / "copy.db-wal").exists()
    await library.keep_texts(TWO, ["The library goes on."])


def test_a_file_in_use_is_not_closed_for_all(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin")
        other.execute("select count(*) from chunk").fetchone()
        with pytest.raises(StoreProblem, match="locked"):
            checkpoint_database(path)


def test_closing_for_all_leaves_one_file(path: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copy" / "lrwr.db"
    copied.parent.mkdir()
    copy_database(path, copied)
    with closing(sqlite3.connect(copied)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("delete from change")
        connection.commit()
        for name in ("lrwr.db-wal", "lrwr.db"):
            kept = copied.with_name(name).read_bytes()
            (tmp_path / "copy" / f"crashed.{name}").write_bytes(kept)
    crashed = tmp_path / "copy" / "crashed.lrwr.db"
    checkpoint_database(crashed)
    assert not crashed.with_name("crashed.lrwr.db-wal").exists()
    assert complaints(crashed) == ()
