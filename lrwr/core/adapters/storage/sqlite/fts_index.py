"""Full-text search with SQLite FTS5: queries, and the repair of its indexes."""

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations

from lrwr.core.adapters.storage.sqlite.database import (
    SqliteDatabase,
    is_read_only_error,
    list_migration_statements,
)
from lrwr.core.adapters.storage.sqlite.passage_store import ReadCache
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope

_PASSAGE_INDEXES = {Pipeline.NAIVE: "chunk_fts_a", Pipeline.AGENTIC: "chunk_fts_b"}
Bm25Weights = tuple[float, ...]
"""BM25 weight of each column of an index, in the order of its columns."""
BM25_WEIGHTS_BY_PIPELINE: Mapping[Pipeline, Bm25Weights] = {
    Pipeline.NAIVE: (1.0,),
    Pipeline.AGENTIC: (1.0, 0.5, 0.3, 0.3),
}
"""Weights of text, lead, heading and names; pipeline a has text only.

Chosen by measurement: docs/decisions/011-dialogue-questions.md."""
_BOUNDED = {Pipeline.NAIVE: "{text}", Pipeline.AGENTIC: "{text lead heading}"}
"""The columns searched with a horizon. `names` holds each character's full name, which
the text may reveal only after the horizon, so that column is left out."""
MAX_WORDS_BETWEEN_PAIR = 12
"""Two words are close if at most this many words stand between them."""
MAX_PAIRED_WORDS = 8
"""Words of a question that are paired; 8 words make 28 pairs."""
_NO_BOUND = 2**62
"""An end that no text reaches: no horizon in that document."""
_TIE_MARGIN = 20
"""Rows read beyond the limit, to see whether more rows tie with the last one."""
# The inner query ranks without looking at chunks: most words are in many of them. It
# names no columns, although all are meant: FTS5 would copy the positions of each word.
_SEARCH = """
select c.id, c.kind, -best.cost
from (
  select rowid as n, bm25({index}, {weights}) as cost from {index}
  where {index} match :words {condition} order by cost limit :limit
) best left join chunk c on c.n = best.n
"""
# The plus sign keeps FTS5 from searching anew for each row.
_HAS_RARE = "and +rowid in (select rowid from {index} where {index} match :rare)"
_FREQUENT_SHARE = 0.25
"""Share of the chunks from which a word is frequent: it hardly decides the ranking, but
FTS5 takes most of its time to score the chunks with nothing else."""
_MAX_TERM_FACTOR = 2.2
"""Bound of the factor that BM25 multiplies the inverse document frequency of a word with:
k1 + 1. Column weights do not change it."""
_MIN_IDF = 1e-6
"""The inverse document frequency that FTS5 uses for words in most of the chunks."""
_MAX_CACHED_FREQUENCIES = 10_000

# The bounds are joined, so that SQLite builds an index on them for the query. A
# subquery would scan all bounds for each hit.
_SEARCH_BOUNDED = """
with bound (document, until) as materialized (
  select key, value from json_each(:bounds)
)
select c.id, -bm25({index}, {weights}) as score
from {index} join chunk c on c.n = {index}.rowid
  left join bound on bound.document = c.document_id
where {index} match :words
  and c.kind in (select value from json_each(:kinds))
  and c.char_end <= coalesce(bound.until, :elsewhere)
order by score desc, c.id limit :limit
"""


class SqliteLexicalIndex:
    """Keyword search over chunks with SQLite FTS5; implements `LexicalIndex`.

    Scores are BM25, higher is better. `weights` are the weights of the indexed columns,
    for each pipeline. Triggers of the database keep the indexes up to date. Every
    method raises StoreProblem if the library cannot be read.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        weights: Mapping[Pipeline, Bm25Weights] = BM25_WEIGHTS_BY_PIPELINE,
    ) -> None:
        self._database = database
        self._weights = weights
        self._cache = ReadCache()

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks in `scope` that contain any of `words`, best
        first.

        Words are compared by stem, without case. Only chunks of `pipeline` are
        searched. Empty if `words` is empty.
        """
        return await self._search(
            build_fts_any_query(words), pipeline, scope, limit, words
        )

    async def search_pairs(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks in `scope` where two of `words` are close, best
        first.

        Close means at most `MAX_WORDS_BETWEEN_PAIR` words apart, in either order. Only
        the first `MAX_PAIRED_WORDS` words are paired. Only chunks of `pipeline` are
        searched.
        """
        return await self._search(_build_pair_query(words), pipeline, scope, limit)

    async def search_phrases(
        self,
        phrases: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks in `scope` that contain any of `phrases`, best
        first.

        The words of a phrase must be adjacent and in order; they are compared by stem,
        without case. Only chunks of `pipeline` are searched.
        """
        # FTS5 reads a quoted string of several words as a phrase.
        return await self._search(build_fts_any_query(phrases), pipeline, scope, limit)

    async def _search(
        self,
        match: str,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
        words: Sequence[str] = (),
    ) -> list[ScoredChunk]:
        """Search for `match`, which matches any of `words` if there are some."""
        if not match or limit < 1:
            return []
        index = _PASSAGE_INDEXES[pipeline]
        weights = ", ".join(map(str, self._weights[pipeline]))
        if scope.documents is not None or scope.until:
            sql = _SEARCH_BOUNDED.format(index=index, weights=weights)
            bounded = f"{_BOUNDED[pipeline]} : ({match})"
            return await self._database.read(
                lambda connection: _search_bounded(
                    connection, sql, bounded, scope, limit
                )
            )

        def search(connection: sqlite3.Connection) -> list[ScoredChunk]:
            rare, most = self._split_words(connection, pipeline, words, limit)
            if rare:
                condition = _HAS_RARE.format(index=index)
                sql = _SEARCH.format(index=index, weights=weights, condition=condition)
                parameters = {"words": match, "rare": rare}
                best, is_certain = _search_all(
                    connection, sql, parameters, scope, limit, least=most
                )
                if is_certain:
                    return best
            sql = _SEARCH.format(index=index, weights=weights, condition="")
            best, _ = _search_all(connection, sql, {"words": match}, scope, limit)
            return best

        return await self._database.read(search)

    def _split_words(
        self,
        connection: sqlite3.Connection,
        pipeline: Pipeline,
        words: Sequence[str],
        limit: int,
    ) -> tuple[str, float]:
        """Return the query for the rare ones of `words`, and a score that no chunk with
        only the frequent ones exceeds.

        The query is empty if all are rare, or too few chunks have a rare one.
        """
        total = self._count(connection, pipeline)
        counts = self._frequencies(connection, pipeline, words) if words else {}
        rare = [w for w, count in counts.items() if count < _FREQUENT_SHARE * total]
        enough = sum(counts[word] for word in rare) >= limit + _TIE_MARGIN
        if len(rare) == len(counts) or not enough:
            return "", 0.0
        return build_fts_any_query(rare), sum(
            _MAX_TERM_FACTOR * _compute_idf(count, total)
            for word, count in counts.items()
            if word not in rare
        )

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Return the number of chunks of `pipeline` that contain each word, and the
        number of all its chunks.

        The first is a mapping by word, with 0 for a word that does not occur. Words are
        compared by stem, and only with the chunks' own text.
        """
        return await self._database.read(
            lambda connection: (
                self._frequencies(connection, pipeline, words),
                self._count(connection, pipeline),
            )
        )

    def _count(self, connection: sqlite3.Connection, pipeline: Pipeline) -> int:
        return self._cache.get(
            connection, pipeline, lambda: _count_chunks(connection, pipeline)
        )

    def _frequencies(
        self, connection: sqlite3.Connection, pipeline: Pipeline, words: Iterable[str]
    ) -> dict[str, int]:
        frequencies: dict[str, int]
        frequencies = self._cache.get(connection, ("frequencies", pipeline), dict)
        if len(frequencies) > _MAX_CACHED_FREQUENCIES:
            frequencies.clear()
        index = _PASSAGE_INDEXES[pipeline]
        sql = f"select count(*) from {index} where {index} match ?"
        for word in words:
            if word not in frequencies:
                match = f"{{text}} : {_quote_term(word)}"
                frequencies[word] = connection.execute(sql, (match,)).fetchone()[0]
        return {word: frequencies[word] for word in words}


def _search_all(
    connection: sqlite3.Connection,
    sql: str,
    parameters: Mapping[str, str],
    scope: SearchScope,
    limit: int,
    *,
    least: float = 0.0,
) -> tuple[list[ScoredChunk], bool]:
    """Search every document; read more rows until the best `limit` are certain.

    Rows that tie with the worst one are not: others with that score may be left out.
    The second value is false if less than `limit` of the chunks found score more than
    `least`, so that chunks which `sql` leaves out may be better.
    """
    count = limit + _TIE_MARGIN
    while True:
        rows = connection.execute(sql, {**parameters, "limit": count}).fetchall()
        # A damaged row has an id that is no text.
        scored = [
            ScoredChunk(ChunkId(chunk), score)
            for chunk, kind, score in rows
            if isinstance(chunk, str) and kind in scope.kinds
        ]
        worst = min((score for *_, score in rows), default=0.0)
        certain = sum(scored_chunk.score > worst for scored_chunk in scored)
        if len(rows) < count or certain >= limit:
            scored.sort(
                key=lambda scored_chunk: (-scored_chunk.score, scored_chunk.chunk)
            )
            best = scored[:limit]
            return best, len(best) == limit and best[-1].score > least
        count *= 4


def _search_bounded(
    connection: sqlite3.Connection,
    sql: str,
    words: str,
    scope: SearchScope,
    limit: int,
) -> list[ScoredChunk]:
    bounds = dict(scope.until)
    if scope.documents is not None:
        bounds = {d: scope.until.get(d, _NO_BOUND) for d in scope.documents}
    parameters = {
        "words": words,
        "limit": limit,
        "kinds": json.dumps(sorted(scope.kinds)),
        "bounds": json.dumps(bounds),
        "elsewhere": _NO_BOUND if scope.documents is None else -1,
    }
    return [
        ScoredChunk(ChunkId(chunk), score)
        for chunk, score in connection.execute(sql, parameters)
        if isinstance(chunk, str)  # else the row is damaged
    ]


def _compute_idf(count: int, total: int) -> float:
    """Return the inverse document frequency that FTS5 computes for a word in `count` of
    `total` chunks, or a little more.
    """
    return max(_MIN_IDF, math.log((total - min(count, total) + 0.5) / (count + 0.5)))


def _count_chunks(connection: sqlite3.Connection, pipeline: Pipeline) -> int:
    sql = "select count(*) from chunk where pipeline = ?"
    count: int = connection.execute(sql, (pipeline.value,)).fetchone()[0]
    return count


def build_fts_any_query(words: Iterable[str]) -> str:
    """Return the query in FTS5's syntax that matches any of `words`; empty if there are
    none.
    """
    return " OR ".join(dict.fromkeys(_quote_term(word) for word in words))


def _build_pair_query(words: Iterable[str]) -> str:
    terms = list(dict.fromkeys(_quote_term(word) for word in words))[:MAX_PAIRED_WORDS]
    return " OR ".join(
        f"NEAR({first} {second}, {MAX_WORDS_BETWEEN_PAIR})"
        for first, second in combinations(terms, 2)
    )


def _quote_term(word: str) -> str:
    """Return `word` as a quoted FTS5 string, so that it cannot contain syntax."""
    plain = word.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return '"' + plain.replace('"', '""') + '"'


MAX_SEGMENTS = 8
"""Segments of an index above which they are merged. Each transaction that changes an
index writes one, FTS5 merges four of similar size, and a search reads all of them."""
_MERGED_PAGES = 500
"""Pages written in one transaction of a merge, about 2 MB."""


async def merge_fts_segments(database: SqliteDatabase) -> None:
    """Merge the segments of each index that has more than `MAX_SEGMENTS`, in short
    transactions.

    Raises:
        StoreProblem: The library cannot be written.
    """
    for index in await database.read(_find_fragmented_indexes):
        # A negative number starts a merge of all segments, a positive one continues it.
        step = partial(_merge_pages, index=index, pages=-_MERGED_PAGES)
        while await database.write(step):
            step = partial(_merge_pages, index=index, pages=_MERGED_PAGES)


def _find_fragmented_indexes(connection: sqlite3.Connection) -> list[str]:
    sql = "select count(distinct segid) from {index}_idx"
    return [
        index
        for index in _existing_indexes(connection)
        if connection.execute(sql.format(index=index)).fetchone()[0] > MAX_SEGMENTS
    ]


def _merge_pages(connection: sqlite3.Connection, *, index: str, pages: int) -> bool:
    """Continue a merge; return whether there may be more to merge."""
    before = connection.total_changes
    connection.execute(
        f"insert into {index} ({index}, rank) values ('merge', ?)", (pages,)
    )
    # FTS5 counts the statement itself as one change.
    return connection.total_changes - before > 1


_ALL_INDEXES = ("chunk_fts_a", "chunk_fts_b", "fact_fts", "turn_fts")
_SHADOW_TABLES = ("data", "idx", "content", "docsize", "config")
"""Suffixes of the tables in which FTS5 stores an index."""


def check_fts_consistency(connection: sqlite3.Connection) -> bool | None:
    """Return whether every full-text index agrees with the table that it indexes.

    None if that cannot be checked: another process is writing, or the file is
    read-only.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")  # FTS5's check is an insert
        for index in _ALL_INDEXES:
            connection.execute(
                f"insert into {index} ({index}, rank) values ('integrity-check', 1)"
            )
    except sqlite3.Error as error:
        busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        return None if busy or is_read_only_error(error) else False
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
    return True


def rebuild_fts_indexes(connection: sqlite3.Connection) -> None:
    """Fill all existing full-text indexes again from their tables.

    Must be called inside a transaction.
    """
    for index in _existing_indexes(connection):
        _rebuild_index(connection, index)


def recreate_fts_indexes(connection: sqlite3.Connection) -> None:
    """Replace all full-text indexes by new ones, even those that cannot be read.

    FTS5 cannot drop an index that it cannot read, and SQLite cannot drop a table with
    damaged pages. So the entries are deleted from the schema, and their pages remain
    unused. The connection must not have read an index before, because SQLite caches one
    that failed.
    """
    indexes = _existing_indexes(connection)
    connection.execute("PRAGMA writable_schema = ON")
    try:
        for index in indexes:
            for name in (index, *(f"{index}_{ending}" for ending in _SHADOW_TABLES)):
                connection.execute(
                    "delete from sqlite_schema where tbl_name = ?", (name,)
                )
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
    for index in indexes:
        _create_index(connection, index)


def create_missing_fts_indexes(connection: sqlite3.Connection) -> None:
    """Create and fill the full-text indexes that do not exist.

    The file's schema must be the newest.
    """
    existing = _existing_indexes(connection)
    for index in _ALL_INDEXES:
        if index not in existing:
            _create_index(connection, index)


def _existing_indexes(connection: sqlite3.Connection) -> list[str]:
    schema_names = {
        row[0] for row in connection.execute("select name from sqlite_schema")
    }
    return [index for index in _ALL_INDEXES if index in schema_names]


def _create_index(connection: sqlite3.Connection, index: str) -> None:
    words = f"create virtual table {index} "
    (create,) = (sql for sql in list_migration_statements() if words in sql)
    connection.execute(create)
    _rebuild_index(connection, index)


def _rebuild_index(connection: sqlite3.Connection, index: str) -> None:
    connection.execute(f"insert into {index} ({index}) values ('rebuild')")
