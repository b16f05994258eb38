"""Storing the results of an ingestion in a Supabase project and in its local
replica.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import (
    DocumentRows,
    EmbeddingRow,
    build_document_rows,
    build_embedding_rows,
    build_token_states_rows,
    delete_document_rows,
    store_document_rows,
)
from lrwr.core.adapters.storage.sqlite.knowledge_store import (
    SqliteAnalysisStore,
    SqliteCastStore,
    SqliteKnowledgeStore,
    update_document_revisions,
)
from lrwr.core.adapters.storage.sqlite.story_rows import (
    build_attribution_rows,
    cast_to_json,
    store_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.story_store import (
    load_cast_json,
    store_cast_json,
)
from lrwr.core.adapters.storage.supabase.codecs import (
    DOCUMENT,
    build_record_key,
    build_tombstone,
    encode_record,
)
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.records import PutResult, SupabaseRecords
from lrwr.core.adapters.storage.supabase.replica import (
    VECTORS_PER_REQUEST,
    SupabaseReplica,
    split_into_batches,
)
from lrwr.core.adapters.storage.supabase.thread_api import ModelReplyRow
from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Knowledge, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.core.model.jobs import JobClaim
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import DocumentVersion, FileStore
from lrwr.core.ports.story_stores import (
    AttributionInput,
    AttributionResult,
    AttributionSnapshot,
    ChunkSpan,
    DocumentEvidence,
)

_MAX_UPLOAD_ATTEMPTS = 3
"""The project may delete unused vectors while the record that needs them is uploaded."""
_VECTORS = """
select space, text_hash, vector from embedding
where space = ? and text_hash in (select value from json_each(?))
"""


async def put_record_with_vectors(
    database: SqliteDatabase,
    records: SupabaseRecords,
    draft: DocumentRows,
    known_vectors: Mapping[str, bytes] | None = None,
    claim: JobClaim | None = None,
    if_digest: str | None = None,
) -> tuple[PutResult, DocumentRows]:
    """Upload the record of the document in `draft`, after those of its vectors that the
    Supabase project lacks.

    Vectors are taken from `known_vectors`, by text hash, or else from the local file; a
    text with neither is uploaded as not embedded. `claim` completes a job together with
    the upload. With `if_digest`, only a record with that digest is replaced. Returns
    the result and the rows that were uploaded.

    Raises:
        StoreProblem: The Supabase project deletes the vectors before the record refers
            to them.
        LrwrError: The Supabase project does not answer or refuses.
    """
    vectors = dict(known_vectors or {})
    missing_texts = sorted(draft.texts - vectors.keys())
    local_rows = await database.read(
        lambda connection: _load_vectors(connection, draft.space, missing_texts)
    )
    draft = draft.embedded({*vectors, *(text for _, text, _ in local_rows)})
    vectors |= {text: vector for _, text, vector in local_rows}
    needed_texts = sorted(draft.texts)
    lacking = await records.missing(draft.space, needed_texts) if needed_texts else []
    for _ in range(_MAX_UPLOAD_ATTEMPTS):
        for batch in split_into_batches(lacking, VECTORS_PER_REQUEST):
            await records.put_vectors(
                draft.space, {text_hash: vectors[text_hash] for text_hash in batch}
            )
        put_result = await records.put(
            encode_record(draft), claim=claim, if_digest=if_digest
        )
        if not put_result.missing:
            return put_result, draft
        lacking = list(put_result.missing)
    raise StoreProblem(
        f"The project repeatedly deleted the vectors of {draft.id} after the upload",
        hint="Run the command again. If it fails again, report a bug.",
    )


def _load_vectors(
    connection: sqlite3.Connection, space: str, texts: Collection[str]
) -> list[EmbeddingRow]:
    parameters = (space, json.dumps(list(texts)))
    return connection.execute(_VECTORS, parameters).fetchall()


_CONTENTS = "select content from processed"
_CONTENTS_OF_DOCUMENT = f"{_CONTENTS} where document_id = ?"


class SupabaseKnowledgeStore:
    """The `KnowledgeStore` port over a Supabase project and its local replica `copy`.

    Reads use the replica only. Revisions of files are stored on this machine only. With
    `files`, uploaded manuscript files are deleted once no stored document is made from
    them. `now` returns seconds since 1970.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        copy: SupabaseReplica,
        records: SupabaseRecords,
        queue: SupabaseJobQueue,
        files: FileStore | None = None,
        *,
        now: Callable[[], float],
    ) -> None:
        self._database = database
        self._replica = copy
        self._records = records
        self._queue = queue
        self._files = files
        self._local = SqliteKnowledgeStore(database, now=now)
        self._now = now

    async def document_versions(self, pipeline: Pipeline) -> list[DocumentVersion]:
        """Return the version of each document that `pipeline` has processed, ordered by
        id.
        """
        return await self._local.document_versions(pipeline)

    async def known_vectors(
        self, space: str, texts: Collection[TextHash], *, with_states: bool = False
    ) -> set[TextHash]:
        """Return those of `texts` that have a vector in the replica; `with_states`,
        those that have token states, too, which the project does not store.

        `texts` are text hashes; `space` names the embedding space of the vectors. A
        vector that may be deleted within the next hour is left out.
        """
        return await self._local.known_vectors(space, texts, with_states=with_states)

    async def replace(
        self, knowledge: Knowledge, document_version: DocumentVersion, claim: JobClaim
    ) -> bool:
        """Replace everything that a pipeline has stored of a document, and complete the
        claimed job, atomically.

        Returns False and writes nothing if the claim has been lost.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            StoreProblem: The replica cannot be written.
        """
        now, before = self._now(), await self._load_contents(document_version.id)
        draft = build_document_rows(
            knowledge, document_version.content, document_version.recipe, now
        )
        embeddings = build_embedding_rows(knowledge)
        known_vectors = {text: vector for _, text, vector in embeddings}
        put_result, draft = await put_record_with_vectors(
            self._database, self._records, draft, known_vectors, claim
        )
        if not put_result.done:
            return False
        work = partial(
            store_document_rows,
            draft=draft,
            embeddings=embeddings,
            token_states=build_token_states_rows(knowledge),
            revision=document_version.revision,
            now=now,
        )
        await self._store_locally(put_result, work, document_version, draft)
        await self._remove_unused_files(before)
        return True

    async def forget(self, document: DocumentId, claim: JobClaim) -> bool:
        """Delete what the claim's pipeline has stored of `document`, and complete the
        job, atomically.

        Returns False and writes nothing if the claim has been lost.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
            StoreProblem: The replica cannot be written.
        """
        self._replica.check_project()
        pipeline = claim.order.pipeline
        record = build_tombstone(DOCUMENT, build_record_key(document, pipeline))
        before = await self._load_contents(document)
        put_result = await self._records.put(record, claim=claim)
        if put_result.done:
            now = self._now()
            await self._replica.apply_write(
                put_result,
                lambda connection: delete_document_rows(
                    connection, document, pipeline, now
                ),
            )
            await self._remove_unused_files(before)
        return put_result.done

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
        if claim is not None:
            await self._replica.catch_up()
        updated = await self._database.write(
            lambda connection: update_document_revisions(
                connection, pipeline, document_versions
            )
        )
        if claim is not None and updated == len(document_versions):
            await self._queue.complete(claim)
        return updated

    async def _load_contents(self, document: DocumentId) -> set[str]:
        if self._files is None:
            return set()
        return await self._database.read(
            lambda connection: _select_contents(
                connection, _CONTENTS_OF_DOCUMENT, document
            )
        )

    async def _remove_unused_files(self, contents: set[str]) -> None:
        """Remove those files that no document is made of now.

        What cannot be removed stays until the next push: the work itself is done.
        """
        if self._files is None or not contents:
            return
        needed = await self._database.read(
            lambda connection: _select_contents(connection, _CONTENTS)
        )
        with suppress(LrwrError):
            await self._files.remove(contents - needed)

    async def _store_locally(
        self,
        put_result: PutResult,
        work: Callable[[sqlite3.Connection], None],
        document_version: DocumentVersion,
        draft: DocumentRows,
    ) -> None:
        await self._replica.apply_write(put_result, work)
        await self._database.write(
            lambda connection: update_document_revisions(
                connection, draft.pipeline, [document_version]
            )
        )


def _select_contents(connection: sqlite3.Connection, sql: str, *of: str) -> set[str]:
    return {content for (content,) in connection.execute(sql, of)}


class SupabaseCastStore:
    """The `CastStore` port over a Supabase project and its local replica `copy`.

    It stores the cast, who speaks and who appears. Reads use the replica only.
    """

    def __init__(
        self, database: SqliteDatabase, copy: SupabaseReplica, records: SupabaseRecords
    ) -> None:
        self._database = database
        self._replica = copy
        self._records = records
        self._local = SqliteCastStore(database)

    async def attribution_snapshot(self) -> AttributionSnapshot:
        """Return what identifies the data of all documents, all from one point in
        time.
        """
        return await self._local.attribution_snapshot()

    async def name_evidence(self) -> list[DocumentEvidence]:
        """Return the evidence of names in every document of pipeline b, ordered by
        document id.
        """
        return await self._local.name_evidence()

    async def attribution_inputs(
        self, documents: Collection[DocumentId]
    ) -> list[AttributionInput]:
        """Return what is needed to find who speaks in those of `documents` that
        pipeline b has ingested, ordered by document id.
        """
        return await self._local.attribution_inputs(documents)

    async def chunk_spans(self, document: DocumentId) -> Sequence[ChunkSpan]:
        """Return ids and spans of the document's chunks of story text, in text
        order.
        """
        return await self._local.chunk_spans(document)

    async def load_cast(self) -> Cast | None:
        """Return the stored cast; None if it is missing or damaged."""
        return await self._local.load_cast()

    async def save_cast(self, cast: Cast) -> None:
        """Store `cast` in place of the library's previous cast; send nothing if they
        are equal.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        cast_json = cast_to_json(cast)
        if cast_json == await self._database.read(load_cast_json):
            return
        self._replica.check_project()
        put_result = await self._records.put(encode_record(cast_json))
        await self._replica.apply_write(
            put_result, lambda connection: store_cast_json(connection, cast_json)
        )

    async def save_attribution(self, attribution: AttributionResult) -> bool:
        """Replace what is stored about who speaks and who appears in a document by
        `attribution`.

        Returns False and writes nothing if the stored document has changed since it was
        analysed.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        weave = await self._database.read(
            lambda connection: build_attribution_rows(connection, attribution)
        )
        if weave is None:
            return False
        self._replica.check_project()
        put_result = await self._records.put(
            encode_record(weave), if_content=attribution.content
        )
        if put_result.done:
            await self._replica.apply_write(
                put_result, lambda connection: store_attribution_rows(connection, weave)
            )
        return put_result.done

    async def save_state(
        self,
        state: str,
        narration: Mapping[DocumentId, str],
        since: AttributionSnapshot,
    ) -> bool:
        """Store the state of a complete attribution, and signs of narrators by
        document, in the replica only: every machine derives its own.

        Returns False and writes nothing if the replica differs from `since`.
        """
        return await self._local.save_state(state, narration, since)


class SupabaseAnalysisStore:
    """The `AnalysisStore` port over a Supabase project and the local file.

    Replies of language models are cached in both, sentence distances locally only.
    `now` returns seconds since 1970.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        records: SupabaseRecords,
        *,
        now: Callable[[], float],
    ) -> None:
        self._local = SqliteAnalysisStore(database, now=now)
        self._records = records
        self._now = now

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the cosine distances between the two sides of possible chunk
        boundaries.

        Keys are the SHA-256 of the sentences around a boundary of `document`. `space`
        names the embedding space in which they were compared. Empty if none are stored.
        """
        return await self._local.seams(document, space)

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return the cached replies of language models, by cache key.

        A cache key is a SHA-256 that identifies the request. `keys` are the keys to
        look up; those without a reply are left out. Replies that the local file lacks
        are fetched from the Supabase project.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        local_replies = await self._local.replies(keys)
        missing_keys = [key for key in keys if key not in local_replies]
        if not missing_keys:
            return local_replies
        remote_replies = await self._records.replies(missing_keys)
        return {
            **local_replies,
            **{reply.key: reply.finding for reply in remote_replies},
        }

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Cache replies of language models by cache key; a stored reply is replaced.

        `usage` is that of all of them together; its tokens are stored with the first.
        Replies are stored locally first, so that those that cost money are not lost if
        the Supabase project fails.

        Raises:
            LrwrError: The Supabase project does not answer or refuses.
        """
        await self._local.save_replies(replies, usage)
        tokens = [(usage.prompt_tokens, usage.completion_tokens)]
        tokens += [(0, 0)] * len(replies)
        await self._records.put_replies(
            [
                ModelReplyRow(key, self._now(), *token_counts, finding)
                for (key, finding), token_counts in zip(
                    replies.items(), tokens, strict=False
                )
            ]
        )
