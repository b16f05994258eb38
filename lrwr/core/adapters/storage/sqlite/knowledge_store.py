"""Stores the results of an ingestion: documents, replies of models, and the cast."""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
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
from lrwr.core.adapters.storage.sqlite.document_rows import (
    UNUSED_VECTORS_KEPT,
    build_document_rows,
    build_embedding_rows,
    build_token_states_rows,
    chapters_from_json,
    delete_document_rows,
    store_document_rows,
)
from lrwr.core.adapters.storage.sqlite.job_queue import complete_job
from lrwr.core.adapters.storage.sqlite.story_rows import (
    SELECT_CHUNK_SPANS,
    build_attribution_rows,
    cast_to_json,
    store_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.story_store import read_cast, store_cast_json
from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import STATES_VERSION, ChunkId, Knowledge, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentVersion
from lrwr.core.ports.story_stores import (
    AttributionInput,
    AttributionResult,
    AttributionSnapshot,
    ChunkSpan,
    DocumentEvidence,
    DocumentRevision,
)

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


_REVISIONS = f"""
select d.id,
  coalesce(p.content, '') || char(10) || coalesce(p.recipe, '') || char(10)
    || coalesce(p.rows, '') || char(10) || coalesce(k.outline, '') || char(10)
    || coalesce(k.text, ''),
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

    async def load_cast(self) -> Cast | None:
        """Return the stored cast; None if it is missing or damaged."""
        return await self._database.read(read_cast)

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
