"""Records as texts: what is known of a document, what was woven of it, the cast."""

from dataclasses import dataclass
from hashlib import sha256

from lrwr.core.adapters.storage.sqlite.attribution_rows import (
    Weave,
    weave_from_json,
    weave_to_json,
)
from lrwr.core.adapters.storage.sqlite.codecs import cast_from_json
from lrwr.core.adapters.storage.sqlite.document_rows import (
    Draft,
    draft_from_json,
    draft_to_json,
)
from lrwr.core.adapters.storage.supabase.records import Record
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem

DOCUMENT, WOVEN, CAST = "document", "woven", "cast"
"""Kinds of records."""

THE_CAST = "cast"
"""The key of the one record of its kind."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A record that was taken away."""

    kind: str
    key: str


Told = Draft | Weave | str | Gone
"""What a record tells; a text is the cast."""


def key_of(document: DocumentId, pipeline: Pipeline) -> str:
    """Name what a pipeline knows of a document."""
    return f"{pipeline.value}/{document}"


def named_by(key: str) -> tuple[DocumentId, Pipeline]:
    """Return what a key names."""
    pipeline, _, document = key.partition("/")
    return DocumentId(document), Pipeline(pipeline)


def record_of(told: Draft | Weave | str) -> Record:
    """Return the record that tells this."""
    match told:
        case Draft():
            body, key = draft_to_json(told), key_of(told.id, told.pipeline)
            texts = tuple(sorted(told.texts))
            space = told.space if texts else ""
            return _record(DOCUMENT, key, told.content, body, space, texts)
        case Weave():
            body = weave_to_json(told)
            key = key_of(told.document, Pipeline.AGENTIC)
            return _record(WOVEN, key, told.content, body)
        case str():
            return _record(CAST, THE_CAST, "", told)


def gone(kind: str, key: str) -> Record:
    """Return the record that takes another away."""
    return Record(kind, key, "", "", None)


def told_by(record: Record) -> Told:
    """Return what a record tells.

    Raises:
        StoreProblem: This lrwr cannot read it.
    """
    try:
        if record.body is None:
            return _gone(record)
        match record.kind:
            case "document":
                return draft_from_json(record.body)
            case "woven":
                return weave_from_json(record.body)
            case _:
                cast_from_json(record.body)
                return record.body
    except (ValueError, KeyError, TypeError) as error:
        raise StoreProblem(
            f"What the project keeps of {record.key} ({record.kind}) cannot be read",
            hint="Look for a newer lrwr; if there is none, run `lrwr ingest` where the"
            " manuscript is.",
        ) from error


def _gone(record: Record) -> Gone:
    if record.kind == DOCUMENT:
        named_by(record.key)  # which a later lrwr may have written
    return Gone(record.kind, record.key)


def _record(
    kind: str,
    key: str,
    content: str,
    body: str,
    space: str = "",
    texts: tuple[str, ...] = (),
) -> Record:
    digest = sha256(body.encode("utf-8", "replace")).hexdigest()
    return Record(kind, key, content, digest, body, space, texts)
