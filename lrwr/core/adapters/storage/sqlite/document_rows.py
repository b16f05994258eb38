"""The database rows of one document: text, chapters, chunks, vectors, changes of
chunks.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import insert_sql, seal_document
from lrwr.core.adapters.storage.sqlite.story_rows import (
    FactRows,
    build_fact_rows,
    delete_fact_rows,
    load_fact_rows,
    store_fact_rows,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import STATES_VERSION, Chunk, Knowledge
from lrwr.core.model.documents import Chapter, Document, DocumentId, Scene
from lrwr.core.model.text import LineIndex, Span

UNUSED_VECTORS_KEPT = 24 * 3600.0
"""Seconds for which a vector is stored after its last chunk was deleted.

Text that is cut and pasted back later need not be embedded again."""

_SWEEP_DELAY = 3600.0
"""Seconds between the end of that time and the deletion.

`known_vectors` does not report such a vector, so that no ingestion relies on one that
is about to be deleted."""

_EMBEDDED = """
select text_hash from embedding
where space = :space and text_hash in (select value from json_each(:texts))
"""

_DOCUMENT_COLUMNS = """
  id, format, type, title, order_hint, words, updated_at, warnings, chapters,
  paragraphs, text
"""

_DOCUMENT = f"""
insert into document ({_DOCUMENT_COLUMNS})
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update set
  format = excluded.format, type = excluded.type, title = excluded.title,
  order_hint = excluded.order_hint, words = excluded.words,
  updated_at = excluded.updated_at, warnings = excluded.warnings,
  chapters = excluded.chapters, paragraphs = excluded.paragraphs, text = excluded.text
"""

_PROCESSED = insert_sql(
    "processed",
    ("document_id", "pipeline", "revision", "content", "recipe"),
    "insert or replace",
)

_STORED_PROCESSED = """
select content, recipe from processed where document_id = ? and pipeline = ?
"""

_EMBEDDING = insert_sql(
    "embedding", ("space", "text_hash", "vector"), "insert or ignore"
)

_TOKEN_STATES = insert_sql(
    "token_state", ("space", "text_hash", "version", "states"), "insert or replace"
)

_CHUNK_COLUMNS = """
  id, ordinal, char_start, char_end, line_first, line_last, chapter, scene, kind,
  tokens, space, lead, heading, text_hash, text
"""

_STORED_CHUNKS = f"""
select {_CHUNK_COLUMNS} from chunk where document_id = ? and pipeline = ?
order by ordinal
"""

_INSERT_CHUNK = f"""
insert into chunk ({_CHUNK_COLUMNS}, document_id, pipeline)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_MOVE_CHUNK = """
update chunk set
  ordinal = ?2, char_start = ?3, char_end = ?4, line_first = ?5, line_last = ?6,
  chapter = ?7, scene = ?8, kind = ?9, tokens = ?10, space = ?11, lead = ?12,
  heading = ?13, text = ?14, crc = null
where id = ?1
"""

_NOTE_UNUSED = (
    "insert or replace into orphan (space, text_hash, since) values (?, ?, ?)"
)

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

ChunkRow = tuple[str | int, ...]
"""The columns of a chunk in the order of `_CHUNK_COLUMNS`."""

EmbeddingRow = tuple[str, str, bytes]
"""Embedding space, text hash, and the vector as little-endian 32-bit floats."""

TokenStatesRow = tuple[str, str, int, bytes]
"""Embedding space, text hash, version of the encoding, and the encoded token states."""

_SPACE, _TEXT_HASH, _TEXT = 10, 13, 14


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """All database rows that one pipeline has stored of one document, without the
    vectors.

    `document` is a row of the table `document`, in the order of `_DOCUMENT_COLUMNS`.
    `content` is the SHA-256 of the file's bytes, `recipe` names the parser, splitter
    and embedding space used. `space` is the embedding space; the space in a chunk's own
    row is empty if that chunk has no vector. `read` holds the facts; None in pipeline
    a.
    """

    document: tuple[object, ...]
    pipeline: Pipeline
    content: str
    recipe: str
    space: str
    chunks: tuple[ChunkRow, ...]
    read: FactRows | None

    @property
    def id(self) -> DocumentId:
        """The id of the document."""
        return DocumentId(str(self.document[0]))

    @property
    def texts(self) -> frozenset[str]:
        """The SHA-256 of the embedded texts of the chunks that have a vector."""
        return frozenset(str(row[_TEXT_HASH]) for row in self.chunks if row[_SPACE])

    def embedded(self, texts: Collection[str]) -> "DocumentRows":
        """Return a copy in which only chunks with a text hash in `texts` have a vector.

        Chunks without a vector remain so.
        """
        return replace(
            self,
            chunks=tuple(_set_space(row, self.space, texts) for row in self.chunks),
        )


def build_document_rows(
    knowledge: Knowledge, content: str, recipe: str, now: float
) -> DocumentRows:
    """Return the rows of `knowledge`, the results for one document.

    Every chunk is marked as embedded in the space of `knowledge`. `content` is the
    SHA-256 of the file's bytes, `recipe` names parser, splitter and embedding space,
    and `now` is in seconds since 1970.
    """
    return DocumentRows(
        document=_document_row(knowledge.document, now),
        pipeline=knowledge.pipeline,
        content=content,
        recipe=recipe,
        space=knowledge.space,
        chunks=tuple(_chunk_row(chunk, knowledge.space) for chunk in knowledge.chunks),
        read=build_fact_rows(knowledge)
        if knowledge.pipeline is Pipeline.AGENTIC
        else None,
    )


def build_embedding_rows(knowledge: Knowledge) -> list[EmbeddingRow]:
    """Return a row for each vector in `knowledge`: embedding space, text hash, and the
    vector as little-endian 32-bit floats.
    """
    return [
        (knowledge.space, text, vector.astype("<f4").tobytes())
        for text, vector in knowledge.vectors.items()
    ]


def build_token_states_rows(knowledge: Knowledge) -> list[TokenStatesRow]:
    """Return a row for the token states of each text in `knowledge` that has some."""
    return [
        (knowledge.space, text, STATES_VERSION, states)
        for text, states in knowledge.states.items()
    ]


def load_document_rows(
    connection: sqlite3.Connection, document: DocumentId, pipeline: Pipeline
) -> DocumentRows | None:
    """Return what `pipeline` has stored of a document; None if it has not
    processed it.
    """
    key = (document, pipeline.value)
    processed = connection.execute(_STORED_PROCESSED, key).fetchone()
    if processed is None:
        return None
    row = connection.execute(
        f"select {_DOCUMENT_COLUMNS} from document where id = ?", (document,)
    ).fetchone()
    chunks = tuple(connection.execute(_STORED_CHUNKS, key))
    agentic = pipeline is Pipeline.AGENTIC
    fact_rows = load_fact_rows(connection, document) if agentic else None
    spaces = {str(chunk[_SPACE]) for chunk in chunks} | {
        fact_rows.space if fact_rows else ""
    }
    content, recipe = processed
    return DocumentRows(row, pipeline, content, recipe, max(spaces), chunks, fact_rows)


def store_document_rows(
    connection: sqlite3.Connection,
    draft: DocumentRows,
    embeddings: Iterable[EmbeddingRow],
    token_states: Iterable[TokenStatesRow] = (),
    *,
    revision: str,
    now: float,
) -> None:
    """Replace everything that one pipeline has stored of a document by `draft`.

    Chunks with the same id and text keep their row and their entries in the change
    feed, the list of added and deleted chunks for vector indexes. A chunk whose vector
    is neither in `embeddings` nor in the file is stored as not embedded. `token_states`
    are those of texts in `embeddings`. `revision` is a text that changes when the manuscript file on this machine changes; `now` is in
    seconds since 1970. Must be called inside a transaction.
    """
    connection.execute(_DOCUMENT, draft.document)
    connection.executemany(_EMBEDDING, embeddings)
    connection.executemany(_TOKEN_STATES, token_states)
    _replace_chunks(connection, draft, now)
    if draft.read is not None:
        store_fact_rows(connection, draft.read)
    _sweep_vectors(connection, now)
    processed = draft.id, draft.pipeline.value, revision, draft.content, draft.recipe
    connection.execute(_PROCESSED, processed)
    seal_document(connection, draft.id, draft.pipeline.value)


def delete_document_rows(
    connection: sqlite3.Connection, document: DocumentId, pipeline: Pipeline, now: float
) -> None:
    """Delete everything that one pipeline has stored of a document.

    The document itself is deleted when no pipeline has stored anything of it. `now` is
    in seconds since 1970. Must be called inside a transaction.
    """
    key = (document, pipeline.value)
    _note_unused_vectors(
        connection, connection.execute(_STORED_CHUNKS, key).fetchall(), now
    )
    connection.execute("delete from chunk where document_id = ? and pipeline = ?", key)
    connection.execute(
        "delete from processed where document_id = ? and pipeline = ?", key
    )
    if pipeline is Pipeline.AGENTIC:
        delete_fact_rows(connection, document)
    connection.execute(_DROP_DOCUMENT, (document,))
    _sweep_vectors(connection, now)


def find_embedded_texts(
    connection: sqlite3.Connection, space: str, texts: Collection[str]
) -> set[str]:
    """Return those of `texts` that have a vector in the embedding space `space`.

    `texts` are text hashes: the SHA-256 of embedded texts.
    """
    parameters = {"space": space, "texts": json.dumps(list(texts))}
    return {row[0] for row in connection.execute(_EMBEDDED, parameters)}


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
        outline_to_json(document.chapters, document.scene_files),
        _encode_paragraph_numbers(document.lines),
        document.text,
    )


def _encode_paragraph_numbers(lines: LineIndex) -> str:
    """Encode the paragraph numbers of a `.docx`, which its text does not contain."""
    if not lines.numbers:
        return ""
    return json.dumps([lines.starts, lines.numbers], separators=(",", ":"))


def _chunk_row(chunk: Chunk, space: str) -> ChunkRow:
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


def _set_space(row: ChunkRow, space: str, texts: Collection[str]) -> ChunkRow:
    space = space if row[_SPACE] and row[_TEXT_HASH] in texts else ""
    return (*row[:_SPACE], space, *row[_SPACE + 1 :])


def _replace_chunks(
    connection: sqlite3.Connection, draft: DocumentRows, now: float
) -> None:
    key = draft.id, draft.pipeline.value
    draft = draft.embedded(find_embedded_texts(connection, draft.space, draft.texts))
    rows = connection.execute(_STORED_CHUNKS, key)
    stored: dict[str, ChunkRow] = {row[0]: row for row in rows}
    added: list[ChunkRow] = []
    moved: list[ChunkRow] = []
    for row in draft.chunks:
        old = stored.get(str(row[0]))
        if old is None or old[_TEXT_HASH] != row[_TEXT_HASH]:
            added.append((*row, *key))
            continue
        if old[_SPACE] == row[_SPACE]:
            del stored[str(row[0])]
        if old != row:
            moved.append((*row[:_TEXT_HASH], row[_TEXT]))
    _note_unused_vectors(connection, stored.values(), now)
    kept_ids = {row[0] for row in moved}
    deleted_rows = [(chunk,) for chunk in stored if chunk not in kept_ids]
    connection.executemany("delete from chunk where id = ?", deleted_rows)
    connection.executemany(_MOVE_CHUNK, moved)
    connection.executemany(_INSERT_CHUNK, added)


def _note_unused_vectors(
    connection: sqlite3.Connection, rows: Collection[ChunkRow], now: float
) -> None:
    """Record since when these chunks no longer use their vectors; others still may."""
    unused = [(row[_SPACE], row[_TEXT_HASH], now) for row in rows if row[_SPACE]]
    connection.executemany(_NOTE_UNUSED, unused)


def _sweep_vectors(connection: sqlite3.Connection, now: float) -> None:
    before = (now - UNUSED_VECTORS_KEPT - _SWEEP_DELAY,)
    old = connection.execute("select 1 from orphan where since < ? limit 1", before)
    if old.fetchone():
        connection.execute(_SWEEP, before)
        connection.execute("delete from orphan where since < ?", before)
    prune_change_feed(connection)


def outline_to_json(
    chapters: Sequence[Chapter], scene_files: Sequence[DocumentId] | None
) -> str:
    """Return the outline of a document as JSON text, for storage.

    It is a list of objects, the chapters in their order, with the keys "title", "span",
    "scenes" (objects with "span" and "parts"), "opening", "volume" and "number". A span
    is a pair `[start, end]`, half-open, in characters. For an index note, which lists
    `scene_files`, it is an object with that list as "chapters", and "scene_files".
    """
    rows = [
        {
            "title": chapter.title,
            "span": _span_pair(chapter.span),
            "scenes": [
                {
                    "span": _span_pair(scene.span),
                    "parts": [_span_pair(p) for p in scene.parts],
                }
                for scene in chapter.scenes
            ],
            "opening": chapter.opening,
            "volume": chapter.volume,
            "number": chapter.number,
        }
        for chapter in chapters
    ]
    outline: object = rows
    if scene_files is not None:
        outline = {"chapters": rows, "scene_files": list(scene_files)}
    return json.dumps(outline, ensure_ascii=False, separators=(",", ":"))


def chapters_from_json(text: str) -> tuple[Chapter, ...]:
    """Return the chapters in a JSON text that `outline_to_json` wrote."""
    return outline_from_json(text)[0]


def outline_from_json(text: str) -> tuple[tuple[Chapter, ...], tuple[DocumentId, ...]]:
    """Return the chapters and the scene files in a JSON text that `outline_to_json`
    wrote.
    """
    outline = json.loads(text)
    scene_files: list[str] = []
    if isinstance(outline, dict):
        outline, scene_files = outline["chapters"], outline["scene_files"]
    return _chapters(outline), tuple(map(DocumentId, scene_files))


def _chapters(rows: list[dict[str, Any]]) -> tuple[Chapter, ...]:
    return tuple(
        Chapter(
            title=chapter["title"],
            span=Span(*chapter["span"]),
            scenes=tuple(_scene(scene) for scene in chapter["scenes"]),
            opening=chapter["opening"],
            volume=chapter["volume"],
            number=chapter["number"],
        )
        for chapter in rows
    )


def _scene(fields: dict[str, Any]) -> Scene:
    return Scene(Span(*fields["span"]), tuple(Span(*part) for part in fields["parts"]))


def _span_pair(span: Span) -> tuple[int, int]:
    return span.start, span.end


KEPT_CHANGES = 20_000
"""Entries by which the feed may grow, besides four a chunk, before it is pruned."""


_DELETE_OUTDATED = """
delete from change where seq not in (
  select max(f.seq) from change f join chunk c on c.id = f.chunk_id group by f.chunk_id
)
"""


_FEED_GROWTH = """
select max(change.seq) - (select pruned from library) from change
"""


def prune_change_feed(connection: sqlite3.Connection) -> None:
    """Delete outdated entries of the change feed, if it has grown long enough.

    The feed lists added and deleted chunks for vector indexes. Long enough means more
    than `KEPT_CHANGES` entries, plus four per chunk, since the last pruning. Only the
    newest entry of each existing chunk remains. The feed gets a new generation, and
    therefore another name (`SqliteChangeFeed.epoch`), so that all indexes are built
    again.
    """
    grown = connection.execute(_FEED_GROWTH).fetchone()[0] or 0
    if grown <= KEPT_CHANGES:
        return
    chunks = connection.execute("select count(*) from chunk").fetchone()[0]
    if grown <= KEPT_CHANGES + 4 * chunks:
        return
    newest = "coalesce((select max(seq) from change), pruned)"
    connection.execute(
        f"update library set generation = generation + 1, pruned = {newest}"
    )
    connection.execute(_DELETE_OUTDATED)
