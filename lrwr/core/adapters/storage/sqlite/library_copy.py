"""A copy of the library to try things on, without what is nobody's business there."""

import sqlite3
from contextlib import closing
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.errors import translate_sqlite_error
from lrwr.core.adapters.storage.sqlite.maintenance import (
    MAINTENANCE_LOCK_TIMEOUT,
    copy_database,
)

_LEFT_OUT = ("job", "turn", "thread", "hosted")
"""Work that others have under way, conversations, and whose copy it is."""


def copy_library_for_dry_run(source: Path, target: Path) -> None:
    """Write a copy of the library to `target`, which must not exist.

    Others may use and change the library meanwhile; nothing in it is changed.

    Raises:
        StoreProblem: The library cannot be read, or the copy cannot be written.
    """
    copy_database(source, target)
    try:
        with closing(sqlite3.connect(target)) as connection, connection:
            _empty(connection)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(
            error, target, patience=MAINTENANCE_LOCK_TIMEOUT
        ) from error


def _empty(connection: sqlite3.Connection) -> None:
    # An older library may lack some of them.
    tables = connection.execute("select name from sqlite_schema").fetchall()
    for table in _LEFT_OUT:
        if (table,) in tables:
            connection.execute(f"delete from {table}")
