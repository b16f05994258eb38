"""Rows of a library that cannot be derived from the manuscript, and reading them.

These are threads with their turns, replies of language models, decisions about drafts
and the steps of drafting, the send log and jobs.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lrwr.core.adapters.storage.sqlite.checksums import decode_or_keep
from lrwr.core.adapters.storage.sqlite.database import open_library_read_only
from lrwr.core.adapters.storage.sqlite.errors import translate_sqlite_error

Row: TypeAlias = dict[str, object]
"""The values of a row by column name."""
UserRows: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows by the name of their table."""

USER_TABLES = (
    "thread",
    "turn",
    "reply",
    "draft",
    "draft_step",
    "sent",
    "sent_since",
    "job",
)
"""The tables, in the order in which their rows must be written."""

_LOCK_TIMEOUT = 3.0
_MAX_TIME = 1e11
"""Seconds since 1970 up to which a time is accepted, in the year 5138."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, its type in SQL, and whether it may be null."""

    name: str
    type: str
    nullable: bool
    is_row_number: bool


def list_columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    """Return the columns of a table, in their order."""
    rows = connection.execute(f"pragma table_info({table})").fetchall()
    return [
        Column(name, kind, not notnull, bool(key) and kind == "INTEGER")
        for _, name, kind, notnull, _, key in rows
    ]


def list_index_columns(
    connection: sqlite3.Connection, table: str
) -> dict[str, list[str]]:
    """Return the columns of the indexes of a table, by the name of the index."""
    indexes = connection.execute(f"pragma index_list({table})").fetchall()
    return {
        name: [
            column for _, _, column in connection.execute(f"pragma index_info({name})")
        ]
        for _, name, *_ in indexes
    }


def export_user_rows(
    connection: sqlite3.Connection, tables: Iterable[str]
) -> dict[str, list[Row]]:
    """Return all rows of `tables` in their stored order; none of a missing table."""
    exported = {}
    for table in tables:
        names = [column.name for column in list_columns(connection, table)]
        cursor = connection.execute(f"select * from {table}") if names else ()
        exported[table] = [dict(zip(names, row, strict=True)) for row in cursor]
    return exported


def load_user_rows(path: Path, tables: Iterable[str]) -> dict[str, list[Row]]:
    """Return all rows of `tables` in the library at `path`, in their stored order.

    Text that is not UTF-8, because it was damaged, is returned as bytes.

    Raises:
        StoreProblem: The library cannot be read.
    """
    try:
        with closing(
            open_library_read_only(path, patience=_LOCK_TIMEOUT)
        ) as connection:
            connection.text_factory = decode_or_keep
            connection.execute("BEGIN")
            return export_user_rows(connection, tables)
    except (sqlite3.Error, OSError, UnicodeError) as error:
        raise translate_sqlite_error(error, path, patience=_LOCK_TIMEOUT) from error


def list_expired_threads(path: Path, before: float) -> list[str]:
    """Return the ids of threads that were deleted before `before`, in seconds since 1970.

    Raises:
        StoreProblem: The library cannot be read.
    """
    rows = {"thread": load_user_rows(path, ["thread"])["thread"]}
    return [str(id_) for id_ in find_expired_threads(rows, before)]


def find_expired_threads(rows: UserRows, expired_before: float) -> set[object]:
    """Return the ids of the threads in `rows` that were deleted before this time.

    `expired_before` is in seconds since 1970.
    """
    return {
        row.get("id")
        for row in rows.get("thread", ())
        if is_time(row.get("deleted_at"))
        and row.get("deletion") is not None
        and float(str(row["deleted_at"])) < expired_before
    }


def is_time(value: object) -> bool:
    """Return whether `value` is a time in seconds since 1970 that can be true."""
    return isinstance(value, float) and 0 <= value < _MAX_TIME
