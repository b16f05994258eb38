"""Newer and older libraries, and places where nothing can be written."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite import database as migrator
from lrwr.core.adapters.storage.sqlite.database import SCHEMA_VERSION, SqliteDatabase
from lrwr.core.model.errors import StoreProblem
from tests.fakes import restricted_process
from tests.fakes.processes import ROOT

SHIPPED = Path(migrator.__file__).with_name("migrations")

READING = """
import asyncio, sys
from pathlib import Path
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.errors import StoreProblem

async def main():
    database = SqliteDatabase(Path(sys.argv[1]), patience=0.05)
    sql = "select count(*) from document"
    count = await database.read(lambda c: c.execute(sql).fetchone()[0])
    try:
        await database.write(lambda c: c.execute("delete from document"))
    except StoreProblem as error:
        print(count, error)
    await database.aclose()

asyncio.run(main())
"""


def write_documents(connection: sqlite3.Connection) -> None:
    connection.executemany(
        "insert into document (id, format, type, title, words, updated_at, warnings,"
        " chapters, paragraphs, text)"
        " values (?, 'md', 'scene', '', 0, 0, '[]', '[]', '', '')",
        [("one.md",), ("two.md",)],
    )


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    made = tmp_path / "state" / "library.db"
    database = SqliteDatabase(made)
    await database.write(write_documents)
    await database.aclose()
    return made


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a later lrwr, which adds a table."""
    folder = tmp_path / "migrations"
    shutil.copytree(SHIPPED, folder, ignore=shutil.ignore_patterns("*.py*", "__*"))
    (folder / f"{SCHEMA_VERSION + 1:03}_later.sql").write_text(
        "create table later (id text primary key) strict;\n"
        "insert into later values ('kept');\n"
    )
    return folder


def read_where_nothing_can_be_written(path: Path) -> str:
    done = subprocess.run(
        [
            *(sys.executable, restricted_process.__file__, "no-rights"),
            *(sys.executable, "-c", READING, str(path)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def forbid_writing(path: Path) -> None:
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)


async def test_an_older_library_is_brought_up_to_date_and_says_so(
    path: Path, later: Path
) -> None:
    said: list[str] = []
    newer = SqliteDatabase(path, say=said.append, migrations=later)
    sql = "select id, (select count(*) from document) from later"
    assert await newer.read(lambda c: c.execute(sql).fetchone()) == ("kept", 2)
    await newer.aclose()
    assert said == [
        f"The library was upgraded from schema {SCHEMA_VERSION} to {SCHEMA_VERSION + 1}."
    ]
    again = SqliteDatabase(path, say=said.append, migrations=later)
    await again.read(lambda c: c.execute(sql).fetchone())
    await again.aclose()
    assert len(said) == 1


async def test_a_new_library_is_not_called_an_old_one(tmp_path: Path) -> None:
    said: list[str] = []
    database = SqliteDatabase(tmp_path / "new.db", say=said.append)
    await database.read(lambda c: None)
    await database.aclose()
    assert said == []


async def test_a_migration_that_fails_leaves_the_library_as_it_was(
    path: Path, later: Path
) -> None:
    broken = later / f"{SCHEMA_VERSION + 2:03}_broken.sql"
    broken.write_text("create table fine (id text);\ncreate table document (id text);")
    newer = SqliteDatabase(path, migrations=later)
    with pytest.raises(StoreProblem):
        await newer.read(lambda c: None)
    await newer.aclose()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
        names = connection.execute("select name from sqlite_schema").fetchall()
    assert ("later",) not in names
    assert ("fine",) not in names


def test_what_may_only_be_read_is_read_and_refuses_to_be_written(path: Path) -> None:
    forbid_writing(path)
    said = read_where_nothing_can_be_written(path)
    assert said.startswith("2 ")
    assert "is not writable" in said
    assert [file.name for file in path.parent.iterdir()] == ["library.db"]


def test_what_a_crash_left_in_the_log_is_read_too(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as crashing:
        crashing.execute("delete from document where id = 'one.md'")
        for file in path.parent.iterdir():
            shutil.copy(file, file.with_name(f"{file.name}.kept"))
    for name in ("library.db", "library.db-wal"):
        (path.parent / f"{name}.kept").replace(path.parent / name)
    for left in path.parent.glob("*.kept"):
        left.unlink()
    assert (path.parent / "library.db-wal").stat().st_size
    forbid_writing(path)
    assert read_where_nothing_can_be_written(path).startswith("1 ")


async def test_an_older_library_that_may_only_be_read_says_what_it_needs(
    path: Path, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "lrwr.core.adapters.storage.sqlite.database"
    monkeypatch.setattr(f"{module}.sqlite3.connect", read_only(sqlite3.connect))
    older = SqliteDatabase(path, migrations=later)
    with pytest.raises(StoreProblem, match="older version of lrwr") as caught:
        await older.read(lambda c: None)
    assert "writable" in caught.value.hint
    await older.aclose()


def read_only(
    connect: Callable[..., sqlite3.Connection],
) -> Callable[..., sqlite3.Connection]:
    """Open every file as one that may not be written."""

    def opened(path: Path | str, **options: object) -> sqlite3.Connection:
        connection = connect(path, **options)
        connection.execute("pragma query_only = 1")
        return connection

    return opened
