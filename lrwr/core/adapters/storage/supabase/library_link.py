"""The link between a local library and the library in a Supabase project that it
replicates.
"""

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

_LOCK_TIMEOUT = 10.0
"""Seconds to wait for a lock."""

_HAS_TABLE = "select 1 from sqlite_schema where name = 'hosted'"

_SELECT_LINK = """
select project, account, library, name, writer, cursor, apart, spoken from hosted
"""

_STORE_LINK = """
insert or replace into hosted (
  id, project, account, library, name, writer, cursor, apart, spoken
) values (1, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_MARK_ALL_UNSENT = (
    "delete from hosted_thread",
    "insert or ignore into unsent_thread select id from thread",
    "insert or ignore into unsent_turn select id from turn",
)


@dataclass(frozen=True, slots=True)
class LibraryLink:
    """Links a local library's file to the library in a Supabase project that it
    replicates.

    `project` is the Supabase project's URL; `account` and `library` are ids, `name` is
    the library's name and `writer` the id of this replica. The file contains all
    changes up to version `cursor` of the library. `apart` says that something was
    ingested locally that the Supabase project does not have. `spoken` is the Supabase
    project's count of thread changes when the file last had all of them.
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
    """Return a link with a new writer id, for a file that has nothing of the library
    yet.

    The writer id tells the changes of this machine from those of others. `project` is
    the Supabase project's URL; `account` and `library` are ids, `name` is the library's
    name.
    """
    return LibraryLink(project, account, library, name, writer=uuid4().hex)


def read_library_link(connection: sqlite3.Connection) -> LibraryLink | None:
    """Return the link in the library's open file; None if it is linked to no Supabase
    project.
    """
    row = connection.execute(_SELECT_LINK).fetchone()
    if row is None:
        return None
    link = LibraryLink(*row)
    return replace(link, apart=bool(link.apart))


def load_library_link(path: Path) -> LibraryLink | None:
    """Return the link in the library's file at `path`; None if there is no file or no
    link.

    Raises:
        StoreProblem: The file cannot be read.
    """
    if not path.exists():
        return None
    try:
        with closing(
            open_library_read_only(path, patience=_LOCK_TIMEOUT)
        ) as connection:
            if not connection.execute(_HAS_TABLE).fetchone():
                return None  # an earlier version of lrwr made it
            return read_library_link(connection)
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, path, patience=_LOCK_TIMEOUT) from error


def assign_replica_writer(path: Path) -> None:
    """Give the file at `path`, a copy of a library's file, a writer id of its own.

    Does nothing if the file is linked to no Supabase project.

    Raises:
        StoreProblem: The file cannot be written.
    """
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            if connection.execute(_HAS_TABLE).fetchone():
                connection.execute("update hosted set writer = ?", (uuid4().hex,))
    except sqlite3.Error as error:
        raise translate_sqlite_error(error, path, patience=_LOCK_TIMEOUT) from error


def store_library_link(connection: sqlite3.Connection, link: LibraryLink) -> None:
    """Store `link` in place of the file's previous one, and mark all threads as
    unsent.
    """
    connection.execute(_STORE_LINK, astuple(link))
    for statement in _MARK_ALL_UNSENT:
        connection.execute(statement)


def advance_cursor(connection: sqlite3.Connection, cursor: int) -> None:
    """Record that the file contains all changes up to version `cursor` of the library.

    A lower version than the recorded one is ignored.
    """
    connection.execute("update hosted set cursor = max(cursor, ?)", (cursor,))


def mark_in_sync(connection: sqlite3.Connection) -> None:
    """Record that the Supabase project has everything that was ingested into this
    file.
    """
    connection.execute("update hosted set apart = 0")


@contextmanager
def preserve_sync_mark(connection: sqlite3.Connection) -> Iterator[None]:
    """Inside this context, preserve `apart` of the link while data of the Supabase
    project is written.

    Otherwise triggers of the database set it at every local write.
    """
    row = connection.execute("select apart from hosted").fetchone()
    yield
    if row is not None:
        connection.execute("update hosted set apart = ?", row)


def has_lost_changes(link: LibraryLink, page: "RecordPage") -> bool:
    """Return whether the Supabase project lacks changes that this file has received
    from it.

    This happens after the project was restored from a backup. `link` must have been
    read before `page` was requested.
    """
    return page.version < link.cursor or page.spoken < link.spoken


def build_lost_changes_error() -> StoreProblem:
    """Return the error for a Supabase project that lacks changes it once had."""
    return StoreProblem(
        "The Supabase project is older than this copy of the library; the project may"
        " have been restored from a backup",
        hint="Run `lrwr push --over` to upload the local library again.",
    )
