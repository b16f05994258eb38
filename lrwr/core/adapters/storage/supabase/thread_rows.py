"""Threads in a replica's file, in the form in which a Supabase project exchanges them.

Triggers of the database mark every local change of a thread as unsent.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from lrwr.core.adapters.storage.sqlite.thread_store import SEAL_THREAD, SEAL_TURN
from lrwr.core.adapters.storage.supabase.thread_api import (
    ThreadRecord,
    TurnReceipt,
    TurnRecord,
)

_THREAD = """
select id, title, created_at, updated_at, deleted_at, state from thread where id = ?
"""

_TURN_COLUMNS = """
id, number, asked_at, state, price, usage, question, answer, output
"""

_TURNS = f"select {_TURN_COLUMNS} from turn where thread_id = ? order by number"

_UNSENT = f"""
select thread_id, {_TURN_COLUMNS} from turn join unsent_turn on turn_id = id order by n
"""

_CHANGED = "select thread_id from unsent_thread order by 1"

_HAS_UNSENT = """
select exists (select 1 from unsent_thread where thread_id = :id) or exists (
  select 1 from unsent_turn join turn on turn.id = turn_id where turn.thread_id = :id
)
"""

_SENT_TURNS = """
delete from unsent_turn where turn_id in (select value from json_each(?))
"""

_SENT_THREAD = """
delete from unsent_thread where thread_id = :id and exists (
  select 1 from thread
  where id = :id and title = :title and deleted_at is :deleted_at
)
"""

_SPOKEN = "select coalesce(max(spoken), 0) from hosted"

_SET_SPOKEN = "update hosted set spoken = ?"

_STORE_DIGEST = "insert or replace into hosted_thread (thread_id, digest) values (?, ?)"

_DELETE_MISSING = """
delete from thread where id in (select thread_id from hosted_thread)
  and id not in (select value from json_each(?))
  and id not in (select thread_id from unsent_thread)
  and id not in (
    select turn.thread_id from unsent_turn join turn on turn.id = turn_id
  )
"""

_NEXT_DELETION = """
select coalesce(max(deletion), 0) + 1 from thread where deleted_at <= ? and id <> ?
"""

_SHIFT_DELETIONS = "update thread set deletion = deletion + 1 where deletion >= ?"

_STAMPS = "select updated_at, deleted_at, deletion from thread where id = ?"

_STORE_THREAD = """
insert into thread (id, title, created_at, updated_at, deleted_at, deletion, state)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update set
  title = excluded.title, updated_at = excluded.updated_at,
  deleted_at = excluded.deleted_at, deletion = excluded.deletion, state = excluded.state
"""

_STORE_TURN = """
insert into turn (
  id, thread_id, number, asked_at, state, price, usage, question, answer, output
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_NUMBERS = "select number, id from turn where thread_id = ?"

ThreadStamps = tuple[float, float | None, int | None]
"""Times of the last turn and of the deletion, and the number of the deletion."""


@dataclass(frozen=True, slots=True)
class UnsentTurn:
    """A turn that may not be in the Supabase project yet, and its thread without
    turns.
    """

    thread: ThreadRecord
    turn: TurnRecord


def list_locally_changed_threads(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of threads with an unsent title, deletion or restoration."""
    return [str(row[0]) for row in connection.execute(_CHANGED)]


def load_thread_record(connection: sqlite3.Connection, id_: str) -> ThreadRecord | None:
    """Return the thread with the id `id_` and all its turns, even if it is deleted.

    None if it does not exist.
    """
    row = connection.execute(_THREAD, (id_,)).fetchone()
    if row is None:
        return None
    turns = connection.execute(_TURNS, (id_,))
    return ThreadRecord(*(*row, tuple(TurnRecord(*turn) for turn in turns)))


def list_unsent_turns(connection: sqlite3.Connection) -> list[UnsentTurn]:
    """Return the turns that may not be in the Supabase project yet, oldest first."""
    rows = connection.execute(_UNSENT).fetchall()
    return [
        UnsentTurn(_without_turns(connection, id_), TurnRecord(*row))
        for id_, *row in rows
    ]


def mark_thread_sent(connection: sqlite3.Connection, thread: ThreadRecord) -> None:
    """Mark a thread and its turns as sent.

    If the thread's title or deletion has changed since `thread` was read, it stays
    unsent.
    """
    connection.execute(_SENT_TURNS, (_turn_ids_json(thread.turns),))
    parameters = {
        "id": thread.id,
        "title": thread.title,
        "deleted_at": thread.deleted_at,
    }
    connection.execute(_SENT_THREAD, parameters)


def mark_turn_sent(
    connection: sqlite3.Connection,
    unsent: UnsentTurn,
    receipt: TurnReceipt,
    *,
    late: bool,
) -> None:
    """Mark a turn as sent; `receipt` is the answer of the Supabase project.

    If nothing else has changed there or in the thread since, the file's count of thread
    changes and the thread's digest are set from `receipt`, so that the thread need not
    be fetched again. `late` says that the turn was sent some time after it was asked.
    """
    thread = unsent.thread.id
    connection.execute(_SENT_TURNS, (_turn_ids_json([unsent.turn]),))
    followed = read_spoken_count(connection) == receipt.count - 1
    if followed and not late and not _has_unsent_changes(connection, thread):
        connection.execute(_STORE_DIGEST, (thread, receipt.digest))
        connection.execute(_SET_SPOKEN, (receipt.count,))


def read_spoken_count(connection: sqlite3.Connection) -> int:
    """Return the Supabase project's count of thread changes when the file last had all
    of them.
    """
    return int(connection.execute(_SPOKEN).fetchone()[0])


def read_thread_digests(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the digest of the version that the file has of each thread, by the
    thread's id.

    The digests are those of the Supabase project.
    """
    return dict(connection.execute("select thread_id, digest from hosted_thread"))


def store_remote_thread(connection: sqlite3.Connection, thread: ThreadRecord) -> bool:
    """Replace a thread in the file by `thread`, which the Supabase project has sent.

    If the thread has unsent changes, it is not replaced and False is returned. The
    turns of `thread` are marked as sent in any case.
    """
    connection.execute(_SENT_TURNS, (_turn_ids_json(thread.turns),))
    if _has_unsent_changes(connection, thread.id):
        return False
    stamps = connection.execute(_STAMPS, (thread.id,)).fetchone()
    connection.execute("delete from thread where id = ?", (thread.id,))
    _store_thread_row(connection, thread, stamps)
    for turn in thread.turns:
        _store_turn_row(connection, turn, thread.id, turn.number)
    connection.execute(_SENT_TURNS, (_turn_ids_json(thread.turns),))
    connection.execute(_STORE_DIGEST, (thread.id, thread.digest))
    return True


def store_remote_thread_if_complete(
    connection: sqlite3.Connection, thread: ThreadRecord
) -> bool:
    """Replace a thread in the file by `thread`, unless that lacks turns that the file
    has.

    A Supabase project that was restored from a backup may lack some. Returns whether it
    was replaced; a thread with unsent changes is not.
    """
    local_ids = {id_ for _, id_ in connection.execute(_NUMBERS, (thread.id,))}
    if not local_ids <= {turn.id for turn in thread.turns}:
        return False
    return store_remote_thread(connection, thread)


def merge_remote_thread(connection: sqlite3.Connection, thread: ThreadRecord) -> None:
    """Merge `thread`, which the Supabase project has sent, into the file's thread.

    Unsent turns of the file remain. Title, state and deletion are those of the version
    that changed later; in a tie those of the file if it was changed locally. A new turn
    whose number is taken gets the next free one.
    """
    if store_remote_thread(connection, thread):
        return
    stamps = connection.execute(_STAMPS, (thread.id,)).fetchone()
    is_locally_changed = thread.id in list_locally_changed_threads(connection)
    if stamps[0] < thread.updated_at or (
        stamps[0] == thread.updated_at and not is_locally_changed
    ):
        _store_thread_row(connection, thread, stamps)
        connection.execute(
            "delete from unsent_thread where thread_id = ?", (thread.id,)
        )
    turn_by_number = dict(connection.execute(_NUMBERS, (thread.id,)).fetchall())
    local_ids = set(turn_by_number.values())
    for turn in thread.turns:
        if turn.id not in local_ids:
            number = turn.number
            while number in turn_by_number:
                number += 1
            turn_by_number[number] = turn.id
            _store_turn_row(connection, turn, thread.id, number)
    connection.execute(_SENT_TURNS, (_turn_ids_json(thread.turns),))


def mark_threads_received(
    connection: sqlite3.Connection, threads: Collection[str], spoken: int
) -> bool:
    """Record that the file has all threads of the Supabase project, and delete others.

    `threads` are the ids of the threads there, `spoken` is its count of thread changes.
    Threads with unsent changes are not deleted. Returns whether the file is linked to a
    Supabase project.
    """
    connection.execute(_DELETE_MISSING, (json.dumps(sorted(threads)),))
    return connection.execute(_SET_SPOKEN, (spoken,)).rowcount > 0


def _without_turns(connection: sqlite3.Connection, id_: str) -> ThreadRecord:
    row = connection.execute(_THREAD, (id_,)).fetchone()
    return ThreadRecord(*(*row, ()))


def _has_unsent_changes(connection: sqlite3.Connection, id_: str) -> bool:
    """Return whether a thread has changes that the project does not have."""
    return bool(connection.execute(_HAS_UNSENT, {"id": id_}).fetchone()[0])


def _turn_ids_json(turns: Collection[TurnRecord]) -> str:
    return json.dumps([turn.id for turn in turns])


def _store_thread_row(
    connection: sqlite3.Connection, thread: ThreadRecord, stamps: ThreadStamps | None
) -> None:
    row = (
        thread.id,
        thread.title,
        thread.created_at,
        thread.updated_at,
        thread.deleted_at,
        _assign_deletion(connection, thread, stamps),
        thread.state,
    )
    connection.execute(_STORE_THREAD, row)
    connection.execute(SEAL_THREAD, (thread.id,))


def _assign_deletion(
    connection: sqlite3.Connection, thread: ThreadRecord, stamps: ThreadStamps | None
) -> int | None:
    """Return the number of this deletion among all deletions, ordered by time."""
    if thread.deleted_at is None:
        return None
    if stamps is not None and stamps[1] == thread.deleted_at:
        return stamps[2]
    parameters = (thread.deleted_at, thread.id)
    place = int(connection.execute(_NEXT_DELETION, parameters).fetchone()[0])
    connection.execute(_SHIFT_DELETIONS, (place,))
    return place


def _store_turn_row(
    connection: sqlite3.Connection, turn: TurnRecord, thread: str, number: int
) -> None:
    row = (
        turn.id,
        thread,
        number,
        turn.asked_at,
        turn.state,
        turn.price,
        turn.usage,
        turn.question,
        turn.answer,
        turn.output,
    )
    connection.execute(_STORE_TURN, row)
    connection.execute(SEAL_TURN, (turn.id,))
