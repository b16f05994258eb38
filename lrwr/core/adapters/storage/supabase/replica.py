"""The replica: a library's file on this machine that follows a library in a Supabase
project.

Reads use the file, so they need no network. Writes go to the Supabase project first and
then into the file.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_rows import (
    DocumentRows,
    EmbeddingRow,
    delete_document_rows,
    find_embedded_texts,
    store_document_rows,
)
from lrwr.core.adapters.storage.sqlite.story_rows import (
    AttributionRows,
    store_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.story_store import store_cast_json
from lrwr.core.adapters.storage.supabase.codecs import (
    DOCUMENT,
    RecordContent,
    RecordTombstone,
    decode_record,
    parse_record_key,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    advance_cursor,
    build_lost_changes_error,
    has_lost_changes,
    preserve_sync_mark,
    read_library_link,
)
from lrwr.core.adapters.storage.supabase.records import (
    PutResult,
    RecordPage,
    SupabaseRecords,
)
from lrwr.core.adapters.storage.supabase.thread_store import ThreadReplica
from lrwr.core.model.errors import LrwrError, StoreProblem

Result = TypeVar("Result")

VECTORS_PER_REQUEST = 250
"""Vectors in one request, about half a megabyte."""

_STORED_REVISION = """
select revision, content = ? and recipe = ? from processed
where document_id = ? and pipeline = ?
"""

FOREIGN_REVISION = "another"
"""The revision of a document whose stored content differs from the local file.

It matches no file, so the next ingestion compares the contents."""


class SupabaseReplica:
    """Applies the Supabase project's changes to the local file, page by page.

    `database` must not itself wait for this replica before reading. Each page is
    applied in one transaction, so a process that is killed loses nothing, and several
    processes may use one file. `now` returns seconds since 1970. With `threads`, these
    are replicated, too. While the Supabase project lacks changes that it once had,
    nothing is fetched from it or sent to it.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        records: SupabaseRecords,
        now: Callable[[], float],
        threads: ThreadReplica | None = None,
    ) -> None:
        self._database = database
        self._records = records
        self._now = now
        self._threads = threads
        self._project_lost_changes = False

    def check_project(self) -> None:
        """Check that the Supabase project had not lost changes when it was last asked.

        Nothing is sent.

        Raises:
            StoreProblem: It lacked changes that it once had.
        """
        if self._project_lost_changes:
            raise build_lost_changes_error()

    async def catch_up(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Apply all changes since the last call, and return the number of changed
        records.

        `on_progress` is called after each page with the number of records so far.

        Raises:
            LrwrError: The Supabase project does not answer, or its data cannot be
                decoded.
            StoreProblem: The file cannot be written, or the Supabase project lacks
                changes that it had.
        """
        count, more = 0, True
        while more:
            link = await self._load_link()
            cursor = link.cursor
            page = await self._records.changes(cursor)
            self._set_lost_changes(lost=has_lost_changes(link, page))
            self.check_project()
            more = page.upto not in (cursor, page.version)
            if page.upto != cursor:
                await self._apply(page, cursor)
                count += len(page.records)
                if on_progress is not None:
                    on_progress(count)
        if self._threads is not None:
            await self._threads.catch_up(page.spoken)
        return count

    async def apply_write(
        self, put_result: PutResult, work: Callable[[sqlite3.Connection], Result]
    ) -> Result | None:
        """Run `work`, which writes into the file what the Supabase project has just
        stored.

        `put_result` is the Supabase project's result. If the file has already received
        later changes, which `work` would overwrite, it is not run and None is returned.
        """

        def write(connection: sqlite3.Connection) -> Result | None:
            link = _read_link(connection)
            if link.cursor > put_result.before:
                return None
            with preserve_sync_mark(connection):
                result = work(connection)
            if link.cursor == put_result.before:
                advance_cursor(connection, put_result.version)
            return result

        return await self._database.write(write)

    def _set_lost_changes(self, *, lost: bool) -> None:
        self._project_lost_changes = lost
        if self._threads is not None:
            self._threads.set_lost_changes(lost=lost)

    async def _load_link(self) -> LibraryLink:
        return await self._database.read(_read_link)

    async def _apply(self, page: RecordPage, cursor: int) -> None:
        decoded = await asyncio.to_thread(
            lambda: [decode_record(record) for record in page.records]
        )
        contents = [
            (content, await self._fetch_missing_vectors(content)) for content in decoded
        ]
        work = partial(_store_page, contents, (cursor, page.upto), self._now())
        await self._database.write(work)

    async def _fetch_missing_vectors(self, draft: RecordContent) -> list[EmbeddingRow]:
        """Fetch the vectors of the rows that the file does not have."""
        if not isinstance(draft, DocumentRows):
            return []
        local_texts = await self._database.read(
            lambda connection: find_embedded_texts(connection, draft.space, draft.texts)
        )
        lacking = sorted(draft.texts - local_texts)
        rows: list[EmbeddingRow] = []
        for batch in split_into_batches(lacking, VECTORS_PER_REQUEST):
            vectors = await self._records.vectors(draft.space, batch)
            rows += [(draft.space, text, vectors[text]) for text in vectors]
        return rows


def split_into_batches(
    items: Sequence[Result], size: int
) -> Iterable[Sequence[Result]]:
    """Return consecutive slices of at most `size` items, in the order of `items`."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _read_link(connection: sqlite3.Connection) -> LibraryLink:
    link = read_library_link(connection)
    if link is None:
        raise StoreProblem(
            "This library is no longer linked to a library in a project",
            hint="Run `lrwr push` to upload it, or `lrwr pull` to download another.",
        )
    return link


def _store_page(
    contents: Sequence[tuple[RecordContent, list[EmbeddingRow]]],
    step: tuple[int, int],
    now: float,
    connection: sqlite3.Connection,
) -> None:
    before, after = step
    if _read_link(connection).cursor != before:
        return  # another process has applied this page already
    with preserve_sync_mark(connection):
        for content, embeddings in contents:
            _store_content(connection, content, embeddings, now)
    advance_cursor(connection, after)


def _store_content(
    connection: sqlite3.Connection,
    content: RecordContent,
    embeddings: list[EmbeddingRow],
    now: float,
) -> None:
    match content:
        case DocumentRows():
            revision = _local_revision(connection, content)
            store_document_rows(
                connection, content, embeddings, revision=revision, now=now
            )
        case AttributionRows():
            store_attribution_rows(connection, content)
        case RecordTombstone(kind, key):
            # An attribution is deleted with its document, or replaced by a later record.
            if kind == DOCUMENT:
                delete_document_rows(connection, *parse_record_key(key), now)
        case cast:
            store_cast_json(connection, cast)


def _local_revision(connection: sqlite3.Connection, draft: DocumentRows) -> str:
    """Return the revision of the local file; empty if it never existed here."""
    parameters = (draft.content, draft.recipe, draft.id, draft.pipeline.value)
    revision, is_same = connection.execute(_STORED_REVISION, parameters).fetchone() or (
        "",
        True,
    )
    return str(revision) if is_same or not revision else FOREIGN_REVISION


FRESH_SECONDS = 5.0
"""Seconds after which a replica looks for changes again."""


UNREACHABLE_PAUSE = 60.0
"""Seconds for which a project that did not answer is not asked again."""


class ReplicaRefresher:
    """Lets a replica catch up before a read, at most every `FRESH_SECONDS`; await it.

    If the Supabase project does not answer, reads continue with the local data, `say`
    receives one notice until it answers again, and the next attempt is made after
    `UNREACHABLE_PAUSE` seconds. `clock` returns seconds.
    """

    def __init__(
        self,
        catch_up: Callable[[], Awaitable[int]],
        say: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catch_up = catch_up
        self._say = say
        self._clock = clock
        self._next_check = clock()
        self._has_notified = False
        self._lock = asyncio.Lock()

    @property
    def away(self) -> bool:
        """Whether the last attempt to catch up failed."""
        return self._has_notified

    async def __call__(self) -> None:
        """Catch up if the last attempt is long enough ago. Never raises LrwrError."""
        async with self._lock:
            if self._clock() < self._next_check:
                return
            try:
                await self._catch_up()
            except LrwrError as error:
                self._next_check = self._clock() + UNREACHABLE_PAUSE
                self._notify_unreachable(error)
            else:
                self._next_check = self._clock() + FRESH_SECONDS
                self._has_notified = False

    def _notify_unreachable(self, error: LrwrError) -> None:
        if not self._has_notified:
            self._has_notified = True
            self._say(
                f"Changes made on other machines are not available yet. {error.full_text}"
            )
