"""The stored index of the story bible: derived data that is built again if damaged."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteBiblePartStore,
    SqliteStoryStore,
)
from lrwr.core.model.facts import FactAbout
from tests.fakes.terminal import Terminal


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


async def test_facts_that_differ_in_their_places_only_are_counted_together(
    tmp_path: Path,
) -> None:
    text = "# One\n\nNell went to Thole. Nell went to Thole again.\n"
    for name in ("1.md", "2.md"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert Terminal(tmp_path, home=tmp_path / "home").run("ingest", ".").code == 0
    database = SqliteDatabase(tmp_path / ".lrwr" / "library.db")
    try:
        facts = await SqliteStoryStore(database).facts({FactAbout.WORLD})
        counted = await SqliteBiblePartStore(database).count_facts(FactAbout.WORLD)
    finally:
        await database.aclose()
    counts = Counter((f.fact.subject, f.fact.certainty, f.fact.details) for f in facts)
    assert {(c.subject, c.certainty, c.details): c.count for c in counted} == counts
    assert "Thole" in {fact.subject for fact in counted}
    assert 2 in counts.values()
