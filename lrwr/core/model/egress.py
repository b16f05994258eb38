"""What left this machine: when, to whom, what for, how much of it, at what price."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

OutboundRequestId = NewType("OutboundRequestId", int)


class RequestPurpose(StrEnum):
    """What a request is for, in the writer's words."""

    READING = "reading"
    PLANNING = "planning"
    ANSWERING = "answering"
    JUDGING = "judging"
    WEB_SEARCH = "web search"
    EMBEDDING = "embedding"
    RERANKING = "second look"
    VECTORS = "vectors"
    TRACES = "traces"
    RECORDS = "records"
    FILES = "files"


class RequestOutcome(StrEnum):
    """What came of a request.

    One that was not reached never left. Of one whose reply nobody saw, because lrwr was
    ended or the reply took too long, nothing more is known.
    """

    UNSEEN = "no reply seen"
    UNREACHED = "not reached"
    ANSWERED = "answered"
    REFUSED = "refused"
    CUT = "broken off"


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """One request; nothing of what it said is in here.

    `when` is in seconds since 1970, `sent_bytes` and `received_bytes` are of bodies as
    they travelled, `price` is in US dollars. None is what is not known.
    """

    service: str
    host: str
    purpose: RequestPurpose
    model: str = ""
    when: float = 0.0
    sent_bytes: int = 0
    received_bytes: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    price: float | None = None
    outcome: RequestOutcome = RequestOutcome.UNSEEN

    @property
    def succeeded(self) -> bool:
        """Whether the whole reply came."""
        return self.outcome is RequestOutcome.ANSWERED


@dataclass(frozen=True, slots=True)
class RequestCompletion:
    """What completes a request: its outcome, and what came back."""

    outcome: RequestOutcome
    received_bytes: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class EgressTotal:
    """All that went to one recipient for one purpose.

    Bytes of requests that were not reached do not count. `price` is in US dollars, of
    what is known; `unpriced` counts answers whose price is not.
    """

    service: str
    host: str
    purpose: RequestPurpose
    requests: int
    sent_bytes: int
    received_bytes: int
    price: float
    unpriced: int


@dataclass(frozen=True, slots=True)
class EgressReport:
    """What the log says: totals by recipient and purpose, and the newest entries.

    `began` is when the log began or was cleared, in seconds since 1970: what left
    before is not in it. None where there is no log yet.
    """

    began: float | None = None
    totals: tuple[EgressTotal, ...] = ()
    newest: tuple[OutboundRequest, ...] = ()
