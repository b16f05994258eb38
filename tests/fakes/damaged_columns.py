"""Values of the wrong kind in every column of a library's tables."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

_VALUES: Mapping[str, Sequence[str]] = {
    "text": (
        *("'unknown'", "x'00ff'", "'[1]'", "null", "cast(x'ff41' as text)"),
        *("'{\"start\": {}}'", "''", "'\u00e9' || char(0)", "'9e999'", "'[[[['"),
    ),
    "integer": ("-1", "'x'", "9223372036854775807", "null", "1.5", "x'00ff'", "0"),
    "real": ("9e999", "'x'", "-1e300", "null", "253402300800.0", "x'00ff'"),
    "blob": ("x'00ff'", "x''", "'x'", "null", "zeroblob(1537)"),
}
"""SQL of wrong values by declared type. A changed bit can turn a number into a text."""
_TABLES = """
select name from sqlite_schema where type = 'table' and sql like 'create table%'
and name not like 'sqlite%' and name not like '%\\_fts%' escape '\\' order by name
"""


def list_tables(database: Path) -> list[str]:
    """Return the tables of the library's schema, without those of SQLite."""
    with closing(sqlite3.connect(database)) as connection:
        return [name for (name,) in connection.execute(_TABLES)]


def damage_columns(database: Path, table: str, seed: int) -> None:
    """Set one value of each row of a table to one of the wrong kind.

    Each row has it in the column after that of the row before; `seed` is the first.
    """
    triggers, sql = _loosen(database, table)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("pragma ignore_check_constraints = on")
        _damage_rows(connection, table, seed)
        connection.execute("pragma writable_schema = on")
        connection.execute(_SET_SQL, (sql, table))
        for trigger in triggers:
            connection.execute(trigger)


_SET_SQL = "update sqlite_schema set sql = ? where name = ?"


def _loosen(database: Path, table: str) -> tuple[list[str], str]:
    """Let a table take any value; return the dropped triggers, and the table's SQL."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        triggers = connection.execute(
            "select name, sql from sqlite_schema where type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"drop trigger {name}")
        (sql,) = connection.execute(
            "select sql from sqlite_schema where name = ?", (table,)
        ).fetchone()
        loose = re.sub(r"\)\s*strict(, (?=without))?", ") ", sql)
        connection.execute("pragma writable_schema = on")
        connection.execute(_SET_SQL, (loose.replace(" not null", ""), table))
    return [trigger for _, trigger in triggers], str(sql)


def _damage_rows(connection: sqlite3.Connection, table: str, seed: int) -> None:
    columns = connection.execute(f"pragma table_info({table})").fetchall()
    keys = [f'"{name}"' for _, name, *_, key in columns if key] or ["rowid"]
    where = " and ".join(f"{key} is ?" for key in keys)
    rows = connection.execute(f"select {', '.join(keys)} from {table}").fetchall()
    for number, row in enumerate(rows, start=seed):
        _, name, kind, *_ = columns[number % len(columns)]
        values = _VALUES[kind.lower()]
        value = values[number // len(columns) % len(values)]
        with suppress(sqlite3.IntegrityError):
            connection.execute(
                f'update or ignore {table} set "{name}" = {value} where {where}', row
            )
