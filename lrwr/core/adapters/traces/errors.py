"""What went wrong between lrwr and LangSmith, in the writer's words."""

from collections.abc import Mapping
from dataclasses import dataclass

from lrwr.core.adapters.http.errors import Refused, asked_to_wait, ours

_OFF = 'set [traces] keeper = "off"'
_KEY = "Set the key anew with `lrwr config set-key langsmith`."


@dataclass(frozen=True, slots=True)
class Sending:
    """What is sent, for the sentences: "the trace", of which there are "traces".

    `later` says what becomes of it where LangSmith cannot take it now, `often` when to
    raise the time-out.
    """

    what: str
    many: str
    later: str
    often: str


A_TRACE = Sending(
    "the trace",
    "traces",
    f"The next one is tried again, or {_OFF}.",
    "Raise `traces.timeout` if that happens often.",
)

RESULTS = Sending(
    "the results",
    "requests",
    "Wait a minute.",
    "Raise `traces.timeout`.",
)


def failed(
    error: Exception, timeout: float, sending: Sending = A_TRACE, *, own: bool
) -> Refused:
    """Say what an error of the HTTP client means; `own` is a server on this machine."""
    import httpx

    refused = ours(error)
    if refused is not None:
        return refused
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return timed_out(timeout, sending)
    if isinstance(error, httpx.LocalProtocolError):
        message, hint = "What is kept as LangSmith's key cannot be one", _KEY
        return Refused(message, hint=hint, retryable=False)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        hint = "Check the connection to the internet."
        if own:
            hint = "Start it, or correct `traces.base_url`."
        return Refused("LangSmith cannot be reached", hint=hint, retryable=True)
    if isinstance(error, httpx.TransportError):
        message = "LangSmith broke off in the middle of its answer"
        return Refused(message, hint=sending.later, retryable=True)
    return no_answer()


def timed_out(timeout: float, sending: Sending = A_TRACE) -> Refused:
    """Say that no answer came in time."""
    return Refused(
        f"LangSmith did not answer within {timeout:g} seconds",
        hint=sending.often,
        retryable=True,
    )


def no_answer() -> Refused:
    """Say that what came is something else."""
    return Refused(
        "LangSmith answered with something that is no answer of its API",
        hint=f"Check `traces.base_url`, or {_OFF}.",
        retryable=False,
    )


def by_status(
    status: int, headers: Mapping[str, str], now: float, sending: Sending = A_TRACE
) -> Refused:
    """Say what a status means; `now` is the time of day, for dates in headers.

    The server's own words are left out: they may repeat what it was sent.
    """
    if status in (408, 429) or status >= 500:
        reason = f"has more {sending.many} than it takes" if status == 429 else "failed"
        return Refused(
            f"LangSmith {reason} ({status})",
            hint=sending.later,
            retryable=True,
            after=asked_to_wait(headers, now=now),
        )
    message, hint = _for_good(status, sending)
    return Refused(f"{message} ({status})", hint=hint, retryable=False)


def _for_good(status: int, sending: Sending) -> tuple[str, str]:
    match status:
        case 401 | 403:
            return "LangSmith does not accept the key", _KEY
        case 404:
            return (
                "LangSmith's API is not at that address",
                f"Check `traces.base_url`, or {_OFF}.",
            )
        case _ if status < 400:
            return (
                "LangSmith wants to be asked elsewhere",
                "Set `traces.base_url` to the address where the service itself is.",
            )
        case _:
            return (
                f"LangSmith refused {sending.what}",
                f"Check `traces.project`, or {_OFF}.",
            )
