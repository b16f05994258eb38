import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from lrwr.app.maintenance.backup import backup_library
from lrwr.app.maintenance.restore import restore_library
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    advance_cursor,
    create_library_link,
    load_library_link,
    mark_in_sync,
    preserve_sync_mark,
    store_library_link,
)
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.library import Library
from tests.fakes.libraries import Library as Stores
from tests.fakes.libraries import over
from tests.fakes.records import ONE, TWO, Clock

HOME = create_library_link("https://one.example.org", "nell", "library-1", "The marsh")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "book" / ".lrwr" / "library.db"


@pytest.fixture
async def stores(file: Path) -> AsyncIterator[tuple[SqliteDatabase, Stores]]:
    database = SqliteDatabase(file)
    yield database, over(database, Clock())
    await database.aclose()


def bound(file: Path) -> LibraryLink:
    found = load_library_link(file)
    assert found is not None
    return found


async def test_a_library_is_bound_to_nothing_until_it_is(
    file: Path, stores: tuple[SqliteDatabase, Stores]
) -> None:
    database, library = stores
    assert load_library_link(file) is None
    await library.keep_texts(ONE, ["The frog sat."])
    assert load_library_link(file) is None
    await database.write(lambda connection: store_library_link(connection, HOME))
    assert bound(file) == HOME


async def test_what_is_read_here_sets_a_copy_apart_until_both_agree(
    file: Path, stores: tuple[SqliteDatabase, Stores]
) -> None:
    database, library = stores
    await database.write(lambda connection: store_library_link(connection, HOME))
    await library.keep_texts(ONE, ["The frog sat."])
    assert bound(file).apart
    await database.write(mark_in_sync)
    assert not bound(file).apart
    await library.remove(ONE)
    assert bound(file).apart


@pytest.mark.parametrize("apart", [False, True])
async def test_what_the_project_brings_sets_nothing_apart_and_mends_nothing(
    file: Path, stores: tuple[SqliteDatabase, Stores], apart: bool
) -> None:
    database, library = stores
    await library.keep_texts(ONE, ["The frog sat."])
    await database.write(lambda connection: store_library_link(connection, HOME))
    if apart:
        await library.keep_texts(TWO, ["It rained."])

    def bring(connection: sqlite3.Connection) -> None:
        with preserve_sync_mark(connection):
            connection.execute("update processed set content = 'other'")

    await database.write(bring)
    assert bound(file).apart is apart


async def test_a_cursor_never_goes_back(
    file: Path, stores: tuple[SqliteDatabase, Stores]
) -> None:
    database, _ = stores
    await database.write(lambda connection: store_library_link(connection, HOME))
    for version in (4, 9, 7):
        await database.write(partial(advance_cursor, cursor=version))
    assert bound(file).cursor == 9


async def test_a_restored_library_is_a_copy_of_its_own(
    file: Path, stores: tuple[SqliteDatabase, Stores], tmp_path: Path
) -> None:
    database, library = stores
    await library.keep_texts(ONE, ["The frog sat."])
    await database.write(lambda connection: store_library_link(connection, HOME))
    root = tmp_path / "elsewhere"
    root.mkdir()
    there = Library(root, root / ".lrwr")
    target = tmp_path / "lrwr-backup.zip"
    made = backup_library(Library(file.parent.parent, file.parent), target, now=1.0)
    restore_library(there, made.file, force=False, now=2.0)
    other = bound(there.database)
    assert (other.library, other.project) == (HOME.library, HOME.project)
    assert other.writer != HOME.writer


def test_an_older_library_is_bound_to_nothing(file: Path) -> None:
    assert load_library_link(file) is None
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as older:
        older.execute("create table library (id text)")
    assert load_library_link(file) is None
    file.write_bytes(b"no library at all, but long enough to be read as one" * 99)
    with pytest.raises(StoreProblem):
        load_library_link(file)
