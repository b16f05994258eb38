"""Errors of calls to services, as messages for the user, and `Retry-After` headers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import format_seconds

_PARAMETERS = (
    "temperature",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "json_schema",
    "encoding_format",
    "dimensions",
)
"""Request parameters that a message may name. Nothing else of a server's text is
repeated: it may quote what was sent."""

_RETRYABLE_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, 529})

_CONTEXT_EXCEEDED = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "too long",
    "too many tokens",
    "maximum context",
)
_NO_CREDIT = ("insufficient_quota", "billing")
_RATE_LIMITS = ("requests", "tokens")


class ServiceCallError(ServiceUnavailable):
    """A call of a service failed.

    `retryable` says that a later call may succeed. `after` is the delay that the server
    asks for, in seconds; None if it names none. `is_response` says that the server
    answered, with an error.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str,
        retryable: bool,
        after: float | None = None,
        is_response: bool = False,
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.after = after
        self.is_response = is_response


class AnswerCutOff(ServiceCallError):
    """A reply was ended before its end: it is too long, or takes too long."""


@dataclass(frozen=True, slots=True)
class ErrorHints:
    """Names of settings for the hints of errors, one set for each service.

    `section` is the settings section of the service, `model` the setting of its model,
    `key` the name that `lrwr config set-key` takes. `overload` is the hint when the
    server has too many requests, `request` names the settings to check when it refuses
    a request, and `base_url_note` follows "Check `section.base_url`".
    """

    section: str = "model"
    model: str = "model.name"
    key: str = "openai"
    overload: str = (
        "Lower `model.concurrency` or `model.requests_per_minute`, or try again later."
    )
    request: str = "`model.name`, `model.reasoning_effort` and `model.base_url`"
    base_url_note: str = "; it usually ends in /v1"


CHAT_HINTS = ErrorHints()


@dataclass(frozen=True, slots=True)
class HttpRequestInfo:
    """What error messages say about a request.

    `server` and `model` are names that users know, such as "OpenAI" and "gpt-6-luna".
    `timeout` is in seconds. `is_local` says that the server is the user's own.
    """

    server: str
    model: str
    timeout: float
    is_local: bool
    hints: ErrorHints = CHAT_HINTS


@dataclass(frozen=True, slots=True)
class HttpErrorResponse:
    """A response with a status other than 2xx; `text` is the server's error message."""

    status: int
    text: str
    headers: Mapping[str, str]


def find_service_call_error(error: BaseException) -> ServiceCallError | None:
    """Return the first `ServiceUnavailable` among `error` and its causes, as an error
    that is not retried.

    An HTTP client wraps the errors of lrwr's own hooks, such as a send log that cannot
    be written. None if there is no such cause.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ServiceUnavailable):
        cause = cause.__cause__
    if cause is None:
        return None
    return ServiceCallError(str(cause), hint=cause.hint, retryable=False)


def build_timeout_error(request: HttpRequestInfo) -> ServiceCallError:
    """Return the error for a request that was not answered within its timeout."""
    return ServiceCallError(
        f"{request.server} did not answer within {format_seconds(request.timeout)}",
        hint=f"Try again, or raise `{request.hints.section}.timeout`.",
        retryable=True,
    )


def build_late_answer_error(request: HttpRequestInfo, seconds: float) -> AnswerCutOff:
    """Return the error for a reply that was not finished within `seconds`."""
    return AnswerCutOff(
        f"{request.server} had not finished its answer after {format_seconds(seconds)}",
        hint="Ask for less, or raise `model.answer_timeout`.",
        retryable=False,
    )


def build_long_answer_error(request: HttpRequestInfo) -> AnswerCutOff:
    """Return the error for a reply that is longer than the limit."""
    return AnswerCutOff(
        f"The answer of {request.model} is too long",
        hint="Ask for less, or raise `model.answer_tokens` and the server's own limit.",
        retryable=False,
    )


def build_unreachable_error(request: HttpRequestInfo) -> ServiceCallError:
    """Return the error for a server to which no connection could be made."""
    return ServiceCallError(
        f"{request.server} cannot be reached",
        hint=f"Start the server, or correct `{request.hints.section}.base_url`."
        if request.is_local
        else "Check your internet connection.",
        retryable=True,
    )


def build_interrupted_error(request: HttpRequestInfo) -> ServiceCallError:
    """Return the error for a connection that ended in the middle of a response."""
    return ServiceCallError(
        f"{request.server} stopped in the middle of its answer",
        hint="Try again.",
        retryable=True,
    )


def build_invalid_response_error(request: HttpRequestInfo) -> ServiceCallError:
    """Return the error for a response that does not have the format of the API."""
    return ServiceCallError(
        f"{request.server} sent an answer that lrwr does not understand",
        hint=f"Check `{request.hints.section}.base_url`{request.hints.base_url_note}.",
        retryable=False,
    )


def translate_http_status(
    response: HttpErrorResponse, request: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Return the error with a message for the user, for a status other than 2xx.

    `request` names server and model in the message. `now` is the time in seconds since
    1970; dates in `Retry-After` headers are compared with it.
    """
    status, text, hints = response.status, response.text, request.hints
    is_out_of_credit = any(word in text for word in _NO_CREDIT)
    if status == 402 or (status == 429 and is_out_of_credit):
        return ServiceCallError(
            f"{request.server} reports that the account has no credit left (HTTP {status})",
            hint="Add credit to the account, or set the key of another account with"
            f" `lrwr config set-key {hints.key}`.",
            retryable=False,
        )
    if status in _RETRYABLE_STATUSES:
        reason = "received too many requests" if status == 429 else "failed"
        later = (
            "Look at the server's log, then try again. Finished work is saved."
            if request.is_local
            else "Try again later. Finished work is saved."
        )
        return ServiceCallError(
            f"{request.server} {reason} (HTTP {status})",
            hint=hints.overload if status == 429 else later,
            retryable=True,
            after=parse_retry_after(response.headers, now=now),
            is_response=True,
        )
    message, hint = _describe_permanent_status(status, text, request)
    return ServiceCallError(f"{message} (HTTP {status})", hint=hint, retryable=False)


def _describe_permanent_status(
    status: int, text: str, request: HttpRequestInfo
) -> tuple[str, str]:
    model, server, hints = request.model, request.server, request.hints
    address = f"`{hints.section}.base_url`"
    if status < 400:
        hint = f"Set {address} to the final address of the server."
        return f"{server} redirects requests to another address", hint
    if status == 401:
        hint = (
            "Start the server without a key."
            if request.is_local
            else f"Set the key again with `lrwr config set-key {hints.key}`."
        )
        return f"{server} does not accept the key", hint
    if status == 403:
        hint = f"Set `{hints.model}` to another model, or request access to this one."
        return f"{server} does not let this key use the model {model}", hint
    if status == 404:
        hint = (
            f"Set `{hints.model}` to a model that the server has, and check {address}."
            " `lrwr doctor` lists the models of your server."
            if request.is_local and hints.section == "model"
            else f"Set `{hints.model}` to a model that the server has, and check"
            f" {address}."
        )
        return f"{server} has no model {model}", hint
    if any(words in text for words in _CONTEXT_EXCEEDED):
        hint = (
            f"Set `{hints.model}` to a model with a longer context window, or raise the"
            " limit in the server."
        )
        return f"The text is too long for the context window of {model}", hint
    named = [word for word in _PARAMETERS if re.search(rf"\b{word}\b", text)]
    detail = f" because of {', '.join(named)}" if named else ""
    return f"{server} refused the request{detail}", f"Check {hints.request}."


def parse_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds that a server asks to wait, or None if it does not say.

    Read from `retry-after-ms`, `retry-after` (seconds or an HTTP date, compared with
    `now` in seconds since 1970), or the `x-ratelimit-*` headers, in this order.
    """
    milliseconds = _parse_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after", "")
    seconds = _parse_number(header)
    if seconds is None:
        seconds = _seconds_until(header, now)
    return parse_rate_limit_reset(headers) if seconds is None else seconds


def parse_rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until all used-up rate limits in `headers` are reset.

    `x-ratelimit-remaining-tokens: 0` with `x-ratelimit-reset-tokens: 1m2s` gives 62.0.
    None if no limit is used up.
    """
    waits = [
        _parse_duration(headers.get(f"x-ratelimit-reset-{limit}", ""))
        for limit in _RATE_LIMITS
        if headers.get(f"x-ratelimit-remaining-{limit}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _parse_duration(text: str) -> float | None:
    """Return the seconds of a number or of a duration like "6m0s", "120ms", "1h2m3s"."""
    seconds = _parse_number(text)
    if seconds is not None or _DURATION.fullmatch(text) is None:
        return seconds
    return sum(float(n) * _UNIT_SECONDS[u] for n, u in _DURATION_PART.findall(text))


def _parse_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _seconds_until(date: str, now: float) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, OverflowError):
        return None


_UNIT_SECONDS: Mapping[str, float] = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)")
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s))+")
