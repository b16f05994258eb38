"""Encodes documents, attributions and the cast as records of a Supabase project.

An attribution says who speaks and who appears in a document.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

from lrwr.core.adapters.storage.sqlite.document_rows import (
    DocumentRows,
)
from lrwr.core.adapters.storage.sqlite.story_rows import (
    AttributionRows,
    cast_from_json,
)
from lrwr.core.adapters.storage.supabase.records import SupabaseRecord
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.codec import (
    InvalidData,
    decode_json,
    decode_value,
    encode_json,
    encode_value,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem

DOCUMENT, WOVEN, CAST = "document", "woven", "cast"
"""Kinds of records."""

CAST_RECORD_KEY = "cast"
"""The key of the only record of kind `cast`."""


ROWS_FORMAT = 1
"""The version of a record's JSON; a later lrwr may write another."""

Rows = TypeVar("Rows", DocumentRows, AttributionRows)


@dataclass(frozen=True, slots=True)
class RecordTombstone:
    """Says that the record with this kind and key was deleted.

    It remains in the Supabase project, so that other machines delete the record, too.
    """

    kind: str
    key: str


RecordContent = DocumentRows | AttributionRows | str | RecordTombstone
"""The content of a record; a text is the cast as JSON."""


def build_record_key(document: DocumentId, pipeline: Pipeline) -> str:
    """Return the key of the record with all that `pipeline` has stored of
    `document`.
    """
    return f"{pipeline.value}/{document}"


def parse_record_key(key: str) -> tuple[DocumentId, Pipeline]:
    """Return the document and the pipeline in a key that `build_record_key` made.

    Raises:
        ValueError: The key names no known pipeline.
    """
    pipeline, _, document = key.partition("/")
    return DocumentId(document), Pipeline(pipeline)


def encode_record(content: DocumentRows | AttributionRows | str) -> SupabaseRecord:
    """Return the record with the rows of a document, its attribution (who speaks and
    who appears), or the cast as JSON text.

    Equal content gives equal records.
    """
    match content:
        case DocumentRows():
            body, key = (
                _encode_rows(content),
                build_record_key(content.id, content.pipeline),
            )
            texts = tuple(sorted(content.texts))
            space = content.space if texts else ""
            return _record(DOCUMENT, key, content.content, body, space, texts)
        case AttributionRows():
            body = _encode_rows(content)
            key = build_record_key(content.document, Pipeline.AGENTIC)
            return _record(WOVEN, key, content.content, body)
        case str():
            return _record(CAST, CAST_RECORD_KEY, "", content)


def build_tombstone(kind: str, key: str) -> SupabaseRecord:
    """Return a record without a body; writing it deletes the record with this kind and
    key.
    """
    return SupabaseRecord(kind, key, "", "", None)


def decode_record(record: SupabaseRecord) -> RecordContent:
    """Return what `encode_record` put into a record, or a `RecordTombstone` if the
    record was deleted.

    Raises:
        StoreProblem: A newer version of lrwr wrote the record, or it is damaged.
    """
    try:
        if record.body is None:
            return _decode_tombstone(record)
        match record.kind:
            case "document":
                return _decode_rows(record.body, DocumentRows)
            case "woven":
                return _decode_rows(record.body, AttributionRows)
            case _:
                cast_from_json(record.body)
                return record.body
    except (ValueError, KeyError, TypeError) as error:
        raise StoreProblem(
            f"The project's record of {record.key} ({record.kind}) cannot be read",
            hint="Upgrade lrwr. If it is up to date, upload the library again from a machine"
            " that has it: `lrwr push --new --name NAME`.",
        ) from error


def _encode_rows(rows: DocumentRows | AttributionRows) -> str:
    # Equal rows yield equal ASCII text, so that the digest shows whether a record changed.
    return encode_json({"format": ROWS_FORMAT, **encode_value(rows)}, ascii_only=True)


def _decode_rows(body: str, kind: type[Rows]) -> Rows:
    fields = decode_json(body, dict[str, object])
    if fields.get("format") != ROWS_FORMAT:
        raise InvalidData("written by another version")
    return decode_value(fields, kind)


def _decode_tombstone(record: SupabaseRecord) -> RecordTombstone:
    if record.kind == DOCUMENT:
        parse_record_key(record.key)  # raises if a newer version wrote it
    return RecordTombstone(record.kind, record.key)


def _record(
    kind: str,
    key: str,
    content: str,
    body: str,
    space: str = "",
    texts: tuple[str, ...] = (),
) -> SupabaseRecord:
    digest = sha256(body.encode("utf-8", "replace")).hexdigest()
    return SupabaseRecord(kind, key, content, digest, body, space, texts)
