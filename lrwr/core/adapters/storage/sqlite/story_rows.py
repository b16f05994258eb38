"""The rows of one document's facts, quotations and appearances of characters."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from lrwr.core.adapters.storage.sqlite.checksums import (
    CHECKED_COLUMNS,
    check_types,
    insert_sql,
    seal_attribution,
)
from lrwr.core.model.cast import (
    Alias,
    AttributionCue,
    Cast,
    Character,
    Gender,
    Mention,
    Quotation,
)
from lrwr.core.model.chunks import ChunkId, Knowledge
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    AttributionResult,
    DocumentQuotation,
)

_ROLES = dict(zip(AppearanceRole, AppearanceRole, strict=True))
_CERTAINTIES = {member.value: member for member in Certainty}
_CUES = {member.value: member for member in AttributionCue}
_KINDS = {member.value: member for member in FactAbout}

_DELETE_FACTS = (
    "delete from narration where document_id = ?",
    "delete from fact where document_id = ?",
    "delete from seam where document_id = ?",
    "delete from reading where document_id = ?",
)
_MARK_OUTDATED = "delete from woven where document_id = ?"
_DELETE_ATTRIBUTION = (
    _MARK_OUTDATED,
    "delete from quotation where document_id = ?",
    "delete from first_seen where document_id = ?",
)
_FACT, _SEAM, _READING = (
    insert_sql(table, CHECKED_COLUMNS[table]) for table in ("fact", "seam", "reading")
)
_STORED_FACTS = """
select about, subject, field, attribute, value, keeper, certainty,
  char_start, reach, spans, details
from fact where document_id = ? order by n
"""
_STORED_SEAMS = """
select space, key, distance from seam where document_id = ?
order by space, key
"""
_STORED_READING = """
select evidence, noted from reading where document_id = ?
"""
FactRow = tuple[str, str, str, str, str, str, int, str, str]
"""The columns about, subject, field, value, keeper, certainty, reach, spans, details."""
_ATTRIBUTE_DETAILS = ("attribute", "kind")
"""Details that name the attribute of a fact more precisely than its field."""


@dataclass(frozen=True, slots=True)
class FactRows:
    """The rows of one document's facts, written together with its chunks.

    `facts` follow the columns of `_STORED_FACTS`. Each of `seams` is an embedding
    space, the SHA-256 of the sentences around a possible chunk boundary, and the cosine
    distance between its two sides. `reading` are two JSON texts: counts of names in
    story text, and names that the author states, as in a character's note.
    """

    document: DocumentId
    facts: tuple[tuple[object, ...], ...]
    seams: tuple[tuple[str, str, float], ...]
    reading: tuple[str, str]

    @property
    def space(self) -> str:
        """The embedding space in which sentences were compared; empty if there are no
        distances.
        """
        return self.seams[0][0] if self.seams else ""


def build_fact_rows(knowledge: Knowledge) -> FactRows:
    """Return the rows of the facts in `knowledge`, the results for one document."""
    document = knowledge.document.id
    return FactRows(
        document=document,
        facts=tuple(_fact_row(fact) for fact in knowledge.facts),
        seams=tuple(
            (knowledge.space, key, distance)
            for key, distance in sorted(knowledge.seams.items())
        ),
        reading=(knowledge.evidence, knowledge.noted),
    )


def load_fact_rows(
    connection: sqlite3.Connection, document: DocumentId
) -> FactRows | None:
    """Return the stored rows of a document's facts; None if pipeline b has not
    processed it.
    """
    reading = connection.execute(_STORED_READING, (document,)).fetchone()
    if reading is None:
        return None
    return FactRows(
        document,
        tuple(connection.execute(_STORED_FACTS, (document,))),
        tuple(connection.execute(_STORED_SEAMS, (document,))),
        reading,
    )


def store_fact_rows(connection: sqlite3.Connection, fact_rows: FactRows) -> None:
    """Replace a document's rows of facts, and mark its attribution as outdated.

    The attribution (who speaks and who appears) is outdated even if the text is the
    same, because the chunks may differ. Must be called inside a transaction.
    """
    for statement in (*_DELETE_FACTS, _MARK_OUTDATED):
        connection.execute(statement, (fact_rows.document,))
    document = fact_rows.document
    connection.executemany(_FACT, ((document, *row) for row in fact_rows.facts))
    connection.executemany(_SEAM, ((document, *row) for row in fact_rows.seams))
    connection.execute(_READING, (document, *fact_rows.reading))


def delete_fact_rows(connection: sqlite3.Connection, document: DocumentId) -> None:
    """Delete a document's facts and its attribution (who speaks and who appears).

    Must be called inside a transaction.
    """
    for statement in (*_DELETE_FACTS, *_DELETE_ATTRIBUTION):
        connection.execute(statement, (document,))


def parse_fact_row(row: FactRow | Sequence[Any]) -> Fact:
    """Return the fact in a row with the columns that `FactRow` lists."""
    about, subject, field, value, keeper, certainty, reach, spans, details = row
    return Fact(
        about=_KINDS[about],
        subject=subject,
        field=field,
        value=value,
        spans=spans_from_json(spans),
        keeper=keeper,
        certainty=_CERTAINTIES[certainty],
        details=parse_details(details),
        reach=reach,
    )


@lru_cache(maxsize=1_000)
def parse_details(text: str) -> tuple[tuple[str, str], ...]:
    """Return name-value pairs; those of most facts are equal, and share one object."""
    return tuple([(key, detail) for key, detail in _parse_json(text)])


def spans_from_json(text: str) -> tuple[Span, ...]:
    """Return the spans in a JSON text that `spans_to_json` wrote."""
    return tuple([Span(start, end) for start, end in _parse_json(text)])


@cache
def _load_decoder() -> json.JSONDecoder:
    return json.JSONDecoder()


def _parse_json(text: str) -> Any:
    """Return what `json.loads` does, which takes five times as long for a short text."""
    try:
        value, end = _load_decoder().raw_decode(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def spans_to_json(spans: tuple[Span, ...]) -> str:
    """Return spans as JSON text, for storage: half-open pairs `[start, end]`."""
    return json.dumps([[span.start, span.end] for span in spans])


def find_first_mentions(
    mentions: list[Mention], text: str
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return the first mention of each character under each form of the name.

    Keys are the character's name and the form as it is written in `text`. Values are
    the start and end of the first mention, as half-open offsets in characters, and the
    number of mentions in that form. `mentions` are in text order.
    """
    first_mentions: dict[tuple[str, str], tuple[int, int, int]] = {}
    for mention in mentions:
        form = " ".join(text[mention.span.start : mention.span.end].split())
        start, end, count = first_mentions.get(
            (mention.who, form), (mention.span.start, mention.span.end, 0)
        )
        first_mentions[mention.who, form] = (start, end, count + 1)
    return first_mentions


def _fact_row(fact: Fact) -> tuple[object, ...]:
    return (
        fact.about.value,
        fact.subject,
        fact.field,
        _attribute(fact),
        fact.value,
        fact.keeper,
        fact.certainty.value,
        fact.spans[0].start if fact.spans else 0,
        fact.reach,
        spans_to_json(fact.spans),
        json.dumps(fact.details, ensure_ascii=False),
    )


def _attribute(fact: Fact) -> str:
    """Return the attribute of the subject; empty if the field only repeats the kind."""
    details = [word for name in _ATTRIBUTE_DETAILS for word in fact.all_details(name)]
    if details or fact.field == fact.about:
        return " ".join(details)
    return fact.field.replace("_", " ")


SELECT_CHUNK_SPANS = """
select id, char_start, char_end from chunk
where document_id = ? and pipeline = 'b' and kind = 'prose' order by ordinal
"""
_TEXT = """
select d.text from document d join processed p on p.document_id = d.id
where d.id = ? and p.pipeline = 'b' and p.content = ?
"""
_DELETE_OLD = (
    "delete from quotation where document_id = ?",
    "delete from first_seen where document_id = ?",
    """delete from appearance where chunk_id in
       (select id from chunk where document_id = ? and pipeline = 'b')""",
)
_QUOTATION_COLUMNS = """
  char_start, speaker, certainty, cue, addressee, addressee_certainty, spans, mentions
"""
_QUOTATION = insert_sql("quotation", CHECKED_COLUMNS["quotation"])
_APPEARANCE = """
insert or ignore into appearance (chunk_id, character, role, count, crc)
select ?1, ?2, ?3, ?4, row_checksum(
  cast(?1 as blob), cast(?2 as blob), cast(?3 as blob), cast(?4 as blob))
where exists (select 1 from chunk where id = ?1)
"""
_FIRST_SEEN_COLUMNS = "character, alias, char_start, char_end, mentions"
_FIRST_SEEN = insert_sql(
    "first_seen", CHECKED_COLUMNS["first_seen"], "insert or replace"
)
_NAMES = "update chunk set names = ?2 where id = ?1 and names <> ?2"
_STORE_ATTRIBUTION = insert_sql(
    "woven", ("document_id", "revision"), "insert or replace"
)
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
    """The rows of one document's attribution: who speaks, and who appears.

    `content` is the SHA-256 of the file that was analysed, `revision` names the cast
    and the rules that were used. `quotations`, `appearances` and `first_seen` (first
    mentions of characters) are rows of the tables with these contents. `names` are
    pairs of a chunk id and the names of characters to index with the chunk.
    """

    document: DocumentId
    content: str
    revision: str
    quotations: SqlRows
    appearances: SqlRows
    first_seen: SqlRows
    names: tuple[tuple[str, str], ...]


def build_attribution_rows(
    connection: sqlite3.Connection, attribution: AttributionResult
) -> AttributionRows | None:
    """Return the rows of `attribution`, who speaks and who appears in a document.

    None if the stored document has changed since it was analysed.
    """
    key = (attribution.document, attribution.content)
    text = connection.execute(_TEXT, key).fetchone()
    if text is None:
        return None
    first = find_first_mentions(list(attribution.mentions), text[0])
    return AttributionRows(
        *key,
        attribution.revision,
        quotations=tuple(_quotations(attribution)),
        appearances=tuple(sorted(_appearances(attribution))),
        first_seen=tuple((*key, *place) for key, place in sorted(first.items())),
        names=tuple(sorted(pair for pair in attribution.names.items() if pair[1])),
    )


def load_attribution_rows(
    connection: sqlite3.Connection, document: DocumentId
) -> AttributionRows | None:
    """Return who speaks and who appears in a document, as stored; None if nothing
    is.
    """
    key = (document,)
    row = connection.execute(_STORED, key).fetchone()
    if row is None:
        return None
    return AttributionRows(
        document,
        *row,
        *(
            tuple(connection.execute(sql, key))
            for sql in (
                _STORED_QUOTATIONS,
                _STORED_APPEARANCES,
                _STORED_FIRST_SEEN,
                _STORED_NAMES,
            )
        ),
    )


def store_attribution_rows(
    connection: sqlite3.Connection, rows: AttributionRows
) -> bool:
    """Replace the stored attribution of a document (who speaks and who appears) by
    `rows`.

    Returns False and writes nothing if the stored document has changed since it was
    analysed. Must be called inside a transaction.
    """
    document = rows.document
    if not connection.execute(_TEXT, (document, rows.content)).fetchone():
        return False
    for statement in _DELETE_OLD:
        connection.execute(statement, (document,))
    connection.executemany(_QUOTATION, ((document, *row) for row in rows.quotations))
    connection.executemany(_APPEARANCE, rows.appearances)
    names = dict(rows.names)
    chunks = connection.execute(SELECT_CHUNK_SPANS, (document,)).fetchall()
    connection.executemany(
        _NAMES, [(chunk, names.get(chunk, "")) for chunk, *_ in chunks]
    )
    connection.executemany(_FIRST_SEEN, ((document, *row) for row in rows.first_seen))
    connection.execute(_STORE_ATTRIBUTION, (document, rows.revision))
    seal_attribution(connection, document)
    return True


def _quotations(attribution: AttributionResult) -> Iterator[tuple[object, ...]]:
    for quotation in attribution.quotations:
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


def _appearances(
    attribution: AttributionResult,
) -> Iterator[tuple[ChunkId, str, str, int]]:
    for chunk, counts in attribution.appearances.items():
        for (character, role), count in counts.items():
            yield chunk, character, role.value, count


def parse_appearance_row(row: Sequence[Any]) -> Appearance:
    """Decode a row of `appearance` and its chunk, in the order of `Appearance`."""
    check_types(row, str, str, int, int, int, str, str, int)
    chunk, document, start, end, ordinal, character, role, count = row
    return Appearance(
        ChunkId(chunk),
        DocumentId(document),
        Span(start, end),
        ordinal,
        character,
        _ROLES[role],
        count,
    )


def parse_quotation_row(row: Sequence[str]) -> DocumentQuotation:
    """Decode a row of `quotation`: the parameters of `Quotation`, after the document."""
    (
        document,
        spans,
        speaker,
        certainty,
        cue,
        addressee,
        addressee_certainty,
        mentions,
    ) = row
    quotation = Quotation(
        spans=spans_from_json(spans),
        speaker=speaker,
        certainty=_CERTAINTIES[certainty],
        cue=_CUES[cue],
        addressee=addressee,
        addressee_certainty=_CERTAINTIES[addressee_certainty],
        mentions=tuple(_parse_json(mentions)),
    )
    return DocumentQuotation(DocumentId(document), quotation)


def cast_to_json(cast: Cast) -> str:
    """Return `cast` as JSON text, for storage.

    It is an object with "characters", a list of objects in the order of the cast, and
    "shared", which maps a form of a name to the characters that share it. Aliases and
    genders are arrays that contain their certainty.
    """
    fields = {
        "characters": [
            {
                "name": character.name,
                "aliases": [
                    [a.name, a.mentions, a.certainty.value, a.because]
                    for a in character.aliases
                ],
                "gender": [character.gender.value, character.gender_certainty.value],
                "certainty": character.certainty.value,
                "because": character.because,
                "narrator": character.narrator,
            }
            for character in cast.characters
        ],
        "shared": {form: list(names) for form, names in cast.shared.items()},
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def cast_from_json(text: str) -> Cast:
    """Return the cast in a JSON text that `cast_to_json` wrote."""
    fields = json.loads(text)
    return Cast(
        characters=tuple(_character(character) for character in fields["characters"]),
        shared={form: tuple(names) for form, names in fields["shared"].items()},
    )


def _character(fields: dict[str, Any]) -> Character:
    gender, gender_certainty = fields["gender"]
    return Character(
        name=fields["name"],
        aliases=tuple(
            Alias(name, mentions, Certainty(certainty), because)
            for name, mentions, certainty, because in fields["aliases"]
        ),
        gender=Gender(gender),
        gender_certainty=Certainty(gender_certainty),
        certainty=Certainty(fields["certainty"]),
        because=fields["because"],
        narrator=fields["narrator"],
    )
