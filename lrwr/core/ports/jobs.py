"""The ingestion job queue, and runners that process documents locally or remotely."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Knowledge, TextHash
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
    """A persistent queue of ingestion jobs that any process may work on.

    A worker holds a job by a lease. After the lease expires another worker may claim
    the job, and the first worker's claim is no longer accepted.
    """

    async def enqueue(self, orders: Sequence[JobOrder]) -> int:
        """Add jobs to the queue and return how many were added.

        At most one job waits for each document and pipeline: a further order is not
        added, but the waiting job takes its kind (ingest or delete).

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
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
        """Claim the oldest job that waits or whose lease expired; return None if there
        is none.

        `worker` identifies the claimant. `lease` is in seconds. `documents` and
        `pipeline` restrict which jobs are claimed; None means any. A job claimed three
        times without finishing is marked failed.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def renew(self, claim: JobClaim, stage: JobStage, *, lease: float) -> bool:
        """Record the stage of a job and extend its claim by `lease` seconds from now.

        Returns False, and changes nothing, if another worker has taken over the job.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def fail(self, claim: JobClaim, error: str, hint: str) -> None:
        """Mark a job as failed; `error` and `hint` are sentences for the user.

        Nothing changes if another worker has taken over the job.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...

    async def jobs(self, *, limit: int, state: JobState | None = None) -> list[Job]:
        """Return at most `limit` jobs, newest first, optionally only those in `state`.

        Raises:
            LrwrError: The library or its Supabase project cannot be used.
        """
        ...


JobProgressCallback: TypeAlias = Callable[
    [StageStarted | ChunksEmbedded], Awaitable[None]
]
"""Called when a stage begins and when chunks were embedded."""


class RunnerUnavailable(ServiceUnavailable):
    """The remote runner cannot process any document now."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The knowledge extracted from a document.

    `words_only` is the error if the embedding model did not answer, else None: the
    document can then be searched by words only and has to be ingested again.
    """

    knowledge: Knowledge
    words_only: ServiceUnavailable | None = None

    @property
    def counted(self) -> Knowledge:
        """The knowledge; if embedding failed, with an empty `space`, so that it counts
        as not embedded.
        """
        is_whole = self.words_only is None
        return self.knowledge if is_whole else replace(self.knowledge, space="")


class JobRunner(Protocol):
    """Extracts knowledge from documents, locally or remotely. Does not store it."""

    @property
    def places(self) -> int:
        """The maximum number of documents that may be processed concurrently."""
        ...

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge extracted from a document with this file content.

        `report` receives the progress. Equal content gives equal knowledge in every
        runner.

        Raises:
            UnreadableDocument: The content is invalid for the file type, or a remote
                runner cannot process this document.
            RunnerUnavailable: The runner cannot process any document now.
            StoreProblem: The library cannot be read, or paid replies cannot be saved.
        """
        ...

    async def stored(self, document: DocumentId) -> None:
        """Notify the runner that the result of `document` has been stored.
        Idempotent.
        """
        ...

    async def aclose(self) -> None:
        """Close connections. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class ReusableResults:
    """Stored results that a remote runner need not compute again for a document.

    `seams` maps possible chunk boundaries, each by the hash of the sentences around it,
    to the cosine distance, 0.0 to 2.0, between those before and after it. `texts` are
    the hashes of texts that have a stored vector.
    """

    seams: Mapping[str, float] = field(default_factory=dict)
    texts: frozenset[TextHash] = frozenset()


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Language model calls that a document still needs, and the budget for them.

    `kept` are the cache keys of the replies that are stored already; all others must be
    requested. `cached` is the number of results that need no call. `reserved` is the
    budget set aside for the calls, in US dollars. `cast` are the characters that
    prompts show.
    """

    kept: frozenset[str]
    cached: int
    reserved: float
    cast: Cast = field(default_factory=Cast)


@dataclass(frozen=True, slots=True)
class ModelCallReplies:
    """What one language model call returned.

    `said` maps cache keys to the replies stored under them; `usage` is that of the
    call.
    """

    said: Mapping[str, str]
    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """Replies of all language model calls for a document.

    `usage` is the sum over all calls. `unfinished` is a sentence that says why some
    replies are missing; empty if none is.
    """

    replies: tuple[ModelCallReplies, ...]
    usage: Usage
    unfinished: str = ""


class RemoteJobHost(Protocol):
    """The local side of remote ingestion: provides cached results and stores new ones."""

    async def known(self, document: Document) -> ReusableResults:
        """Return the stored distances and vectors that need not be computed again for
        `document`; both are empty for a new document.
        """
        ...

    async def embedded(self, space: str, texts: set[TextHash]) -> set[TextHash]:
        """Return those of the hashes `texts` that have a stored vector in the embedding
        `space`.
        """
        ...

    async def wanted(self, knowledge: Knowledge) -> ModelWork | None:
        """Return what the remote runner needs to make the language model calls for
        `knowledge`, and reserve their budget.

        None if all replies are stored, the budget is spent, or no model is configured.
        The budget stays reserved until `completed` is called.
        """
        ...

    async def completed(
        self,
        knowledge: Knowledge,
        model_work: ModelWork | None,
        answers: ModelAnswers | None,
    ) -> Knowledge:
        """Store language model replies and return the knowledge with the facts from
        them.

        `model_work` is the result of `wanted`. `answers` is None if no calls were made.

        Raises:
            StoreProblem: The replies cannot be stored.
        """
        ...
