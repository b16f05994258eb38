"""Processes documents in containers at Modal: sends files, receives passages and
facts.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.adapters.modal import errors
from lrwr.core.adapters.modal.calls import ModalCallKey, ModalFunctionClient
from lrwr.core.adapters.modal.wire import (
    WIRE_VERSION,
    InvalidEnvelope,
    ModalDocumentFailure,
    ModalOrder,
    ModalReply,
    RecipeMismatch,
    ReplyExpectation,
    WireVersionMismatch,
    decode_modal_reply,
    encode_modal_order,
    find_missing_vectors,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.jobs import ChunksEmbedded, JobStage, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.jobs import (
    JobProgressCallback,
    JobResult,
    ModelAnswers,
    RemoteJobHost,
    RunnerUnavailable,
)
from lrwr.core.ports.sources import DocumentParser

READING, ASKING = "reading", "asking"
"""The two calls for a document: parse, split and embed it; and, where a language model
is configured, ask that."""


@dataclass(frozen=True, slots=True)
class ModalRunOptions:
    """Options for all documents of an ingestion.

    `settings` maps dotted names to values, which are sent along. `recipe` is the recipe
    name that results must have; it names the versions of parser, splitter and models.
    `space` is the embedding space and `dimensions` the length of a vector, 0 if nothing
    is embedded. `places` is the number of containers that may run at once.
    """

    settings: Mapping[str, object]
    recipe: str
    pipeline: Pipeline
    space: str
    dimensions: int
    places: int


class ModalRunner:
    """The `JobRunner` that processes documents at Modal.

    `parse` parses each file on this machine first; a file that fails is not sent.
    `host` reads from the library which results are stored already; this is sent along,
    so that nothing is computed or paid twice.
    """

    def __init__(
        self,
        options: ModalRunOptions,
        parse: DocumentParser,
        host: RemoteJobHost,
        calls: ModalFunctionClient,
    ) -> None:
        self._options = options
        self._parse = parse
        self._host = host
        self._calls = calls

    @property
    def places(self) -> int:
        """The maximum number of documents that are processed at once."""
        return self._options.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Process `content`, the bytes of a file, in a container and return the result.

        `report` is awaited with each step of the progress. If only the language model
        fails, the result is returned without its facts, and says why.

        Raises:
            UnreadableDocument: The file cannot be parsed, or its container failed.
            RunnerUnavailable: Modal cannot be used, for any document.
            StoreProblem: The library cannot be read or written.
        """
        parsed = await asyncio.to_thread(self._parse, document, content)
        await report(StageStarted(document, JobStage.SPLIT))
        job_result = await self._process(parsed, content)
        await report(ChunksEmbedded(len(job_result.knowledge.vectors)))
        if job_result.words_only is not None:
            return job_result
        work = await self._host.wanted(job_result.knowledge)
        answers = None
        if work is not None:
            await report(StageStarted(document, JobStage.ANALYSE))
            order = replace(
                self._build_order(parsed, content),
                seams=job_result.knowledge.seams,
                asking=True,
                kept=tuple(sorted(work.kept)),
                cast=work.cast,
            )
            answers = await self._ask_model(parsed, order)
        knowledge = await self._host.completed(job_result.knowledge, work, answers)
        return JobResult(knowledge)

    async def stored(self, document: DocumentId) -> None:
        """Delete the ids of the calls for a document, because its result was stored.
        Idempotent.
        """
        for part in (READING, ASKING):
            await self._calls.drop(document, part)

    async def aclose(self) -> None:
        """Close the connection. Idempotent."""
        await self._calls.aclose()

    async def _process(self, parsed: Document, content: bytes) -> JobResult:
        """Return a document's knowledge without the language model's part."""
        key = self._build_key(parsed, READING, content)
        earlier = await self._calls.fetch_earlier(key)
        if earlier is not None:
            job_result = await self._decode_complete(parsed, earlier)
            if job_result is not None:
                return job_result
        stored = await self._host.known(parsed)
        order = replace(
            self._build_order(parsed, content),
            seams=stored.seams,
            texts=tuple(sorted(stored.texts)),
        )
        body = await asyncio.to_thread(encode_modal_order, order)
        reply = await self._calls.call(key, body)
        job_result = await self._decode_complete(parsed, reply)
        if job_result is None:
            await self._calls.drop(parsed.id, READING)
            raise errors.build_invalid_result_error(parsed.id)
        return job_result

    async def _ask_model(self, parsed: Document, order: ModalOrder) -> ModelAnswers:
        """Return a language model's replies; if the call failed, only the reason."""
        key = self._build_key(parsed, ASKING, order.content)
        try:
            body = await self._calls.fetch_earlier(key)
            if body is None:
                encoded = await asyncio.to_thread(encode_modal_order, order)
                body = await self._calls.call(key, encoded)
            reply = await self._decode(parsed, ASKING, body)
        except RunnerUnavailable:
            raise
        except UnreadableDocument as error:
            return ModelAnswers((), Usage(), error.full_text)
        if isinstance(reply, ModelAnswers):
            return reply
        invalid = errors.build_invalid_result_error(parsed.id)
        return ModelAnswers((), Usage(), invalid.full_text)

    async def _decode_complete(self, parsed: Document, body: bytes) -> JobResult | None:
        """Return a result that fits and has all vectors, else None."""
        reply = await self._decode(parsed, READING, body)
        if not isinstance(reply, JobResult):
            return None
        missing = find_missing_vectors(reply)
        if missing - await self._host.embedded(reply.knowledge.space, missing):
            return None
        return reply

    async def _decode(
        self, parsed: Document, part: str, body: bytes
    ) -> ModalReply | None:
        """Return the reply of a call; None if it cannot be used.

        Raises:
            UnreadableDocument: The document could not be processed.
            RunnerUnavailable: Another version of lrwr is deployed.
        """
        options = self._options
        expected = ReplyExpectation(
            parsed, options.pipeline, options.space, options.dimensions
        )
        try:
            reply = await asyncio.to_thread(decode_modal_reply, body, expected)
        except WireVersionMismatch:
            reply = RecipeMismatch("")
        except InvalidEnvelope:
            return None
        if isinstance(reply, RecipeMismatch):
            await self._calls.drop(parsed.id, part)
            error = errors.build_version_mismatch_error()
            self._calls.stop(error)
            raise error
        if isinstance(reply, ModalDocumentFailure):
            await self._calls.drop(parsed.id, part)
            raise UnreadableDocument(reply.message, hint=reply.hint)
        return reply

    def _build_order(self, parsed: Document, content: bytes) -> ModalOrder:
        options = self._options
        return ModalOrder(parsed.id, content, options.recipe, options.settings)

    def _build_key(self, parsed: Document, part: str, content: bytes) -> ModalCallKey:
        digest = sha256(content).hexdigest()
        # A result in an older format cannot be decoded, so it is not fetched.
        place = f"{self._calls.connection.place}/v{WIRE_VERSION}"
        return ModalCallKey(parsed.id, part, digest, self._options.recipe, place)
