"""All pages of a large library's file are checked once an hour of use."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.checksums import PAGE_CHECK_SECONDS
from lrwr.core.adapters.storage.sqlite.verification import has_damaged_sample
from lrwr.core.model.errors import StoreProblem
from tests.fakes.damaged import find_root, zero_page
from tests.fakes.terminal import Terminal

NOW = 1_700_000_000.0
OUT_OF_SAMPLE = "chunk_fts_b_data"
"""A table whose rows belong to no document, thread or turn."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The file of a small library."""
    (tmp_path / "1.md").write_text("# One\n\nNell lit the lamp.\n", encoding="utf-8")
    assert Terminal(tmp_path, home=tmp_path / "home").run("ingest", ".").code == 0
    return tmp_path / ".lrwr" / "library.db"


def enlarge(path: Path) -> None:
    """Number the passages as in a large library."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update chunk set n = n + 5000")


def damage(path: Path) -> None:
    zero_page(path, find_root(path, OUT_OF_SAMPLE))


def is_noticed(path: Path, now: float) -> bool:
    try:
        return has_damaged_sample(path, now)
    except StoreProblem:
        return True


def test_a_small_library_is_checked_whole_each_time(database: Path) -> None:
    assert not is_noticed(database, NOW)
    damage(database)
    assert is_noticed(database, NOW + 1)


def test_a_large_library_is_checked_whole_if_that_was_not_done_for_an_hour(
    database: Path,
) -> None:
    enlarge(database)
    assert not is_noticed(database, NOW)
    damage(database)
    assert not is_noticed(database, NOW + PAGE_CHECK_SECONDS - 1)
    assert is_noticed(database, NOW + PAGE_CHECK_SECONDS)
    # Damage is no sound check: the next command notices it, too.
    assert is_noticed(database, NOW + PAGE_CHECK_SECONDS + 1)


def test_another_file_and_a_clock_set_back_are_checked_at_once(database: Path) -> None:
    enlarge(database)
    assert not is_noticed(database, NOW)
    damage(database)
    assert is_noticed(database, NOW - 60)
    copy = database.with_name("copy.db")
    shutil.copyfile(database, copy)
    copy.replace(database)
    assert is_noticed(database, NOW + 1)
