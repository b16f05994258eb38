"""Reads what is stored of single documents, for `lrwr watch`."""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import decode_checked_rows, fits_sql
from lrwr.core.adapters.storage.sqlite.database import Result, SqliteDatabase
from lrwr.core.adapters.storage.sqlite.passage_store import (
    SELECT_OUTLINES,
    load_text,
    parse_outline_row,
)
from lrwr.core.adapters.storage.sqlite.story_rows import parse_fact_row
from lrwr.core.adapters.storage.sqlite.story_store import (
    SELECT_FACTS,
    SELECT_FIRST_SEEN,
    parse_document_fact_row,
    parse_first_mention_row,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import DocumentSnapshot, QuotedFact
from lrwr.core.ports.story_stores import StatedDocument

_SNAPSHOT_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = ?
"""
_SNAPSHOT_PASSAGES = (
    "select text from chunk where document_id = ? and pipeline = ? order by ordinal"
)
_SNAPSHOT_FACTS = f"""
select {fits_sql("fact")}, about, subject, field, value, keeper, certainty, reach, spans, details
from fact where document_id = ? and about not in ('passage', 'scene', 'relation_cue')
order by char_start, n
"""


class SqliteSnapshotStore:
    """The `DocumentSnapshotStore` port in SQLite: reads what is stored of single
    documents.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def snapshots(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, DocumentSnapshot]:
        """Return passages, facts and characters of `documents`, by document id.

        Documents that `pipeline` has not processed are left out. All belong to one
        state of the library.
        """

        def read(connection: sqlite3.Connection) -> dict[DocumentId, DocumentSnapshot]:
            snapshots = {
                document: _load_snapshot(connection, self._database, document, pipeline)
                for document in documents
            }
            return {
                name: snapshot
                for name, snapshot in snapshots.items()
                if snapshot is not None
            }

        return await self._database.read(read)


def _load_snapshot(
    connection: sqlite3.Connection,
    database: SqliteDatabase,
    document: DocumentId,
    pipeline: Pipeline,
) -> DocumentSnapshot | None:
    row = connection.execute(_SNAPSHOT_TEXT, (document, pipeline.value)).fetchone()
    if row is None:
        return None
    passages = connection.execute(_SNAPSHOT_PASSAGES, (document, pipeline.value))
    texts = tuple(text for (text,) in passages)
    if pipeline is Pipeline.NAIVE:
        return DocumentSnapshot(texts)
    facts = database.decode_rows(
        connection.execute(_SNAPSHOT_FACTS, (document,)),
        lambda row: parse_fact_row(tuple(row)),
    )
    return DocumentSnapshot(
        passages=texts,
        facts=tuple(
            QuotedFact(fact, " ".join(row[0][s.start : s.end] for s in fact.spans[:1]))
            for fact in facts
        ),
    )


# What changes whenever anything of a `StatedDocument` is stored.
_VERSIONS = """
select d.id, d.updated_at, k.outline, k.text, p.content, p.recipe, p.rows, w.revision,
  w.rows, exists (select 1 from processed where document_id = d.id)
from document d
  left join document_check k on k.document_id = d.id
  left join processed p on p.document_id = d.id and p.pipeline = 'b'
  left join woven w on w.document_id = d.id
order by d.id
"""
_OF_DOCUMENT = "document_id = ?"
_STATED = f"{_OF_DOCUMENT} and about = 'character'"


class SqliteStatedStore:
    """The `StatedStore` port in SQLite.

    A document with a damaged row is read again at each call, because a repair leaves its
    version as it is.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._versions: dict[DocumentId, tuple[object, ...]] = {}
        self._documents: dict[DocumentId, StatedDocument] = {}

    async def documents(self) -> Mapping[DocumentId, StatedDocument]:
        """Return what each document states, by document id, ordered by id.

        All belong to one state of the library. Only documents stored since the last
        call are read.
        """
        return await self._database.read(self._read)

    def _read(
        self, connection: sqlite3.Connection
    ) -> Mapping[DocumentId, StatedDocument]:
        versions: dict[DocumentId, tuple[object, ...]] = {}
        documents: dict[DocumentId, StatedDocument] = {}
        for name, *version in connection.execute(_VERSIONS):
            document, sound = DocumentId(name), True
            if self._versions.get(document) == tuple(version):
                documents[document] = self._documents[document]
            else:
                documents[document], sound = self._load(connection, document)
            if sound:
                versions[document] = tuple(version)
        self._versions, self._documents = versions, documents
        return documents

    def _load(
        self, connection: sqlite3.Connection, document: DocumentId
    ) -> tuple[StatedDocument, bool]:
        """Return a document, and whether no row of it is damaged."""
        damages: list[None] = []

        def notice() -> None:
            damages.append(None)
            self._database.notice_damage()

        def read(
            sql: str, where: str, decode: Callable[[Any], Result]
        ) -> tuple[Result, ...]:
            rows = connection.execute(sql.format(where=where), (document,))
            return tuple(decode_checked_rows(rows, decode, notice))

        _, texts = load_text(connection, document, notice)
        stated = StatedDocument(
            outline=next(
                iter(read(SELECT_OUTLINES, "id = ?", parse_outline_row)), None
            ),
            text=next(iter(texts), None),
            first_seen=read(SELECT_FIRST_SEEN, _OF_DOCUMENT, parse_first_mention_row),
            facts=read(SELECT_FACTS, _STATED, parse_document_fact_row),
        )
        return stated, not damages
