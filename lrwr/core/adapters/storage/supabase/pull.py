"""Bringing a library here from a project, in steps that can be resumed."""

import sqlite3
from dataclasses import astuple, dataclass
from functools import partial

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.push import (
    REPLIES_PER_REQUEST,
    PushProgressCallback,
)
from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
from lrwr.core.adapters.storage.supabase.row_transfer import ModelReplyRow, ThreadRecord
from lrwr.core.adapters.storage.supabase.thread_rows import (
    merge_remote_thread,
    read_spoken_count,
    read_thread_digests,
)

_REPLY = """
insert into reply (key, made, prompt_tokens, completion_tokens, finding)
values (?, ?, ?, ?, ?) on conflict (key) do nothing
"""


@dataclass(frozen=True, slots=True)
class PullResult:
    """What a pull brought: records that changed, and what was not here yet."""

    records: int
    replies: int
    conversations: int


async def pull_remote_changes(
    database: SqliteDatabase,
    copy: SupabaseReplica,
    records: SupabaseRecords,
    tell: PushProgressCallback,
) -> PullResult:
    """Bring all that changed there since the last time; conversations are put together.

    Raises:
        LrwrError: The project cannot be asked, or what it keeps cannot be read.
        StoreProblem: The library cannot be written.
    """
    record_count = await copy.catch_up(lambda count: tell("records", count, 0))
    replies = await _pull_replies(database, records, tell)
    return PullResult(
        record_count, replies, await _pull_conversations(database, records, tell)
    )


async def _pull_replies(
    database: SqliteDatabase, records: SupabaseRecords, tell: PushProgressCallback
) -> int:
    count, after = 0, ""
    while rows := await records.replies_after(after, REPLIES_PER_REQUEST):
        after = rows[-1].key
        count += await database.write(partial(_keep_replies, rows=rows))
        tell("replies", count, 0)
    return count


async def _pull_conversations(
    database: SqliteDatabase, records: SupabaseRecords, tell: PushProgressCallback
) -> int:
    before, known_digests = await database.read(
        lambda connection: (
            read_spoken_count(connection),
            read_thread_digests(connection),
        )
    )
    marks = await records.threads.marks()
    changed_threads = [mark for mark in marks if known_digests.get(mark) != marks[mark]]
    count = 0
    for number, id_ in enumerate(changed_threads):
        tell("conversations", number, len(changed_threads))
        thread = await records.threads.whole(id_)
        if thread is not None:
            work = partial(_put_together, thread=thread, before=before)
            count += await database.write(work)
    return count


def _put_together(
    connection: sqlite3.Connection, thread: ThreadRecord, before: int
) -> bool:
    """Write a conversation unless another process brought something newer meanwhile."""
    if read_spoken_count(connection) != before:
        return False
    merge_remote_thread(connection, thread)
    return True


def _keep_replies(connection: sqlite3.Connection, rows: list[ModelReplyRow]) -> int:
    return max(
        0, connection.executemany(_REPLY, [astuple(row) for row in rows]).rowcount
    )
