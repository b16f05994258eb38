"""The messages between this machine and Modal's containers: orders and replies.

A message is the text `lrwr`, a version byte, and compressed with zlib: the length of a
JSON text (8 bytes, big-endian), the JSON text in UTF-8, and a tail of plain bytes (a
file, or vectors as rows of little-endian float32). No code is sent, so both ends may
run different versions of lrwr and Python: what cannot be decoded is refused.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from uuid import UUID

import numpy as np

from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, Knowledge, TextHash
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import Document
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.model.facts import Fact
from lrwr.core.model.text import Span
from lrwr.core.ports.jobs import JobResult, ModelAnswers

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

MAGIC = b"lrwr"

WIRE_VERSION = 4
"""Raise it when the format changes: the other end may be an older deployment."""

MAX_MESSAGE_BYTES = 1 << 30
"""Limit of a decompressed message, so that a hostile one cannot fill the memory."""

_LENGTH_BYTES = 8

_LENGTH_TOLERANCE = 1e-3
"""How much the length of a unit vector may differ from 1 after rounding to float32."""


class InvalidEnvelope(ValueError):
    """Bytes are not a valid message, or do not fit the document that they are about."""


class WireVersionMismatch(InvalidEnvelope):
    """A message has another version of the format: an outdated deployment sent it."""


@dataclass(frozen=True, slots=True)
class ModalOrder:
    """The work that a container does on one document; `content` is the file's bytes.

    `settings` maps dotted names to the values that affect the result. `recipe` names
    the versions of parser, splitter and models; a container with another recipe
    refuses. If `asking` is False, the container splits and embeds the document and
    calls no language model. It does not compute again what the sender has: the cosine
    distances `seams` at possible chunk boundaries, by the SHA-256 of the sentences
    around, and the vectors of texts with a SHA-256 in `texts`. If `asking` is True, it
    only calls the language model, except for replies that the sender has, whose cache
    keys are `kept`; prompts show the characters of the library, `cast`. `texts` and
    `kept` are sorted, so that equal orders are equal bytes.
    """

    document: str
    content: bytes
    recipe: str
    settings: Mapping[str, Any]
    seams: Mapping[str, float] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    asking: bool = False
    kept: tuple[str, ...] = ()
    cast: Cast = field(default_factory=Cast)


def encode_modal_order(order: ModalOrder) -> bytes:
    """Return the message with `order`, including the file."""
    return encode_message(replace(order, content=b""), order.content)


def decode_modal_order(body: bytes) -> ModalOrder:
    """Return the order in the message `body`.

    Raises:
        InvalidEnvelope: `body` is not an order in this version of the format.
    """
    order, content = decode_message(body, ModalOrder)
    return replace(order, content=content)


@dataclass(frozen=True, slots=True)
class ModalDocumentFailure:
    """The reply that a document cannot be processed: an error's message and hint, for
    the user.
    """

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class RecipeMismatch:
    """The reply that the container has another version of lrwr, or other settings, than
    the order requires.

    `name` is the container's recipe name; empty if it is unknown.
    """

    name: str


ModalReply: TypeAlias = JobResult | ModelAnswers | ModalDocumentFailure | RecipeMismatch


@dataclass(frozen=True, slots=True)
class _ResultFields:
    """A `JobResult` without what the receiver knows: the document and its text.

    `text_digest` is the SHA-256 of the parsed text. `vectors` are the hashes of the
    texts whose vectors are the rows of the tail; then follow their encoded token
    states, each as long as `states` says, empty if the embedding model has none.
    """

    text_digest: str
    space: str
    chunks: tuple[Chunk, ...]
    vectors: tuple[TextHash, ...]
    states: tuple[int, ...]
    facts: tuple[Fact, ...]
    seams: dict[str, float]
    evidence: str
    noted: str
    words_only: ModalDocumentFailure | None


@dataclass(frozen=True, slots=True)
class _ReplyFields:
    """A reply; exactly one field is set."""

    result: _ResultFields | None = None
    answers: ModelAnswers | None = None
    failure: ModalDocumentFailure | None = None
    mismatch: RecipeMismatch | None = None


def encode_job_result(job_result: JobResult) -> bytes:
    """Return the message with the passages, vectors and facts of a document.

    The text itself is left out: the receiver has the file and parses it in the same
    way.
    """
    knowledge, error = job_result.knowledge, job_result.words_only
    hashes = sorted(knowledge.vectors)
    rows = [knowledge.vectors[text_hash] for text_hash in hashes]
    states = [knowledge.states.get(text_hash, b"") for text_hash in hashes]
    result = _ResultFields(
        text_digest=_digest(knowledge.document),
        space=knowledge.space,
        chunks=tuple(replace(chunk, text="") for chunk in knowledge.chunks),
        vectors=tuple(hashes),
        states=tuple(map(len, states)),
        facts=knowledge.facts,
        seams=dict(knowledge.seams),
        evidence=knowledge.evidence,
        noted=knowledge.noted,
        words_only=ModalDocumentFailure(str(error), error.hint) if error else None,
    )
    tail = np.array(rows, dtype="<f4").tobytes() if rows else b""
    return encode_message(_ReplyFields(result=result), tail + b"".join(states))


def encode_model_answers(answers: ModelAnswers) -> bytes:
    """Return the message with a language model's replies about one document, and their
    usage.
    """
    return encode_message(_ReplyFields(answers=answers))


def encode_document_failure(error: LrwrError) -> bytes:
    """Return the message that says why a document cannot be processed."""
    failure = ModalDocumentFailure(str(error), error.hint)
    return encode_message(_ReplyFields(failure=failure))


def encode_recipe_mismatch(name: str) -> bytes:
    """Return the message that the container's recipe differs from the order's, so that
    it refuses the work.

    `name` is the container's recipe name; empty if it is unknown.
    """
    return encode_message(_ReplyFields(mismatch=RecipeMismatch(name)))


@dataclass(frozen=True, slots=True)
class ReplyExpectation:
    """What a reply must fit: the document as parsed on this machine, and its embedding
    space.

    `space` names the embedding space; `dimensions` is the length of a vector, 0 if
    nothing is embedded.
    """

    document: Document
    pipeline: Pipeline
    space: str
    dimensions: int


def decode_modal_reply(body: bytes, expected: ReplyExpectation) -> ModalReply:
    """Return the reply in the message `body`, checked against the document itself.

    Raises:
        WireVersionMismatch: An outdated deployment sent it.
        InvalidEnvelope: It cannot be decoded, or does not fit `expected`.
    """
    reply, tail = decode_message(body, _ReplyFields)
    if reply.result is not None:
        return _restore_result(reply.result, tail, expected)
    if reply.answers is not None:
        _check_usage(reply.answers)
    decoded = reply.answers or reply.failure or reply.mismatch
    if decoded is None:
        raise InvalidEnvelope("the reply is empty")
    return decoded


def find_missing_vectors(job_result: JobResult) -> set[TextHash]:
    """Return the SHA-256 of each embedded text of a chunk for which `job_result` has no
    vector.

    Empty if nothing is embedded, or if embedding failed.
    """
    knowledge = job_result.knowledge
    if not knowledge.space or job_result.words_only is not None:
        return set()
    return {chunk.text_hash for chunk in knowledge.chunks} - knowledge.vectors.keys()


def encode_message(fields: object, tail: bytes = b"") -> bytes:
    """Return the message with the dataclass `fields` as JSON, followed by `tail`."""
    text = encode_json(fields).encode("utf-8", "surrogatepass")
    content = len(text).to_bytes(_LENGTH_BYTES, "big") + text + tail
    return MAGIC + bytes([WIRE_VERSION]) + zlib.compress(content)


def decode_message(body: bytes, kind: type[T]) -> tuple[T, bytes]:
    """Return the dataclass of type `kind` in the message `body`, and the tail.

    Raises:
        WireVersionMismatch: The message is in another version of the format.
        InvalidEnvelope: It is damaged, too large, or does not have the fields of
            `kind`.
    """
    start = len(MAGIC) + 1
    if not isinstance(body, bytes) or len(body) < start or body[: start - 1] != MAGIC:
        raise InvalidEnvelope("these bytes are not a message of lrwr")
    if body[start - 1] != WIRE_VERSION:
        raise WireVersionMismatch("the message is from another version of lrwr")
    content = _decompress(body[start:])
    end = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "big")
    if len(content) < end:
        raise InvalidEnvelope("the message is cut short")
    try:
        text = content[_LENGTH_BYTES:end].decode("utf-8", "surrogatepass")
        return decode_json(text, kind), content[end:]
    except (InvalidData, UnicodeDecodeError) as error:
        raise InvalidEnvelope(f"the message is damaged: {error}") from error


def _decompress(data: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(data, MAX_MESSAGE_BYTES)
    except zlib.error as error:
        raise InvalidEnvelope("the message is damaged") from error
    if not decompressor.eof:
        raise InvalidEnvelope("the message is cut short, or too large")
    return content


def _restore_result(
    fields: _ResultFields, tail: bytes, expected: ReplyExpectation
) -> JobResult:
    document = expected.document
    if fields.text_digest != _digest(document):
        raise InvalidEnvelope("the file was parsed differently")
    if fields.space != expected.space:
        raise InvalidEnvelope("the vectors are from another embedding model")
    chunks = tuple(
        _restore_chunk(document, n, chunk) for n, chunk in enumerate(fields.chunks)
    )
    for fact in fields.facts:
        for span in fact.spans:
            _check_span(document, span)
    end = 4 * len(fields.vectors) * expected.dimensions
    vectors = _restore_vectors(fields.vectors, tail[:end], expected.dimensions)
    if not vectors.keys() <= {chunk.text_hash for chunk in chunks}:
        raise InvalidEnvelope("it contains vectors of other texts")
    knowledge = Knowledge(
        document=document,
        pipeline=expected.pipeline,
        chunks=chunks,
        space=fields.space,
        vectors=vectors,
        states=_restore_states(fields, tail[end:]),
        facts=fields.facts,
        seams=fields.seams,
        evidence=fields.evidence,
        noted=fields.noted,
    )
    failure = fields.words_only
    error = ServiceUnavailable(failure.message, hint=failure.hint) if failure else None
    return JobResult(knowledge, error)


def _restore_states(fields: _ResultFields, tail: bytes) -> dict[TextHash, bytes]:
    ends = list(accumulate(fields.states, initial=0))
    is_complete = len(fields.states) == len(fields.vectors) and ends[-1] == len(tail)
    if not is_complete or min(fields.states, default=0) < 0:
        raise InvalidEnvelope("its token states do not fit its vectors")
    spans = zip(fields.vectors, pairwise(ends), strict=True)
    return {text: tail[start:end] for text, (start, end) in spans if end > start}


def _restore_chunk(document: Document, ordinal: int, chunk: Chunk) -> Chunk:
    """Fill in what the document says about a chunk, and check the rest against it."""
    _check_span(document, chunk.span)
    restored = replace(
        chunk,
        document=document.id,
        ordinal=ordinal,
        lines=document.lines.lines_of(chunk.span),
        text=document.text[chunk.span.start : chunk.span.end],
    )
    try:
        UUID(chunk.id)
    except ValueError as error:
        raise InvalidEnvelope("the id of a passage is not a UUID") from error
    if sha256(restored.embedded.encode()).hexdigest() != chunk.text_hash:
        raise InvalidEnvelope("a passage does not match the text at its location")
    chapters = len(document.chapters)
    if not 0 <= chunk.chapter <= chapters or min(chunk.scene, chunk.tokens) < 0:
        raise InvalidEnvelope("a passage is in a chapter that does not exist")
    return restored


def _check_span(document: Document, span: Span) -> None:
    if not 0 <= span.start <= span.end <= len(document.text):
        raise InvalidEnvelope("a span is outside of the text")


def _check_usage(answers: ModelAnswers) -> None:
    usages = [answers.usage, *(reply.usage for reply in answers.replies)]
    if min(min(astuple(usage)) for usage in usages) < 0:
        raise InvalidEnvelope("the usage of a language model is negative")


def _restore_vectors(
    hashes: Sequence[TextHash], tail: bytes, dimensions: int
) -> "dict[TextHash, NDArray[np.float32]]":
    if not hashes:
        return {}
    if len(tail) != 4 * dimensions * len(hashes):
        raise InvalidEnvelope("the vectors have the wrong length")
    rows = np.frombuffer(tail, dtype="<f4").astype(np.float32)
    rows = rows.reshape(len(hashes), dimensions)
    lengths = np.linalg.norm(rows, axis=1)
    if not np.all(np.abs(lengths - 1.0) < _LENGTH_TOLERANCE):
        raise InvalidEnvelope("a vector does not have length 1")
    return dict(zip(hashes, rows, strict=True))


def _digest(document: Document) -> str:
    return sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
