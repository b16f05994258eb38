"""What ingestion writes: one document's knowledge at a time, whole."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from lrwr.core.adapters.records.sqlite.database import Database
from lrwr.core.adapters.records.sqlite.feed import shorten
from lrwr.core.adapters.records.sqlite.jobs import complete
from lrwr.core.adapters.records.sqlite.outline import chapters_to_json
from lrwr.core.adapters.records.sqlite.readings import Read, drop, keep, read_of
from lrwr.core.model.chunks import Chunk, Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.jobs import Claim
from lrwr.core.model.text import LineIndex
from lrwr.core.ports.record_store import Seen

UNUSED_VECTORS_KEPT = 24 * 3600.0
"""Seconds for which a vector outlives its last chunk: text moves, and comes back."""

_SWEEP_DELAY = 3600.0
"""Seconds between a vector's being no longer promised and its being deleted."""

_SEEN = """
select document_id, revision, content, recipe from processed
where pipeline = ? order by document_id
"""

_KNOWN_VECTORS = """
select e.text_hash from embedding e
where e.space = :space and e.text_hash in (select value from json_each(:texts))
and not exists (
  select 1 from orphan o
  where o.space = e.space and o.text_hash = e.text_hash and o.since < :before
)
"""

_EMBEDDED = """
select text_hash from embedding
where space = :space and text_hash in (select value from json_each(:texts))
"""

_TOUCH = """
update processed set revision = ?
where document_id = ? and pipeline = ? and content = ? and recipe = ?
"""

_DOCUMENT = """
insert into document (
  id, format, type, title, order_hint, words, updated_at, warnings, chapters,
  paragraphs, text
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update set
  format = excluded.format, type = excluded.type, title = excluded.title,
  order_hint = excluded.order_hint, words = excluded.words,
  updated_at = excluded.updated_at, warnings = excluded.warnings,
  chapters = excluded.chapters, paragraphs = excluded.paragraphs, text = excluded.text
"""

_PROCESSED = "insert or replace into processed values (?, ?, ?, ?, ?)"

_EMBEDDING = "insert or ignore into embedding (space, text_hash, vector) values (?,?,?)"

_STORED_CHUNKS = """
select id, ordinal, char_start, char_end, line_first, line_last, chapter, scene, kind,
  tokens, space, lead, heading, text_hash, text
from chunk where document_id = ? and pipeline = ?
"""

_INSERT_CHUNK = """
insert into chunk (
  id, ordinal, char_start, char_end, line_first, line_last, chapter, scene, kind,
  tokens, space, lead, heading, text_hash, text, document_id, pipeline
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_MOVE_CHUNK = """
update chunk set
  ordinal = ?2, char_start = ?3, char_end = ?4, line_first = ?5, line_last = ?6,
  chapter = ?7, scene = ?8, kind = ?9, tokens = ?10, space = ?11, lead = ?12,
  heading = ?13, text = ?14
where id = ?1
"""

_ORPHAN = "insert or replace into orphan (space, text_hash, since) values (?, ?, ?)"

_SWEEP = """
delete from embedding
where (space, text_hash) in (select space, text_hash from orphan where since < ?)
and not exists (
  select 1 from chunk c
  where c.text_hash = embedding.text_hash and c.space = embedding.space
)
"""

_DROP_DOCUMENT = """
delete from document where id = ?1
and not exists (select 1 from processed where document_id = ?1)
"""

_Row = tuple[str | int, ...]
"""A chunk from `id` to `text`, in the order of `_STORED_CHUNKS`."""

_SPACE, _TEXT_HASH, _TEXT = 10, 13, 14


@dataclass(frozen=True, slots=True)
class _Draft:
    """All that a replacement writes, made ready before the lock is taken."""

    document: tuple[object, ...]
    processed: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    space: str
    embeddings: list[tuple[str, str, bytes]]
    texts: str
    now: float
    read: Read | None


class SqliteKnowledgeStore:
    """Keeps the `KnowledgeStore` port. `now` returns seconds since 1970, UTC."""

    def __init__(self, database: Database, *, now: Callable[[], float]) -> None:
        self._database = database
        self._now = now

    async def seen(self, pipeline: Pipeline) -> list[Seen]:
        """Return what this pipeline has read, ordered by document."""
        return await self._database.read(
            lambda connection: [
                Seen(DocumentId(document), *rest)
                for document, *rest in connection.execute(_SEEN, (pipeline.value,))
            ]
        )

    async def known_vectors(
        self, space: str, texts: Collection[TextHash]
    ) -> set[TextHash]:
        """Return which of `texts` are embedded in `space`, and will be for a while."""
        asked = {
            "space": space,
            "texts": json.dumps(list(texts)),
            "before": self._now() - UNUSED_VECTORS_KEPT,
        }
        return await self._database.read(
            lambda connection: {
                TextHash(row[0]) for row in connection.execute(_KNOWN_VECTORS, asked)
            }
        )

    async def replace(self, knowledge: Knowledge, seen: Seen, claim: Claim) -> bool:
        """Make `knowledge` all that its pipeline knows; False if the claim is lost.

        Raises:
            StoreProblem: The library cannot be written.
        """
        draft = _draft(knowledge, seen, self._now())
        return await self._database.write(
            lambda connection: _replace(connection, draft, claim)
        )

    async def forget(self, document: DocumentId, claim: Claim) -> bool:
        """Take away what the claim's pipeline knows of `document`.

        Raises:
            StoreProblem: The library cannot be written.
        """
        now = self._now()
        return await self._database.write(
            lambda connection: _forget(connection, document, claim, now)
        )

    async def touch(
        self, pipeline: Pipeline, seen: Sequence[Seen], claim: Claim | None = None
    ) -> int:
        """Note new revisions of documents that are known as `seen` says."""
        rows = [
            (one.revision, one.id, pipeline.value, one.content, one.recipe)
            for one in seen
        ]
        now = self._now()
        return await self._database.write(
            lambda connection: _touch(connection, rows, claim, now)
        )


def _touch(
    connection: sqlite3.Connection,
    rows: Sequence[tuple[str, ...]],
    claim: Claim | None,
    now: float,
) -> int:
    known = connection.executemany(_TOUCH, rows).rowcount
    if claim is not None and known == len(rows):
        complete(connection, claim, now)
    return known


def _draft(knowledge: Knowledge, seen: Seen, now: float) -> _Draft:
    document, pipeline = knowledge.document, knowledge.pipeline.value
    return _Draft(
        document=_document_row(document, now),
        processed=(document.id, pipeline, seen.revision, seen.content, seen.recipe),
        chunks=knowledge.chunks,
        space=knowledge.space,
        embeddings=[
            (knowledge.space, text, vector.astype("<f4").tobytes())
            for text, vector in knowledge.vectors.items()
        ],
        texts=json.dumps([chunk.text_hash for chunk in knowledge.chunks]),
        now=now,
        read=read_of(knowledge) if knowledge.pipeline is Pipeline.AGENTIC else None,
    )


def _document_row(document: Document, now: float) -> tuple[object, ...]:
    return (
        document.id,
        document.format.value,
        document.type.value,
        document.title,
        document.order,
        document.words,
        now,
        json.dumps(document.warnings, ensure_ascii=False),
        chapters_to_json(document.chapters),
        _paragraphs(document.lines),
        document.text,
    )


def _paragraphs(lines: LineIndex) -> str:
    """Keep what the text alone does not say: a `.docx`'s paragraph numbers."""
    if not lines.numbers:
        return ""
    return json.dumps([lines.starts, lines.numbers], separators=(",", ":"))


def _replace(connection: sqlite3.Connection, draft: _Draft, claim: Claim) -> bool:
    if not complete(connection, claim, draft.now):
        return False
    connection.execute(_DOCUMENT, draft.document)
    connection.executemany(_EMBEDDING, draft.embeddings)
    _replace_chunks(connection, draft)
    if draft.read is not None:
        keep(connection, draft.read)
    _clean(connection, draft.now)
    connection.execute(_PROCESSED, draft.processed)
    return True


def _replace_chunks(connection: sqlite3.Connection, draft: _Draft) -> None:
    document, pipeline = draft.processed[:2]
    asked = {"texts": draft.texts, "space": draft.space}
    embedded = {row[0] for row in connection.execute(_EMBEDDED, asked)}
    rows = connection.execute(_STORED_CHUNKS, (document, pipeline))
    stored: dict[str, _Row] = {row[0]: row for row in rows}
    added: list[_Row] = []
    moved: list[_Row] = []
    for chunk in draft.chunks:
        row = _row(chunk, draft.space if chunk.text_hash in embedded else "")
        old = stored.get(chunk.id)
        if old is None or old[_TEXT_HASH] != chunk.text_hash:
            added.append((*row, document, pipeline))
            continue
        if old[_SPACE] == row[_SPACE]:
            del stored[chunk.id]
        if old != row:
            moved.append((*row[:_TEXT_HASH], row[_TEXT]))
    _forsake(connection, stored.values(), draft.now)
    kept = {row[0] for row in moved}
    gone = [(chunk,) for chunk in stored if chunk not in kept]
    connection.executemany("delete from chunk where id = ?", gone)
    connection.executemany(_MOVE_CHUNK, moved)
    connection.executemany(_INSERT_CHUNK, added)


def _row(chunk: Chunk, space: str) -> _Row:
    return (
        chunk.id,
        chunk.ordinal,
        chunk.span.start,
        chunk.span.end,
        chunk.lines.first,
        chunk.lines.last,
        chunk.chapter,
        chunk.scene,
        chunk.kind.value,
        chunk.tokens,
        space,
        chunk.lead,
        chunk.heading,
        chunk.text_hash,
        chunk.text,
    )


def _forget(
    connection: sqlite3.Connection, document: DocumentId, claim: Claim, now: float
) -> bool:
    if not complete(connection, claim, now):
        return False
    which = (document, claim.order.pipeline.value)
    _forsake(connection, connection.execute(_STORED_CHUNKS, which).fetchall(), now)
    connection.execute(
        "delete from chunk where document_id = ? and pipeline = ?", which
    )
    connection.execute(
        "delete from processed where document_id = ? and pipeline = ?", which
    )
    if claim.order.pipeline is Pipeline.AGENTIC:
        drop(connection, document)
    connection.execute(_DROP_DOCUMENT, (document,))
    _clean(connection, now)
    return True


def _forsake(
    connection: sqlite3.Connection, rows: Collection[_Row], now: float
) -> None:
    """Note that these chunks no longer use their vectors; others still may."""
    unused = [(row[_SPACE], row[_TEXT_HASH], now) for row in rows if row[_SPACE]]
    connection.executemany(_ORPHAN, unused)


def _clean(connection: sqlite3.Connection, now: float) -> None:
    before = (now - UNUSED_VECTORS_KEPT - _SWEEP_DELAY,)
    old = connection.execute("select 1 from orphan where since < ? limit 1", before)
    if old.fetchone():
        connection.execute(_SWEEP, before)
        connection.execute("delete from orphan where since < ?", before)
    shorten(connection)
