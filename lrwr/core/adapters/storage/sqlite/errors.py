"""SQLite's errors and its check of the file, with messages for the user."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from lrwr.core.model.errors import StoreProblem

_MESSAGES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "The disk is full: {path} cannot be written.",
        "Free some space and run the command again; stored data is safe.",
    ),
    sqlite3.SQLITE_READONLY: (
        "{path} is not writable.",
        "Make the file and its folder writable, or set `state_dir` to another folder.",
    ),
    sqlite3.SQLITE_BUSY: (
        "Another program has locked {path} for more than {patience:g} seconds.",
        "Wait until the other program has finished and try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged.",
        "Run `lrwr repair`, then `lrwr ingest` to rebuild the library from your manuscript.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "{path} is not an lrwr library.",
        "Run `lrwr repair`, then `lrwr ingest` to rebuild the library from your manuscript.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "A text is too long to be stored in {path}.",
        "Split the file, for example into one file per chapter.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened.",
        "Check that its folder is readable and writable.",
    ),
    sqlite3.SQLITE_IOERR: (
        "{path} could not be read or written: the disk failed.",
        "Check the disk; for a network or sync folder, set `state_dir` to a local one.",
    ),
}
_MESSAGES[sqlite3.SQLITE_IOERR_WRITE] = (
    "{path} could not be written: the disk is full or failed.",
    "Free some space and run the command again; stored data is safe.",
)
_MESSAGES[sqlite3.SQLITE_IOERR_SHMSIZE] = _MESSAGES[sqlite3.SQLITE_IOERR_WRITE]
_MESSAGES[sqlite3.SQLITE_LOCKED] = _MESSAGES[sqlite3.SQLITE_BUSY]
_MESSAGES[sqlite3.SQLITE_PROTOCOL] = _MESSAGES[sqlite3.SQLITE_BUSY]
_MESSAGES[sqlite3.SQLITE_PERM] = _MESSAGES[sqlite3.SQLITE_READONLY]

NAMED_DOCUMENTS = 3
"""Damaged documents that a message names; of others only the number is given."""

_CORRUPTION_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_corruption_error(error: Exception) -> bool:
    """Return whether `error` means that the database file is damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in _CORRUPTION_CODES


_ENVIRONMENT_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
    }
)


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether `error`, from an ordinary statement, means a damaged database.

    Everything counts except locks, permissions, the disk and memory: damage to the
    schema or to a value shows as an error of the statement or of a constraint.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ
    return is_short or code & 0xFF not in _ENVIRONMENT_CODES


MAX_MESSAGE_CHARS = 160
UNUSED_PAGE = "never used"
"""SQLite's message for a page that nothing uses, which is harmless."""
INDEX_DAMAGE = (
    "missing from index",
    "wrong # of entries in index",
    "non-unique entry in index",
    "inverted index",
    UNUSED_PAGE,
)
"""Words of SQLite's messages about damage that rebuilding the indexes repairs."""
_ROW_DAMAGE = (" value in ", "CHECK constraint failed", "PRIMARY KEY order")
"""Words of SQLite's messages about rows that do not fit their columns."""


def is_healable(message: str) -> bool:
    """Return whether a message of SQLite is about indexes, or about rows that can be
    deleted and derived again.
    """
    return any(words in message for words in (*INDEX_DAMAGE, *_ROW_DAMAGE))


def require_healable(damage: Sequence[str]) -> None:
    """Raise `sqlite3.DatabaseError` if any message is about more than that."""
    require_sound([message for message in damage if not is_healable(message)])


def require_sound(damage: Sequence[str]) -> None:
    """Raise `sqlite3.DatabaseError` if there are messages about a damaged file."""
    if damage:
        error = sqlite3.DatabaseError(damage[0])
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def check_file(
    connection: sqlite3.Connection, check: str = "integrity_check(20)"
) -> tuple[str, ...]:
    """Return the messages of SQLite's own `check` of the file; none if it is sound.

    Raises:
        sqlite3.DatabaseError: The file is too damaged to be checked.
    """
    return list_messages(connection.execute(f"PRAGMA {check}"))


def list_messages(rows: Iterable[Sequence[object]]) -> tuple[str, ...]:
    """Return the messages in the result of a check of the file, one for each line."""
    lines = (
        " ".join(line.split())[:MAX_MESSAGE_CHARS]
        for row in rows
        for line in str(row[0]).splitlines()  # SQLite joins several in one row
    )
    return tuple(line for line in lines if line != "ok" and line[:3] != "***")


def translate_sqlite_error(
    error: sqlite3.Error | OSError | UnicodeError, path: Path, *, patience: float
) -> StoreProblem:
    """Return the error with a message for the user, for a failure with the library at
    `path`.

    `patience` is the time in seconds that was spent waiting for a lock.
    """
    if isinstance(error, OSError):
        return StoreProblem(
            f"{path.parent} cannot be used: {error.strerror}",
            hint="Check that the folder is writable, or set `state_dir` to another folder.",
        )
    if isinstance(error, UnicodeError):
        return StoreProblem(
            "The name or the text of a file contains characters that cannot be stored"
            " (invalid Unicode)",
            hint="Rename the file, or save it again as UTF-8, and run the command again.",
        )
    code = getattr(error, "sqlite_errorcode", None)
    explanation = None
    if isinstance(code, int):
        explanation = _MESSAGES.get(code) or _MESSAGES.get(code & 0xFF)
    if explanation is None:
        return StoreProblem(
            f"{path} could not be used: {error}",
            hint="Try again. If it fails again, report a bug with this message.",
        )
    message, hint = explanation
    return StoreProblem(message.format(path=path, patience=patience), hint=hint)


def describe_skipped_rows(whole: Sequence[str], partial: Sequence[str]) -> str:
    """Return the notice that damaged rows are left out.

    `whole` are the documents of which everything is left out, `partial` those of which
    only some rows are. Both may be empty.
    """
    documents = [*whole, *partial]
    shown = [
        *whole[:NAMED_DOCUMENTS],
        *(
            f"some passages or story data of {document}"
            for document in partial[: max(0, NAMED_DOCUMENTS - len(whole))]
        ),
    ]
    more = len(documents) - len(shown)
    named = f": {', '.join(shown)}" if shown else ""
    named += f" and {more:,} more" if more else ""
    return (
        f"Part of the library is damaged and was left out{named}. Run `lrwr ingest"
        " --verify` to rebuild it."
    )


def build_damaged_entry_error(path: Path) -> StoreProblem:
    """Return the error for a row of the library at `path` that cannot be decoded."""
    return StoreProblem(
        f"{path} contains a damaged entry",
        hint="Run `lrwr ingest --verify` to rebuild what is damaged.",
    )


_MAX_NEWER_SCHEMAS = 20


def is_schema_plausible(version: int, newest: int) -> bool:
    """Return whether `version` may be a schema of lrwr, this version or a newer one.

    `newest` is the newest schema that this version knows. A changed bit of the number
    mostly gives one that is not plausible.
    """
    return 0 <= version <= newest + _MAX_NEWER_SCHEMAS


def build_unknown_schema_error(path: Path, version: int, newest: int) -> StoreProblem:
    """Return the error for a library with the schema `version`, which lrwr does not
    know; `newest` is the newest that it knows.
    """
    if not is_schema_plausible(version, newest):
        return StoreProblem(
            f"{path} may be damaged: no version of lrwr uses its schema number"
            f" ({version})",
            hint="Run `lrwr repair`. Threads that it cannot read may be in a backup.",
        )
    return StoreProblem(
        f"{path} was created by a newer version of lrwr",
        hint="Upgrade lrwr and run the command again.",
    )


def build_older_library_error(path: Path) -> StoreProblem:
    """Return the error for a library whose schema is outdated, in a file that cannot be
    written.
    """
    return StoreProblem(
        f"{path} was created by an older version of lrwr and cannot be upgraded",
        hint="Make the file and its folder writable and run the command again.",
    )
