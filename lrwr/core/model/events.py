"""What a running service lets others see; closed unions, so that mypy checks each."""

from dataclasses import dataclass
from typing import TypeAlias

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.jobs import JobStage


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
