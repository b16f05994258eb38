"""Reads story data and snapshots of documents; stores the index of names."""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    DECODING_ERRORS,
    checksum_sql,
    fits_sql,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.cue_parties import (
    has_parties,
    load_cue_parties,
)
from lrwr.core.adapters.storage.sqlite.database import Result, SqliteDatabase
from lrwr.core.adapters.storage.sqlite.fts_index import build_fts_any_query
from lrwr.core.adapters.storage.sqlite.passage_store import ReadCache
from lrwr.core.adapters.storage.sqlite.story_rows import (
    cast_from_json,
    parse_appearance_row,
    parse_details,
    parse_fact_row,
    parse_quotation_row,
)
from lrwr.core.model.cast import (
    Cast,
)
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, Certainty, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    Appearance,
    CountedFact,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)

_NO_BOUNDS: Mapping[FactAbout, Collection[Any]] = MappingProxyType({})

MAX_CACHED_QUOTATIONS = 20_000
"""Quotations kept in memory, about 1 KB each: those of some ten novels."""

_CAST = f'select {fits_sql("story")}, "cast" from story where id = 1'
_STORE_CAST = """
insert into story (id, "cast") values (1, ?1)
on conflict (id) do update set "cast" = ?1 where "cast" <> ?1
"""
_SEAL_CAST = seal_sql("story", f"crc is null or not {fits_sql('story')}")

SELECT_FIRST_SEEN = f"""
select {fits_sql("first_seen")}, character, alias, document_id, char_start, char_end, mentions
from first_seen where {{where}}
order by document_id, char_start, alias
"""

_QUOTATION_COLUMNS = """
document_id, spans, speaker, certainty, cue, addressee, addressee_certainty, mentions
"""
_QUOTATIONS = f"""
select {fits_sql("quotation")}, {_QUOTATION_COLUMNS}
from quotation where {{where}}
order by document_id, char_start, n
"""

SELECT_FACTS = f"""
select {fits_sql("fact")}, document_id, about, subject, field, value, keeper, certainty, reach, spans,
  details
from fact where {{where}}
order by document_id, char_start, n
"""

# Rows of rules and the writer, nearly all, need no check: their keeper says nothing new.
_KEEPERS = f"""
select distinct keeper from fact
where about in (select value from json_each(?))
  and (keeper in ('{RULES_KEEPER}', '{WRITER_KEEPER}') or {fits_sql("fact")})
"""

_COUNT_FACTS = """
select subject, certainty, details, count(*) from fact where about = ? group by 1, 2, 3
"""

# The inner query selects the best facts before anything else of them is read.
_SEARCH_FACTS = f"""
select {fits_sql("fact", "f")}, f.document_id, f.about, f.subject, f.field, f.value, f.keeper, f.certainty,
  f.reach, f.spans, f.details
from (
  select rowid as n, bm25(fact_fts) as cost from fact_fts where fact_fts match ?
  order by cost, n limit ?
) best join fact f on f.n = best.n
order by best.cost, best.n
"""

_LABELS = """
select c.id, f.field, f.value
from fact f join chunk c on c.document_id = f.document_id
  and c.char_start = f.char_start
where +f.about = 'passage' and {where}
order by f.keeper <> 'rules', f.n
"""

_APPEARANCE_COLUMNS = """
c.id, c.document_id, c.char_start, c.char_end, c.ordinal, a.character, a.role, a.count
"""
_APPEARANCES = f"""
select 1, {_APPEARANCE_COLUMNS}
from appearance a join chunk c on c.id = a.chunk_id
where {{where}}
order by c.document_id, c.char_start, a.character, a.role
"""

_INDEX_COLUMNS = ("id", "key", "body")
_INDEX_CHECKSUM = checksum_sql(_INDEX_COLUMNS)
_LOAD_INDEX = f"""
select 1, body from bible_index where id = 1 and key = ? and crc = {_INDEX_CHECKSUM}
"""
_SAVE_INDEX = (
    "insert or replace into bible_index (id, key, body, crc) values (1, ?, ?, 0)"
)
_SEAL_INDEX = f"update bible_index set crc = {_INDEX_CHECKSUM}"

# Several queries instead of an `or`, so that SQLite uses an index for each.
_FACTS_ABOUT = "select n from fact where about in (select value from json_each(?))"
_FACTS_IN_DOCUMENTS = (
    "select n from fact where document_id in (select value from json_each(?))"
    " and about = ?"
)
_FACTS_WITH_SUBJECTS = (
    "select n from fact where about = ? and subject in (select value from json_each(?))"
)
_PART_QUOTATIONS = f"""
select {fits_sql("quotation")}, {_QUOTATION_COLUMNS}
from quotation where n in (
  select n from quotation where speaker in (select value from json_each(?1))
  union
  select n from quotation where document_id in (select value from json_each(?2))
)
order by document_id, char_start, n
"""
_PART_APPEARANCES = f"""
select 1, {_APPEARANCE_COLUMNS}
from appearance a join chunk c on c.id = a.chunk_id
where a.character in (select value from json_each(?1))
union
select 1, {_APPEARANCE_COLUMNS}
from chunk c join appearance a on a.chunk_id = c.id
where c.document_id in (select value from json_each(?2)) and c.pipeline = 'b'
order by 3, 4, 7, 8
"""


class SqliteStoryStore:
    """The `StoryStore` port in SQLite: reads what ingestion has stored about the story.

    The decoded cast is cached until it changes. Every method raises StoreProblem if the
    library cannot be read.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._cache = ReadCache()
        self._cast = (b"", Cast())

    async def cast(self) -> Cast:
        """Return all characters of the story, the most mentioned first."""
        return await self._database.read(
            lambda connection: self._cache.get(
                connection, "cast", lambda: self._read_cast(connection)
            )
        )

    def _read_cast(self, connection: sqlite3.Connection) -> Cast:
        rows = connection.execute(_CAST).fetchall()
        decoded = self._database.decode_rows(rows, self._decode_cast)
        return decoded[0] if decoded else Cast()

    def _decode_cast(self, row: Sequence[str]) -> Cast:
        (cast_json,) = row
        # The text of a large cast takes as much memory as the cast.
        digest = sha256(cast_json.encode("utf-8", "surrogatepass")).digest()
        if digest != self._cast[0]:
            self._cast = digest, cast_from_json(cast_json)
        return self._cast[1]

    async def first_seen(self) -> list[FirstMention]:
        """Return the first mention of each form of a character's name in each document,
        with the number of mentions of that form there.

        They are ordered by document id, then by position in the text.
        """
        sql = SELECT_FIRST_SEEN.format(where="true")
        return await _read_rows(self._database, sql, (), parse_first_mention_row)

    async def quotations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[DocumentQuotation]:
        """Return the quotations in `documents`, or in all documents.

        They are ordered by document id, then by position in the text.
        """
        if documents is None:
            return await self._database.read(self._select_quotations)
        return await self._database.read(
            lambda connection: self._cached_quotations(connection, sorted(documents))
        )

    def _cached_quotations(
        self, connection: sqlite3.Connection, documents: Sequence[DocumentId]
    ) -> list[DocumentQuotation]:
        by_document: dict[DocumentId, list[DocumentQuotation]]
        by_document = self._cache.get(connection, "quotations", dict)
        if missing := [name for name in documents if name not in by_document]:
            by_document |= {name: [] for name in missing}
            for quotation in self._select_quotations(connection, missing):
                by_document[quotation.document].append(quotation)
        quotations = [q for name in documents for q in by_document[name]]
        if sum(map(len, by_document.values())) > MAX_CACHED_QUOTATIONS:
            by_document.clear()
        return quotations

    def _select_quotations(
        self,
        connection: sqlite3.Connection,
        documents: Collection[DocumentId] | None = None,
    ) -> list[DocumentQuotation]:
        sql, parameters = _bound(_QUOTATIONS, {"document_id": documents})
        rows = connection.execute(sql, parameters)
        return self._database.decode_rows(rows, parse_quotation_row)

    async def facts(
        self,
        about: Collection[FactAbout] = (),
        *,
        documents: Mapping[FactAbout, Collection[DocumentId]] = _NO_BOUNDS,
        subjects: Mapping[FactAbout, Collection[str]] = _NO_BOUNDS,
    ) -> list[DocumentFact]:
        """Return all facts, ordered by document id, then by position in the text.

        With `about`, only facts about these kinds of things, such as characters; empty
        means all kinds. Of a kind in `documents` or `subjects`, only facts in these
        documents or about these subjects are returned.
        """
        sql, parameters = _select_facts(about, documents, subjects)
        facts = await _read_rows(
            self._database, sql, parameters, parse_document_fact_row
        )
        if any(map(has_parties, facts)):
            return await load_cue_parties(self._database, facts)
        return facts

    async def keepers(self, about: Collection[FactAbout]) -> frozenset[str]:
        """Return who stated the facts of the kinds in `about`: language models, rules,
        or the writer.
        """
        parameters = (json.dumps(sorted(about)),)
        rows = await self._database.read(
            lambda connection: connection.execute(_KEEPERS, parameters).fetchall()
        )
        return frozenset(keeper for (keeper,) in rows)

    async def search_facts(
        self, words: Sequence[str], *, limit: int
    ) -> list[DocumentFact]:
        """Return at most `limit` facts that contain any of `words`, best first (by
        BM25).

        Words are compared by stem. Empty if `words` is empty.
        """
        match = build_fts_any_query(words)
        if not match:
            return []
        return await _read_rows(
            self._database, _SEARCH_FACTS, (match, limit), parse_document_fact_row
        )

    async def labels(
        self, chunks: Collection[ChunkId] | None = None
    ) -> Mapping[ChunkId, Mapping[str, str]]:
        """Return the labels of chunks, such as their content type, by chunk id.

        The labels of a chunk map names of fields to values. None for `chunks` means all
        chunks; a chunk without labels is left out. A label set by a language model
        replaces one set by rules.
        """
        # The plus sign keeps SQLite from preferring the index on the pipeline.
        pipeline = "c.pipeline = 'b'" if chunks is None else "+c.pipeline = 'b'"
        sql, parameters = _bound(_LABELS, {"c.id": chunks}, pipeline)
        labels: dict[ChunkId, dict[str, str]] = {}
        rows = await self._database.read(
            lambda connection: connection.execute(sql, parameters).fetchall()
        )
        for chunk, field, value in rows:
            labels.setdefault(ChunkId(chunk), {})[field] = value
        return labels

    async def appearances(
        self, characters: Collection[str] | None = None
    ) -> list[Appearance]:
        """Return in which chunks `characters`, or all, appear, in which role and how
        often.

        Ordered by document id, then by position in the text.
        """
        sql, parameters = _bound(_APPEARANCES, {"a.character": characters})
        return await _read_rows(self._database, sql, parameters, parse_appearance_row)


class SqliteBiblePartStore:
    """The `BiblePartStore` port in SQLite. A damaged index counts as missing."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def content_version(self) -> int:
        """Return the number that triggers raise with each change of the story data."""
        sql = "select 1, content from library"
        return sum(await _read_rows(self._database, sql, (), _only_column))

    async def count_facts(self, about: FactAbout) -> list[CountedFact]:
        """Return the facts of one kind without their places, equal ones together."""
        return await self._database.read(
            lambda connection: [
                _parse_counted_row(row)
                for row in connection.execute(_COUNT_FACTS, (about.value,))
            ]
        )

    async def load_index(self, key: str) -> str:
        """Return the index saved under `key`; empty if missing, outdated or damaged."""
        return "".join(
            await _read_rows(self._database, _LOAD_INDEX, (key,), _only_column)
        )

    async def save_index(self, key: str, text: str) -> None:
        """Store `text` under `key` in place of the previous index."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_SAVE_INDEX, (key, text))
            connection.execute(_SEAL_INDEX)

        await self._database.write(work)

    async def quotations_of(
        self, speakers: Collection[str], documents: Collection[DocumentId]
    ) -> list[DocumentQuotation]:
        """Return the quotations by any of `speakers` or in any of `documents`, ordered
        by document id, then by position in the text.
        """
        parameters = _parameters(speakers, documents)
        return await _read_rows(
            self._database, _PART_QUOTATIONS, parameters, parse_quotation_row
        )

    async def appearances_of(
        self, characters: Collection[str], documents: Collection[DocumentId]
    ) -> list[Appearance]:
        """Return the appearances of any of `characters` or in any of `documents`,
        ordered by document id, then by position in the text.
        """
        parameters = _parameters(characters, documents)
        return await _read_rows(
            self._database, _PART_APPEARANCES, parameters, parse_appearance_row
        )


async def _read_rows(
    database: SqliteDatabase,
    sql: str,
    parameters: Sequence[str | int] | Mapping[str, str],
    decode: Callable[[Any], Result],
) -> list[Result]:
    """Return the sound rows of a query, decoded; see `decode_rows`."""
    return await database.read(
        lambda connection: database.decode_rows(
            connection.execute(sql, parameters), decode
        )
    )


def load_cast_json(connection: sqlite3.Connection) -> str:
    """Return the stored cast as JSON text; empty if there is none."""
    row = connection.execute(_CAST).fetchone()
    return str(row[1]) if row else ""


def read_cast(connection: sqlite3.Connection) -> Cast | None:
    """Return the stored cast; None if there is none, or it is damaged."""
    row = connection.execute(_CAST).fetchone()
    return cast_from_json(row[1]) if row and row[0] else None


def store_cast_json(connection: sqlite3.Connection, cast: str) -> None:
    """Store the cast in the JSON text `cast`. Must be called inside a transaction."""
    connection.execute(_STORE_CAST, (cast,))
    connection.execute(_SEAL_CAST)


def parse_first_mention_row(row: Sequence[Any]) -> FirstMention:
    """Decode a row of `SELECT_FIRST_SEEN`, without its first column."""
    character, alias, document, start, end, count = row
    return FirstMention(character, alias, DocumentId(document), Span(start, end), count)


def parse_document_fact_row(row: Sequence[Any]) -> DocumentFact:
    """Decode a row of `SELECT_FACTS`, without its first column."""
    return DocumentFact(row[0], parse_fact_row(row[1:]))


def _parse_counted_row(row: tuple[str, str, str, int]) -> CountedFact:
    subject, certainty, text, count = row
    try:
        details = parse_details(text)
        if all(isinstance(part, str) for pair in details for part in pair):
            return CountedFact(str(subject), Certainty(certainty), details, count)
    except DECODING_ERRORS:
        pass
    return CountedFact(str(subject), Certainty.VERIFIED, (), count)


def _select_facts(
    about: Collection[FactAbout],
    documents: Mapping[FactAbout, Collection[DocumentId]],
    subjects: Mapping[FactAbout, Collection[str]],
) -> tuple[str, list[str]]:
    """Return the statement of `SqliteStoryStore.facts`, and its parameters."""
    if not documents and not subjects:
        return _bound(SELECT_FACTS, {"about": about or None})
    kinds = set(about or FactAbout)
    queries = [_FACTS_ABOUT]
    parameters = _parameters(kinds - documents.keys() - subjects.keys())
    for kind in kinds & documents.keys():
        queries.append(_FACTS_IN_DOCUMENTS)
        parameters += [*_parameters(documents[kind]), kind]
    for kind in kinds & subjects.keys():
        queries.append(_FACTS_WITH_SUBJECTS)
        parameters += [kind, *_parameters(subjects[kind])]
    where = f"n in ({' union '.join(queries)})"
    return SELECT_FACTS.format(where=where), parameters


def _bound(
    sql: str,
    values_by_column: Mapping[str, Collection[str] | None],
    *conditions: str,
) -> tuple[str, list[str]]:
    """Return `sql` with all conditions in place of `{where}`, and its parameters.

    Each column must have one of its values; None is no condition. A condition that is
    not asked for must not be in the statement: SQLite would use no index for the others.
    """
    bounds = {c: values for c, values in values_by_column.items() if values is not None}
    conditions += tuple(f"{c} in (select value from json_each(?))" for c in bounds)
    return (
        sql.format(where=" and ".join(conditions) or "true"),
        [json.dumps(sorted(values)) for values in bounds.values()],
    )


def _only_column(row: Sequence[Any]) -> Any:
    return row[0]


def _parameters(*lists: Collection[str]) -> list[str]:
    return [json.dumps(sorted(values)) for values in lists]
