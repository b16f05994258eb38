"""The library's schema: numbered scripts, each run once."""

import sqlite3
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from lrwr.core.model.errors import StoreProblem

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

SCHEMA_VERSION = 5
"""The newest migration: `migrations/` holds the numbers from 1 to this."""

NoticeCallback = Callable[[str], None]
"""Takes a sentence for the writer."""


def read_schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema of the open file, 0 for a new one."""
    row: tuple[object] = connection.execute("PRAGMA user_version").fetchone()
    if not isinstance(row[0], int):
        raise StoreProblem("The library does not tell its version.")
    return row[0]


def find_newest_migration(folder: "Traversable | None") -> int:
    """Return the schema that the scripts of `folder` lead to; None: those of lrwr."""
    return SCHEMA_VERSION if folder is None else len(_scripts(folder))


def migrate_sqlite_library(
    connection: sqlite3.Connection, folder: "Traversable | None", say: NoticeCallback
) -> None:
    """Run the scripts that this file has not seen, inside the caller's transaction.

    `say` is told when a library that was in use is changed.
    """
    known = read_schema_version(connection)  # another process may have been here first
    scripts = _scripts(folder or _shipped())[known:]
    for script in scripts:
        for statement in _statements(script.read_text(encoding="utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {int(script.name[:3])}")
    if known and scripts:
        say(f"The library was brought from schema {known} to {known + len(scripts)}.")


def find_migration_statement(words: str) -> str:
    """Return the one statement of lrwr's own scripts that holds `words`."""
    (found,) = (
        statement
        for script in _scripts(_shipped())
        for statement in _statements(script.read_text(encoding="utf-8"))
        if words in statement
    )
    return found


def _shipped() -> "Traversable":
    return files("lrwr.core.adapters.storage.sqlite") / "migrations"


def _scripts(folder: "Traversable") -> "list[Traversable]":
    return sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
