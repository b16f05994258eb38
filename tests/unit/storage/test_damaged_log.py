"""A damaged `-wal` file is noticed before SQLite ignores the rest of it."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from lrwr.core.adapters.storage.sqlite.pages import has_damaged_log
from tests.fakes.damaged import flip_bit, truncate_bytes
from tests.fakes.suite import examples

FRAME = 24 + 4096
HEADER = 32


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of which three transactions are only in the log."""
    folder = tmp_path_factory.mktemp("crashed")
    original, copy = folder / "original.db", folder / "library.db"
    with closing(sqlite3.connect(original, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma wal_autocheckpoint = 0")
        connection.execute("create table word (n integer primary key, text text)")
        connection.execute("pragma wal_checkpoint(restart)")
        for n in range(3):
            connection.execute("insert into word values (?, ?)", (n, "lamp " * 1200))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{original}{suffix}", f"{copy}{suffix}")
    return copy


@pytest.fixture
def database(crashed: Path, tmp_path: Path) -> Path:
    return copy_to(crashed, tmp_path)


def copy_to(database: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{database}{suffix}", folder / f"{database.name}{suffix}")
    return folder / database.name


def log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def read_words(database: Path, scratch: Path) -> list[object]:
    """Return what SQLite reads from a copy."""
    with closing(sqlite3.connect(copy_to(database, scratch))) as connection:
        return connection.execute("select * from word").fetchall()


def places(log: Path) -> Iterator[int]:
    """Yield every byte of the headers, and some of each page."""
    dice, size = Random(3), log.stat().st_size
    yield from range(HEADER)
    for start in range(HEADER, size, FRAME):
        yield from range(start, start + 24)
        yield from (start + 24 + dice.randrange(4096) for _ in range(4))


def test_every_flipped_bit_that_loses_a_row_is_noticed(
    database: Path, tmp_path: Path
) -> None:
    log, dice = log_of(database), Random(5)
    whole = read_words(database, tmp_path / "scratch")
    assert len(whole) == 3
    tried = sorted(places(log), key=lambda _: dice.random())
    for at in tried[: examples(100)]:
        bit = dice.randrange(8)
        flip_bit(log, at, bit)
        changed = read_words(database, tmp_path / "scratch") != whole
        assert has_damaged_log(database) >= changed, (at, bit)
        flip_bit(log, at, bit)


def test_a_flipped_bit_in_the_last_entry_is_noticed(database: Path) -> None:
    log = log_of(database)
    flip_bit(log, log.stat().st_size - 9, 3)
    assert has_damaged_log(database)


def test_a_zeroed_entry_is_noticed(database: Path) -> None:
    log = log_of(database)
    content = log.read_bytes()
    log.write_bytes(content[:HEADER] + bytes(FRAME) + content[HEADER + FRAME :])
    assert has_damaged_log(database)


def test_a_log_that_a_crash_cut_off_is_not_damaged(database: Path) -> None:
    log, dice = log_of(database), Random(9)
    size = log.stat().st_size
    for length in sorted((dice.randrange(size) for _ in range(20)), reverse=True):
        truncate_bytes(log, length)
        assert not has_damaged_log(database), length


def test_old_entries_behind_a_log_that_began_again_are_no_damage(
    database: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("pragma wal_checkpoint(restart)")
        size = log_of(database).stat().st_size
        connection.execute("delete from word where n = 2")
        assert log_of(database).stat().st_size == size
        copy = copy_to(database, tmp_path / "copy")
    assert not has_damaged_log(copy)
    flip_bit(log_of(copy), size - 9, 3)  # in what SQLite does not read
    assert not has_damaged_log(copy)


def test_without_a_log_nothing_is_damaged(tmp_path: Path) -> None:
    assert not has_damaged_log(tmp_path / "library.db")
