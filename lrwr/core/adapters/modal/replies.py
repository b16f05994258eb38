"""What comes back from where documents are read: knowledge, answers, or why not."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from uuid import UUID

import numpy as np

from lrwr.core.adapters.modal.envelope import (
    EnvelopeFields,
    InvalidEnvelope,
    decode_envelope,
    encode_envelope,
    get_envelope_list,
    get_envelope_numbers,
    get_envelope_text,
    get_envelope_texts,
)
from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    ChunkKind,
    Knowledge,
    Pipeline,
    TextHash,
)
from lrwr.core.model.documents import Document
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.jobs import JobResult, ModelAnswers, ModelCallReplies

if TYPE_CHECKING:
    from numpy.typing import NDArray

Word = TypeVar("Word", bound=StrEnum)

_UNIT = 1e-3
"""How far the length of a vector may be from 1."""


@dataclass(frozen=True, slots=True)
class ModalDocumentFailure:
    """Why a document could not be read there, as the writer is told."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class RecipeMismatch:
    """Another lrwr is there, which would make other knowledge."""

    name: str


ModalReply: TypeAlias = JobResult | ModelAnswers | ModalDocumentFailure | RecipeMismatch


def encode_job_result(job_result: JobResult) -> bytes:
    """Return knowledge as it travels.

    The document stays behind: who asked has the file, and parses it alike.
    """
    knowledge = job_result.knowledge
    hashes = sorted(knowledge.vectors)
    rows = [knowledge.vectors[text_hash] for text_hash in hashes]
    envelope_fields: EnvelopeFields = {
        "kind": "read",
        "text": _digest(knowledge.document),
        "space": knowledge.space,
        "chunks": [_chunk_told(chunk) for chunk in knowledge.chunks],
        "vectors": hashes,
        "facts": [_fact_told(fact) for fact in knowledge.facts],
        "seams": dict(knowledge.seams),
        "evidence": knowledge.evidence,
        "noted": knowledge.noted,
        "words_only": _error_told(job_result.words_only),
    }
    tail = np.array(rows, dtype="<f4").tobytes() if rows else b""
    return encode_envelope(envelope_fields, tail)


def encode_model_answers(answers: ModelAnswers) -> bytes:
    """Return what a language model said as it travels."""
    envelope_fields: EnvelopeFields = {
        "kind": "answers",
        "replies": [
            [dict(reply.said), list(astuple(reply.usage))] for reply in answers.replies
        ],
        "usage": list(astuple(answers.usage)),
        "unfinished": answers.unfinished,
    }
    return encode_envelope(envelope_fields)


def encode_document_failure(error: LrwrError) -> bytes:
    """Return why a document cannot be read as it travels."""
    return encode_envelope(
        {"kind": "refusal", "message": str(error), "hint": error.hint}
    )


def encode_recipe_mismatch(name: str) -> bytes:
    """Return the name of the recipe that is there as it travels."""
    return encode_envelope({"kind": "other", "recipe": name})


@dataclass(frozen=True, slots=True)
class ReplyExpectation:
    """What a reply must fit: the document as it was understood here, and its space.

    `dimensions` is the length of a vector, 0 where nothing is embedded.
    """

    document: Document
    pipeline: Pipeline
    space: str
    dimensions: int


def decode_modal_reply(body: bytes, expected: ReplyExpectation) -> ModalReply:
    """Return what came back on a document, checked against the document itself.

    Raises:
        InvalidEnvelope: It does not fit.
    """
    fields, tail = decode_envelope(body)
    match fields.get("kind"):
        case "read":
            return _read(fields, tail, expected)
        case "answers":
            return _answers(fields)
        case "refusal":
            return ModalDocumentFailure(
                get_envelope_text(fields, "message"), get_envelope_text(fields, "hint")
            )
        case "other":
            return RecipeMismatch(get_envelope_text(fields, "recipe"))
        case _:
            raise InvalidEnvelope("it is not said what came")


def find_missing_vectors(job_result: JobResult) -> set[TextHash]:
    """Return the texts of passages that came without a vector, where there is a space."""
    knowledge = job_result.knowledge
    if not knowledge.space or job_result.words_only is not None:
        return set()
    return {chunk.text_hash for chunk in knowledge.chunks} - knowledge.vectors.keys()


def _read(fields: EnvelopeFields, tail: bytes, expected: ReplyExpectation) -> JobResult:
    document, space = expected.document, expected.space
    if get_envelope_text(fields, "text") != _digest(document):
        raise InvalidEnvelope("the file was understood in another way")
    if get_envelope_text(fields, "space") != space:
        raise InvalidEnvelope("the vectors are of another model")
    rows = enumerate(get_envelope_list(fields, "chunks"))
    chunks = tuple(_chunk(document, n, row) for n, row in rows)
    words_only = _error(fields.get("words_only"))
    hashes = {chunk.text_hash for chunk in chunks}
    vectors = _vectors(get_envelope_texts(fields, "vectors"), tail, expected.dimensions)
    if not vectors.keys() <= hashes:
        raise InvalidEnvelope("there are vectors of other texts")
    knowledge = Knowledge(
        document=document,
        pipeline=expected.pipeline,
        chunks=chunks,
        space=space,
        vectors=vectors,
        facts=tuple(_fact(document, row) for row in get_envelope_list(fields, "facts")),
        seams=get_envelope_numbers(fields, "seams"),
        evidence=get_envelope_text(fields, "evidence"),
        noted=get_envelope_text(fields, "noted"),
    )
    return JobResult(knowledge, words_only)


def _answers(fields: EnvelopeFields) -> ModelAnswers:
    return ModelAnswers(
        tuple(_replies(row) for row in get_envelope_list(fields, "replies")),
        _usage(get_envelope_list(fields, "usage")),
        get_envelope_text(fields, "unfinished"),
    )


def _replies(row: object) -> ModelCallReplies:
    match row:
        case [dict(said), list(usage)] if all(
            isinstance(v, str) for v in said.values()
        ):
            return ModelCallReplies(said, _usage(usage))
        case _:
            raise InvalidEnvelope("what a model said is damaged")


def _usage(counts: list[object]) -> Usage:
    valid_counts = [count for count in counts if type(count) is int and count >= 0]
    if len(valid_counts) != len(astuple(Usage())) or len(valid_counts) != len(counts):
        raise InvalidEnvelope("what a model took is damaged")
    return Usage(*valid_counts)


def _digest(document: Document) -> str:
    return sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()


def _chunk_told(chunk: Chunk) -> list[object]:
    return [
        chunk.id,
        chunk.span.start,
        chunk.span.end,
        chunk.chapter,
        chunk.scene,
        chunk.kind.value,
        chunk.text_hash,
        chunk.tokens,
        chunk.lead,
        chunk.heading,
    ]


def _chunk(document: Document, ordinal: int, row: object) -> Chunk:
    match row:
        case [
            str(ident), int(start), int(end), int(chapter), int(scene),
            str(kind), str(text_hash), int(tokens), str(lead), str(heading),
        ]:  # fmt: skip
            pass
        case _:
            raise InvalidEnvelope("a passage is damaged")
    span = _span(document, [start, end])
    chunk = Chunk(
        id=ChunkId(_uuid(ident)),
        document=document.id,
        ordinal=ordinal,
        span=span,
        lines=document.lines.lines_of(span),
        chapter=chapter,
        scene=scene,
        kind=_one_of(ChunkKind, kind),
        text=document.text[start:end],
        text_hash=TextHash(text_hash),
        tokens=tokens,
        lead=lead,
        heading=heading,
    )
    if sha256(chunk.embedded.encode()).hexdigest() != text_hash:
        raise InvalidEnvelope("a passage is not the text at its place")
    if not (0 <= chapter <= len(document.chapters) and scene >= 0 and tokens >= 0):
        raise InvalidEnvelope("a passage stands nowhere")
    return chunk


def _vectors(
    hashes: Sequence[str], tail: bytes, dimensions: int
) -> "dict[TextHash, NDArray[np.float32]]":
    if not hashes:
        return {}
    if len(tail) != 4 * dimensions * len(hashes):
        raise InvalidEnvelope("the vectors are of another length, or cut short")
    rows = np.frombuffer(tail, dtype="<f4").astype(np.float32)
    rows = rows.reshape(len(hashes), dimensions)
    lengths = np.linalg.norm(rows, axis=1)
    if not np.all(np.abs(lengths - 1.0) < _UNIT):
        raise InvalidEnvelope("a vector is none of length 1")
    return {
        TextHash(text_hash): row for text_hash, row in zip(hashes, rows, strict=True)
    }


def _fact_told(fact: Fact) -> list[object]:
    return [
        fact.about.value,
        fact.subject,
        fact.field,
        fact.value,
        [[span.start, span.end] for span in fact.spans],
        fact.keeper,
        fact.certainty.value,
        [list(pair) for pair in fact.details],
        fact.reach,
    ]


def _fact(document: Document, row: object) -> Fact:
    match row:
        case [
            str(about), str(subject), str(field), str(value), [*spans],
            str(keeper), str(certainty), [*details], int(reach),
        ]:  # fmt: skip
            return Fact(
                about=_one_of(FactAbout, about),
                subject=subject,
                field=field,
                value=value,
                spans=tuple(_span(document, span) for span in spans),
                keeper=keeper,
                certainty=_one_of(Certainty, certainty),
                details=tuple(_pair(detail) for detail in details),
                reach=reach,
            )
        case _:
            raise InvalidEnvelope("a claim is damaged")


def _span(document: Document, row: object) -> Span:
    match row:
        case [int(start), int(end)] if 0 <= start <= end <= len(document.text):
            return Span(start, end)
        case _:
            raise InvalidEnvelope("a place is outside of the text")


def _pair(row: object) -> tuple[str, str]:
    match row:
        case [str(key), str(value)]:
            return key, value
        case _:
            raise InvalidEnvelope("a claim's details are damaged")


def _one_of(kind: type[Word], value: str) -> Word:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidEnvelope(f"{kind.__name__} has no {value!r}") from error


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        raise InvalidEnvelope("a passage has no id") from error


def _error_told(error: ServiceUnavailable | None) -> EnvelopeFields | None:
    if error is None:
        return None
    return {"message": str(error), "hint": error.hint}


def _error(error_fields: object) -> ServiceUnavailable | None:
    if error_fields is None:
        return None
    if not isinstance(error_fields, Mapping):
        raise InvalidEnvelope("why nothing was embedded is damaged")
    return ServiceUnavailable(
        get_envelope_text(error_fields, "message"),
        hint=get_envelope_text(error_fields, "hint"),
    )
