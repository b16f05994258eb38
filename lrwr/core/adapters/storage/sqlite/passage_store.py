"""Reading outlines, chunks and texts; the change feed, which vector indexes follow."""

import json
import sqlite3
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    decode_checked_rows,
    fits_sql,
    outline_fits_sql,
    text_fits_sql,
)
from lrwr.core.adapters.storage.sqlite.database import (
    LibraryGeneration,
    Result,
    SqliteDatabase,
    read_library_generation,
)
from lrwr.core.adapters.storage.sqlite.document_rows import outline_from_json
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import STATES_VERSION, Chunk, ChunkId, ChunkKind, TextHash
from lrwr.core.model.documents import DocumentId, DocumentOutline, DocumentType
from lrwr.core.model.errors import DamagedDocument, NotFound
from lrwr.core.model.jobs import STOPPED_ERROR
from lrwr.core.model.text import LineIndex, LineRange, Span
from lrwr.core.ports.stores import ChunkChange, DocumentText, LibraryCounts

if TYPE_CHECKING:
    from collections.abc import Iterable


SELECT_OUTLINES = f"""
select {outline_fits_sql("document")}, id, type, title, words, order_hint, chapters
from document where {{where}} order by id
"""
# What changes whenever an outline is stored.
_OUTLINE_VERSIONS = """
select d.id, d.updated_at, k.outline
from document d left join document_check k on k.document_id = d.id order by d.id
"""
_TEXT = f"""
select {text_fits_sql("document")}, text, paragraphs,
  exists (select 1 from processed where document_id = document.id)
from document where id = ?
"""
_CHUNK = f"""
{fits_sql("chunk", "c")}, c.id, c.document_id, c.ordinal, c.char_start, c.char_end, c.line_first, c.line_last,
  c.chapter, c.scene, c.kind, c.text, c.text_hash, c.tokens, c.lead, c.heading
"""
_CHUNKS = f"""
select {_CHUNK} from json_each(?) asked join chunk c on c.id = asked.value
order by asked.key
"""
_CHUNKS_OF = f"""
select {_CHUNK} from chunk c where c.document_id = ? and c.pipeline = ?
order by c.ordinal
"""
_TOKEN_STATES = f"""
select {fits_sql("token_state", "s")}, s.text_hash, s.states
from json_each(?) asked join token_state s on s.text_hash = asked.value
where s.space = ? and s.version = ?
"""
# A stopped job counts until a later run completes one: by then, its document was read
# again, or its file is gone.
_COUNTS = """
select
  (select count(*) from processed where pipeline = ?1),
  (select cast(total(d.words) as integer) from processed p join document d
     on d.id = p.document_id where p.pipeline = ?1),
  (select count(*) from chunk where pipeline = ?1),
  (select json_group_object(space, chunks) from
     (select space, count(*) as chunks from chunk where pipeline = ?1 group by space)),
  (select max(d.updated_at) from processed p join document d
     on d.id = p.document_id where p.pipeline = ?1),
  (select count(*) from (
     select id from document union
     select document_id from job where kind = 'process' and (
       state in ('pending', 'running')
       or state = 'failed' and error = ?2 and updated_at >=
         (select coalesce(max(updated_at), 0) from job where state = 'complete')))
   where id not in (select document_id from processed))
"""


FEW_DOCUMENTS = 16
"""Outlines that are read one by one; more are read at once."""

MAX_CACHED_CHUNKS = 4_000
"""Chunks kept in memory, about 2 KB each: one search reads many of them three times."""


class ReadCache:
    """Values read from a library, remembered until anything is written to its file."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._as_of: LibraryGeneration | None = None

    def get(
        self, connection: sqlite3.Connection, key: Hashable, load: Callable[[], Result]
    ) -> Result:
        """Return the value of `key`, which `load` reads unless it is remembered.

        Must be called inside a transaction of `connection`, always the same one.
        """
        now = read_library_generation(connection)
        if now != self._as_of:
            self._values.clear()
            self._as_of = now
        if key not in self._values:
            self._values[key] = load()
        value: Result = self._values[key]
        return value


class SqlitePassageStore:
    """The `PassageStore` port in SQLite: reads what search and answers need.

    Outlines, counts and some chunks are cached until anything is written to the file.
    Every method raises StoreProblem if the library cannot be read.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._cache = ReadCache()
        self._outlines: dict[DocumentId, tuple[object, DocumentOutline]] = {}

    async def outlines(self) -> list[DocumentOutline]:
        """Return the outline (title, chapters, scenes) of every document, ordered by
        id.
        """
        return list(
            await self._database.read(
                lambda connection: self._cache.get(
                    connection,
                    "outlines",
                    lambda: self._load_outlines(connection),
                )
            )
        )

    def _load_outlines(self, connection: sqlite3.Connection) -> list[DocumentOutline]:
        """Read the outlines stored since the last call; all if there are many."""
        versions = {row[0]: row[1:] for row in connection.execute(_OUTLINE_VERSIONS)}
        unchanged = {
            document: outline
            for document, (version, outline) in self._outlines.items()
            if versions.get(document) == version
        }
        changed = list(versions.keys() - unchanged.keys())
        is_bounded = len(changed) <= FEW_DOCUMENTS
        sql = SELECT_OUTLINES.format(where="id = ?" if is_bounded else "true")
        for parameters in [(document,) for document in changed] if is_bounded else [()]:
            rows = connection.execute(sql, parameters)
            for outline in self._database.decode_rows(rows, parse_outline_row):
                unchanged[outline.id] = outline
        outlines = [
            unchanged[document] for document in versions if document in unchanged
        ]
        self._outlines = {o.id: (versions[o.id], o) for o in outlines}
        return outlines

    async def chunks(self, ids: Sequence[ChunkId]) -> list[Chunk]:
        """Return the chunks with these ids, in the order of `ids`; unknown ids are
        skipped.
        """
        return await self._database.read(
            lambda connection: self._cached_chunks(connection, ids)
        )

    def _cached_chunks(
        self, connection: sqlite3.Connection, ids: Sequence[ChunkId]
    ) -> list[Chunk]:
        chunks: dict[ChunkId, Chunk] = self._cache.get(connection, "chunks", dict)
        missing = [chunk for chunk in ids if chunk not in chunks]
        rows = connection.execute(_CHUNKS, (json.dumps(missing),)) if missing else ()
        for read_chunk in self._database.decode_rows(rows, _chunk):
            chunks[read_chunk.id] = read_chunk
        existing = [chunks[chunk] for chunk in ids if chunk in chunks]
        if len(chunks) > MAX_CACHED_CHUNKS:
            chunks.clear()
        return existing

    async def chunks_of(self, document: DocumentId, pipeline: Pipeline) -> list[Chunk]:
        """Return the chunks that `pipeline` has made of a document, in text order."""
        return await self._chunks(_CHUNKS_OF, document, pipeline.value)

    async def text(self, document: DocumentId) -> DocumentText:
        """Return the text of a document, with the offset at which each line starts.

        Raises:
            NotFound: The library does not contain the document.
            DamagedDocument: Its stored text is damaged, or was and is not stored again.
        """
        is_stored, texts = await self._database.read(
            lambda connection: self._load_text(connection, document)
        )
        if is_stored is None:
            raise NotFound(
                f"{document} is not in the library",
                hint="If it is in the manuscript folder, run `lrwr ingest`.",
            )
        if not is_stored:
            raise DamagedDocument(
                f"The text of {document} was damaged and is not stored again yet",
                hint="Run `lrwr ingest`.",
            )
        if not texts:
            raise DamagedDocument(
                f"The stored text of {document} is damaged",
                hint="Run `lrwr ingest --verify` to store it again.",
            )
        return texts[0]

    async def texts(
        self, documents: Collection[DocumentId]
    ) -> dict[DocumentId, DocumentText]:
        """Return the stored texts of `documents` that are not damaged, from one point
        in time.
        """
        texts = await self._database.read(
            lambda connection: [
                (document, text)
                for document in dict.fromkeys(documents)
                for text in self._load_text(connection, document)[1]
            ]
        )
        return dict(texts)

    def _load_text(
        self, connection: sqlite3.Connection, document: DocumentId
    ) -> tuple[bool | None, list[DocumentText]]:
        return load_text(connection, document, self._database.notice_damage)

    async def counts(self, pipeline: Pipeline) -> LibraryCounts:
        """Return the numbers of documents, words and chunks that `pipeline` has
        stored.
        """
        row = await self._database.read(
            lambda connection: self._cache.get(
                connection,
                pipeline,
                lambda: connection.execute(
                    _COUNTS, (pipeline.value, STOPPED_ERROR)
                ).fetchone(),
            )
        )
        documents, words, chunks, spaces, newest, waiting = row
        return LibraryCounts(
            documents, words, chunks, _decode_spaces(spaces), newest, waiting
        )

    async def _chunks(self, sql: str, *parameters: str) -> list[Chunk]:
        return await self._database.read(
            lambda connection: self._database.decode_rows(
                connection.execute(sql, parameters), _chunk
            )
        )


def load_text(
    connection: sqlite3.Connection,
    document: DocumentId,
    notice_damage: Callable[[], None],
) -> tuple[bool | None, list[DocumentText]]:
    """Return whether the text of a document is stored, and the text unless it is
    damaged; then `notice_damage` is called.

    The first is None if the library does not contain the document.
    """
    rows = connection.execute(_TEXT, (document,)).fetchall()
    is_stored = bool(rows[0][-1]) if rows else None
    return is_stored, decode_checked_rows(
        [row[:-1] for row in rows if is_stored],
        lambda row: DocumentText(row[0], _lines(*row)),
        notice_damage,
    )


class SqliteTokenStates:
    """Reads the token states of passages, which ingestion stores with their vectors."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def read(
        self, space: str, texts: Sequence[TextHash]
    ) -> dict[TextHash, bytes]:
        """Return the encoded token states of the texts with the hashes `texts`.

        They are those of the embedding model of `space`, in the encoding
        `STATES_VERSION`. Texts without any, or with damaged ones, are left out.

        Raises:
            StoreProblem: The library cannot be read.
        """
        parameters = (json.dumps(list(texts)), space, STATES_VERSION)
        return await self._database.read(
            lambda connection: dict(
                self._database.decode_rows(
                    connection.execute(_TOKEN_STATES, parameters), _token_states
                )
            )
        )


def _token_states(row: tuple[str, bytes]) -> tuple[TextHash, bytes]:
    return TextHash(row[0]), row[1]


def _decode_spaces(text: str) -> dict[str, int]:
    """Return numbers of chunks by embedding space; empty if a name is damaged."""
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError):
        return {}


def _lines(text: str, paragraphs: str) -> LineIndex:
    if not paragraphs:
        return LineIndex.of(text)
    starts, numbers = json.loads(paragraphs)
    return LineIndex(tuple(starts), tuple(numbers))


def parse_outline_row(
    row: tuple[str, str, str, int, float | None, str],
) -> DocumentOutline:
    """Decode a row of `SELECT_OUTLINES`, without its first column."""
    document, kind, title, words, order, outline = row
    if not isinstance(document, str):
        raise TypeError("the id of a document is not text")
    chapters, scene_files = outline_from_json(outline)
    return DocumentOutline(
        id=DocumentId(document),
        type=DocumentType(kind),
        title=title,
        words=words,
        order=order,
        chapters=chapters,
        scene_files=scene_files,
    )


def _chunk(
    row: tuple[
        str, str, int, int, int, int, int, int, int, str, str, str, int, str, str
    ],
) -> Chunk:
    return Chunk(
        id=ChunkId(row[0]),
        document=DocumentId(row[1]),
        ordinal=row[2],
        span=Span(row[3], row[4]),
        lines=LineRange(row[5], row[6]),
        chapter=row[7],
        scene=row[8],
        kind=ChunkKind(row[9]),
        text=row[10],
        text_hash=TextHash(row[11]),
        tokens=row[12],
        lead=row[13],
        heading=row[14],
    )


_CHANGES = """
select f.seq, f.chunk_id, c.document_id, c.char_end, c.kind, e.vector
from change f
left join chunk c on c.id = f.chunk_id
left join embedding e on e.space = c.space and e.text_hash = c.text_hash
  and e.space = :space
where f.seq > :after and f.pipeline = :pipeline
order by f.seq
limit :limit
"""


_VECTORS = f"""
select {fits_sql("embedding", "e")}, c.id, e.vector
from json_each(:chunks) asked cross join chunk c on c.id = asked.value
cross join embedding e on e.space = c.space and e.text_hash = c.text_hash
where c.space = :space
"""


class SqliteChangeFeed:
    """The change feed: a numbered list of added and deleted chunks for vector indexes.

    An index stores the number of the last change that it applied. An entry carries the
    chunk as it is when the feed is read, not as it was then. Every method raises
    StoreProblem if the library cannot be read.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def changes(
        self, pipeline: Pipeline, space: str, *, after: int, limit: int
    ) -> list[ChunkChange]:
        """Return at most `limit` changes of chunks of `pipeline` with a number above
        `after`, oldest first.

        The `vector` of a change is the chunk's vector in the embedding space `space`;
        None if it has none, or the chunk was deleted. All belong to one state of the
        library.
        """
        parameters = {
            "pipeline": pipeline.value,
            "space": space,
            "after": after,
            "limit": limit,
        }
        return await self._database.read(
            lambda connection: decode_chunk_changes(
                connection.execute(_CHANGES, parameters)
            )
        )

    async def vectors(
        self, chunks: Sequence[ChunkId], space: str
    ) -> dict[ChunkId, bytes]:
        """Return the vectors of `chunks` in the embedding space `space`, as numbers of
        32 bits. Chunks without one, or with a damaged one, are left out.
        """
        parameters = {"chunks": json.dumps(chunks), "space": space}
        return await self._database.read(
            lambda connection: dict(
                self._database.decode_rows(
                    connection.execute(_VECTORS, parameters), _chunk_vector
                )
            )
        )

    async def epoch(self) -> str:
        """Return the name of this feed; it changes when outdated entries are deleted.

        An index that has followed a feed with another name must be built again.
        """
        sql = "select id || '.' || generation from library"
        return await self._database.read(
            lambda connection: str(connection.execute(sql).fetchone()[0])
        )

    async def library(self) -> str:
        """Return the id of the library; a copy of the library has the same."""
        sql = "select id from library"
        return await self._database.read(
            lambda connection: str(connection.execute(sql).fetchone()[0])
        )


def _chunk_vector(row: tuple[str, bytes]) -> tuple[ChunkId, bytes]:
    return ChunkId(row[0]), row[1]


def decode_chunk_changes(
    rows: "Iterable[tuple[int, str, str | None, int | None, str | None, bytes | None]]",
) -> list[ChunkChange]:
    """Return changes from rows with the columns of `ChunkChange`, in their order."""
    import numpy as np

    return [
        ChunkChange(
            seq=seq,
            chunk=ChunkId(chunk),
            document=DocumentId(document or ""),
            end=end or 0,
            kind=kind or "",
            vector=None if vector is None else np.frombuffer(vector, np.dtype("<f4")),
        )
        for seq, chunk, document, end, kind, vector in rows
    ]
