import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite import database as module
from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION, SqliteDatabase
from lrwr.core.model.errors import StoreProblem

MIGRATIONS = Path(module.__file__).with_name("migrations")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "state" / "lrwr.db", patience=0.05)
    yield opened
    await opened.aclose()


def ask(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        found = connection.execute(sql).fetchall()
        connection.commit()
    finally:
        connection.close()
    return found


def write_document(connection: sqlite3.Connection, name: str) -> None:
    connection.execute(
        "insert into document (id, format, type, title, words, updated_at, warnings,"
        " chapters, paragraphs, text)"
        " values (?, 'md', 'scene', '', 0, 0, '[]', '[]', '', '')",
        (name,),
    )


def count_documents(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("select count(*) from document").fetchone()[0]
    return found


async def schema_of(database: SqliteDatabase) -> list[tuple[object, ...]]:
    sql = "select type, name, sql from sqlite_schema order by name"
    return await database.read(lambda connection: connection.execute(sql).fetchall())


def test_the_migrations_are_numbered_without_a_gap_up_to_the_schema() -> None:
    numbers = sorted(int(path.name[:3]) for path in MIGRATIONS.glob("*.sql"))
    assert numbers == list(range(1, SCHEMA_VERSION + 1))


async def test_a_new_library_gets_the_whole_schema(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    names = {row[1] for row in await schema_of(database)}
    assert {"library", "document", "chunk", "change", "job", "chunk_fts_a"} <= names
    path = tmp_path / "state" / "lrwr.db"
    assert ask(path, "pragma user_version") == [(SCHEMA_VERSION,)]
    assert ask(path, "pragma journal_mode") == [("wal",)]
    assert ask(path, "select count(*) from library") == [(1,)]


async def test_opening_again_changes_nothing(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    before = await schema_of(database)
    again = SqliteDatabase(tmp_path / "state" / "lrwr.db")
    assert await schema_of(again) == before
    await again.aclose()
    assert ask(tmp_path / "state" / "lrwr.db", "select count(*) from library") == [(1,)]


async def test_a_newer_library_is_refused(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await schema_of(database)
    path = tmp_path / "state" / "lrwr.db"
    ask(path, f"pragma user_version = {SCHEMA_VERSION + 1}")
    newer = SqliteDatabase(path)
    with pytest.raises(StoreProblem, match="newer version of lrwr") as caught:
        await schema_of(newer)
    assert "Upgrade" in caught.value.hint
    await newer.aclose()


async def test_what_fails_half_way_is_not_kept(database: SqliteDatabase) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        write_document(connection, "one.md")
        raise KeyError("half way")

    with pytest.raises(KeyError):
        await database.write(fail)
    assert await database.read(count_documents) == 0
    await database.write(lambda connection: write_document(connection, "two.md"))
    assert await database.read(count_documents) == 1


async def test_a_cursor_does_not_leave_the_thread_of_the_library(
    database: SqliteDatabase,
) -> None:
    with pytest.raises(TypeError, match="cursor"):
        await database.write(lambda connection: connection.execute("select 1"))
    assert await database.read(count_documents) == 0


async def test_the_event_loop_is_free_while_the_library_works(
    database: SqliteDatabase,
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait(connection: sqlite3.Connection) -> int:
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        return count_documents(connection)

    reading = asyncio.create_task(database.read(wait))
    await started.wait()
    go_on.set()
    assert await reading == 0


async def test_closing_twice_is_safe(tmp_path: Path) -> None:
    never_used = SqliteDatabase(tmp_path / "lrwr.db")
    await never_used.aclose()
    await never_used.aclose()
    assert not (tmp_path / "lrwr.db").exists()


async def test_a_library_that_another_holds_is_said_to_be_busy(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await schema_of(database)
    other = sqlite3.connect(tmp_path / "state" / "lrwr.db", isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreProblem, match="locked") as caught:
        await database.write(count_documents)
    assert caught.value.hint
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert await database.read(count_documents) == 0
    other.close()


async def test_a_full_disk_is_told_and_nothing_is_lost(
    database: SqliteDatabase,
) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("pragma max_page_count = 60")
        for n in range(2000):
            write_document(connection, f"{n}.md" * 50)

    with pytest.raises(StoreProblem, match="disk is full") as caught:
        await database.write(fill)
    assert "space" in caught.value.hint
    assert await database.read(count_documents) == 0


async def test_a_library_that_may_only_be_read_says_so(
    database: SqliteDatabase,
) -> None:
    def write_anyway(connection: sqlite3.Connection) -> None:
        write_document(connection, "one.md")

    await database.read(
        lambda connection: connection.execute("pragma query_only = 1").fetchall()
    )
    with pytest.raises(StoreProblem, match="is not writable"):
        await database.write(write_anyway)


async def test_another_kind_of_file_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "lrwr.db"
    path.write_text("Chapter One. The frog was shy." * 100)
    database = SqliteDatabase(path)
    with pytest.raises(StoreProblem, match="not an lrwr library"):
        await schema_of(database)
    await database.aclose()
    assert path.read_text().startswith("Chapter One")


async def test_a_damaged_library_says_so(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    for n in range(99):
        await database.write(lambda c, n=n: write_document(c, f"{n}.md" * 99))  # type: ignore[misc]
    await database.aclose()
    path = tmp_path / "state" / "lrwr.db"
    pages = path.read_bytes()
    path.write_bytes(pages[:4096] + b"\xff" * (len(pages) - 4096))
    damaged = SqliteDatabase(path)
    with pytest.raises(StoreProblem, match="damaged") as caught:
        await damaged.read(count_documents)
    assert "lrwr ingest" in caught.value.hint
    await damaged.aclose()


async def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    database = SqliteDatabase(tmp_path / "file" / "lrwr.db")
    with pytest.raises(StoreProblem, match="cannot be used"):
        await schema_of(database)
    await database.aclose()


async def test_a_folder_in_the_librarys_place_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "lrwr.db").mkdir()
    database = SqliteDatabase(tmp_path / "lrwr.db")
    with pytest.raises(StoreProblem, match="cannot be opened"):
        await schema_of(database)
    await database.aclose()


async def test_a_name_that_is_not_unicode_is_told(database: SqliteDatabase) -> None:
    with pytest.raises(StoreProblem, match="invalid Unicode"):
        await database.write(lambda connection: write_document(connection, "\udce9.md"))


async def test_a_cursor_never_leaves_the_thread_and_nothing_is_kept(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await database.write(lambda connection: write_document(connection, "1.md"))
    forget = "delete from document"
    with pytest.raises(TypeError, match="cursor"):
        await database.write(lambda connection: connection.execute(forget))
    rows = ask(tmp_path / "state" / "lrwr.db", "select id from document")
    assert rows == [("1.md",)]


def decode_badly(connection: sqlite3.Connection) -> str:
    names = {"a.md": "first"}
    return names[connection.execute("select id from document").fetchone()[0]]


async def test_an_error_over_a_sound_library_is_no_damage(
    database: SqliteDatabase,
) -> None:
    await database.write(lambda connection: write_document(connection, "b.md"))
    with pytest.raises(KeyError):
        await database.read(decode_badly)


async def test_an_error_over_a_damaged_row_is_a_damaged_entry(
    database: SqliteDatabase,
) -> None:
    def damage(connection: sqlite3.Connection) -> None:
        write_document(connection, "b.md")
        connection.execute("insert into document_check values ('b.md', 1, 1)")

    await database.write(damage)
    with pytest.raises(StoreProblem, match="damaged entry"):
        await database.read(decode_badly)
