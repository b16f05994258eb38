"""Replacement of stored rows that do not fit their checksum by sound copies."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    checksum_parameters_sql,
    fits_sql,
)
from lrwr.core.adapters.storage.sqlite.fts_index import rebuild_fts_indexes


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
