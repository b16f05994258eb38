"""What was woven of one document as rows: who says what, and who is where."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from lrwr.core.adapters.storage.sqlite.fact_rows import (
    find_first_mentions,
    spans_to_json,
)
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.story_stores import AttributionResult

ATTRIBUTION_ROWS_FORMAT = 1
"""Names how rows are written down; a later lrwr may write others."""

SELECT_CHUNK_SPANS = """
select id, char_start, char_end from chunk
where document_id = ? and pipeline = 'b' and kind = 'prose' order by ordinal
"""

_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = 'b' and p.content = ?
"""

_UNWEAVE = (
    "delete from quotation where document_id = ?",
    "delete from first_seen where document_id = ?",
    """delete from appearance where chunk_id in
       (select id from chunk where document_id = ? and pipeline = 'b')""",
)

_QUOTATION_COLUMNS = """
  char_start, speaker, certainty, cue, addressee, addressee_certainty, spans, mentions
"""

_QUOTATION = f"""
insert into quotation (document_id, {_QUOTATION_COLUMNS})
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_APPEARANCE = """
insert or ignore into appearance (chunk_id, character, role, count)
select ?, ?, ?, ? where exists (select 1 from chunk where id = ?1)
"""

_FIRST_SEEN_COLUMNS = "character, alias, char_start, char_end, mentions"

_FIRST_SEEN = f"""
insert or replace into first_seen (document_id, {_FIRST_SEEN_COLUMNS})
values (?, ?, ?, ?, ?, ?)
"""

_NAMES = "update chunk set names = ?2 where id = ?1 and names <> ?2"

_WOVEN = "insert or replace into woven (document_id, revision) values (?, ?)"

_STORED = """
select p.content, w.revision from woven w
join processed p on p.document_id = w.document_id and p.pipeline = 'b'
where w.document_id = ?
"""

_STORED_QUOTATIONS = f"""
select {_QUOTATION_COLUMNS} from quotation where document_id = ? order by n
"""

_STORED_APPEARANCES = """
select a.chunk_id, a.character, a.role, a.count
from appearance a join chunk c on c.id = a.chunk_id
where c.document_id = ? and c.pipeline = 'b'
order by a.chunk_id, a.character, a.role
"""

_STORED_FIRST_SEEN = f"""
select {_FIRST_SEEN_COLUMNS} from first_seen where document_id = ?
order by character, alias
"""

_STORED_NAMES = """
select id, names from chunk
where document_id = ? and pipeline = 'b' and names <> '' order by id
"""

SqlRows = tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class AttributionRows:
    """All rows that were woven of a document whose file has this `content`."""

    document: DocumentId
    content: str
    revision: str
    quotations: SqlRows
    appearances: SqlRows
    first_seen: SqlRows
    names: tuple[tuple[str, str], ...]


def build_attribution_rows(
    connection: sqlite3.Connection, woven: AttributionResult
) -> AttributionRows | None:
    """Return what was woven as rows; None where the document is another by now."""
    key = (woven.document, woven.content)
    text = connection.execute(_TEXT, key).fetchone()
    if text is None:
        return None
    first = find_first_mentions(list(woven.mentions), text[0])
    return AttributionRows(
        *key,
        woven.revision,
        quotations=tuple(_quotations(woven)),
        appearances=tuple(sorted(_appearances(woven))),
        first_seen=tuple((*which, *place) for which, place in sorted(first.items())),
        names=tuple(sorted(pair for pair in woven.names.items() if pair[1])),
    )


def load_attribution_rows(
    connection: sqlite3.Connection, document: DocumentId
) -> AttributionRows | None:
    """Return what is stored as woven of a document; None where nothing is."""
    which = (document,)
    row = connection.execute(_STORED, which).fetchone()
    if row is None:
        return None
    return AttributionRows(
        document,
        *row,
        *(
            tuple(connection.execute(sql, which))
            for sql in (
                _STORED_QUOTATIONS,
                _STORED_APPEARANCES,
                _STORED_FIRST_SEEN,
                _STORED_NAMES,
            )
        ),
    )


def store_attribution_rows(
    connection: sqlite3.Connection, weave: AttributionRows
) -> bool:
    """Replace what was woven; False where the document is another by now."""
    document = weave.document
    if not connection.execute(_TEXT, (document, weave.content)).fetchone():
        return False
    for statement in _UNWEAVE:
        connection.execute(statement, (document,))
    connection.executemany(_QUOTATION, ((document, *row) for row in weave.quotations))
    connection.executemany(_APPEARANCE, weave.appearances)
    names = dict(weave.names)
    chunks = connection.execute(SELECT_CHUNK_SPANS, (document,)).fetchall()
    connection.executemany(
        _NAMES, [(chunk, names.get(chunk, "")) for chunk, *_ in chunks]
    )
    connection.executemany(_FIRST_SEEN, ((document, *row) for row in weave.first_seen))
    connection.execute(_WOVEN, (document, weave.revision))
    return True


def attribution_rows_to_json(weave: AttributionRows) -> str:
    """Write rows down; the same rows are always the same text, in ASCII."""
    return json.dumps(
        {"format": ATTRIBUTION_ROWS_FORMAT, **asdict(weave)}, separators=(",", ":")
    )


def attribution_rows_from_json(text: str) -> AttributionRows:
    """Read rows.

    Raises:
        ValueError: It is nothing woven, or written by a later lrwr.
    """
    fields: dict[str, Any] = json.loads(text)
    if (
        not isinstance(fields, dict)
        or fields.pop("format", None) != ATTRIBUTION_ROWS_FORMAT
    ):
        raise ValueError("written by another lrwr")
    try:
        return AttributionRows(
            **{name: _frozen(value) for name, value in fields.items()}
        )
    except TypeError as error:
        raise ValueError("not what is woven of a document") from error


def _frozen(value: Any) -> Any:
    return tuple(map(tuple, value)) if isinstance(value, list) else value


def _quotations(woven: AttributionResult) -> Iterator[tuple[object, ...]]:
    for quotation in woven.quotations:
        yield (
            quotation.spans[0].start,
            quotation.speaker,
            quotation.certainty.value,
            quotation.cue.value,
            quotation.addressee,
            quotation.addressee_certainty.value,
            spans_to_json(quotation.spans),
            json.dumps(quotation.mentions, ensure_ascii=False),
        )


def _appearances(woven: AttributionResult) -> Iterator[tuple[ChunkId, str, str, int]]:
    for chunk, counts in woven.appearances.items():
        for (character, role), count in counts.items():
            yield chunk, character, role.value, count
