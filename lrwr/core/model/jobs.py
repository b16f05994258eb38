"""Ingestion jobs, one for each document, and the events of an ingestion."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, TypeAlias

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId

JobId = NewType("JobId", int)


class JobState(StrEnum):
    """State of an ingestion job: pending, running, complete or failed."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class JobKind(StrEnum):
    """Whether a job ingests a document (`PROCESS`) or deletes its stored data
    (`FORGET`).
    """

    PROCESS = "process"
    FORGET = "forget"


class JobStage(StrEnum):
    """Stage of a running job; stages follow each other in this order: reading,
    splitting, analysing, embedding, storing.
    """

    READ = "reading"
    SPLIT = "splitting"
    ANALYSE = "analysing"
    EMBED = "embedding"
    STORE = "storing"


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job for the queue: ingest or delete a document, for one pipeline."""

    kind: JobKind
    document: DocumentId
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class JobClaim:
    """Proof that a worker holds a job; valid until its lease ends.

    `worker` identifies the worker. `attempt` counts how often the job has been claimed,
    from 1. It distinguishes a claim from an earlier claim by the same worker.
    """

    job: JobId
    order: JobOrder
    worker: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Job:
    """A job with its state.

    `stage` is None unless it is running. `attempts` counts how often it has been
    claimed. `created` and `updated` are in seconds since 1970, UTC. `error` and `hint`
    are empty unless the job failed.
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


STOPPED_ERROR = "Processing was stopped."
"""Error of a job that the user stopped: its document can be read."""


@dataclass(frozen=True, slots=True)
class IngestPlanned:
    """Event: ingestion will process and delete (`forget`) these numbers of documents."""

    process: int
    forget: int


@dataclass(frozen=True, slots=True)
class StageStarted:
    """Event: the work on `document` reached `stage`.

    `chunks` is how many chunks the stage embeds; 0 for other stages.
    """

    document: DocumentId
    stage: JobStage
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class ChunksEmbedded:
    """Event: the embedding model finished `chunks` more chunks since the previous
    event.
    """

    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentsPending:
    """Event: this process has nothing left to do; other processes are still working on
    this many documents.
    """

    documents: int


@dataclass(frozen=True, slots=True)
class DocumentFinished:
    """Event: a document is done.

    `problem` says why it could not be read, empty on success. `words` counts the words
    of a document that was processed and stored.
    """

    document: DocumentId
    problem: str = ""
    words: int = 0


IngestEvent: TypeAlias = (
    IngestPlanned | StageStarted | ChunksEmbedded | DocumentsPending | DocumentFinished
)
