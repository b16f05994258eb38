"""Which library of a project a file on this machine is a working copy of."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.core.adapters.storage.sqlite.database import open_library_read_only
from lrwr.core.adapters.storage.sqlite.errors import translate_sqlite_error
from lrwr.core.model.errors import StoreProblem

if TYPE_CHECKING:
    from lrwr.core.adapters.storage.supabase.records import RecordPage

_PATIENCE = 10.0
"""Seconds to wait for a lock."""

_HAS_TABLE = "select 1 from sqlite_schema where name = 'hosted'"

_BINDING = """
select project, account, library, name, writer, cursor, apart, spoken from hosted
"""

_BIND = """
insert or replace into hosted (
  id, project, account, library, name, writer, cursor, apart, spoken
) values (1, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_ALL_UNSENT = (
    "delete from hosted_thread",
    "insert or ignore into unsent_thread select id from thread",
    "insert or ignore into unsent_turn select id from turn",
)


@dataclass(frozen=True, slots=True)
class LibraryLink:
    """A library of an account at a project's address.

    `writer` names this copy of it. All up to version `cursor` is here; `apart` says
    that something was read here besides, which the project does not know. `spoken`
    says how often the library was spoken in when all its conversations were here.
    """

    project: str
    account: str
    library: str
    name: str
    writer: str
    cursor: int = 0
    apart: bool = False
    spoken: int = 0


def create_library_link(
    project: str, account: str, library: str, name: str
) -> LibraryLink:
    """Bind a file that has nothing of that library yet."""
    return LibraryLink(project, account, library, name, writer=uuid4().hex)


def read_library_link(connection: sqlite3.Connection) -> LibraryLink | None:
    """Return what a file is bound to; None where to nothing."""
    row = connection.execute(_BINDING).fetchone()
    if row is None:
        return None
    bound = LibraryLink(*row)
    return replace(bound, apart=bool(bound.apart))


def load_library_link(path: Path) -> LibraryLink | None:
    """Return what the library at `path` is bound to; None where there is no library.

    Raises:
        StoreProblem: The file cannot be read.
    """
    if not path.exists():
        return None
    try:
        with closing(open_library_read_only(path, patience=_PATIENCE)) as connection:
            if not connection.execute(_HAS_TABLE).fetchone():
                return None  # it was made by an older lrwr
            return read_library_link(connection)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, path, patience=_PATIENCE) from error


def assign_replica_writer(path: Path) -> None:
    """Give a copied file a name of its own among the copies of its library.

    Raises:
        StoreProblem: The file cannot be written.
    """
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            if connection.execute(_HAS_TABLE).fetchone():
                connection.execute("update hosted set writer = ?", (uuid4().hex,))
    except sqlite3.Error as error:
        raise translate_sqlite_error(error, path, patience=_PATIENCE) from error


def store_library_link(connection: sqlite3.Connection, binding: LibraryLink) -> None:
    """Bind a file, in place of what it was bound to; nothing counts as sent there."""
    connection.execute(_BIND, astuple(binding))
    for statement in _ALL_UNSENT:
        connection.execute(statement)


def advance_cursor(connection: sqlite3.Connection, cursor: int) -> None:
    """Note that everything up to a version is here."""
    connection.execute("update hosted set cursor = max(cursor, ?)", (cursor,))


def mark_in_sync(connection: sqlite3.Connection) -> None:
    """Note that the project knows all that is here."""
    connection.execute("update hosted set apart = 0")


@contextmanager
def preserve_sync_mark(connection: sqlite3.Connection) -> Iterator[None]:
    """Write what the project has: that sets nothing apart."""
    row = connection.execute("select apart from hosted").fetchone()
    yield
    if row is not None:
        connection.execute("update hosted set apart = ?", row)


def has_lost_changes(bound: LibraryLink, page: "RecordPage") -> bool:
    """Say whether a project has lost something that a copy has from there.

    `bound` must have been read before the project was asked for `page`.
    """
    return page.version < bound.cursor or page.spoken < bound.spoken


def build_lost_changes_error() -> StoreProblem:
    """Return what the writer is told of it."""
    return StoreProblem(
        "The project has less than it had when it was last asked from here: was it"
        " restored from a backup?",
        hint="`lrwr push --over` takes what is here there again.",
    )
