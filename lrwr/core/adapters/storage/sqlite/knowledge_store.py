"""Stores the results of an ingestion, one document at a time, and replies of models."""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    fits_sql,
    insert_sql,
)
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import (
    UNUSED_VECTORS_KEPT,
    build_document_rows,
    build_embedding_rows,
    build_token_states_rows,
    delete_document_rows,
    store_document_rows,
)
from lrwr.core.adapters.storage.sqlite.job_queue import complete_job
from lrwr.core.adapters.storage.sqlite.story_rows import parse_fact_row
from lrwr.core.model.chunks import STATES_VERSION, Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import DocumentSnapshot, DocumentVersion, QuotedFact

_VERSIONS = """
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
and (:version is null or exists (
  select 1 from token_state s where s.space = e.space and s.text_hash = e.text_hash
  and s.version = :version
))
"""

# SQLite refuses to write a row in which a damaged value has another type.
_UPDATE_REVISION = """
update processed set revision = ?
where document_id = ? and pipeline = ? and content = ? and recipe = ?
  and typeof(crc) in ('integer', 'null') and typeof(rows) in ('integer', 'null')
"""

_SEAMS = "select key, distance from seam where document_id = ? and space = ?"

_REPLIES = f"""
select {fits_sql("reply")}, key, finding from reply
where key in (select value from json_each(?))
"""

_REPLY = insert_sql("reply", CHECKED_COLUMNS["reply"], "insert or replace")


class SqliteKnowledgeStore:
    """The `KnowledgeStore` port in SQLite: stores the results of an ingestion.

    `now` returns seconds since 1970.
    """

    def __init__(self, database: SqliteDatabase, *, now: Callable[[], float]) -> None:
        self._database = database
        self._now = now

    async def document_versions(self, pipeline: Pipeline) -> list[DocumentVersion]:
        """Return the version of each document that `pipeline` has processed, ordered by
        id.
        """
        return await self._database.read(
            lambda connection: [
                DocumentVersion(DocumentId(document), *columns)
                for document, *columns in connection.execute(
                    _VERSIONS, (pipeline.value,)
                )
            ]
        )

    async def known_vectors(
        self, space: str, texts: Collection[TextHash], *, with_states: bool = False
    ) -> set[TextHash]:
        """Return those of `texts` that have a vector in the embedding space `space`;
        `with_states`, those that have token states, too.

        `texts` are text hashes. A vector that may be deleted within the next hour is
        left out.
        """
        parameters = {
            "space": space,
            "texts": json.dumps(list(texts)),
            "before": self._now() - UNUSED_VECTORS_KEPT,
            "version": STATES_VERSION if with_states else None,
        }
        return await self._database.read(
            lambda connection: {
                TextHash(row[0])
                for row in connection.execute(_KNOWN_VECTORS, parameters)
            }
        )

    async def replace(
        self, knowledge: Knowledge, document_version: DocumentVersion, claim: JobClaim
    ) -> bool:
        """Replace everything that a pipeline has stored of a document, and complete the
        claimed job, atomically.

        Returns False and writes nothing if the claim has been lost.

        Raises:
            StoreProblem: The library cannot be written.
        """
        now = self._now()
        draft = build_document_rows(
            knowledge, document_version.content, document_version.recipe, now
        )
        embeddings = build_embedding_rows(knowledge)
        token_states = build_token_states_rows(knowledge)

        def work(connection: sqlite3.Connection) -> bool:
            is_claim_held = complete_job(connection, claim, now)
            if is_claim_held:
                store_document_rows(
                    connection,
                    draft,
                    embeddings,
                    token_states,
                    revision=document_version.revision,
                    now=now,
                )
            return is_claim_held

        return await self._database.write(work)

    async def forget(self, document: DocumentId, claim: JobClaim) -> bool:
        """Delete what the claim's pipeline has stored of `document`, and complete the
        job, atomically.

        Returns False and writes nothing if the claim has been lost.

        Raises:
            StoreProblem: The library cannot be written.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> bool:
            is_claim_held = complete_job(connection, claim, now)
            if is_claim_held:
                delete_document_rows(connection, document, claim.order.pipeline, now)
            return is_claim_held

        return await self._database.write(work)

    async def touch(
        self,
        pipeline: Pipeline,
        document_versions: Sequence[DocumentVersion],
        claim: JobClaim | None = None,
    ) -> int:
        """Store new revisions of documents whose content and recipe have not changed.

        A revision is a text that changes when the manuscript file on this machine
        changes. Documents whose content or recipe has changed are skipped. Returns the
        number updated; if that is all of them, the job of `claim` is completed.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> int:
            updated = update_document_revisions(connection, pipeline, document_versions)
            if claim is not None and updated == len(document_versions):
                complete_job(connection, claim, now)
            return updated

        return await self._database.write(work)


class SqliteAnalysisStore:
    """The `AnalysisStore` port in SQLite: caches sentence distances and replies of
    models.

    `now` returns seconds since 1970. Every method raises StoreProblem if the library
    cannot be read or written.
    """

    def __init__(self, database: SqliteDatabase, *, now: Callable[[], float]) -> None:
        self._database = database
        self._now = now

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the cosine distances between the two sides of possible chunk
        boundaries.

        Keys are the SHA-256 of the sentences around a boundary of `document`. `space`
        names the embedding space in which they were compared. Empty if none are stored.
        """
        return await self._database.read(
            lambda connection: dict(connection.execute(_SEAMS, (document, space)))
        )

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return the cached replies of language models, by cache key.

        A cache key is a SHA-256 that identifies the request. `keys` are the keys to
        look up; those without a reply are left out.
        """
        parameters = (json.dumps(list(keys)),)
        return await self._database.read(
            lambda connection: dict(
                self._database.decode_rows(
                    connection.execute(_REPLIES, parameters), tuple
                )
            )
        )

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Cache replies of language models by cache key; a stored reply is replaced.

        `usage` is that of all of them together; its tokens are stored with the first.
        """
        tokens = [(usage.prompt_tokens, usage.completion_tokens)]
        tokens += [(0, 0)] * len(replies)
        rows = [
            (key, self._now(), *token_counts, finding)
            for (key, finding), token_counts in zip(
                replies.items(), tokens, strict=False
            )
        ]
        await self._database.write(
            lambda connection: connection.executemany(_REPLY, rows).rowcount
        )


def update_document_revisions(
    connection: sqlite3.Connection,
    pipeline: Pipeline,
    document_versions: Sequence[DocumentVersion],
) -> int:
    """Store the new revisions of documents, and return the number of documents updated.

    A revision is a text that changes when the manuscript file on this machine changes.
    A document that `pipeline` has not stored with the same content and recipe is
    skipped, and so is one with a damaged checksum. Must be called inside a transaction.
    """
    rows = [
        (
            document_version.revision,
            document_version.id,
            pipeline.value,
            document_version.content,
            document_version.recipe,
        )
        for document_version in document_versions
    ]
    return max(0, connection.executemany(_UPDATE_REVISION, rows).rowcount)


_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = ?
"""


_PASSAGES = (
    "select text from chunk where document_id = ? and pipeline = ? order by ordinal"
)


_FACTS = f"""
select {fits_sql("fact")}, about, subject, field, value, keeper, certainty, reach, spans, details
from fact where document_id = ? and about not in ('passage', 'scene')
order by char_start, n
"""


_PEOPLE = "select distinct character from first_seen where document_id = ?"


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
    row = connection.execute(_TEXT, (document, pipeline.value)).fetchone()
    if row is None:
        return None
    passages = connection.execute(_PASSAGES, (document, pipeline.value))
    texts = tuple(text for (text,) in passages)
    if pipeline is Pipeline.NAIVE:
        return DocumentSnapshot(texts)
    facts = database.decode_rows(
        connection.execute(_FACTS, (document,)), lambda row: parse_fact_row(tuple(row))
    )
    return DocumentSnapshot(
        passages=texts,
        facts=tuple(
            QuotedFact(fact, " ".join(row[0][s.start : s.end] for s in fact.spans[:1]))
            for fact in facts
        ),
        people=frozenset(name for (name,) in connection.execute(_PEOPLE, (document,))),
    )
