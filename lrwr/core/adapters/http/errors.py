"""What went wrong between lrwr and a server elsewhere, in the writer's words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from lrwr.core.model.errors import ServiceUnavailable

_TOLD = (
    "temperature",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "json_schema",
    "encoding_format",
    "dimensions",
)
"""What of a server's own words is repeated: they may say back what it was sent."""

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""States of a server in which waiting may help."""

_TOO_LONG = (
    "context_length",
    "context window",
    "context size",
    "too long",
    "too many tokens",
    "maximum context",
)
_NO_CREDIT = ("insufficient_quota", "billing")
_LIMITS = ("requests", "tokens")
_LATER = "Try again later; what is done is kept."


class ServiceCallError(ServiceUnavailable):
    """A call that got no answer. `after` are seconds that the server asks to wait."""

    def __init__(
        self, message: str, *, hint: str, retryable: bool, after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.after = after


@dataclass(frozen=True, slots=True)
class ErrorHints:
    """What hints name: settings, and the service whose key it is.

    `model` is the setting that names the model, `slower` is what to do where a server
    has too much to do, `check` what to look at where a request makes no sense to it.
    """

    section: str = "model"
    model: str = "model.name"
    key: str = "openai"
    slower: str = (
        "Lower `model.concurrency` or `model.requests_per_minute`, or try again later."
    )
    check: str = "`model.name`, `model.reasoning_effort` and `model.base_url`"
    ends: str = "; it mostly ends in /v1"


CHAT_HINTS = ErrorHints()


@dataclass(frozen=True, slots=True)
class HttpRequestInfo:
    """Who was asked, for the sentences: "OpenAI", "gpt-6-luna"; `timeout` in seconds.

    `here` says that it is a server of the writer's own.
    """

    server: str
    model: str
    timeout: float
    here: bool
    advice: ErrorHints = CHAT_HINTS


@dataclass(frozen=True, slots=True)
class HttpErrorResponse:
    """What a server said instead of an answer: its status, its words, its headers."""

    status: int
    said: str
    headers: Mapping[str, str]


def find_service_call_error(error: BaseException) -> ServiceCallError | None:
    """Return what lrwr itself refused, however a client has wrapped it."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ServiceUnavailable):
        cause = cause.__cause__
    return (
        ServiceCallError(str(cause), hint=cause.hint, retryable=False)
        if cause
        else None
    )


def build_timeout_error(http_request_info: HttpRequestInfo) -> ServiceCallError:
    """Say that no answer came in time."""
    return ServiceCallError(
        f"{http_request_info.server} did not answer within {http_request_info.timeout:g} seconds",
        hint=f"Try again, or raise `{http_request_info.advice.section}.timeout`.",
        retryable=True,
    )


def build_unreachable_error(http_request_info: HttpRequestInfo) -> ServiceCallError:
    """Say that nobody is there."""
    return ServiceCallError(
        f"{http_request_info.server} cannot be reached",
        hint=f"Start it, or correct `{http_request_info.advice.section}.base_url`."
        if http_request_info.here
        else "Check the connection to the internet.",
        retryable=True,
    )


def build_interrupted_error(http_request_info: HttpRequestInfo) -> ServiceCallError:
    """Say that an answer ended before its end."""
    return ServiceCallError(
        f"{http_request_info.server} broke off in the middle of its answer",
        hint="Ask again.",
        retryable=True,
    )


def build_invalid_response_error(
    http_request_info: HttpRequestInfo,
) -> ServiceCallError:
    """Say that what came is something else."""
    return ServiceCallError(
        f"{http_request_info.server} answered with something that is no model's answer",
        hint=f"Check `{http_request_info.advice.section}.base_url`{http_request_info.advice.ends}.",
        retryable=False,
    )


def translate_http_status(
    refusal: HttpErrorResponse, http_request_info: HttpRequestInfo, now: float
) -> ServiceCallError:
    """Say what a status means; `now` is the time of day, for dates in headers."""
    status, error_text = refusal.status, refusal.said
    advice = http_request_info.advice
    if status == 402 or (
        status == 429 and any(word in error_text for word in _NO_CREDIT)
    ):
        return ServiceCallError(
            f"{http_request_info.server} says that the account has no credit left ({status})",
            hint="Add credit to the account, or choose another with `lrwr config"
            f" set-key {advice.key}`.",
            retryable=False,
        )
    if status in _BUSY:
        reason = "has more requests than it takes" if status == 429 else "failed"
        return ServiceCallError(
            f"{http_request_info.server} {reason} ({status})",
            hint=advice.slower if status == 429 else _LATER,
            retryable=True,
            after=parse_retry_after(refusal.headers, now=now),
        )
    message, hint = _for_good(status, error_text, http_request_info)
    return ServiceCallError(message, hint=hint, retryable=False)


def _for_good(
    status: int, error_text: str, http_request_info: HttpRequestInfo
) -> tuple[str, str]:
    name, server, advice = (
        http_request_info.model,
        http_request_info.server,
        http_request_info.advice,
    )
    address = f"`{advice.section}.base_url`"
    if status < 400:
        hint = f"Set {address} to the address where the server itself is."
        return f"{server} wants to be asked elsewhere ({status})", hint
    if status == 401:
        hint = (
            "Start the server without a key."
            if http_request_info.here
            else f"Set the key anew with `lrwr config set-key {advice.key}`."
        )
        return f"{server} does not accept the key ({status})", hint
    if status == 403:
        hint = f"Set `{advice.model}` to another model, or ask for access to this one."
        return f"{server} does not let this key use {name} ({status})", hint
    if status == 404:
        hint = f"Set `{advice.model}` to a model that it has, and check {address}."
        return f"{server} has no model {name} ({status})", hint
    if any(words in error_text for words in _TOO_LONG):
        hint = f"Give the model a longer context, or set `{advice.model}` to another."
        return f"{name} cannot read so many pages at once ({status})", hint
    named_words = [word for word in _TOLD if re.search(rf"\b{word}\b", error_text)]
    detail = f", and names {', '.join(named_words)}" if named_words else ""
    hint = f"Check {advice.check}."
    return f"{server} refused the request ({status}){detail}", hint


def parse_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds that a server asks to wait, None if it does not say.

    It may say milliseconds, seconds or a date, or which limit is used up till when.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    if seconds is None:
        seconds = _until(header, now)
    return parse_rate_limit_reset(headers) if seconds is None else seconds


def parse_rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return for how many seconds a limit of the server's is used up, None if none is.

    "x-ratelimit-remaining-tokens: 0" with "x-ratelimit-reset-tokens: 1m2s" is 62.0.
    """
    waits = [
        _duration(headers.get(f"x-ratelimit-reset-{limit}", ""))
        for limit in _LIMITS
        if headers.get(f"x-ratelimit-remaining-{limit}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _duration(text: str) -> float | None:
    """Return seconds: of a number, or of "6m0s", "120ms", "1h2m3s"."""
    seconds = _number(text)
    if seconds is not None or _DURATION.fullmatch(text) is None:
        return seconds
    return sum(float(n) * _UNITS[unit] for n, unit in _STRETCH.findall(text))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(date: str, now: float) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, OverflowError):
        return None


_UNITS: Mapping[str, float] = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_STRETCH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)")
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s))+")
