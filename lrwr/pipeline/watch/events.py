"""What a watch lets others see: a closed union."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from lrwr.core.model.language_model import Usage
from lrwr.core.retrieval.freshness import StaleAnswers
from lrwr.pipeline.report import DocumentProblem
from lrwr.pipeline.watch.changes import KnowledgeDelta


class WatchCause(StrEnum):
    """Why the manuscript was looked at."""

    START = "start"
    SAVE = "save"
    SWEEP = "sweep"
    IDLE = "idle"
    RETURN = "return"
    """A folder that was gone is there again."""


@dataclass(frozen=True, slots=True)
class WatchStart:
    """The first sweep is done, and so many documents are watched."""

    documents: int


@dataclass(frozen=True, slots=True)
class SaveReport:
    """Something was read or forgotten; `seconds` is how long that took.

    `model` is who was asked what `usage` counts; empty where nobody was. `unread` says
    that a language model is set and has still to read this. `problems` are those that
    were not told before. `unsettled` are kept answers that rest on what changed.
    """

    cause: WatchCause
    learned: KnowledgeDelta
    seconds: float
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    unread: bool = False
    problems: tuple[DocumentProblem, ...] = ()
    remarks: tuple[str, ...] = ()
    unsettled: StaleAnswers = field(default_factory=StaleAnswers)


@dataclass(frozen=True, slots=True)
class ManuscriptAway:
    """A folder, or all that was in it, is gone, as `what` says. Nothing is forgotten."""

    what: str


@dataclass(frozen=True, slots=True)
class ManuscriptReturn:
    """What was gone is there again."""


@dataclass(frozen=True, slots=True)
class PollingFallback:
    """The system does not tell of changes, so they are looked for: `why` is a clause."""

    why: str


@dataclass(frozen=True, slots=True)
class WatchFailure:
    """A round failed; the next one is made as if nothing had happened."""

    message: str
    hint: str


WatchEvent: TypeAlias = (
    WatchStart
    | SaveReport
    | ManuscriptAway
    | ManuscriptReturn
    | PollingFallback
    | WatchFailure
)
