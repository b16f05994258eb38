"""The indexes of words: each can be made anew from what the library keeps."""

import sqlite3
from contextlib import suppress

from lrwr.core.adapters.storage.sqlite.connection import is_read_only_error
from lrwr.core.adapters.storage.sqlite.migrator import find_migration_statement

_INDEXES = ("chunk_fts_a", "chunk_fts_b", "fact_fts", "turn_fts")

_SHADOWS = ("data", "idx", "content", "docsize", "config")
"""Endings of the tables that FTS5 keeps an index in."""


def check_fts_consistency(connection: sqlite3.Connection) -> bool | None:
    """Ask the indexes to compare themselves with what they are made of.

    None where nobody can tell: another process writes, or nothing may be written.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")  # the question is put as a write
        for index in _INDEXES:
            connection.execute(
                f"insert into {index} ({index}, rank) values ('integrity-check', 1)"
            )
    except sqlite3.Error as error:
        busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        return None if busy or is_read_only_error(error) else False
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
    return True


def rebuild_fts_indexes(connection: sqlite3.Connection) -> None:
    """Fill every index that is there anew, inside the caller's transaction."""
    for index in _there(connection):
        _rebuild(connection, index)


def recreate_fts_indexes(connection: sqlite3.Connection) -> None:
    """Put a new index in the place of every one, whatever is left of it.

    FTS5 does not even drop an index that it cannot read, and SQLite no table whose
    pages are damaged: they are struck out of the schema, and their pages stay as ones
    that nothing uses. The connection must not have read an index before: one that
    failed is held on to.
    """
    indexes = _there(connection)
    connection.execute("PRAGMA writable_schema = ON")
    try:
        for index in indexes:
            for name in (index, *(f"{index}_{ending}" for ending in _SHADOWS)):
                connection.execute(
                    "delete from sqlite_schema where tbl_name = ?", (name,)
                )
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
    for index in indexes:
        _make(connection, index)


def create_missing_fts_indexes(connection: sqlite3.Connection) -> None:
    """Make and fill the indexes that are not there; the schema must be the newest."""
    there = _there(connection)
    for index in _INDEXES:
        if index not in there:
            _make(connection, index)


def _there(connection: sqlite3.Connection) -> list[str]:
    known = {row[0] for row in connection.execute("select name from sqlite_schema")}
    return [index for index in _INDEXES if index in known]


def _make(connection: sqlite3.Connection, index: str) -> None:
    connection.execute(find_migration_statement(f"create virtual table {index} "))
    _rebuild(connection, index)


def _rebuild(connection: sqlite3.Connection, index: str) -> None:
    connection.execute(f"insert into {index} ({index}) values ('rebuild')")
