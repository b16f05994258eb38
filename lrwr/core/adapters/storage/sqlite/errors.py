"""Translation of SQLite's errors into errors for the user."""

import sqlite3
from pathlib import Path

from lrwr.core.model.errors import StoreProblem

_MESSAGES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "The disk is full: nothing more can be stored in {path}.",
        "Free some space and run the command again; what was stored is safe.",
    ),
    sqlite3.SQLITE_READONLY: (
        "{path} may not be written.",
        "Allow writing to the file and its folder, or set `state_dir` to another.",
    ),
    sqlite3.SQLITE_BUSY: (
        "{path} was held by another program for more than {patience:g} seconds.",
        "Wait until the other program is done, then try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged.",
        "Run `lrwr repair`, then `lrwr ingest`: your manuscript makes it anew.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "{path} is not a library of lrwr.",
        "Run `lrwr repair`, then `lrwr ingest`: your manuscript makes it anew.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "A text is too long for {path}.",
        "Split the file into several, such as one for each chapter.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened.",
        "Check that its folder may be read and written.",
    ),
    sqlite3.SQLITE_IOERR: (
        "{path} could not be read or written: the disk failed.",
        "Check the disk; for a network or sync folder, set `state_dir` to a local one.",
    ),
}
_MESSAGES[sqlite3.SQLITE_IOERR_WRITE] = (
    "{path} could not be written: the disk is full or failed.",
    "Free some space and run the command again; what was stored is safe.",
)
_MESSAGES[sqlite3.SQLITE_IOERR_SHMSIZE] = _MESSAGES[sqlite3.SQLITE_IOERR_WRITE]
_MESSAGES[sqlite3.SQLITE_LOCKED] = _MESSAGES[sqlite3.SQLITE_BUSY]
_MESSAGES[sqlite3.SQLITE_PROTOCOL] = _MESSAGES[sqlite3.SQLITE_BUSY]
_MESSAGES[sqlite3.SQLITE_PERM] = _MESSAGES[sqlite3.SQLITE_READONLY]


_CORRUPTION_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_corruption_error(error: Exception) -> bool:
    """Return whether `error` says that the database file is damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in _CORRUPTION_CODES


def translate_sqlite_error(
    error: sqlite3.Error | OSError | UnicodeError, path: Path, *, patience: float
) -> StoreProblem:
    """Return the user-facing error for a failure on the library at `path`.

    `patience` is the time in seconds that was spent waiting for a lock.
    """
    if isinstance(error, OSError):
        return StoreProblem(
            f"{path.parent} cannot be used: {error.strerror}.",
            hint="Check that the folder may be written, or set `state_dir` to another.",
        )
    if isinstance(error, UnicodeError):
        return StoreProblem(
            "A file's name or text holds characters that are not Unicode.",
            hint="Rename the file with plain letters and run the command again.",
        )
    code = getattr(error, "sqlite_errorcode", None)
    explanation = None
    if isinstance(code, int):
        explanation = _MESSAGES.get(code) or _MESSAGES.get(code & 0xFF)
    if explanation is None:
        return StoreProblem(
            f"{path} could not be used: {error}.",
            hint="Try again; if it stays so, please report it with this message.",
        )
    message, hint = explanation
    return StoreProblem(message.format(path=path, patience=patience), hint=hint)


def build_damaged_entry_error(path: Path) -> StoreProblem:
    """Return the error for a row of the library at `path` that cannot be decoded."""
    return StoreProblem(
        f"{path} contains a damaged entry.",
        hint="Restore a backup with `lrwr restore`, or run `lrwr repair`.",
    )


def build_newer_library_error(path: Path) -> StoreProblem:
    """Return the error for a library with a newer schema than lrwr knows."""
    return StoreProblem(
        f"{path} was made by a newer lrwr than this one.",
        hint="Upgrade lrwr and run the command again.",
    )


def build_older_library_error(path: Path) -> StoreProblem:
    """Return the error for a library that needs a migration and cannot be written."""
    return StoreProblem(
        f"{path} was made by an older lrwr and cannot be brought up to date there.",
        hint="Allow writing to the file and its folder, then run the command again.",
    )
