"""Replacement of stored rows that do not fit their checksum by sound copies."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    checksum_parameters_sql,
    fits_sql,
    register_row_checksum,
)
from lrwr.core.adapters.storage.sqlite.fts_index import rebuild_fts_indexes

_Rows: TypeAlias = Mapping[str, Sequence[dict[str, object]]]
"""Rows by the name of their table."""
_KEYS: Mapping[str, str] = {"thread": "id", "turn": "id", "reply": "key"}


def fits_own_checksum(
    connection: sqlite3.Connection, table: str, row: Mapping[str, Any]
) -> bool:
    """Return whether a row of `table`, stored or not, has its checksum in `crc`."""
    covered = CHECKED_COLUMNS[table]
    if row.get("crc") is None or not row.keys() >= set(covered):
        return False
    sql = f"select {checksum_parameters_sql(table)}"
    computed = connection.execute(sql, {column: row[column] for column in covered})
    return bool(computed.fetchone()[0] == row["crc"])


def is_damaged_row(connection: sqlite3.Connection, table: str, id_: object) -> bool:
    """Return whether the row with the id `id_` is stored and does not fit its checksum."""
    sql = f"select 1 from {table} where id = ? and not {fits_sql(table)}"
    return connection.execute(sql, (id_,)).fetchone() is not None


def replace_damaged_row(
    connection: sqlite3.Connection, table: str, copy: Mapping[str, Any]
) -> bool:
    """Overwrite the stored row with the id of `copy` if it is damaged and `copy` is not.

    Must be called inside a transaction. Returns whether it was overwritten; not, if that
    would violate a constraint.
    """
    if not is_damaged_row(connection, table, copy["id"]) or not fits_own_checksum(
        connection, table, copy
    ):
        return False
    # Triggers delete from a full-text index what the table has; both must agree.
    rebuild_fts_indexes(connection)
    columns = (*CHECKED_COLUMNS[table], "crc")
    settings = ", ".join(f'"{column}" = :{column}' for column in columns)
    sql = f"update or ignore {table} set {settings} where id = :id"
    values = {column: copy[column] for column in columns}
    return connection.execute(sql, values).rowcount == 1


def keep_sound_rows(
    rows: _Rows, copies: Sequence[_Rows], *, adds_missing: bool
) -> dict[str, Sequence[dict[str, object]]]:
    """Return `rows`, with damaged threads, turns and replies as they were in `copies`.

    `copies` are earlier states of the rows, the newest first. A row that does not fit
    its checksum gets the values of the newest copy with its key that does; without one
    it stays. With `adds_missing`, sound rows whose keys `rows` lack follow.
    """
    completed = dict(rows)
    with closing(sqlite3.connect(":memory:")) as connection:
        register_row_checksum(connection)
        for table, key in _KEYS.items():
            is_sound = partial(_is_sound, connection, table)
            intact = {
                row[key] for row in rows[table] if row["crc"] is None or is_sound(row)
            }
            damaged = {row[key] for row in rows[table]} - intact
            candidates = [
                row
                for row in chain.from_iterable(copy[table] for copy in reversed(copies))
                if str(row.get(key)) in damaged
                or (adds_missing and str(row.get(key)) not in intact)
            ]
            sound = {row[key]: row for row in filter(is_sound, candidates)}
            completed[table] = list(_replace_rows(table, rows[table], sound))
    return completed


def find_lost_threads(rows: _Rows, copies: Sequence[_Rows]) -> set[object]:
    """Return the ids of threads with damaged rows of which no copy is sound.

    Arguments are as in `keep_sound_rows`.
    """
    threads = {"thread": rows["thread"], "turn": rows["turn"], "reply": ()}
    healed = keep_sound_rows(threads, copies, adds_missing=False)
    lost: set[object] = set()
    with closing(sqlite3.connect(":memory:")) as connection:
        register_row_checksum(connection)
        for table, id_ in (("thread", "id"), ("turn", "thread_id")):
            lost.update(
                row[id_]
                for row in healed[table]
                if row["crc"] is not None and not _is_sound(connection, table, row)
            )
    return lost


def _is_sound(
    connection: sqlite3.Connection, table: str, row: Mapping[str, Any]
) -> bool:
    try:
        return fits_own_checksum(connection, table, row)
    except (sqlite3.Error, ValueError, OverflowError):
        return False  # a value that SQLite does not store


def _replace_rows(
    table: str,
    rows: Sequence[dict[str, object]],
    sound: dict[object, dict[str, object]],
) -> Iterator[dict[str, object]]:
    """Yield `rows` with the checked columns of `sound`, then the rest of `sound`."""
    columns = (*CHECKED_COLUMNS[table], "crc")
    for row in rows:
        copy = sound.pop(row[_KEYS[table]], None)
        yield row if copy is None else {**row, **{name: copy[name] for name in columns}}
    yield from sound.values()
