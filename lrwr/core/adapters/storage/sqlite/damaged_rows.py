"""Deletion of damaged rows that the next ingestion derives again.

Threads are never deleted.
"""

import sqlite3
from dataclasses import dataclass, field

from lrwr.core.adapters.storage.sqlite.checksums import (
    DOCUMENT_CHECKSUMS,
    PROCESSED_ROWS,
    fits_sql,
    outline_fits_sql,
    seal_sql,
)
from lrwr.core.adapters.storage.sqlite.fts_index import rebuild_fts_indexes

WITHOUT_VECTOR = """
select document_id, pipeline from chunk c where space <> '' and not exists (
  select 1 from embedding e where e.space = c.space and e.text_hash = c.text_hash)
"""
_DELETE_TOKEN_STATES = f"delete from token_state where not {fits_sql('token_state')}"
NOT_IN_FEED = """
select id, pipeline from chunk except select chunk_id, pipeline from change
"""
_MAX_JOB = 2**53
INVALID_JOBS = f"""
job where id not between 1 and {_MAX_JOB} or kind not in ('process', 'forget') or pipeline not in ('a', 'b')
  or state not in ('pending', 'running', 'complete', 'failed') or stage not in (
    'reading', 'splitting', 'analysing', 'embedding', 'storing')
"""


_LOWER_JOB_SEQUENCE = f"""
update sqlite_sequence set seq = (select coalesce(max(id), 0) from job)
where name = 'job' and seq > {_MAX_JOB}
"""


@dataclass(slots=True)
class DamageFindings:
    """Keys of the damaged rows, by what they belong to; `damage` are messages."""

    documents: dict[str, list[str]] = field(default_factory=dict)
    attributions: dict[str, list[str]] = field(default_factory=dict)
    vectors: list[tuple[str, str]] = field(default_factory=list)
    unchecked_vectors: list[tuple[str, str]] = field(default_factory=list)
    unembedded: list[tuple[str, str]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    threads: dict[str, str] = field(default_factory=dict)
    unlisted: list[tuple[str, str]] = field(default_factory=list)
    cast: bool = False
    strays: int = 0
    jobs: int = 0
    unchecked: int = 0
    words_fit: bool | None = None
    damage: list[str] = field(default_factory=list)


_DERIVED_TABLES = (
    *("chunk", "seam", "reading", "fact", "woven", "quotation", "first_seen"),
    "narration",
)
_DOCUMENT_TABLES = ("processed", *_DERIVED_TABLES, "document_check")
_DELETE_STRAYS = (
    "delete from appearance where chunk_id not in (select id from chunk)",
    "delete from hosted_thread where thread_id not in (select id from thread)",
    "delete from unsent_thread where thread_id not in (select id from thread)",
    "delete from unsent_turn where turn_id not in (select id from turn)",
)
_DELETE_ATTRIBUTION = (
    "delete from quotation where document_id = cast(? as text)",
    "delete from first_seen where document_id = cast(? as text)",
    """delete from appearance where chunk_id in
       (select id from chunk where document_id = cast(? as text) and pipeline = 'b')""",
    "delete from woven where document_id = cast(? as text)",
    "delete from narration where document_id = cast(? as text)",
)
_IS_DERIVABLE = """
id = cast(?1 as text) and not exists (
  select 1 from processed where document_id = cast(?1 as text) and revision = '')
"""
_DELETE_DOCUMENT = f"""
delete from document where {_IS_DERIVABLE} and not exists (
  select 1 from document_check where document_id = cast(?1 as text))
"""
# The outline stays, so that the other chapters keep their numbers until the document is
# stored again. A damaged one becomes that of a file without chapters.
_EMPTY_DOCUMENT = (
    f"""update document set format = 'md', type = 'scene', title = '',
    order_hint = null, words = 0, updated_at = 0, warnings = '[]', chapters = '[]'
    where {_IS_DERIVABLE} and not {outline_fits_sql("document")}""",
    f"update document set text = '', paragraphs = '' where {_IS_DERIVABLE}",
    f"""update document_check set
    (outline, text) = (select {DOCUMENT_CHECKSUMS} from document
      where id = cast(?1 as text))
    where document_id in (select id from document where {_IS_DERIVABLE})""",
)
_MARK_STALE = """
update processed set recipe = recipe || '/damaged'
where document_id = cast(? as text) and pipeline = cast(? as text)
"""
_UNMARK_EMBEDDED = (
    """update chunk set space = '', crc = null where space <> '' and not exists (
      select 1 from embedding e
      where e.space = chunk.space and e.text_hash = chunk.text_hash)""",
    seal_sql("chunk", "crc is null and space = ''"),
    seal_sql("processed", f"not {fits_sql('processed')}"),
    f"update processed set rows = {PROCESSED_ROWS} where recipe like '%/damaged'",
)
_ADOPT_TURNS = """
insert into thread (id, title, created_at, updated_at, state)
select thread_id, 'Recovered thread', min(asked_at), max(asked_at), '{}' from turn
where thread_id not in (select id from thread) group by thread_id
"""
_MEND_THREADS = (
    _ADOPT_TURNS,
    "update thread set state = '{}' where not json_valid(state)",
    "update turn set state = 'complete' where state not in ('complete', 'stopped')",
    "update turn set usage = '{}' where not json_valid(usage)",
    "update turn set output = '{}' where not json_valid(output)",
    seal_sql("thread", "crc is null"),
    seal_sql("turn", "crc is null"),
)


def discard_findings(connection: sqlite3.Connection, findings: DamageFindings) -> None:
    """Delete the damaged rows; must be called inside a transaction."""
    # Triggers delete from a full-text index what the table has, so both must agree.
    rebuild_fts_indexes(connection)
    for table in _DOCUMENT_TABLES:
        connection.execute(
            f"delete from {table} where document_id not in (select id from document)"
        )
    for statement in _DELETE_STRAYS:
        connection.execute(statement)
    for statement in _DELETE_ATTRIBUTION:
        connection.executemany(statement, map(bind_keys, findings.attributions))
    _discard_documents(connection, findings)
    _discard_vectors(connection, findings)
    delete_reply = "delete from reply where key = cast(? as text)"
    connection.executemany(delete_reply, map(bind_keys, findings.replies))
    if findings.cast:
        connection.execute("delete from story")
        connection.execute("delete from attribution")
    if findings.threads:
        for statement in _MEND_THREADS:
            connection.execute(statement)
    connection.execute(f"delete from {INVALID_JOBS}")
    connection.execute(_LOWER_JOB_SEQUENCE)
    connection.execute(
        "insert into change (op, chunk_id, pipeline)"
        f" select 'upsert', id, pipeline from ({NOT_IN_FEED})"
    )
    connection.execute("REINDEX")


def _discard_documents(
    connection: sqlite3.Connection, findings: DamageFindings
) -> None:
    """Delete what is stored of damaged documents, if the next ingestion derives it."""
    for statement in (_DELETE_DOCUMENT, *_EMPTY_DOCUMENT):
        connection.executemany(statement, map(bind_keys, findings.documents))
    for table in (*_DERIVED_TABLES, "processed"):
        connection.executemany(
            f"""delete from {table} where document_id in (
            select id from document where {_IS_DERIVABLE})""",
            map(bind_keys, findings.documents),
        )


def _discard_vectors(connection: sqlite3.Connection, findings: DamageFindings) -> None:
    """Delete damaged vectors, and let the next ingestion embed their texts again."""
    key = "space = cast(? as text) and text_hash = cast(? as text)"
    damaged = [bind_keys(*vector) for vector in findings.vectors]
    unchecked = [bind_keys(*vector) for vector in findings.unchecked_vectors]
    connection.executemany(seal_sql("embedding", key), unchecked)
    connection.executemany(f"delete from embedding where {key}", damaged)
    connection.execute(_DELETE_TOKEN_STATES)
    unembedded = connection.execute(WITHOUT_VECTOR).fetchall()
    connection.executemany(
        _MARK_STALE, [bind_keys(*document) for document in dict.fromkeys(unembedded)]
    )
    for statement in _UNMARK_EMBEDDED:
        connection.execute(statement)


def bind_keys(*keys: str) -> tuple[bytes, ...]:
    """Return keys as parameters; a damaged key need not be valid Unicode."""
    return tuple(key.encode("utf-8", "surrogateescape") for key in keys)
