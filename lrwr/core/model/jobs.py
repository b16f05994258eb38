"""The record of work on one document."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, TypeAlias

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId

JobId = NewType("JobId", int)


class JobState(StrEnum):
    """Where a job stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class JobKind(StrEnum):
    """What a job does to its document's knowledge."""

    PROCESS = "process"
    FORGET = "forget"


class JobStage(StrEnum):
    """What a running job is busy with, in the order of the work."""

    READ = "reading"
    SPLIT = "splitting"
    ANALYSE = "analysing"
    EMBED = "embedding"
    STORE = "storing"


@dataclass(frozen=True, slots=True)
class JobOrder:
    """Work to be queued."""

    kind: JobKind
    document: DocumentId
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class JobClaim:
    """Proof that a worker holds a job: valid until the lease ends or is renewed.

    `attempt` counts the times the job was claimed, from 1: it tells a claim from an
    earlier one by the same worker.
    """

    job: JobId
    order: JobOrder
    worker: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is shown.

    Times are seconds since 1970, UTC. `error` is what happened and `hint` what to
    try, both empty unless the job failed.
    """

    id: JobId
    order: JobOrder
    state: JobState
    stage: JobStage | None
    attempts: int
    error: str
    hint: str
    created: float
    updated: float


@dataclass(frozen=True, slots=True)
class IngestPlanned:
    """An ingestion knows what it will do: how many documents, and what is skipped."""

    process: int
    forget: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A document entered a stage."""

    document: DocumentId
    stage: JobStage


@dataclass(frozen=True, slots=True)
class ChunksEmbedded:
    """So many more chunks have been embedded."""

    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentsPending:
    """All is done but so many documents that another process holds."""

    documents: int


@dataclass(frozen=True, slots=True)
class DocumentFinished:
    """A document is done; `problem` says why it could not be read, else empty."""

    document: DocumentId
    problem: str = ""
    hint: str = ""


IngestEvent: TypeAlias = (
    IngestPlanned | StageStarted | ChunksEmbedded | DocumentsPending | DocumentFinished
)
