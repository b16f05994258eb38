"""The SQLite file of a library: opening, schema migration, transactions."""

import asyncio
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lrwr.core.adapters.storage.sqlite.checksums import (
    DECODING_ERRORS,
    decode_checked_rows,
    decode_tolerantly,
    has_damaged_rows,
    register_row_checksum,
    report_damaged_rows,
    report_schema_damage,
)
from lrwr.core.adapters.storage.sqlite.errors import (
    build_damaged_entry_error,
    build_older_library_error,
    build_unknown_schema_error,
    translate_sqlite_error,
)
from lrwr.core.model.errors import StoreProblem
from lrwr.core.settings.library import create_private_file

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


SCHEMA_VERSION = 13
"""The number of the newest script in `migrations/`; scripts are numbered from 1."""
NoticeCallback = Callable[[str], None]
"""Receives a notice for the user: one sentence."""


def read_schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of the library's file; 0 for a new file.

    Raises:
        StoreProblem: The file does not state its version.
    """
    row: tuple[object] = connection.execute("PRAGMA user_version").fetchone()
    if not isinstance(row[0], int):
        raise StoreProblem(
            "The library file has no schema version: it is damaged, or not from lrwr",
            hint="Run `lrwr repair`, or restore a backup with `lrwr restore`.",
        )
    return row[0]


def find_newest_migration(folder: "Traversable | None") -> int:
    """Return the schema version of a library after all SQL scripts in `folder`.

    If `folder` is None, the scripts that come with lrwr are meant.
    """
    return SCHEMA_VERSION if folder is None else len(_scripts(folder))


def migrate_sqlite_library(
    connection: sqlite3.Connection, folder: "Traversable | None", say: NoticeCallback
) -> None:
    """Run the migration scripts that this file has not run, in the order of their
    numbers.

    Must be called inside a transaction, which the caller commits. `folder` holds the
    scripts; None means those that come with lrwr. `say` receives one sentence if the
    file was not empty and its schema has changed.
    """
    schema_version = read_schema_version(
        connection
    )  # another process may have migrated it meanwhile
    scripts = _scripts(folder or _shipped_migrations())[schema_version:]
    for script in scripts:
        for statement in _statements(script.read_text(encoding="utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {int(script.name[:3])}")
    if schema_version and scripts:
        say(
            f"The library was upgraded from schema {schema_version} to {schema_version + len(scripts)}."
        )


def list_migration_statements() -> Iterator[str]:
    """Yield the SQL statements of lrwr's migration scripts, in their order."""
    for script in _scripts(_shipped_migrations()):
        yield from _statements(script.read_text(encoding="utf-8"))


def _shipped_migrations() -> "Traversable":
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


_READ_ONLY_ERRORS = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL}
)
_SHARED_MEMORY_ERRORS = frozenset(
    {
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)


@dataclass(frozen=True, slots=True)
class LibraryConnection:
    """An open connection to a library's file.

    `why_read_only` is the error that prevented opening it for writing; None if the file
    can be written.
    """

    connection: sqlite3.Connection
    why_read_only: sqlite3.Error | None = None


def open_sqlite_library(
    path: Path,
    *,
    patience: float,
    say: NoticeCallback,
    migrations: "Traversable | None" = None,
) -> LibraryConnection:
    """Open the library's file at `path` for writing; create and migrate it where
    necessary.

    If the file cannot be written, it is opened read-only, provided that its schema is
    the newest. `patience` is the time in seconds to wait for a lock. `say` receives one
    sentence if the schema changes. `migrations` is a folder with scripts that replace
    those of lrwr.

    Raises:
        sqlite3.Error: The file cannot be opened.
        StoreProblem: The schema is newer than this version of lrwr knows, or older and
            the file cannot be written.
    """
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    try:
        return LibraryConnection(_open_for_writing(path, patience, say, migrations))
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error) or not path.is_file():
            raise
        return LibraryConnection(
            _open_current(path, patience, find_newest_migration(migrations)), error
        )


def is_read_only_error(error: sqlite3.Error) -> bool:
    """Return whether `error` means that the file can be read but not written."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code in _SHARED_MEMORY_ERRORS or code & 0xFF in _READ_ONLY_ERRORS


def open_library_read_only(path: Path, *, patience: float) -> sqlite3.Connection:
    """Open the library's file at `path` read-only, without migrating it.

    `patience` is the time in seconds to wait for a lock. SQLite creates a `-wal` and a
    `-shm` file beside a database even to read it. Where it cannot, the file is opened
    as immutable; if a crash has left changes in the `-wal` file, a copy of both is
    opened in memory instead.

    Raises:
        sqlite3.Error: The file is missing or cannot be read.
    """
    uri = path.absolute().as_uri()
    try:
        return _connect(f"{uri}?mode=ro", patience)
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error):
            raise
        if _has_pending_log(path):
            return _open_copy(path)
        return _connect(f"{uri}?immutable=1", patience)


@contextmanager
def open_library_as_is(path: Path, *, patience: float) -> Iterator[sqlite3.Connection]:
    """Inside this context, provide a connection to the existing file at `path`,
    unmigrated.

    The connection can write if the file can be written, else it is read-only. It is
    closed on exit. `patience` is the time in seconds to wait for a lock.

    Raises:
        sqlite3.Error: The file is missing or cannot be read.
    """
    try:
        uri = f"{path.absolute().as_uri()}?mode=rw"
        connection = _connect(uri, patience)
    except sqlite3.OperationalError as error:
        if not is_read_only_error(error):
            raise
        connection = open_library_read_only(path, patience=patience)
    with closing(connection):
        yield connection


def _open_for_writing(
    path: Path, patience: float, say: NoticeCallback, migrations: "Traversable | None"
) -> sqlite3.Connection:
    # SQLite gives the mode of the file to the files that it creates beside it.
    with suppress(OSError):
        create_private_file(path)
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    register_row_checksum(connection)
    try:
        with report_schema_damage():
            _set_wal_mode(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        schema = find_newest_migration(migrations)
        if 0 <= read_schema_version(connection) < schema:
            _migrate(connection, migrations, say)
        version = read_schema_version(connection)
        if version != schema:
            raise build_unknown_schema_error(path, version, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_wal_mode(connection: sqlite3.Connection, patience: float) -> None:
    # SQLite does not wait for the lock when several processes set the mode of a new
    # file at the same time, so this loop waits. The mode is stored in the file.
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


def _open_current(path: Path, patience: float, schema: int) -> sqlite3.Connection:
    connection = open_library_read_only(path, patience=patience)
    version = read_schema_version(connection)
    if version == schema:
        return connection
    connection.close()
    raise (
        build_unknown_schema_error(path, version, schema)
        if version > schema or version < 0
        else build_older_library_error(path)
    )


def _connect(uri: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None)
    register_row_checksum(connection)
    try:
        with report_schema_damage():
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _has_pending_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def _open_copy(path: Path) -> sqlite3.Connection:
    """Open a copy in memory, which includes changes that a crash left in the log."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    register_row_checksum(memory)
    with tempfile.TemporaryDirectory() as folder:
        for name in (path.name, f"{path.name}-wal"):
            shutil.copyfile(path.with_name(name), Path(folder) / name)
        with closing(sqlite3.connect(Path(folder) / path.name)) as copy:
            copy.backup(memory)
    memory.execute("PRAGMA query_only = ON")
    return memory


Result = TypeVar("Result")
LibraryGeneration = tuple[int, int]
_INVALID_UTF8 = "Could not decode to UTF-8"


class SqliteDatabase:
    """Runs transactions on a library's SQLite file, which is opened on first use.

    All SQLite calls run in one thread that belongs to this object, so the event loop is
    never blocked. Several processes may use one file; waiting for a lock fails after
    `patience` seconds. If the file cannot be written, reading still works. `say`
    receives one sentence, in that thread, when the schema is migrated. `migrations` is
    a folder with scripts that replace those of lrwr. `first` is awaited before each
    read, so that a replica of a library in a Supabase project can catch up.
    """

    def __init__(
        self,
        path: Path,
        *,
        patience: float = 10.0,
        say: NoticeCallback | None = None,
        migrations: "Traversable | None" = None,
        first: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._path = path
        self._patience = patience
        self._say = say or _ignore_notice
        self._migrations = migrations
        self._first = first
        self._library: LibraryConnection | None = None
        self._closed = False
        self._damage_noticed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lrwr-records")

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` in a read transaction, and return its result.

        All that `work` reads belongs to one state of the library. It must not return a
        cursor.

        Raises:
            StoreProblem: The library cannot be opened or read, or contains a damaged
                entry.
        """
        if self._first is not None:
            await self._first()
        return await self._run("BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` in a write transaction, and return its result once it is
        committed.

        If `work` raises, nothing is written. It must not return a cursor.

        Raises:
            StoreProblem: The library cannot be opened or written.
        """
        return await self._run("BEGIN IMMEDIATE", work)

    def decode_rows(
        self,
        rows: Iterable[Sequence[Any]],
        decode: Callable[[Any], Result],
    ) -> list[Result]:
        """Return each row decoded by `decode`, without the damaged rows.

        The first column of a row says whether its checksum fits; `decode` gets the
        others. A row that does not fit or cannot be decoded is skipped, and the user is
        told once. For use inside `work`.
        """
        is_strict = self._open().connection.text_factory is str
        return decode_checked_rows(rows, decode, self.notice_damage, is_strict)

    def notice_damage(self) -> None:
        """Tell the user which damaged documents are left out, unless that was said
        before. For use inside `work`.
        """
        if self._damage_noticed:
            return
        self._damage_noticed = True
        self._say(report_damaged_rows(self._open().connection, self._path))

    async def aclose(self) -> None:
        """Close the file and stop the thread. Idempotent."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    async def _run(
        self, begin: str, work: Callable[[sqlite3.Connection], Result]
    ) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transact, begin, work)

    def _transact(
        self, begin: str, work: Callable[[sqlite3.Connection], Result]
    ) -> Result:
        try:
            library = self._open()
            if library.why_read_only is not None and begin != "BEGIN":
                raise library.why_read_only
            return _transact_tolerantly(library.connection, begin, work)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise translate_sqlite_error(
                error, self._path, patience=self._patience
            ) from error
        except DECODING_ERRORS as error:
            # Only what was read can be damaged. If nothing is, the error is a bug.
            if begin != "BEGIN" or not has_damaged_rows(library.connection):
                raise
            raise build_damaged_entry_error(self._path) from error

    def _open(self) -> LibraryConnection:
        if self._library is None:
            self._library = open_sqlite_library(
                self._path,
                patience=self._patience,
                say=self._say,
                migrations=self._migrations,
            )
        return self._library

    def _close(self) -> None:
        if self._library is not None:
            self._library.connection.close()
            self._library = None


def read_library_generation(connection: sqlite3.Connection) -> LibraryGeneration:
    """Return a value that changes whenever any connection commits a change of the file.

    Inside a transaction it belongs to the state that the transaction sees. Values of
    different connections cannot be compared.
    """
    # data_version counts commits of other connections, total_changes our own changes.
    data_version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return data_version, connection.total_changes


def _ignore_notice(sentence: str) -> None:
    del sentence


def _transact_tolerantly(
    connection: sqlite3.Connection,
    begin: str,
    work: Callable[[sqlite3.Connection], Result],
) -> Result:
    try:
        return _transaction(connection, begin, work)
    except sqlite3.OperationalError as error:
        if _INVALID_UTF8 not in str(error) or connection.text_factory is not str:
            raise
    # A damaged text is not UTF-8. Its invalid bytes become lone surrogates, by which
    # `decode_rows` knows the row; otherwise no row of the query could be read.
    connection.text_factory = decode_tolerantly
    return _transaction(connection, begin, work)


def _transaction(
    connection: sqlite3.Connection,
    begin: str,
    work: Callable[[sqlite3.Connection], Result],
) -> Result:
    connection.execute(begin)
    try:
        result = work(connection)
        if isinstance(result, sqlite3.Cursor):
            raise TypeError("A cursor may not leave the thread of its connection")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return result
