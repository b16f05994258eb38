"""Documents read in containers at Modal: bytes out, knowledge back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.adapters.modal import errors
from lrwr.core.adapters.modal.calls import ModalCallKey, ModalFunctionClient
from lrwr.core.adapters.modal.envelope import (
    InvalidEnvelope,
    ModalOrder,
    encode_modal_order,
)
from lrwr.core.adapters.modal.replies import (
    ModalDocumentFailure,
    ModalReply,
    RecipeMismatch,
    ReplyExpectation,
    decode_modal_reply,
    find_missing_vectors,
)
from lrwr.core.model.chunks import Pipeline
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
"""The parts of a document's work, a call each: the second where a model is set."""


@dataclass(frozen=True, slots=True)
class ModalRunOptions:
    """How all documents of a run are read.

    `settings` go along, by dotted name. `recipe` is the name that all knowledge must
    have. `places` is the number of documents in work at once, at most.
    """

    settings: Mapping[str, object]
    recipe: str
    pipeline: Pipeline
    space: str
    dimensions: int
    places: int


class ModalRunner:
    """Keeps the JobRunner port.

    A file that this machine cannot parse is never sent. What is known here goes along
    with a file or is asked for here, so that nothing is paid for twice.
    """

    def __init__(
        self,
        task: ModalRunOptions,
        parse: DocumentParser,
        share: RemoteJobHost,
        calls: ModalFunctionClient,
    ) -> None:
        self._task = task
        self._parse = parse
        self._share = share
        self._calls = calls

    @property
    def places(self) -> int:
        """Return how many containers may be at work at once."""
        return self._task.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge of a file's bytes, as containers worked it out.

        Raises:
            UnreadableDocument: The file cannot be read, or a container failed with it.
            RunnerUnavailable: Modal cannot be asked.
            StoreProblem: The library cannot be read or written.
        """
        parsed = await asyncio.to_thread(self._parse, document, content)
        await report(StageStarted(document, JobStage.SPLIT))
        job_result = await self._read(parsed, content)
        await report(ChunksEmbedded(len(job_result.knowledge.vectors)))
        if job_result.words_only is not None:
            return job_result
        request = await self._share.wanted(job_result.knowledge)
        answers = None
        if request is not None:
            await report(StageStarted(document, JobStage.ANALYSE))
            order = replace(
                self._order(parsed, content),
                seams=job_result.knowledge.seams,
                asking=True,
                kept=request.kept,
            )
            answers = await self._asked(parsed, order)
        knowledge = await self._share.completed(job_result.knowledge, request, answers)
        return JobResult(knowledge)

    async def stored(self, document: DocumentId) -> None:
        """Forget the calls of a document: what they gave is kept."""
        for part in (READING, ASKING):
            await self._calls.drop(document, part)

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._calls.aclose()

    async def _read(self, parsed: Document, content: bytes) -> JobResult:
        """Return a document's knowledge without a language model's part."""
        errand = self._errand(parsed, READING, content)
        earlier = await self._calls.taken_up(errand)
        if earlier is not None:
            job_result = await self._whole(parsed, earlier)
            if job_result is not None:
                return job_result
        stored = await self._share.known(parsed)
        order = replace(
            self._order(parsed, content),
            seams=stored.seams,
            texts=frozenset(str(text) for text in stored.texts),
        )
        body = await asyncio.to_thread(encode_modal_order, order)
        job_result = await self._whole(parsed, await self._calls.made(errand, body))
        if job_result is None:
            await self._calls.drop(parsed.id, READING)
            raise errors.build_invalid_result_error(parsed.id)
        return job_result

    async def _asked(self, parsed: Document, order: ModalOrder) -> ModelAnswers:
        """Return what a language model said there; why nothing, where a call failed."""
        errand = self._errand(parsed, ASKING, order.content)
        try:
            body = await self._calls.taken_up(errand)
            if body is None:
                encoded = await asyncio.to_thread(encode_modal_order, order)
                body = await self._calls.made(errand, encoded)
            reply = await self._understood(parsed, ASKING, body)
        except RunnerUnavailable:
            raise
        except UnreadableDocument as error:
            return ModelAnswers((), Usage(), error.full_text)
        if isinstance(reply, ModelAnswers):
            return reply
        return ModelAnswers(
            (), Usage(), errors.build_invalid_result_error(parsed.id).full_text
        )

    async def _whole(self, parsed: Document, body: bytes) -> JobResult | None:
        """Return what came, if it fits and nothing is missing in it."""
        reply = await self._understood(parsed, READING, body)
        if not isinstance(reply, JobResult):
            return None
        missing = find_missing_vectors(reply)
        if missing - await self._share.embedded(reply.knowledge.space, missing):
            return None
        return reply

    async def _understood(
        self, parsed: Document, part: str, body: bytes
    ) -> ModalReply | None:
        """Return what a call gave; None where it does not fit.

        Raises:
            UnreadableDocument: There the document could not be read.
            RunnerUnavailable: Another lrwr is there.
        """
        task = self._task
        expected = ReplyExpectation(parsed, task.pipeline, task.space, task.dimensions)
        try:
            reply = await asyncio.to_thread(decode_modal_reply, body, expected)
        except InvalidEnvelope:
            return None
        if isinstance(reply, RecipeMismatch):
            await self._calls.drop(parsed.id, part)
            error = errors.build_version_mismatch_error()
            self._calls.give_up(error)
            raise error
        if isinstance(reply, ModalDocumentFailure):
            await self._calls.drop(parsed.id, part)
            raise UnreadableDocument(reply.message, hint=reply.hint)
        return reply

    def _order(self, parsed: Document, content: bytes) -> ModalOrder:
        return ModalOrder(parsed.id, content, self._task.recipe, self._task.settings)

    def _errand(self, parsed: Document, part: str, content: bytes) -> ModalCallKey:
        digest = sha256(content).hexdigest()
        place = self._calls.connection.place
        return ModalCallKey(parsed.id, part, digest, self._task.recipe, place)
