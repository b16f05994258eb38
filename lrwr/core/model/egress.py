"""The send log: requests that left this machine, to whom, for what, at what price."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

OutboundRequestId = NewType("OutboundRequestId", int)


class RequestPurpose(StrEnum):
    """What a request is for, such as answering, embedding or web search.

    The values are stored in the send log.
    """

    READING = "reading"
    PLANNING = "planning"
    ANSWERING = "answering"
    JUDGING = "judging"
    CHECKING = "checking"
    WRITING = "writing"
    WEB_SEARCH = "web search"
    EMBEDDING = "embedding"
    RERANKING = "second look"
    VECTORS = "vectors"
    TRACES = "traces"
    RECORDS = "records"
    FILES = "files"
    MODEL_DOWNLOAD = "model download"


class RequestOutcome(StrEnum):
    """How a request ended, as far as lrwr observed it.

    An unreached request never left the machine. A refused one was answered with an
    error; of a cut one, only a part of the reply arrived. A request stays unseen if
    lrwr was stopped, or gave up waiting, before the reply arrived.
    """

    UNSEEN = "no reply seen"
    UNREACHED = "not reached"
    ANSWERED = "answered"
    REFUSED = "refused"
    CUT = "broken off"


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """One entry of the send log; the content of the request is not recorded.

    `service` is the name of the service, `host` that of the server. `when` is in
    seconds since 1970, UTC; `sent_bytes` and `received_bytes` are the sizes of the
    bodies as transferred; `price` is in US dollars. None means unknown; `model` is
    empty if none was used.
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
        """Whether the complete reply arrived and was not an error."""
        return self.outcome is RequestOutcome.ANSWERED


@dataclass(frozen=True, slots=True)
class RequestCompletion:
    """Values that are added to an entry of the send log when the request ends.

    `received_bytes` is the size of the reply as transferred, `price` is in US dollars.
    None means unknown.
    """

    outcome: RequestOutcome
    received_bytes: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class EgressTotal:
    """Totals of all requests to one host for one purpose.

    `requests` is their number. `sent_bytes` and `received_bytes` leave out requests
    that did not reach the host. `price` is the sum of the known prices in US dollars;
    `unpriced` counts answered requests whose price is unknown.
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
    """Summary of the send log: totals by host and purpose, and the newest entries.

    `newest` is ordered newest first. `began` is when the log was started or last
    cleared, in seconds since 1970, UTC; None if there is no log.
    """

    began: float | None = None
    totals: tuple[EgressTotal, ...] = ()
    newest: tuple[OutboundRequest, ...] = ()
