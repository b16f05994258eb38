"""What pipeline b read out of a document, beside its chunks: written with them."""

import json
import sqlite3
from dataclasses import dataclass

from lrwr.core.model.cast import Mention
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.chunks import Knowledge
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import About, Fact
from lrwr.core.model.text import Span

_DROP = (
    "delete from fact where document_id = ?",
    "delete from seam where document_id = ?",
    "delete from reading where document_id = ?",
)

_UNWOVEN = "delete from woven where document_id = ?"

_DROP_WOVEN = (
    _UNWOVEN,
    "delete from quotation where document_id = ?",
    "delete from first_seen where document_id = ?",
)

_FACT = """
insert into fact (
  document_id, about, subject, field, attribute, value, keeper, certainty, char_start,
  reach, spans, details
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_SEAM = "insert into seam (document_id, space, key, distance) values (?, ?, ?, ?)"

_READING = "insert into reading (document_id, evidence, noted) values (?, ?, ?)"

FactRow = tuple[str, str, str, str, str, str, int, str, str]
"""A fact from `about` to `details` without `attribute` and `char_start`."""

_TELLING = ("attribute", "kind")
"""Details that say what of its subject a fact tells, better than its field does."""


@dataclass(frozen=True, slots=True)
class Read:
    """The rows of one document."""

    document: DocumentId
    facts: list[tuple[object, ...]]
    seams: list[tuple[str, str, str, float]]
    reading: tuple[str, str, str]


def read_of(knowledge: Knowledge) -> Read:
    """Make the rows of a document ready."""
    document = knowledge.document.id
    return Read(
        document=document,
        facts=[_row(document, fact) for fact in knowledge.facts],
        seams=[
            (document, knowledge.space, key, distance)
            for key, distance in knowledge.seams.items()
        ],
        reading=(document, knowledge.evidence, knowledge.noted),
    )


def keep(connection: sqlite3.Connection, read: Read) -> None:
    """Put a document's rows in the place of those that were there.

    It is to be woven anew even where its text is the same: its chunks may be others.
    """
    for statement in (*_DROP, _UNWOVEN):
        connection.execute(statement, (read.document,))
    connection.executemany(_FACT, read.facts)
    connection.executemany(_SEAM, read.seams)
    connection.execute(_READING, read.reading)


def drop(connection: sqlite3.Connection, document: DocumentId) -> None:
    """Take a document's rows away, with all that was woven of them."""
    for statement in (*_DROP, *_DROP_WOVEN):
        connection.execute(statement, (document,))


def fact_of(row: FactRow) -> Fact:
    """Return the fact that a row holds."""
    about, subject, field, value, keeper, certainty, reach, spans, details = row
    return Fact(
        about=About(about),
        subject=subject,
        field=field,
        value=value,
        spans=spans_of(spans),
        keeper=keeper,
        certainty=Certainty(certainty),
        details=tuple((key, told) for key, told in json.loads(details)),
        reach=reach,
    )


def spans_of(text: str) -> tuple[Span, ...]:
    """Read spans as `spans_to_json` writes them."""
    return tuple(Span(start, end) for start, end in json.loads(text))


def spans_to_json(spans: tuple[Span, ...]) -> str:
    """Write spans as a list of pairs."""
    return json.dumps([[span.start, span.end] for span in spans])


def first_mentions(
    mentions: list[Mention], text: str
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return for each character and form: start and end of the first, and how many."""
    found: dict[tuple[str, str], tuple[int, int, int]] = {}
    for mention in mentions:
        form = " ".join(text[mention.span.start : mention.span.end].split())
        start, end, count = found.get(
            (mention.who, form), (mention.span.start, mention.span.end, 0)
        )
        found[mention.who, form] = (start, end, count + 1)
    return found


def _row(document: DocumentId, fact: Fact) -> tuple[object, ...]:
    return (
        document,
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
    """Return what of its subject a fact tells; nothing where it is the fact itself."""
    told = [word for name in _TELLING for word in fact.all_details(name)]
    if told or fact.field == fact.about:
        return " ".join(told)
    return fact.field.replace("_", " ")
