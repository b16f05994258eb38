"""Where conversations are kept."""

import json
import sqlite3
from collections.abc import Collection, Sequence

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.fts_index import build_fts_any_query
from lrwr.core.adapters.storage.sqlite.turn_rows import (
    THREAD_COLUMNS,
    TURN_COLUMNS,
    citations_from_json,
    gaps_from_json,
    parse_thread_row,
    parse_turn_row,
    replace_surrogates,
    state_to_json,
    turn_to_columns,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn, TurnId
from lrwr.core.ports.thread_store import RecordedGap, TurnCitations

_THREADS = f"""
select {THREAD_COLUMNS} from thread where deleted_at is null
order by updated_at desc, created_at desc, id
"""

_THREAD = f"select {THREAD_COLUMNS} from thread where id = ? and deleted_at is null"

_TURNS = f"""
select {TURN_COLUMNS} from turn join thread on thread.id = turn.thread_id
where thread.id = ? and thread.deleted_at is null
order by turn.number desc limit ?
"""

_GAPS = """
select json_extract(turn.output, '$.gap_flags'),
  json_extract(turn.output, '$.narrative_state_delta.as_of')
from turn join thread on thread.id = turn.thread_id
where thread.deleted_at is null and turn.state = 'complete'
  and json_array_length(turn.output, '$.gap_flags') > 0
order by turn.asked_at, turn.n
"""

_CITING = """
select turn.thread_id, turn.id, json_group_array(json(cited.value))
from turn join thread on thread.id = turn.thread_id
  join json_each(turn.output, '$.citations') cited
where thread.deleted_at is null
  and (?1 is null or json_extract(cited.value, '$.document')
    in (select value from json_each(?1)))
group by turn.n order by turn.asked_at, turn.n
"""

_NO_LIMIT = -1

_KEEP_THREAD = """
insert into thread (id, title, created_at, updated_at, state)
values (:thread, :title, :asked_at, :asked_at, :narrative)
on conflict (id) do update set updated_at = max(updated_at, excluded.updated_at),
  state = excluded.state, deleted_at = null, deletion = null
"""

_KEEP_TURN = """
insert into turn (
  id, thread_id, number, asked_at, state, price, usage, question, answer, output
)
select :id, :thread, coalesce(max(number), 0) + 1, :asked_at, :state, :price, :usage,
  :question, :answer, :output
from turn where thread_id = :thread
on conflict (id) do nothing
"""

_RENAME = "update thread set title = ? where id = ? and deleted_at is null"

_DELETE = """
update thread set deleted_at = ?,
  deletion = (select coalesce(max(deletion), 0) + 1 from thread)
where id = ? and deleted_at is null
"""

_DELETED_LAST = (
    "select id from thread where deletion is not null order by deletion desc"
)

_RESTORE = "update thread set deleted_at = null, deletion = null where id = ?"

_PURGE = "delete from thread where deleted_at < ?"

_SEARCH = f"""
select {THREAD_COLUMNS}, {TURN_COLUMNS}
from turn_fts join turn on turn.n = turn_fts.rowid
  join thread on thread.id = turn.thread_id
where turn_fts match ? and thread.deleted_at is null
order by bm25(turn_fts), turn.n desc limit ?
"""

_OF_THREAD = 6
"""Columns of a found row that are the conversation's."""


class SqliteThreadStore:
    """Keeps the `ThreadStore` port."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        return await self._database.read(
            lambda connection: [
                parse_thread_row(row) for row in connection.execute(_THREADS)
            ]
        )

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation."""
        return await self._database.read(lambda connection: _thread(connection, thread))

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them."""
        limit = _NO_LIMIT if last is None else max(0, last)
        rows = await self._database.read(
            lambda connection: connection.execute(_TURNS, (thread, limit)).fetchall()
        )
        return [parse_turn_row(row) for row in reversed(rows)]

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing."""
        kept = {
            **turn_to_columns(turn),
            "thread": thread,
            "title": replace_surrogates(title),
            "narrative": state_to_json(state),
        }
        return await self._database.write(
            lambda connection: _keep(connection, thread, kept)
        )

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title."""
        await self._change(_RENAME, replace_surrogates(title), thread)

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away."""
        await self._change(_DELETE, at, thread)

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last."""
        return await self._database.write(_restored)

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time."""
        return await self._database.write(
            lambda connection: connection.execute(_PURGE, (before,)).rowcount
        )

    async def gaps(self) -> list[RecordedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        return await self._database.read(
            lambda connection: [
                RecordedGap(gap, as_of)
                for flags, as_of in connection.execute(_GAPS)
                for gap in gaps_from_json(flags)
            ]
        )

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return what answers of kept conversations cite, oldest first."""
        wanted = None if documents is None else json.dumps(sorted(documents))
        return await self._database.read(
            lambda connection: [
                TurnCitations(
                    ThreadId(thread), TurnId(turn), citations_from_json(cited)
                )
                for thread, turn, cited in connection.execute(_CITING, (wanted,))
            ]
        )

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first."""
        match = build_fts_any_query(words)
        if not match:
            return []
        return await self._database.read(
            lambda connection: [
                (parse_thread_row(row[:_OF_THREAD]), parse_turn_row(row[_OF_THREAD:]))
                for row in connection.execute(_SEARCH, (match, max(0, limit)))
            ]
        )

    async def _change(self, sql: str, value: object, thread: ThreadId) -> None:
        changed = await self._database.write(
            lambda connection: connection.execute(sql, (value, thread)).rowcount
        )
        if not changed:
            raise _no_thread(thread)


def _thread(connection: sqlite3.Connection, thread: ThreadId) -> Thread:
    row = connection.execute(_THREAD, (thread,)).fetchone()
    if row is None:
        raise _no_thread(thread)
    return parse_thread_row(row)


def _keep(
    connection: sqlite3.Connection, thread: ThreadId, kept: dict[str, object]
) -> Thread:
    connection.execute(_KEEP_THREAD, kept)
    connection.execute(_KEEP_TURN, kept)
    return _thread(connection, thread)


def _restored(connection: sqlite3.Connection) -> Thread | None:
    row = connection.execute(_DELETED_LAST).fetchone()
    if row is None:
        return None
    connection.execute(_RESTORE, row)
    return _thread(connection, ThreadId(row[0]))


def _no_thread(thread: ThreadId) -> NotFound:
    return NotFound(
        f"There is no conversation {thread}", hint="`lrwr threads` lists them."
    )
