"""What ingestion writes: one document's knowledge at a time, whole."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence

from lrwr.core.adapters.storage.sqlite.database import Database
from lrwr.core.adapters.storage.sqlite.document_rows import (
    UNUSED_VECTORS_KEPT,
    draft_of,
    drop_draft,
    embeddings_of,
    keep_draft,
)
from lrwr.core.adapters.storage.sqlite.job_queue import complete
from lrwr.core.model.chunks import Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import Claim
from lrwr.core.ports.record_store import Seen

_SEEN = """
select document_id, revision, content, recipe from processed
where pipeline = ? order by document_id
"""

_KNOWN_VECTORS = """
select e.text_hash from embedding e
where e.space = :space and e.text_hash in (select value from json_each(:texts))
and not exists (
  select 1 from orphan o
  where o.space = e.space and o.text_hash = e.text_hash and o.since < :before
)
"""

_TOUCH = """
update processed set revision = ?
where document_id = ? and pipeline = ? and content = ? and recipe = ?
"""


class SqliteKnowledgeStore:
    """Keeps the `KnowledgeStore` port. `now` returns seconds since 1970, UTC."""

    def __init__(self, database: Database, *, now: Callable[[], float]) -> None:
        self._database = database
        self._now = now

    async def seen(self, pipeline: Pipeline) -> list[Seen]:
        """Return what this pipeline has read, ordered by document."""
        return await self._database.read(
            lambda connection: [
                Seen(DocumentId(document), *rest)
                for document, *rest in connection.execute(_SEEN, (pipeline.value,))
            ]
        )

    async def known_vectors(
        self, space: str, texts: Collection[TextHash]
    ) -> set[TextHash]:
        """Return which of `texts` are embedded in `space`, and will be for a while."""
        asked = {
            "space": space,
            "texts": json.dumps(list(texts)),
            "before": self._now() - UNUSED_VECTORS_KEPT,
        }
        return await self._database.read(
            lambda connection: {
                TextHash(row[0]) for row in connection.execute(_KNOWN_VECTORS, asked)
            }
        )

    async def replace(self, knowledge: Knowledge, seen: Seen, claim: Claim) -> bool:
        """Make `knowledge` all that its pipeline knows; False if the claim is lost.

        Raises:
            StoreProblem: The library cannot be written.
        """
        now = self._now()
        draft = draft_of(knowledge, seen.content, seen.recipe, now)
        embeddings = embeddings_of(knowledge)

        def work(connection: sqlite3.Connection) -> bool:
            held = complete(connection, claim, now)
            if held:
                keep_draft(
                    connection, draft, embeddings, revision=seen.revision, now=now
                )
            return held

        return await self._database.write(work)

    async def forget(self, document: DocumentId, claim: Claim) -> bool:
        """Take away what the claim's pipeline knows of `document`.

        Raises:
            StoreProblem: The library cannot be written.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> bool:
            held = complete(connection, claim, now)
            if held:
                drop_draft(connection, document, claim.order.pipeline, now)
            return held

        return await self._database.write(work)

    async def touch(
        self, pipeline: Pipeline, seen: Sequence[Seen], claim: Claim | None = None
    ) -> int:
        """Note new revisions of documents that are known as `seen` says."""
        now = self._now()

        def work(connection: sqlite3.Connection) -> int:
            known = touch(connection, pipeline, seen)
            if claim is not None and known == len(seen):
                complete(connection, claim, now)
            return known

        return await self._database.write(work)


def touch(
    connection: sqlite3.Connection, pipeline: Pipeline, seen: Sequence[Seen]
) -> int:
    """Note new revisions of documents that are known as `seen` says; return how many."""
    rows = [
        (one.revision, one.id, pipeline.value, one.content, one.recipe) for one in seen
    ]
    return max(0, connection.executemany(_TOUCH, rows).rowcount)
