"""Verification: compares stored rows with their checksums, and discards damaged ones.

What is discarded was derived from the manuscript, so the next ingestion stores it
again. Threads are never deleted.
"""

import math
import random
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    ATTRIBUTION_PARTS,
    DOCUMENT_PARTS,
    decode_tolerantly,
    fits_sql,
    is_page_check_due,
    record_page_check,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.damaged_rows import (
    INVALID_JOBS,
    NOT_IN_FEED,
    WITHOUT_VECTOR,
    DamageFindings,
    bind_keys,
    discard_findings,
)
from lrwr.core.adapters.storage.sqlite.database import (
    SCHEMA_VERSION,
    migrate_sqlite_library,
    open_library_as_is,
    read_schema_version,
)
from lrwr.core.adapters.storage.sqlite.errors import (
    INDEX_DAMAGE,
    UNUSED_PAGE,
    build_unknown_schema_error,
    check_file,
    is_healable,
    is_schema_plausible,
    list_messages,
    require_healable,
    require_sound,
    translate_sqlite_error,
)
from lrwr.core.adapters.storage.sqlite.fts_index import check_fts_consistency
from lrwr.core.adapters.storage.sqlite.passage_store import decode_chunk_changes
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import STATES_VERSION
from lrwr.core.ports.stores import ChunkChange

LOCK_TIMEOUT = 3.0
"""Seconds to wait for a lock of another process."""
SAMPLED_DOCUMENTS = 4
"""Documents that `lrwr doctor` verifies without `--verify`."""
UNIT_TOLERANCE = 1e-3
"""How far the length of a vector without a checksum may be from 1.0."""

_MOST_ROUNDS = 4
"""How often what is left is verified again: a deleted row can show that another lacks it."""
_INTEGRITY_CHECK = "PRAGMA integrity_check(20)"
_SMALL_TABLES = (
    *("thread", "turn", "woven", "processed", "reply", "draft", "story", "job"),
    "attribution",
)
_CHECKED_CHUNKS = 1_000
"""Chunks up to which every `ingest` and `status` checks all pages of the file."""
_SAMPLED_COLUMN = {"outline": "id", "text": "id", "appearances": "c.document_id"}
_UNCHECKED = "select count(*) from processed where crc is null or rows is null"
_DAMAGED_VECTORS = f"""
select space, text_hash from embedding where not {fits_sql("embedding")}
union select space, text_hash from token_state where not {fits_sql("token_state")}
"""
_UNCHECKED_VECTORS = "select space, text_hash, vector from embedding where crc is null"
_WITHOUT_STATES = f"""
select distinct document_id, pipeline from chunk c where space = ? and not exists (
  select 1 from token_state s where s.space = c.space and s.text_hash = c.text_hash
  and s.version = ?)
and exists (select 1 from processed p where p.document_id = c.document_id
  and p.pipeline = c.pipeline and p.revision <> '' and {fits_sql("processed", "p")})
"""
_OUTDATED_KEY = "document_id = cast(? as text) and pipeline = cast(? as text)"
_OUTDATE = f"""
update processed set recipe = recipe || '/without-states' where {_OUTDATED_KEY}
"""
_SEAL_OUTDATED = seal_sql("processed", _OUTDATED_KEY)
_DAMAGED_REPLIES = f"select key from reply where not {fits_sql('reply')}"
_DAMAGED_CAST = f"""
select 'cast' from story where not {fits_sql("story")}
union all select 'state' from attribution where not {fits_sql("attribution")}
"""
_DAMAGED_THREADS = f"""
with damaged as (
select id from thread where not {fits_sql("thread")} or not json_valid(state)
union select thread_id from turn
where not {fits_sql("turn")} or not json_valid(usage) or not json_valid(output)
union select thread_id from turn where thread_id not in (select id from thread)
)
select damaged.id, coalesce(title, '') from damaged
left join thread on thread.id = damaged.id
where deleted_at is null order by damaged.id
"""
_DAMAGED_THREAD_ROW = f"""
select 1 from thread where deleted_at is null and not {fits_sql("thread")} limit 1
"""
_DAMAGED_TURN = f"""
select 1 from (select * from turn where rowid >= ? order by rowid limit 1) as turn
where not {fits_sql("turn")} and not exists (
  select 1 from thread where id = turn.thread_id and deleted_at is not null)
"""
_INDEXED = """
select 0, c.id, c.document_id, c.char_end, c.kind, e.vector from chunk c
join embedding e on e.space = c.space and e.text_hash = c.text_hash
where c.pipeline = ? and c.space = ? order by c.id
"""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What a verification of the library's file found.

    `documents` maps the ids of documents with damaged rows to the names of the damaged
    parts. `vectors` and `replies` count damaged embeddings and cached replies of
    language models, `threads` are the ids of threads with damaged rows, `cast` says
    whether the characters are damaged. `strays` counts rows whose document does not
    exist, `unlisted` chunks that the change feed of the vector index lacks, `jobs`
    jobs that cannot be read. `words_fit` is False if a full-text index differs from its
    table; None if that was not checked. `unchecked` counts documents stored by an
    earlier version, without checksums. `damage` are messages of SQLite about the file.
    `reindexed` says that damaged indexes of the database were rebuilt.
    """

    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vectors: int = 0
    replies: int = 0
    threads: Mapping[str, str] = field(default_factory=dict)
    cast: bool = False
    strays: int = 0
    unlisted: int = 0
    jobs: int = 0
    words_fit: bool | None = None
    unchecked: int = 0
    damage: tuple[str, ...] = ()
    reindexed: bool = False

    @property
    def needs_repair(self) -> bool:
        """Whether the file has damage that only `lrwr repair` removes."""
        return not all(map(is_healable, self.damage))

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged."""
        counts = self.vectors, self.replies, self.strays, self.unlisted, self.jobs
        return not (
            self.documents
            or self.threads
            or self.damage
            or self.cast
            or any(counts)
            or self.words_fit is False
        )


def verify_database(path: Path) -> VerificationReport:
    """Compare everything in the library's file at `path` with its checksums.

    Nothing is changed. A file with another schema than the newest is not verified: an
    empty report is returned.

    Raises:
        StoreProblem: The file cannot be opened.
    """
    with _open(path) as connection:
        if read_schema_version(connection) != SCHEMA_VERSION:
            return VerificationReport()
        return _report(_verify(connection))


def find_damaged_threads(path: Path) -> dict[str, str]:
    """Return the titles, by id, of the threads with damaged rows in the library's file.

    Raises:
        StoreProblem: The file cannot be opened.
    """
    with _open(path) as connection:
        return _list_damaged_threads(partial(_fetch, connection, []))


def _list_damaged_threads(rows: Callable[[str], list[Any]]) -> dict[str, str]:
    return {str(id_): str(title) for id_, title in rows(_DAMAGED_THREADS)}


def has_damaged_sample(path: Path, now: float) -> bool:
    """Return whether any of `SAMPLED_DOCUMENTS` random documents, a thread or any of as
    many random turns is damaged, or a page of the file.

    `now`, in seconds since 1970, also selects documents and turns. If the library is
    large, all pages are checked once in `PAGE_CHECK_SECONDS`, else those of small tables.

    Raises:
        StoreProblem: The file cannot be opened, or only `lrwr repair` can heal it.
    """
    with _open(path) as connection:
        if read_schema_version(connection) != SCHEMA_VERSION:
            return False
        chunks = connection.execute("select max(n) from chunk").fetchone()[0] or 0
        checks_all = chunks <= _CHECKED_CHUNKS or is_page_check_due(path, now)
        tables = [""] if checks_all else [f"({table})" for table in _SMALL_TABLES]
        damage = [
            message
            for table in tables
            for message in check_file(connection, f"quick_check{table}")
        ]
        if damage:
            require_healable(damage)
        elif checks_all:
            record_page_check(path, now)
        return bool(
            damage
            or verify_sample(connection, now)
            or _has_damaged_turn(connection, random.Random(now))
        )


def _has_damaged_turn(connection: sqlite3.Connection, choose: random.Random) -> bool:
    """Return whether the row of a thread, or one of `SAMPLED_DOCUMENTS` turns is damaged."""
    if connection.execute(_DAMAGED_THREAD_ROW).fetchone():
        return True
    last = connection.execute("select max(rowid) from turn").fetchone()[0]
    starts = {choose.randint(1, last) for _ in range(SAMPLED_DOCUMENTS if last else 0)}
    return any(connection.execute(_DAMAGED_TURN, (n,)).fetchone() for n in starts)


def verify_sample(connection: sqlite3.Connection, seed: float) -> tuple[str, ...]:
    """Return the ids of the damaged documents among `SAMPLED_DOCUMENTS` random ones.

    `seed` selects the documents.
    """
    ids = [row[0] for row in connection.execute("select id from document order by id")]
    sample = random.Random(seed).sample(ids, min(SAMPLED_DOCUMENTS, len(ids)))
    return tuple(document for document in sample if _is_damaged(connection, document))


def _is_damaged(connection: sqlite3.Connection, document: str) -> bool:
    parts = {**DOCUMENT_PARTS, **ATTRIBUTION_PARTS}
    return any(
        connection.execute(
            f"select 1 from ({sql} and {_SAMPLED_COLUMN.get(part, 'document_id')} = ?)",
            (document,),
        ).fetchone()
        for part, sql in parts.items()
    )


def discard_damaged_rows(path: Path) -> VerificationReport:
    """Verify the library's file at `path`, and delete what is damaged and can be
    derived again.

    The report describes the damage. The next ingestion stores what was deleted again.
    Of a document with damaged rows only the outline stays. One without a file on this machine is not changed. Threads with damaged rows
    keep what can be read, and stay marked as damaged: only a sound copy heals them.

    Raises:
        StoreProblem: The file cannot be read or written.
    """
    with _open(path) as connection:
        if read_schema_version(connection) != SCHEMA_VERSION:
            return VerificationReport()
        connection.execute("PRAGMA foreign_keys = ON")
        total = VerificationReport(reindexed=_rebuild_damaged_indexes(connection))
        for _ in range(_MOST_ROUNDS):
            findings = _verify(connection)
            require_healable(findings.damage)
            report = _report(findings)
            is_done = replace(report, threads={}).is_sound
            total = _add_reports(total, report)
            if report.is_sound and not findings.unchecked_vectors:
                break
            _discard(connection, findings)
            if is_done:  # only threads are damaged, which stay
                break
        require_sound(check_file(connection) if total.damage else ())
        return replace(total, damage=())


def _rebuild_damaged_indexes(connection: sqlite3.Connection) -> bool:
    """Rebuild the database's indexes if any is damaged, and nothing else that needs
    `lrwr repair`; return whether that was done.
    """
    damage = check_file(connection)
    require_healable(damage)
    if not any(words in message for message in damage for words in INDEX_DAMAGE):
        return False
    try:
        connection.execute("REINDEX")
    except sqlite3.IntegrityError:
        return False  # a damaged row has the key of another; it is deleted first
    if any(UNUSED_PAGE in message for message in damage):
        connection.execute("VACUUM")
    return True


def _discard(connection: sqlite3.Connection, findings: DamageFindings) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        discard_findings(connection, findings)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _add_reports(
    first: VerificationReport, second: VerificationReport
) -> VerificationReport:
    """Return what two verifications in a row have found; counts are of the first that
    found any.
    """
    parts = {
        id_: tuple(
            dict.fromkeys(
                (*first.documents.get(id_, ()), *second.documents.get(id_, ()))
            )
        )
        for id_ in sorted({*first.documents, *second.documents})
    }
    return replace(
        second,
        documents=parts,
        vectors=first.vectors or second.vectors,
        replies=first.replies or second.replies,
        threads={**first.threads, **second.threads},
        cast=first.cast or second.cast,
        strays=first.strays or second.strays,
        unlisted=first.unlisted or second.unlisted,
        jobs=first.jobs or second.jobs,
        words_fit=second.words_fit if first.words_fit is None else first.words_fit,
        damage=(*first.damage, *second.damage),
        reindexed=first.reindexed or second.reindexed,
    )


def mark_documents_without_states(path: Path, space: str) -> int:
    """Let the next ingestion process the documents in which a passage with a vector of
    the embedding `space` has no token states of the current version.

    Such passages were stored by an earlier version. Returns the number of documents.

    Raises:
        StoreProblem: The file cannot be read or written.
    """
    with _open(path) as connection:
        if read_schema_version(connection) != SCHEMA_VERSION:
            return 0
        keys = connection.execute(_WITHOUT_STATES, (space, STATES_VERSION)).fetchall()
        connection.execute("BEGIN IMMEDIATE")
        for key in keys:
            connection.execute(_OUTDATE, bind_keys(*key))
            connection.execute(_SEAL_OUTDATED, bind_keys(*key))
        connection.execute("COMMIT")
        return len(keys)


def load_indexed_chunks(
    path: Path, pipeline: Pipeline, space: str
) -> list[ChunkChange]:
    """Return the chunks that an up-to-date vector index contains, ordered by id.

    `space` names the embedding space. Each has its vector, and `seq` is 0.

    Raises:
        StoreProblem: The library cannot be read.
    """
    parameters = (pipeline.value, space)
    with _open(path) as connection:
        return decode_chunk_changes(connection.execute(_INDEXED, parameters))


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with open_library_as_is(path, patience=LOCK_TIMEOUT) as connection:
            connection.text_factory = decode_tolerantly
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise translate_sqlite_error(error, path, patience=LOCK_TIMEOUT) from error


def _verify(connection: sqlite3.Connection) -> DamageFindings:
    findings = DamageFindings()
    rows = partial(_fetch, connection, findings.damage)
    findings.damage += list_messages(rows(_INTEGRITY_CHECK))
    findings.documents = _find_parts(DOCUMENT_PARTS, rows)
    findings.attributions = _find_parts(ATTRIBUTION_PARTS, rows)
    findings.vectors = rows(_DAMAGED_VECTORS)
    for space, text_hash, vector in rows(_UNCHECKED_VECTORS):
        key = (space, text_hash)
        (
            findings.unchecked_vectors if _has_unit_length(vector) else findings.vectors
        ).append(key)
    findings.unembedded = rows(WITHOUT_VECTOR)
    findings.replies = [key for (key,) in rows(_DAMAGED_REPLIES)]
    findings.cast = bool(rows(_DAMAGED_CAST))
    findings.threads = _list_damaged_threads(rows)
    findings.strays = len(rows("PRAGMA foreign_key_check"))
    findings.unlisted = rows(NOT_IN_FEED)
    findings.jobs = sum(
        count for (count,) in rows(f"select count(*) from {INVALID_JOBS}")
    )
    findings.unchecked = sum(count for (count,) in rows(_UNCHECKED))
    findings.words_fit = check_fts_consistency(connection)
    return findings


def _fetch(
    connection: sqlite3.Connection,
    damage: list[str],
    sql: str,
    parameters: Sequence[object] = (),
) -> list[Any]:
    """Return the rows of a query; add SQLite's message to `damage` if it fails."""
    try:
        return connection.execute(sql, parameters).fetchall()
    except sqlite3.DatabaseError as error:
        if str(error) not in damage:
            damage.append(str(error))
        return []


def _find_parts(
    parts: Mapping[str, str], rows: Callable[[str], list[Any]]
) -> dict[str, list[str]]:
    damaged: dict[str, list[str]] = {}
    for part, sql in parts.items():
        for document in sorted({str(row[0]) for row in rows(sql)}):
            damaged.setdefault(document, []).append(part)
    return damaged


def _has_unit_length(vector: bytes) -> bool:
    """Return whether a vector has length 1.0, or 0.0 as that of an empty text."""
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector[: len(vector) // 4 * 4])
    length = math.sqrt(sum(number * number for number in numbers))
    return length == 0.0 or abs(length - 1.0) < UNIT_TOLERANCE


def _report(findings: DamageFindings) -> VerificationReport:
    ids = sorted({*findings.documents, *findings.attributions})
    documents = {
        id_: (*findings.documents.get(id_, ()), *findings.attributions.get(id_, ()))
        for id_ in ids
    }
    return VerificationReport(
        documents=documents,
        vectors=len(findings.vectors) + len({id_ for id_, _ in findings.unembedded}),
        replies=len(findings.replies),
        threads=findings.threads,
        cast=findings.cast,
        strays=findings.strays,
        unlisted=len(findings.unlisted),
        jobs=findings.jobs,
        words_fit=findings.words_fit,
        unchecked=findings.unchecked,
        damage=tuple(findings.damage),
    )


_SCHEMA_ROWS = """
select type, name, sql from sqlite_schema where name not like 'sqlite_%'
order by type, name
"""


def correct_schema_number(connection: sqlite3.Connection, path: Path) -> None:
    """Correct a damaged schema number, if the tables are those of this version of lrwr.

    Raises:
        StoreProblem: The schema is newer than this version knows.
        sqlite3.DatabaseError: The number is damaged and the tables are others.
    """
    version = read_schema_version(connection)
    if 0 <= version <= SCHEMA_VERSION:
        return
    if is_schema_plausible(version, SCHEMA_VERSION):
        raise build_unknown_schema_error(path, version, SCHEMA_VERSION)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate_sqlite_library(fresh, None, lambda _: None)
        expected = fresh.execute(_SCHEMA_ROWS).fetchall()
    if connection.execute(_SCHEMA_ROWS).fetchall() != expected:
        raise sqlite3.DatabaseError("The schema number is damaged")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
