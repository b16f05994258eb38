"""What the library's file holds, counted for somebody who is about to delete it."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.records.sqlite.opening import looking
from lrwr.core.adapters.records.sqlite.upkeep import PATIENCE
from lrwr.core.adapters.records.supabase.binding import Binding, binding_of

_SPACES = """
select space from chunk where space <> ''
union select space from embedding order by space
"""

_RECIPIENTS = """
select service, host, count(*) from sent where outcome <> 'not reached'
group by service, host order by service, host
"""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who was sent something, by how many requests."""

    service: str
    host: str
    requests: int


@dataclass(frozen=True, slots=True)
class Weight:
    """What is in the file, as far as it can be read; 0 and empty where it cannot.

    `library` is its name, and `spaces` are those that its passages were embedded in:
    both name what is kept of it elsewhere; `hosted` is the library of a project that it
    follows. `conversations` counts deleted ones too. `unread` says that the file cannot
    be read: that nothing is known elsewhere says nothing then.
    """

    library: str = ""
    spaces: tuple[str, ...] = ()
    documents: int = 0
    passages: int = 0
    conversations: int = 0
    answers: int = 0
    replies: int = 0
    requests: int = 0
    recipients: tuple[Recipient, ...] = ()
    hosted: Binding | None = None
    unread: bool = False


def weigh(path: Path) -> Weight:
    """Count what is in the library at `path`, of whatever schema, damaged or not."""
    try:
        with looking(path, patience=PATIENCE) as connection:
            return _weighed(connection)
    except (sqlite3.Error, OSError):
        return Weight(unread=True)


def _weighed(connection: sqlite3.Connection) -> Weight:
    hosted, unread = _binding(connection)
    named = _rows(connection, "select id from library")
    spaces = _rows(connection, _SPACES)
    recipients = _rows(connection, _RECIPIENTS)
    return Weight(
        library=str(named[0][0]) if named else "",
        spaces=tuple(str(row[0]) for row in spaces),
        documents=_count(connection, "document"),
        passages=_count(connection, "chunk"),
        conversations=_count(connection, "thread"),
        answers=_count(connection, "turn"),
        replies=_count(connection, "reply"),
        requests=_count(connection, "sent"),
        recipients=tuple(Recipient(*row) for row in recipients),
        hosted=hosted,
        unread=unread,
    )


def _binding(connection: sqlite3.Connection) -> tuple[Binding | None, bool]:
    """Return which library of a project it follows, and whether that cannot be read."""
    try:
        return binding_of(connection), False
    except sqlite3.OperationalError:
        return None, False  # an older file has no such table
    except sqlite3.Error:
        return None, True


def _count(connection: sqlite3.Connection, table: str) -> int:
    rows = _rows(connection, f"select count(*) from {table}")
    return int(rows[0][0]) if rows else 0


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[str, str, int]]:
    """Return what is found; nothing where a table is missing or cannot be read."""
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error:
        return []
