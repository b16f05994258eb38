"""Push and pull: copying a library to a Supabase project and back, in resumable steps.

A push sends one record at a time and skips those that the Supabase project has, so that
a push that was stopped continues where it ended.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import partial

from lrwr.core.adapters.storage.sqlite.checksums import CHECKED_COLUMNS, insert_sql
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import (
    DocumentRows,
    load_document_rows,
)
from lrwr.core.adapters.storage.sqlite.story_rows import (
    AttributionRows,
    load_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.story_store import load_cast_json
from lrwr.core.adapters.storage.supabase.codecs import (
    DOCUMENT,
    WOVEN,
    build_record_key,
    build_tombstone,
    encode_record,
)
from lrwr.core.adapters.storage.supabase.knowledge_store import put_record_with_vectors
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    advance_cursor,
    build_lost_changes_error,
    has_lost_changes,
    mark_in_sync,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.records import (
    PutResult,
    RecordManifest,
    SupabaseRecords,
)
from lrwr.core.adapters.storage.supabase.replica import (
    SupabaseReplica,
    split_into_batches,
)
from lrwr.core.adapters.storage.supabase.thread_api import ModelReplyRow, ThreadRecord
from lrwr.core.adapters.storage.supabase.thread_rows import (
    merge_remote_thread,
    read_spoken_count,
    read_thread_digests,
)
from lrwr.core.adapters.storage.supabase.thread_store import ThreadReplica
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem

REPLIES_PER_REQUEST = 100
_PROCESSED = "select document_id, pipeline from processed order by 1, 2"
_WOVEN = "select document_id from woven order by 1"
_LOCAL_STATE = """
select p.document_id, p.pipeline, p.content, p.recipe, coalesce(w.revision, '')
from processed p left join woven w on w.document_id = p.document_id order by 1, 2
"""
_REPLIES = """
select key, made, prompt_tokens, completion_tokens, finding from reply
where key in (select value from json_each(?))
"""
PushProgressCallback = Callable[[str, int, int], None]
"""Receives the name of a step, the number of items done, and the total."""


@dataclass(slots=True)
class PushResult:
    """Numbers of items that a push has sent.

    `unchanged` counts documents that the Supabase project had already, `removed`
    deleted records of documents that are not in the local library. `woven` counts
    documents whose speakers were sent, `replies` cached replies of models,
    `conversations` threads. `apart` says that something was ingested during the push;
    the next push sends it.
    """

    documents: int = 0
    unchanged: int = 0
    removed: int = 0
    attributions: int = 0
    replies: int = 0
    conversations: int = 0
    apart: bool = False


class LibraryPush:
    """One push of the local library in `database` to the library that `bound` names.

    `tell` is called during each step with the name of the step, the number of items
    done, and the total.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        records: SupabaseRecords,
        bound: LibraryLink,
        tell: PushProgressCallback,
    ) -> None:
        self._database = database
        self._records = records
        self._link = bound
        self._on_progress = tell
        self._result = PushResult()
        self._overwrite = False
        self._remote_digests: dict[tuple[str, str], str] = {}
        self._synced_version = 0

    async def run(self, *, over: bool = False) -> PushResult:
        """Make the library in the Supabase project equal to the local one, and merge
        the threads.

        If other machines have changed the library there, that is an error, unless
        `over` is True: then their changes are overwritten.

        Raises:
            StoreProblem: Another machine has changed the library since the last pull,
                or changes it during the push; or the file cannot be read.
            LrwrError: The Supabase project does not answer or refuses.
        """
        self._overwrite = over
        await self._check_for_lost_changes()
        local_state = await self._database.read(_load_local_state)
        # Listed before anything is sent: records that others add later must not be deleted.
        manifest = await self._records.manifest()
        state = await self._records.state(self._link.cursor)
        if state.others and not over:
            raise _build_conflict_error()
        self._remote_digests = {
            (entry.kind, entry.key): entry.digest for entry in manifest.entries
        }
        self._synced_version = manifest.version
        await self._push_documents()
        await self._delete_removed_documents(manifest)
        await self._push_attributions()
        await self._push_record(await self._database.read(load_cast_json))
        await self._push_replies()
        await self._push_threads()
        await self._mark_synced(local_state)
        return self._result

    async def _check_for_lost_changes(self) -> None:
        """Raise if the project has lost changes; with `over` mark all as unsent."""
        page = await self._records.changes(self._link.cursor, most=0)
        if not has_lost_changes(self._link, page):
            return
        if not self._overwrite:
            raise build_lost_changes_error()
        self._link = replace(self._link, cursor=0, spoken=0, apart=True)
        await self._database.write(partial(store_library_link, link=self._link))

    async def _push_documents(self) -> None:
        """Send documents whose record differs in the project."""
        rows = await self._database.read(
            lambda connection: connection.execute(_PROCESSED).fetchall()
        )
        for number, (document, pipeline) in enumerate(rows):
            self._on_progress("documents", number, len(rows))
            was_sent = await self._push_document(
                DocumentId(document), Pipeline(pipeline)
            )
            self._result.documents += was_sent
            self._result.unchanged += not was_sent
        self._on_progress("documents", len(rows), len(rows))

    async def _push_document(self, document: DocumentId, pipeline: Pipeline) -> bool:
        draft = await self._database.read(
            lambda connection: load_document_rows(connection, document, pipeline)
        )
        if draft is None or not await self._differs(draft):
            return False
        key = build_record_key(document, pipeline)
        put_result, _ = await put_record_with_vectors(
            self._database,
            self._records,
            draft,
            if_digest=self._expected(DOCUMENT, key),
        )
        self._remote_digests.pop(
            (WOVEN, key), None
        )  # the project deleted it with the document
        return self._was_written(put_result)

    async def _push_attributions(self) -> None:
        rows = await self._database.read(
            lambda connection: connection.execute(_WOVEN).fetchall()
        )
        for number, (document,) in enumerate(rows):
            self._on_progress("speakers", number, len(rows))
            weave = await self._database.read(
                partial(load_attribution_rows, document=document)
            )
            if weave is not None:
                self._result.attributions += await self._push_record(weave)

    async def _push_record(self, content: AttributionRows | str) -> bool:
        if not content or not await self._differs(content):
            return False
        record = encode_record(content)
        put_result = await self._records.put(
            record,
            if_content=content.content
            if isinstance(content, AttributionRows)
            else None,
            if_digest=self._expected(record.kind, record.key),
        )
        return self._was_written(put_result)

    async def _differs(self, content: DocumentRows | AttributionRows | str) -> bool:
        record = await asyncio.to_thread(encode_record, content)
        return self._remote_digests.get((record.kind, record.key)) != record.digest

    async def _delete_removed_documents(self, manifest: RecordManifest) -> None:
        """Delete records of documents that are not in the local library."""
        local_documents = await self._database.read(_push_documents)
        for entry in manifest.entries:
            if entry.kind == DOCUMENT and entry.key not in local_documents:
                put_result = await self._records.put(
                    build_tombstone(entry.kind, entry.key),
                    if_digest=self._expected(entry.kind, entry.key),
                )
                self._result.removed += self._was_written(put_result)

    def _expected(self, kind: str, key: str) -> str | None:
        """Return the digest of the record to replace; None if it may be any."""
        return None if self._overwrite else self._remote_digests.get((kind, key), "")

    def _was_written(self, put_result: PutResult) -> bool:
        """Return whether a record was written.

        Also advance the synced version if no other machine wrote meanwhile.

        Raises:
            StoreProblem: Another machine has written that record before.
        """
        if put_result.overtaken:
            raise _build_conflict_error()
        if put_result.before == self._synced_version:
            self._synced_version = put_result.version
        return put_result.done

    async def _push_replies(self) -> None:
        keys = await self._database.read(
            lambda connection: [
                row[0] for row in connection.execute("select key from reply order by 1")
            ]
        )
        for batch in split_into_batches(keys, REPLIES_PER_REQUEST):
            self._on_progress("model replies", self._result.replies, len(keys))
            remote_keys = {reply.key for reply in await self._records.replies(batch)}
            lacking = [key for key in batch if key not in remote_keys]
            rows = await self._database.read(partial(_load_replies, keys=lacking))
            await self._records.put_replies(rows)
            self._result.replies += len(rows)

    async def _push_threads(self) -> None:
        copy = ThreadReplica(self._database, self._records.threads)
        tell = partial(self._on_progress, "threads")
        self._result.conversations = await copy.send(tell=tell)

    async def _mark_synced(self, local_state: list[tuple[str, ...]]) -> None:
        """Record that both libraries are equal, unless something was ingested since.

        Changes of other machines during the push are fetched later.
        """

        def work(connection: sqlite3.Connection) -> bool:
            if _load_local_state(connection) != local_state:
                return False
            mark_in_sync(connection)
            advance_cursor(connection, self._synced_version)
            return True

        self._result.apart = not await self._database.write(work)


def _build_conflict_error() -> StoreProblem:
    return StoreProblem(
        "Another machine has changed the library in the project since your last pull",
        hint="Run `lrwr pull` first, or `lrwr push --over` to overwrite those changes.",
    )


def _load_local_state(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return connection.execute(_LOCAL_STATE).fetchall()


def _push_documents(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute(_PROCESSED)
    return {
        build_record_key(document, Pipeline(pipeline)) for document, pipeline in rows
    }


def _load_replies(
    connection: sqlite3.Connection, keys: list[str]
) -> list[ModelReplyRow]:
    rows = connection.execute(_REPLIES, (json.dumps(keys),))
    return [ModelReplyRow(*row) for row in rows]


_REPLY = insert_sql("reply", CHECKED_COLUMNS["reply"], "insert or ignore")


@dataclass(frozen=True, slots=True)
class PullResult:
    """What a pull has received: numbers of changed records, new cached replies of
    models, and changed threads.
    """

    records: int
    replies: int
    conversations: int


async def pull_remote_changes(
    database: SqliteDatabase,
    copy: SupabaseReplica,
    records: SupabaseRecords,
    tell: PushProgressCallback,
) -> PullResult:
    """Apply all changes in the Supabase project since the last pull, and merge threads.

    `copy` is the local replica. `tell` receives the name of a step, the number of items
    done, and the total, which is 0 if unknown.

    Raises:
        LrwrError: The Supabase project does not answer, or its data cannot be decoded.
        StoreProblem: The library cannot be written.
    """
    record_count = await copy.catch_up(lambda count: tell("entries", count, 0))
    replies = await _pull_replies(database, records, tell)
    return PullResult(
        record_count, replies, await _pull_threads(database, records, tell)
    )


async def _pull_replies(
    database: SqliteDatabase, records: SupabaseRecords, tell: PushProgressCallback
) -> int:
    count, after = 0, ""
    while rows := await records.replies_after(after, REPLIES_PER_REQUEST):
        after = rows[-1].key
        count += await database.write(partial(_store_replies, rows=rows))
        tell("model replies", count, 0)
    return count


async def _pull_threads(
    database: SqliteDatabase, records: SupabaseRecords, tell: PushProgressCallback
) -> int:
    before, known_digests = await database.read(
        lambda connection: (
            read_spoken_count(connection),
            read_thread_digests(connection),
        )
    )
    marks = await records.threads.digests()
    changed_threads = [mark for mark in marks if known_digests.get(mark) != marks[mark]]
    count = 0
    for number, id_ in enumerate(changed_threads):
        tell("threads", number, len(changed_threads))
        thread = await records.threads.load(id_)
        if thread is not None:
            work = partial(_merge_thread, thread=thread, before=before)
            count += await database.write(work)
    return count


def _merge_thread(
    connection: sqlite3.Connection, thread: ThreadRecord, before: int
) -> bool:
    """Merge a thread unless another process has fetched changes meanwhile."""
    if read_spoken_count(connection) != before:
        return False
    merge_remote_thread(connection, thread)
    return True


def _store_replies(connection: sqlite3.Connection, rows: list[ModelReplyRow]) -> int:
    return max(
        0, connection.executemany(_REPLY, [astuple(row) for row in rows]).rowcount
    )
