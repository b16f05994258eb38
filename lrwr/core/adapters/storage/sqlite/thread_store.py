"""Threads (saved conversations) in SQLite: turns are rows, their parts JSON."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import TypeVar

from lrwr.core.adapters.storage.sqlite.checksums import (
    fits_sql,
    replace_unless,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.fts_index import build_fts_any_query
from lrwr.core.model.codec import (
    InvalidData,
    decode_json,
    decode_value,
    encode_json,
    encode_value,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import replace_surrogates
from lrwr.core.model.turns import (
    AnswerIntent,
    Citation,
    GapFlag,
    NarrativeState,
    SupervisorOutput,
    Thread,
    ThreadId,
    Turn,
    TurnId,
    TurnState,
)
from lrwr.core.ports.threads import RecordedGap, TurnCitations

THREAD_COLUMNS = f"""
  thread.id, thread.title, thread.created_at, thread.updated_at,
  (select count(*) from turn of_it where of_it.thread_id = thread.id), thread.state,
  {fits_sql("thread")}
"""
"""The columns that `parse_thread_row` expects."""
TURN_COLUMNS = f"""
  turn.id, turn.number, turn.asked_at, turn.state, turn.price, turn.usage,
  turn.question, turn.answer, turn.output, {fits_sql("turn")}
"""
"""The columns that `parse_turn_row` expects."""
ThreadRow = tuple[str, str, float, float, int, str, int]
Decoded = TypeVar("Decoded")
TurnRow = tuple[str, int, float, str, float | None, str, str, str, str, int]


def parse_thread_row(row: ThreadRow) -> Thread:
    """Return the thread in a row with the columns `THREAD_COLUMNS`."""
    id_, title, created_at, updated_at, turns, state, fits = row
    return Thread(
        id=ThreadId(id_),
        title=replace_unless(title, ""),
        created_at=replace_unless(created_at, 0.0),
        updated_at=replace_unless(updated_at, 0.0),
        turns=turns,
        state=_decode_or(state, NarrativeState, NarrativeState()),
        is_damaged=not fits,
    )


def parse_turn_row(row: TurnRow) -> Turn:
    """Return the turn in a row with the columns `TURN_COLUMNS`."""
    id_, number, asked_at, state, price, usage, question, answer, output, fits = row
    return Turn(
        id=TurnId(id_),
        number=replace_unless(number, 0),
        asked_at=replace_unless(asked_at, 0.0),
        question=replace_unless(question, ""),
        output=_decode_output(output, replace_unless(answer, "")),
        state=TurnState.STOPPED if state == TurnState.STOPPED else TurnState.COMPLETE,
        usage=_decode_or(usage, Usage, Usage()),
        price=None if price is None else replace_unless(price, 0.0),
        is_damaged=not fits,
    )


def _decode_output(output: str, answer: str) -> SupervisorOutput:
    """Return an answer; without its citations if `output` is damaged."""
    try:
        fields = {**json.loads(output), "response_text": answer}
        return decode_value(fields, SupervisorOutput)
    except (ValueError, TypeError, RecursionError):
        return SupervisorOutput(
            response_text=answer,
            intent=AnswerIntent.ANALYTICAL,
            resolved_characters=(),
            citations=(),
            gap_flags=(),
            narrative_state_delta=NarrativeState(),
            remarks=("The stored citations of this answer are damaged.",),
        )


def _decode_or(text: str, kind: type[Decoded], otherwise: Decoded) -> Decoded:
    """Return the value in a JSON text, or `otherwise` if the text is damaged.

    The words of a thread are the writer's, so they are shown without it.
    """
    try:
        return decode_json(text, kind)
    except InvalidData:
        return otherwise


def turn_to_columns(turn: Turn) -> dict[str, object]:
    """Return the column values of a turn, by column name, without the turn's number."""
    output = encode_value(turn.output)
    answer = output.pop("response_text")
    return {
        "id": turn.id,
        "asked_at": turn.asked_at,
        "state": turn.state.value,
        "price": turn.price,
        "usage": encode_json(turn.usage),
        "question": replace_surrogates(turn.question),
        "answer": replace_surrogates(answer),
        "output": replace_surrogates(encode_json(output)),
    }


def state_to_json(state: NarrativeState) -> str:
    """Return a thread's state as JSON text, for storage."""
    return replace_surrogates(encode_json(state))


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
# SQLite stops at damaged JSON, so an answer with such is read as an empty object.
_OUTPUT = "iif(json_valid(turn.output), turn.output, '{}')"
_GAPS = f"""
select 1, json_extract({_OUTPUT}, '$.gap_flags'),
  json_extract({_OUTPUT}, '$.narrative_state_delta.as_of')
from turn join thread on thread.id = turn.thread_id
where thread.deleted_at is null and turn.state = 'complete'
  and json_array_length({_OUTPUT}, '$.gap_flags') > 0
order by turn.asked_at, turn.n
"""
_CITING = f"""
select 1, turn.thread_id, turn.id, json_group_array(json(cited.value))
from turn join thread on thread.id = turn.thread_id
  join json_each({_OUTPUT}, '$.citations') cited
where thread.deleted_at is null
  and (?1 is null or json_extract(cited.value, '$.document')
    in (select value from json_each(?1)))
group by turn.n order by turn.asked_at, turn.n
"""
_NO_LIMIT = -1
_STORE_THREAD = """
insert into thread (id, title, created_at, updated_at, state)
values (:thread, :title, :asked_at, :asked_at, :narrative)
on conflict (id) do update set updated_at = max(updated_at, excluded.updated_at),
  state = excluded.state, deleted_at = null, deletion = null
"""
_STORE_TURN = """
insert into turn (
  id, thread_id, number, asked_at, state, price, usage, question, answer, output
)
select :id, :thread, coalesce(max(number), 0) + 1, :asked_at, :state, :price, :usage,
  :question, :answer, :output
from turn where thread_id = :thread
on conflict (id) do nothing
"""
SEAL_THREAD = seal_sql("thread", "id = ?")
"""Sets the checksum of the thread with this id; needed after each change of it."""
SEAL_TURN = seal_sql("turn", "id = ?")
"""Sets the checksum of the turn with this id."""
_IS_DAMAGED = f"select 1 from thread where id = ? and not {fits_sql('thread')}"
_RENAME = "update thread set title = ? where id = ? and deleted_at is null"
_DELETE = """
update thread set deleted_at = ?,
  deletion = (select coalesce(max(deletion), 0) + 1 from thread)
where id = ? and deleted_at is null
"""
_LAST_DELETED = (
    "select id from thread where deletion is not null order by deletion desc"
)
_RESTORE = "update thread set deleted_at = null, deletion = null where id = ?"
# A thread without the number of its deletion is damaged, not deleted.
_PURGE = "delete from thread where deleted_at < ? and deletion is not null"
_SEARCH = f"""
select {THREAD_COLUMNS}, {TURN_COLUMNS}
from turn_fts join turn on turn.n = turn_fts.rowid
  join thread on thread.id = turn.thread_id
where turn_fts match ? and thread.deleted_at is null
order by bm25(turn_fts), turn.n desc limit ?
"""
_THREAD_COLUMN_COUNT = 7
"""Number of columns in `THREAD_COLUMNS`."""


class SqliteThreadStore:
    """The `ThreadStore` port in the library's SQLite file.

    Every method raises StoreProblem if the library cannot be read or written.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def threads(self) -> list[Thread]:
        """Return all threads that are not deleted, the most recently used first."""
        return await self._database.read(
            lambda connection: [
                parse_thread_row(row) for row in connection.execute(_THREADS)
            ]
        )

    async def thread(self, thread: ThreadId) -> Thread:
        """Return the thread with this id, without its turns.

        Raises:
            NotFound: It does not exist or is deleted.
        """
        return await self._database.read(lambda connection: _thread(connection, thread))

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return the turns of a thread, oldest first.

        With `last`, return only that many of the newest. Empty if the thread does not
        exist or is deleted.
        """
        limit = _NO_LIMIT if last is None else max(0, last)
        newest_first = await self._database.read(
            lambda connection: [
                parse_turn_row(row)
                for row in connection.execute(_TURNS, (thread, limit))
            ]
        )
        return newest_first[::-1]

    async def save_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Store a turn of a thread, and `state`, the thread's state after it,
        atomically; return the thread.

        A thread that does not exist is created with `title`; a deleted one is restored.
        A turn that is already stored is not added again.
        """
        parameters = {
            **turn_to_columns(turn),
            "thread": thread,
            "title": replace_surrogates(title),
            "narrative": state_to_json(state),
        }
        return await self._database.write(
            lambda connection: _store_turn(connection, thread, parameters)
        )

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Set the title of a thread.

        A thread with damaged rows stays marked as damaged.

        Raises:
            NotFound: The thread does not exist or is deleted.
        """
        await self._change(_RENAME, replace_surrogates(title), thread)

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Mark a thread as deleted at the time `at`, in seconds since 1970; it can be
        restored.

        Raises:
            NotFound: The thread does not exist or is deleted already.
        """
        await self._change(_DELETE, at, thread)

    async def restore(self) -> Thread | None:
        """Restore the thread that was deleted last, and return it; None if none is
        deleted.
        """
        return await self._database.write(_restore_last)

    async def purge(self, before: float) -> int:
        """Remove for good the deleted threads whose deletion was earlier than `before`.

        Returns their number. `before` is in seconds since 1970.
        """
        return await self._database.write(
            lambda connection: connection.execute(_PURGE, (before,)).rowcount
        )

    async def gaps(self) -> list[RecordedGap]:
        """Return the open questions recorded in complete answers, the oldest answer
        first.

        Deleted threads are left out. A question recorded in several answers occurs
        several times.
        """
        return await self._database.read(
            lambda connection: [
                recorded
                for answer in self._database.decode_rows(
                    connection.execute(_GAPS), _recorded_gaps
                )
                for recorded in answer
            ]
        )

    async def turn_citations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return the citations of each turn's answer, oldest turn first.

        With `documents`, only citations of these documents. Turns without any, and
        deleted threads, are left out.
        """
        documents_json = None if documents is None else json.dumps(sorted(documents))
        return await self._database.read(
            lambda connection: self._database.decode_rows(
                connection.execute(_CITING, (documents_json,)), _turn_citations
            )
        )

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return at most `limit` turns that contain any of `words`, each with its
        thread.

        The best come first (by BM25), of equal ones the newer. Words are compared by
        stem. Turns of deleted threads are left out. Empty if `words` is empty.
        """
        match = build_fts_any_query(words)
        if not match:
            return []
        return await self._database.read(
            lambda connection: [
                (
                    parse_thread_row(row[:_THREAD_COLUMN_COUNT]),
                    parse_turn_row(row[_THREAD_COLUMN_COUNT:]),
                )
                for row in connection.execute(_SEARCH, (match, max(0, limit)))
            ]
        )

    async def _change(self, sql: str, value: object, thread: ThreadId) -> None:
        def work(connection: sqlite3.Connection) -> int:
            is_sound = not connection.execute(_IS_DAMAGED, (thread,)).fetchone()
            changed = connection.execute(sql, (value, thread)).rowcount
            if sql == _RENAME and is_sound:  # else its state would pass for sound
                connection.execute(SEAL_THREAD, (thread,))
            return changed

        if not await self._database.write(work):
            raise _build_not_found(thread)


def _recorded_gaps(row: Sequence[str]) -> list[RecordedGap]:
    flags, as_of = row
    return [RecordedGap(gap, as_of) for gap in decode_json(flags, tuple[GapFlag, ...])]


def _turn_citations(row: Sequence[str]) -> TurnCitations:
    thread, turn, cited = row
    citations = decode_json(cited, tuple[Citation, ...])
    by_number = sorted(citations, key=lambda citation: citation.number)
    return TurnCitations(ThreadId(thread), TurnId(turn), tuple(by_number))


def _thread(connection: sqlite3.Connection, thread: ThreadId) -> Thread:
    row = connection.execute(_THREAD, (thread,)).fetchone()
    if row is None:
        raise _build_not_found(thread)
    return parse_thread_row(row)


def _store_turn(
    connection: sqlite3.Connection, thread: ThreadId, parameters: dict[str, object]
) -> Thread:
    is_sound = not connection.execute(_IS_DAMAGED, (thread,)).fetchone()
    connection.execute(_STORE_THREAD, parameters)
    connection.execute(_STORE_TURN, parameters)
    if is_sound:  # else a damaged title would pass for the stored one
        connection.execute(SEAL_THREAD, (thread,))
    connection.execute(f"{SEAL_TURN} and crc is null", (parameters["id"],))
    return _thread(connection, thread)


def _restore_last(connection: sqlite3.Connection) -> Thread | None:
    row = connection.execute(_LAST_DELETED).fetchone()
    if row is None:
        return None
    connection.execute(_RESTORE, row)
    return _thread(connection, ThreadId(row[0]))


def _build_not_found(thread: ThreadId) -> NotFound:
    return NotFound(
        f"There is no thread {thread}", hint="Run `lrwr threads` to list the threads."
    )
