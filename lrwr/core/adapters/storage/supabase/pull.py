"""Bringing a library here from a project, in steps that can be resumed."""

import sqlite3
from dataclasses import astuple, dataclass
from functools import partial

from lrwr.core.adapters.storage.sqlite.database import Database
from lrwr.core.adapters.storage.supabase.push import REPLIES_AT_ONCE, Tell
from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
from lrwr.core.adapters.storage.supabase.replica import WorkingCopy
from lrwr.core.adapters.storage.supabase.row_transfer import Reply, WholeThread
from lrwr.core.adapters.storage.supabase.thread_rows import (
    digests,
    put_together,
    spoken_of,
)

_REPLY = """
insert into reply (key, made, prompt_tokens, completion_tokens, finding)
values (?, ?, ?, ?, ?) on conflict (key) do nothing
"""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull brought: records that changed, and what was not here yet."""

    records: int
    replies: int
    conversations: int


async def pull(
    database: Database, copy: WorkingCopy, records: SupabaseRecords, tell: Tell
) -> Pulled:
    """Bring all that changed there since the last time; conversations are put together.

    Raises:
        LrwrError: The project cannot be asked, or what it keeps cannot be read.
        StoreProblem: The library cannot be written.
    """
    came = await copy.catch_up(lambda count: tell("records", count, 0))
    replies = await _pull_replies(database, records, tell)
    return Pulled(came, replies, await _pull_conversations(database, records, tell))


async def _pull_replies(
    database: Database, records: SupabaseRecords, tell: Tell
) -> int:
    count, after = 0, ""
    while rows := await records.replies_after(after, REPLIES_AT_ONCE):
        after = rows[-1].key
        count += await database.write(partial(_keep_replies, rows=rows))
        tell("replies", count, 0)
    return count


async def _pull_conversations(
    database: Database, records: SupabaseRecords, tell: Tell
) -> int:
    before, known = await database.read(
        lambda connection: (spoken_of(connection), digests(connection))
    )
    marks = await records.threads.marks()
    others = [one for one in marks if known.get(one) != marks[one]]
    count = 0
    for number, id_ in enumerate(others):
        tell("conversations", number, len(others))
        thread = await records.threads.whole(id_)
        if thread is not None:
            work = partial(_put_together, thread=thread, before=before)
            count += await database.write(work)
    return count


def _put_together(
    connection: sqlite3.Connection, thread: WholeThread, before: int
) -> bool:
    """Write a conversation unless another process brought something newer meanwhile."""
    if spoken_of(connection) != before:
        return False
    put_together(connection, thread)
    return True


def _keep_replies(connection: sqlite3.Connection, rows: list[Reply]) -> int:
    return max(
        0, connection.executemany(_REPLY, [astuple(row) for row in rows]).rowcount
    )
