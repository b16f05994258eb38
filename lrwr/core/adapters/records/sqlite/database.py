"""One SQLite file, its schema, and the one thread that talks to it."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from lrwr.core.adapters.records.sqlite.problems import newer_library, told
from lrwr.core.model.errors import StoreProblem

SCHEMA = 1
"""The newest migration: `migrations/` holds the numbers from 1 to this."""

Result = TypeVar("Result")


class Database:
    """The library's file, opened and brought up to date at its first use.

    All of SQLite's work is done in one thread of its own, so that the event loop
    stays free. Any number of processes may use one file at once; one that waits for
    the lock for more than `patience` seconds gives up.
    """

    def __init__(self, path: Path, *, patience: float = 10.0) -> None:
        self._path = path
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lrwr-records")

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` reads, all of it in one snapshot.

        Raises:
            StoreProblem: The library cannot be opened or read.
        """
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
            connection = self._opened()
            return _transaction(connection, begin, work)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise told(error, self._path, patience=self._patience) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path, timeout=self._patience, isolation_level=None
            )
            try:
                _prepare(connection, self._path, patience=self._patience)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _transaction(
    connection: sqlite3.Connection,
    begin: str,
    work: Callable[[sqlite3.Connection], Result],
) -> Result:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return result


def _prepare(connection: sqlite3.Connection, path: Path, *, patience: float) -> None:
    _write_ahead(connection, patience)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if _version(connection) < SCHEMA:
        _transaction(connection, "BEGIN IMMEDIATE", _migrate)
    if _version(connection) > SCHEMA:
        raise newer_library(path)


def _write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    # SQLite does not wait for the lock when several processes change the mode of a
    # new file at once, so the waiting is done here. The mode stays with the file.
    deadline = time.monotonic() + patience
    while _one(connection, "PRAGMA journal_mode") != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _migrate(connection: sqlite3.Connection) -> None:
    from importlib.resources import files

    folder = files("lrwr.core.adapters.records.sqlite") / "migrations"
    scripts = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    known = _version(connection)  # another process may have been here first
    for script in scripts[known:]:
        for statement in _statements(script.read_text(encoding="utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {int(script.name[:3])}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _version(connection: sqlite3.Connection) -> int:
    version = _one(connection, "PRAGMA user_version")
    if not isinstance(version, int):
        raise StoreProblem("The library does not tell its version.")
    return version


def _one(connection: sqlite3.Connection, sql: str) -> object:
    row: tuple[object] = connection.execute(sql).fetchone()
    return row[0]
