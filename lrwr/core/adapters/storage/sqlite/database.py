"""One SQLite file, its schema, and the one thread that talks to it."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lrwr.core.adapters.storage.sqlite.connection import (
    LibraryConnection,
    open_sqlite_library,
)
from lrwr.core.adapters.storage.sqlite.errors import translate_sqlite_error
from lrwr.core.adapters.storage.sqlite.migrator import NoticeCallback

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Result = TypeVar("Result")

LibraryGeneration = tuple[int, int]


class SqliteDatabase:
    """The library's file, opened and brought up to date at its first use.

    All of SQLite's work is done in one thread of its own, so that the event loop
    stays free. Any number of processes may use one file at once; one that waits for
    the lock for more than `patience` seconds gives up. Where nothing can be written,
    reading goes on. `say` is told, from that thread, when the schema is changed;
    `migrations` is a folder of scripts instead of those of lrwr. `first` is awaited
    before each reading.
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
        self._say = say or _nobody_asks
        self._migrations = migrations
        self._first = first
        self._library: LibraryConnection | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lrwr-records")

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` reads, all of it in one snapshot.

        Raises:
            StoreProblem: The library cannot be opened or read.
        """
        if self._first is not None:
            await self._first()
        return await self._run("BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` returns once all that it wrote is kept, or none of it.

        Raises:
            StoreProblem: The library cannot be opened or written.
        """
        return await self._run("BEGIN IMMEDIATE", work)

    async def aclose(self) -> None:
        """Let go of the file. Safe to call twice."""
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
            library = self._opened()
            if library.why_read_only is not None and begin != "BEGIN":
                raise library.why_read_only
            return _transaction(library.connection, begin, work)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise translate_sqlite_error(
                error, self._path, patience=self._patience
            ) from error

    def _opened(self) -> LibraryConnection:
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
    """Return what is another value whenever anything in the library may be another.

    Inside a transaction it is that of its snapshot. It means nothing to another
    connection.
    """
    # SQLite counts what others committed, and Python what this connection did.
    others: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return others, connection.total_changes


def _nobody_asks(sentence: str) -> None:
    del sentence


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
