"""Damage that SQLite itself finds: named by every command, and healed by one."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.read_books import ReadBooks, copy_sample
from tests.fakes.terminal import Terminal

PAGE = 4096


@pytest.fixture
def book(books: ReadBooks, tmp_path: Path) -> Terminal:
    """A copy of the ingested sample, to damage."""
    return books.copy("marsh", copy_sample, tmp_path)


def query(book: Terminal, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(book.folder / ".lrwr" / "library.db")) as connection:
        return connection.execute(sql).fetchall()


def settle(book: Terminal) -> Path:
    """Merge the log into the database, and return the file."""
    query(book, "pragma wal_checkpoint(truncate)")
    return book.folder / ".lrwr" / "library.db"


def drop_index_row(book: Terminal) -> None:
    """Leave a row out of an index, as a changed bit in its key does."""
    database = settle(book)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        (sql,) = connection.execute(
            "select sql from sqlite_schema where name = 'fact_by_document'"
        ).fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        change = "update sqlite_schema set sql = ? where name = 'fact_by_document'"
        connection.execute(change, (f"{sql} where n > 5",))
        connection.execute("PRAGMA writable_schema = RESET")
        connection.execute("REINDEX fact_by_document")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change, (sql,))


def move_appearance(book: Terminal) -> None:
    """Give an appearance the id of a passage that does not exist."""
    with closing(sqlite3.connect(settle(book))) as connection, connection:
        connection.execute(
            "update appearance set chunk_id = 'nowhere' where chunk_id ="
            " (select min(chunk_id) from appearance)"
        )


def zero_root(book: Terminal, name: str) -> None:
    database = settle(book)
    ((root,),) = query(
        book, f"select rootpage from sqlite_schema where name = '{name}'"
    )
    assert isinstance(root, int)
    with database.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(bytes(PAGE))


@pytest.mark.parametrize("damage", [drop_index_row, move_appearance])
def test_one_ingest_with_verify_leads_to_a_healthy_library(
    book: Terminal, damage: Callable[[Terminal], None]
) -> None:
    facts = book.run("characters", "--json").json
    damage(book)
    found = book.run("doctor", "--verify")
    assert found.code == 1
    assert "lrwr ingest --verify" in found.out
    assert "lrwr repair" not in found.out
    verified = book.run("ingest", "--verify")
    assert verified.code == 0
    assert "damaged" in verified.err or "was deleted" in verified.err
    assert "broken" not in book.run("doctor", "--verify").out
    assert query(book, "pragma integrity_check") == [("ok",)]
    assert book.run("characters", "--json").json == facts


@pytest.mark.parametrize("name", ["fact", "turn", "thread", "sqlite_autoindex_turn_2"])
def test_a_damaged_page_is_named_by_every_ingest_and_status(
    book: Terminal, name: str
) -> None:
    book.run("ask", "Who lights the lamps?")
    zero_root(book, name)
    for words in ("status", "ingest", "ingest --verify", "status"):
        ran = book.run(*words.split())
        assert ran.code == 5, words
        assert "library.db is damaged" in ran.err
        assert "`lrwr repair`" in ran.err
    assert book.run("repair").code == 0
    assert book.run("ingest").code == 0
    assert "broken" not in book.run("doctor", "--verify").out


def test_doctor_claims_no_more_than_its_quick_test_shows(book: Terminal) -> None:
    said = book.run("doctor").out
    assert "A quick test of the file found no fault" in said
    assert "intact and has" not in said


def test_a_damaged_answer_is_named_first_and_remembered(book: Terminal) -> None:
    book.run("ask", "Who lights the lamps?")
    book.run("ask", "What does the Reeve offer?")
    with closing(sqlite3.connect(settle(book))) as connection, connection:
        connection.execute(
            "update turn set answer = answer || 'x' where question like '%Reeve%'"
        )
    assert "What does the Reeve offer? (damaged)" in book.run("threads").out
    shown = book.run("threads", "show", "1").out.splitlines()
    remark = next(n for n, line in enumerate(shown) if "was damaged on disk" in line)
    first = next(n for n, line in enumerate(shown) if "[1]" in line)
    assert remark < first
    assert "Could not check" not in "".join(shown)
    for words in ("status", "ingest"):
        ran = book.run(*words.split())
        assert "lrwr ingest --verify" in ran.out + ran.err
    assert "met damaged data" in book.run("doctor").out
