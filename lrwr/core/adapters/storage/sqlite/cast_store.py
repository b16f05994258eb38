"""Stores the cast, who speaks and who appears, and what these were derived from."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    checksum_sql,
    fits_sql,
    insert_sql,
    outline_fits_sql,
    text_fits_sql,
)
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import chapters_from_json
from lrwr.core.adapters.storage.sqlite.story_rows import (
    SELECT_CHUNK_SPANS,
    build_attribution_rows,
    cast_to_json,
    store_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.story_store import store_cast_json
from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    AttributionInput,
    AttributionResult,
    AttributionSnapshot,
    ChunkSpan,
    DocumentEvidence,
    DocumentRevision,
)

_REVISIONS = f"""
select d.id, json_array(
    p.content, p.recipe, p.rows, k.outline, k.text),
  coalesce(iif({fits_sql("woven", "w")}, w.revision, ''), '')
from document d
  left join processed p on p.document_id = d.id and p.pipeline = 'b'
  left join document_check k on k.document_id = d.id
  left join woven w on w.document_id = d.id
order by d.id
"""
_CAST_REVISION = f"""
select {checksum_sql(CHECKED_COLUMNS["story"])} from story where id = 1
"""
_STATE = f"select {fits_sql('attribution')}, state from attribution where id = 1"
_STORE_STATE = insert_sql(
    "attribution", CHECKED_COLUMNS["attribution"], "insert or replace"
)
_STORE_NARRATION = insert_sql(
    "narration", CHECKED_COLUMNS["narration"], "insert or replace"
)
_NAME_EVIDENCE = f"""
select {fits_sql("reading", "r")}, r.document_id, r.evidence, r.noted,
  coalesce(iif({fits_sql("narration", "n")}, n.signs, ''), '')
from reading r
  join processed p on p.document_id = r.document_id and p.pipeline = 'b'
  left join narration n on n.document_id = r.document_id
order by r.document_id
"""
_ATTRIBUTION_INPUTS = f"""
select {outline_fits_sql("d")} and {text_fits_sql("d")},
  d.id, p.content, d.text, d.chapters
from document d join processed p on p.document_id = d.id and p.pipeline = 'b'
where d.id in (select value from json_each(?))
order by d.id
"""


class SqliteCastStore:
    """The `CastStore` port in SQLite: stores the cast, who speaks and who appears.

    Every method raises StoreProblem if the library cannot be read or written.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def attribution_snapshot(self) -> AttributionSnapshot:
        """Return what identifies the data of all documents, all from one point in
        time.
        """
        return await self._database.read(self._read_snapshot)

    def _read_snapshot(self, connection: sqlite3.Connection) -> AttributionSnapshot:
        revisions = {
            DocumentId(document): DocumentRevision(inputs, attributed)
            for document, inputs, attributed in connection.execute(_REVISIONS)
        }
        cast = connection.execute(_CAST_REVISION).fetchone()
        states = self._database.decode_rows(connection.execute(_STATE), tuple)
        state = str(states[0][0]) if states else ""
        return AttributionSnapshot(revisions, str(cast[0]) if cast else "", state)

    async def name_evidence(self) -> list[DocumentEvidence]:
        """Return the evidence of names in every document of pipeline b, ordered by
        document id.
        """
        return await self._database.read(
            lambda connection: self._database.decode_rows(
                connection.execute(_NAME_EVIDENCE),
                lambda row: DocumentEvidence(DocumentId(row[0]), *row[1:]),
            )
        )

    async def attribution_inputs(
        self, documents: Collection[DocumentId]
    ) -> list[AttributionInput]:
        """Return what is needed to find who speaks in those of `documents` that
        pipeline b has ingested, ordered by document id.
        """
        parameters = (json.dumps(list(documents)),)
        return await self._database.read(
            lambda connection: self._database.decode_rows(
                connection.execute(_ATTRIBUTION_INPUTS, parameters), _attribution_input
            )
        )

    async def chunk_spans(self, document: DocumentId) -> Sequence[ChunkSpan]:
        """Return ids and spans of the document's chunks of story text, in text
        order.
        """
        return await self._database.read(
            lambda connection: [
                ChunkSpan(ChunkId(chunk), Span(start, end))
                for chunk, start, end in connection.execute(
                    SELECT_CHUNK_SPANS, (document,)
                )
            ]
        )

    async def save_cast(self, cast: Cast) -> None:
        """Store `cast` in place of the library's previous cast."""
        cast_json = cast_to_json(cast)
        await self._database.write(
            lambda connection: store_cast_json(connection, cast_json)
        )

    async def save_attribution(self, attribution: AttributionResult) -> bool:
        """Replace what is stored about who speaks and who appears in a document by
        `attribution`.

        Returns False and writes nothing if the stored document has changed since it was
        analysed.
        """

        def work(connection: sqlite3.Connection) -> bool:
            rows = build_attribution_rows(connection, attribution)
            return rows is not None and store_attribution_rows(connection, rows)

        return await self._database.write(work)

    async def save_state(
        self,
        state: str,
        narration: Mapping[DocumentId, str],
        since: AttributionSnapshot,
    ) -> bool:
        """Store the state of a complete attribution, and signs of narrators by
        document.

        Returns False and writes nothing if the library differs from `since`.
        """

        def work(connection: sqlite3.Connection) -> bool:
            if self._read_snapshot(connection) != since:
                return False
            connection.executemany(
                "delete from narration where document_id = ?",
                [(document,) for document in narration],
            )
            connection.executemany(
                _STORE_NARRATION, [row for row in narration.items() if row[1]]
            )
            connection.execute(_STORE_STATE, (1, state))
            return True

        return await self._database.write(work)


def _attribution_input(row: Sequence[Any]) -> AttributionInput:
    document, content, text, chapters_json = row
    return AttributionInput(
        DocumentId(document), content, text, chapters_from_json(chapters_json)
    )
