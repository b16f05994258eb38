"""What went wrong between lrwr and LangSmith, in the writer's words."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from lrwr.core.adapters.http.errors import (
    ServiceCallError,
    find_service_call_error,
    parse_retry_after,
)

_OFF = 'set [traces] keeper = "off"'
_KEY = "Set the key anew with `lrwr config set-key langsmith`."


@dataclass(frozen=True, slots=True)
class LangSmithUpload:
    """What is sent, for the sentences: "the trace", of which there are "traces".

    `later` says what becomes of it where LangSmith cannot take it now, `often` when to
    raise the time-out.
    """

    what: str
    many: str
    later: str
    often: str


TRACE_UPLOAD = LangSmithUpload(
    "the trace",
    "traces",
    f"The next one is tried again, or {_OFF}.",
    "Raise `traces.timeout` if that happens often.",
)

RESULTS_UPLOAD = LangSmithUpload(
    "the results",
    "requests",
    "Wait a minute.",
    "Raise `traces.timeout`.",
)


def translate_langsmith_error(
    error: Exception,
    timeout: float,
    sending: LangSmithUpload = TRACE_UPLOAD,
    *,
    own: bool,
) -> ServiceCallError:
    """Say what an error of the HTTP client means; `own` is a server on this machine."""
    refused = find_service_call_error(error)
    if refused is not None:
        return refused
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return build_langsmith_timeout_error(timeout, sending)
    if isinstance(error, httpx.LocalProtocolError):
        message, hint = "What is kept as LangSmith's key cannot be one", _KEY
        return ServiceCallError(message, hint=hint, retryable=False)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        hint = "Check the connection to the internet."
        if own:
            hint = "Start it, or correct `traces.base_url`."
        return ServiceCallError(
            "LangSmith cannot be reached", hint=hint, retryable=True
        )
    if isinstance(error, httpx.TransportError):
        message = "LangSmith broke off in the middle of its answer"
        return ServiceCallError(message, hint=sending.later, retryable=True)
    return build_langsmith_response_error()


def build_langsmith_timeout_error(
    timeout: float, sending: LangSmithUpload = TRACE_UPLOAD
) -> ServiceCallError:
    """Say that no answer came in time."""
    return ServiceCallError(
        f"LangSmith did not answer within {timeout:g} seconds",
        hint=sending.often,
        retryable=True,
    )


def build_langsmith_response_error() -> ServiceCallError:
    """Say that what came is something else."""
    return ServiceCallError(
        "LangSmith answered with something that is no answer of its API",
        hint=f"Check `traces.base_url`, or {_OFF}.",
        retryable=False,
    )


def translate_langsmith_status(
    status: int,
    headers: Mapping[str, str],
    now: float,
    sending: LangSmithUpload = TRACE_UPLOAD,
) -> ServiceCallError:
    """Say what a status means; `now` is the time of day, for dates in headers.

    The server's own words are left out: they may repeat what it was sent.
    """
    if status in (408, 429) or status >= 500:
        reason = f"has more {sending.many} than it takes" if status == 429 else "failed"
        return ServiceCallError(
            f"LangSmith {reason} ({status})",
            hint=sending.later,
            retryable=True,
            after=parse_retry_after(headers, now=now),
        )
    message, hint = _for_good(status, sending)
    return ServiceCallError(f"{message} ({status})", hint=hint, retryable=False)


def _for_good(status: int, sending: LangSmithUpload) -> tuple[str, str]:
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
