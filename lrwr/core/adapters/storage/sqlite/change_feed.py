"""The change feed: what every index follows, in one order."""

import sqlite3
from typing import TYPE_CHECKING

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.chunks import ChunkId, Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT_CHANGES = 20_000
"""The feed is shortened once it has grown by this much, and by four a chunk."""

_CHANGES = """
select f.seq, f.chunk_id, c.document_id, c.char_end, c.kind, e.vector
from change f
left join chunk c on c.id = f.chunk_id
left join embedding e on e.space = c.space and e.text_hash = c.text_hash
  and e.space = :space
where f.seq > :after and f.pipeline = :pipeline
order by f.seq
limit :limit
"""

_OUTDATED = """
delete from change where seq not in (
  select max(f.seq) from change f join chunk c on c.id = f.chunk_id group by f.chunk_id
)
"""

_GROWN = """
select max(change.seq) - (select pruned from library) from change
"""


class SqliteChangeFeed:
    """The one ordered list of changes that every index follows.

    Each change comes with the chunk as it is now.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def changes(
        self, pipeline: Pipeline, space: str, *, after: int, limit: int
    ) -> list[ChunkChange]:
        """Return at most `limit` changes after `after`, oldest first.

        Read in one snapshot: a chunk's vector is that of the same moment.
        """
        parameters = {
            "pipeline": pipeline.value,
            "space": space,
            "after": after,
            "limit": limit,
        }
        return await self._database.read(
            lambda connection: _read(connection.execute(_CHANGES, parameters))
        )

    async def epoch(self) -> str:
        """Name this feed: another library, or a shortened feed, has another name.

        When the name differs, an index must start anew.
        """
        sql = "select id || '.' || generation from library"
        return await self._database.read(
            lambda connection: str(connection.execute(sql).fetchone()[0])
        )

    async def library(self) -> str:
        """Name the library, which keeps its name whatever becomes of its feed."""
        sql = "select id from library"
        return await self._database.read(
            lambda connection: str(connection.execute(sql).fetchone()[0])
        )


def prune_change_feed(connection: sqlite3.Connection) -> None:
    """Drop changes that say nothing any more, when the feed has become long.

    What is dropped includes chunks that are gone, so the feed gets a new epoch.
    """
    grown = connection.execute(_GROWN).fetchone()[0] or 0
    if grown <= KEPT_CHANGES:
        return
    chunks = connection.execute("select count(*) from chunk").fetchone()[0]
    if grown <= KEPT_CHANGES + 4 * chunks:
        return
    newest = "coalesce((select max(seq) from change), pruned)"
    connection.execute(
        f"update library set generation = generation + 1, pruned = {newest}"
    )
    connection.execute(_OUTDATED)


def _read(
    rows: "Iterable[tuple[int, str, str | None, int | None, str | None, bytes | None]]",
) -> list[ChunkChange]:
    import numpy as np

    return [
        ChunkChange(
            seq=seq,
            chunk=ChunkId(chunk),
            document=DocumentId(document or ""),
            end=end or 0,
            kind=kind or "",
            vector=None if vector is None else np.frombuffer(vector, np.dtype("<f4")),
        )
        for seq, chunk, document, end, kind, vector in rows
    ]
