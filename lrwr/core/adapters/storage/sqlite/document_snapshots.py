"""What the library holds of single documents."""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.database import (
    SqliteDatabase,
    open_library_as_is,
)
from lrwr.core.adapters.storage.sqlite.fact_rows import parse_fact_row
from lrwr.core.adapters.storage.sqlite.maintenance import MAINTENANCE_LOCK_TIMEOUT
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    read_library_link,
)
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import DocumentSnapshot, QuotedFact

_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = ?
"""
_PASSAGES = (
    "select text from chunk where document_id = ? and pipeline = ? order by ordinal"
)
_FACTS = """
select about, subject, field, value, keeper, certainty, reach, spans, details
from fact where document_id = ? and about not in ('passage', 'scene')
order by char_start, n
"""
_PEOPLE = "select distinct character from first_seen where document_id = ?"


class SqliteSnapshotStore:
    """Keeps the `DocumentSnapshotStore` port."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def held(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, DocumentSnapshot]:
        """Return what a pipeline knows of these documents."""

        def read(connection: sqlite3.Connection) -> dict[DocumentId, DocumentSnapshot]:
            snapshots = {
                document: _held(connection, document, pipeline)
                for document in documents
            }
            return {
                name: snapshot
                for name, snapshot in snapshots.items()
                if snapshot is not None
            }

        return await self._database.read(read)


def _held(
    connection: sqlite3.Connection, document: DocumentId, pipeline: Pipeline
) -> DocumentSnapshot | None:
    row = connection.execute(_TEXT, (document, pipeline.value)).fetchone()
    if row is None:
        return None
    passages = connection.execute(_PASSAGES, (document, pipeline.value))
    texts = tuple(text for (text,) in passages)
    if pipeline is Pipeline.NAIVE:
        return DocumentSnapshot(texts)
    facts = (
        parse_fact_row(tuple(row)) for row in connection.execute(_FACTS, (document,))
    )
    return DocumentSnapshot(
        passages=texts,
        facts=tuple(
            QuotedFact(fact, " ".join(row[0][s.start : s.end] for s in fact.spans[:1]))
            for fact in facts
        ),
        people=frozenset(name for (name,) in connection.execute(_PEOPLE, (document,))),
    )


_SPACES = """
select space from chunk where space <> ''
union select space from embedding order by space
"""
_RECIPIENTS = """
select service, host, count(*) from sent where outcome <> 'not reached'
group by service, host order by service, host
"""


@dataclass(frozen=True, slots=True)
class EgressRecipient:
    """Who was sent something, by how many requests."""

    service: str
    host: str
    requests: int


@dataclass(frozen=True, slots=True)
class LibraryInventory:
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
    recipients: tuple[EgressRecipient, ...] = ()
    hosted: LibraryLink | None = None
    unread: bool = False


def take_library_inventory(path: Path) -> LibraryInventory:
    """Count what is in the library at `path`, of whatever schema, damaged or not."""
    try:
        with open_library_as_is(path, patience=MAINTENANCE_LOCK_TIMEOUT) as connection:
            return _weighed(connection)
    except (sqlite3.Error, OSError):
        return LibraryInventory(unread=True)


def _weighed(connection: sqlite3.Connection) -> LibraryInventory:
    hosted, unread = _binding(connection)
    library_rows = _rows(connection, "select id from library")
    spaces = _rows(connection, _SPACES)
    recipients = _rows(connection, _RECIPIENTS)
    return LibraryInventory(
        library=str(library_rows[0][0]) if library_rows else "",
        spaces=tuple(str(row[0]) for row in spaces),
        documents=_count(connection, "document"),
        passages=_count(connection, "chunk"),
        conversations=_count(connection, "thread"),
        answers=_count(connection, "turn"),
        replies=_count(connection, "reply"),
        requests=_count(connection, "sent"),
        recipients=tuple(EgressRecipient(*row) for row in recipients),
        hosted=hosted,
        unread=unread,
    )


def _binding(connection: sqlite3.Connection) -> tuple[LibraryLink | None, bool]:
    """Return which library of a project it follows, and whether that cannot be read."""
    try:
        return read_library_link(connection), False
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
