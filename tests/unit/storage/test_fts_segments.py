"""A full-text index of many small changes is merged, and finds the same."""

from pathlib import Path

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.fts_index import (
    MAX_SEGMENTS,
    merge_fts_segments,
)

INDEX = "turn_fts"
SEGMENTS = f"select count(distinct segid) from {INDEX}_idx"
FOUND = f"select rowid from {INDEX} where {INDEX} match 'frog' order by rank, rowid"


async def test_an_index_of_many_segments_is_merged_into_one(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "lrwr.db")

    async def ask(sql: str) -> list[tuple[object, ...]]:
        return await database.read(
            lambda connection: connection.execute(sql).fetchall()
        )

    async def run(sql: str) -> None:
        await database.write(lambda connection: connection.execute(sql).close())

    try:
        await run(f"insert into {INDEX} ({INDEX}, rank) values ('automerge', 0)")
        for number in range(MAX_SEGMENTS + 1):
            await run(
                "insert into turn_fts (rowid, question, answer)"
                f" values ({number}, 'Where is the frog?', 'In well {number}.')"
            )
        before = await ask(FOUND)
        assert await ask(SEGMENTS) == [(MAX_SEGMENTS + 1,)]
        await merge_fts_segments(database)
        assert await ask(SEGMENTS) == [(1,)]
        assert await ask(FOUND) == before
    finally:
        await database.aclose()
