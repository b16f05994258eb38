"""Work that waits, and who is at it."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from lrwr.core.model.chunks import Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    Job,
    JobClaim,
    JobOrder,
    JobStage,
    JobState,
    StageStarted,
)
from lrwr.core.model.language_model import Usage


class JobQueue(Protocol):
    """Jobs survive the process that made them: any process may take one up.

    A worker holds a job by a lease. When the lease runs out, the job may be claimed
    by another, and the first finds its claim lost when it wants to store.
    """

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Queue work; an order that waits already is not queued twice.

        Returns how many were added.
        """
        ...

    async def claim(
        self,
        worker: str,
        *,
        lease: float,
        documents: Collection[DocumentId] | None = None,
        pipeline: Pipeline | None = None,
    ) -> JobClaim | None:
        """Take the oldest job that waits, or whose lease ran out; None if none.

        `lease` is in seconds. Only jobs on `documents` and of `pipeline` are taken;
        None means any. A job that was claimed three times and never finished is
        marked failed instead of being handed out again.
        """
        ...

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Hold on to a job for `lease` more seconds; False when it was lost."""
        ...

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job failed, with what happened and what to try."""
        ...

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return jobs, newest first."""
        ...


JobProgressCallback: TypeAlias = Callable[
    [StageStarted | ChunksEmbedded], Awaitable[None]
]
"""Called when a stage begins and when chunks were embedded."""


class RunnerUnavailable(ServiceUnavailable):
    """Who reads elsewhere cannot be asked now: for no document, not for this one."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became known of a document.

    `words_only` says why it was not embedded, where an embedder did not answer: then
    the document is found by its words, and must be read again.
    """

    knowledge: Knowledge
    words_only: ServiceUnavailable | None = None

    @property
    def counted(self) -> Knowledge:
        """The knowledge as far as it is embedded."""
        is_whole = self.words_only is None
        return self.knowledge if is_whole else replace(self.knowledge, space="")


class JobRunner(Protocol):
    """Makes knowledge of documents. Writes none of it."""

    @property
    def places(self) -> int:
        """Return how many documents may be in work at once."""
        ...

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge of a file's bytes, whoever worked it out.

        The same bytes make the same knowledge in every runner.

        Raises:
            UnreadableDocument: The bytes are not what the ending says, or this document
                could not be read elsewhere.
            RunnerUnavailable: No document can be read there now; nothing is known of this one.
            StoreProblem: The library cannot be read, or cannot keep what was paid for.
        """
        ...

    async def stored(self, document: DocumentId) -> None:
        """Say that what was returned of a document is kept. Harmless when done twice."""
        ...

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class ReusableResults:
    """What a library knows of a document before it is read: it is not done again.

    `seams` are distances between sentences, `texts` the words that are embedded.
    """

    seams: Mapping[str, float] = field(default_factory=dict)
    texts: frozenset[TextHash] = frozenset()


@dataclass(frozen=True, slots=True)
class ModelWork:
    """What a language model is to be asked of a document.

    `kept` are the keys of what it said before, and is not asked again. `cached` counts
    them, `reserved` is what was set aside for the rest, in US dollars.
    """

    kept: frozenset[str]
    cached: int
    reserved: float


@dataclass(frozen=True, slots=True)
class ModelCallReplies:
    """What a language model said in one call, by key, and what that took."""

    said: Mapping[str, str]
    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """What a language model said, call by call, what all took, and why it is not all."""

    replies: tuple[ModelCallReplies, ...]
    usage: Usage
    unfinished: str = ""


class RemoteJobHost(Protocol):
    """What this machine knows, and keeps, of documents that are read elsewhere."""

    async def known(self, document: Document) -> ReusableResults:
        """Return what need not be worked out again."""
        ...

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return which of `texts` are embedded in `space` already."""
        ...

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return what a language model must be asked; None where it is nothing.

        Give what it took back to `completed`: it is set aside until then.
        """
        ...

    async def completed(
        self,
        knowledge: Knowledge,
        model_work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Keep what a language model said, and return the knowledge with it.

        Raises:
            StoreProblem: What was said cannot be kept.
        """
        ...
