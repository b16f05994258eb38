"""Questions that a search asks the library use an index, whatever they leave open."""

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_store import SqliteStoryStore
from lrwr.core.model.chunks import ChunkId

CHUNKS = [ChunkId("c1"), ChunkId("c2")]
Ask = Callable[[SqliteStoryStore], Awaitable[object]]


async def plan_of(folder: Path, ask: Ask) -> list[str]:
    """Return SQLite's plan for the last statement that `ask` runs."""
    database = SqliteDatabase(folder / "lrwr.db")
    statements: list[str] = []

    def explain(connection: sqlite3.Connection) -> list[str]:
        sql = next(one for one in reversed(statements) if one.startswith("\nselect"))
        rows = connection.execute(f"explain query plan {sql}")
        return [str(row[3]) for row in rows]

    try:
        await database.read(lambda found: found.set_trace_callback(statements.append))
        await ask(SqliteStoryStore(database))
        return await database.read(explain)
    finally:
        await database.aclose()


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (
            lambda story: story.appearances(["Nell"]),
            "SEARCH a USING INDEX appearance_by_character (character=?)",
        ),
        (
            lambda story: story.labels(CHUNKS),
            "SEARCH c USING INDEX sqlite_autoindex_chunk_1 (id=?)",
        ),
        (
            lambda story: story.search_facts(["lamp"], limit=9),
            "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)",
        ),
    ],
)
async def test_a_bounded_question_uses_an_index(
    tmp_path: Path, ask: Ask, index: str
) -> None:
    plan = await plan_of(tmp_path, ask)
    assert index in plan
    tables = ("appearance", "a", "chunk", "c", "fact", "f", "quotation")
    scanned = [step for step in plan for name in tables if step == f"SCAN {name}"]
    assert scanned == []


async def test_facts_are_bounded_before_they_are_read(tmp_path: Path) -> None:
    plan = await plan_of(tmp_path, lambda story: story.search_facts(["lamp"], limit=9))
    ranked = next(n for n, step in enumerate(plan) if "fact_fts" in step)
    read = next(n for n, step in enumerate(plan) if step.startswith("SEARCH f "))
    assert ranked < plan.index("USE TEMP B-TREE FOR ORDER BY") < read
