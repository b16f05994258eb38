"""Opening the library's file: to write, and where that cannot be, to read."""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.storage.sqlite.errors import (
    build_newer_library_error,
    build_older_library_error,
)
from lrwr.core.adapters.storage.sqlite.migrator import (
    NoticeCallback,
    find_newest_migration,
    migrate_sqlite_library,
    read_schema_version,
)

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_NO_WRITING = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL}
)
_NO_SHARED_MEMORY = frozenset(
    {
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)


@dataclass(frozen=True, slots=True)
class LibraryConnection:
    """An open library, and why it can only be read; None when it can be written."""

    connection: sqlite3.Connection
    why_read_only: sqlite3.Error | None = None


def open_sqlite_library(
    path: Path,
    *,
    patience: float,
    say: NoticeCallback,
    migrations: "Traversable | None" = None,
) -> LibraryConnection:
    """Open the library at `path`, made and brought up to date as need be.

    Where nothing can be written, a library that is up to date is opened to read.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return LibraryConnection(_to_write(path, patience, say, migrations))
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error) or not path.is_file():
            raise
        return LibraryConnection(
            _current(path, patience, find_newest_migration(migrations)), error
        )


def is_read_only_error(error: sqlite3.Error) -> bool:
    """Say whether `error` means that the library may still be read."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code in _NO_SHARED_MEMORY or code & 0xFF in _NO_WRITING


def open_library_read_only(path: Path, *, patience: float) -> sqlite3.Connection:
    """Open the file at `path` without changing it, whatever its schema.

    SQLite wants to keep two small files beside it even to read; where it may not,
    the file is read as one that nobody changes.
    """
    uri = path.absolute().as_uri()
    try:
        return _checked(f"{uri}?mode=ro", patience)
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error):
            raise
        if _has_unmerged(path):
            return _copied(path)
        return _checked(f"{uri}?immutable=1", patience)


@contextmanager
def open_library_as_is(path: Path, *, patience: float) -> Iterator[sqlite3.Connection]:
    """Lend out the file at `path` as it is, to look at or to mend.

    It can be written where that is allowed, which keeps SQLite's two files in order.
    """
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = _checked(uri, patience)
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error):
            raise
        connection = open_library_read_only(path, patience=patience)
    with closing(connection):
        yield connection


def _to_write(
    path: Path, patience: float, say: NoticeCallback, migrations: "Traversable | None"
) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        _write_ahead(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        schema = find_newest_migration(migrations)
        if read_schema_version(connection) < schema:
            _migrate(connection, migrations, say)
        if read_schema_version(connection) > schema:
            raise build_newer_library_error(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    # SQLite does not wait for the lock when several processes change the mode of a
    # new file at once, so the waiting is done here. The mode stays with the file.
    deadline = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _migrate(
    connection: sqlite3.Connection,
    migrations: "Traversable | None",
    say: NoticeCallback,
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        migrate_sqlite_library(connection, migrations, say)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _current(path: Path, patience: float, schema: int) -> sqlite3.Connection:
    connection = open_library_read_only(path, patience=patience)
    version = read_schema_version(connection)
    if version == schema:
        return connection
    connection.close()
    raise (
        build_newer_library_error(path)
        if version > schema
        else build_older_library_error(path)
    )


def _checked(uri: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _has_unmerged(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def _copied(path: Path) -> sqlite3.Connection:
    """Open a copy in memory: what a crash left in the log is not in the file yet."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    with tempfile.TemporaryDirectory() as folder:
        for name in (path.name, f"{path.name}-wal"):
            shutil.copyfile(path.with_name(name), Path(folder) / name)
        with closing(sqlite3.connect(Path(folder) / path.name)) as copy:
            copy.backup(memory)
    memory.execute("PRAGMA query_only = ON")
    return memory
