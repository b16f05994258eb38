"""The stored index of the story bible: derived data that is built again if damaged."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_store import SqliteBiblePartStore


@pytest.mark.parametrize(
    "damage",
    [
        "update bible_index set body = replace(body, 'Nell', 'Nelm')",
        "update bible_index set key = 'other'",
        "update bible_index set crc = crc + 1",
        "delete from bible_index",
    ],
)
async def test_a_damaged_index_counts_as_missing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "library.db"
    database = SqliteDatabase(path)
    try:
        store = SqliteBiblePartStore(database)
        await store.save_index("key", '["Nell"]')
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(damage)
        assert await store.load_index("key") == ""
        await store.save_index("key", '["Nell"]')
        assert await store.load_index("key") == '["Nell"]'
    finally:
        await database.aclose()
