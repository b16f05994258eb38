"""What went wrong between lrwr and a model's server, in the writer's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from lrwr.core.model.errors import ServiceUnavailable

if TYPE_CHECKING:
    from openai import APIStatusError

_SHOWN = 200
"""Characters of a server's own words that are repeated."""

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""States of a server in which waiting may help."""

_TOO_LONG = (
    "context_length",
    "context window",
    "context size",
    "too long",
    "maximum context",
)
_NO_CREDIT = ("insufficient_quota", "billing")
_LATER = "Try again later; what is done is kept."


class Refused(ServiceUnavailable):
    """A call that got no answer. `after` are seconds that the server asks to wait."""

    def __init__(
        self, message: str, *, hint: str, retryable: bool, after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.after = after


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked, for the sentences: "OpenAI", "gpt-6-luna"; `timeout` in seconds.

    `here` says that it is a server of the writer's own. `key` is never shown.
    """

    server: str
    model: str
    timeout: float
    here: bool
    key: str


def refusal(error: Exception, asked: Asked, *, now: float) -> Refused:
    """Say what an error of the client means; `now` is the time of day, for dates."""
    import openai

    ours = _ours(error)
    if ours is not None:
        return Refused(str(ours), hint=ours.hint, retryable=False)
    if isinstance(error, openai.APIStatusError):
        return _by_status(error, asked, now)
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return Refused(
            f"{asked.server} did not answer within {asked.timeout:g} seconds",
            hint="Try again, or raise `model.timeout`.",
            retryable=True,
        )
    if isinstance(error, openai.APIConnectionError):
        return Refused(
            f"{asked.server} cannot be reached",
            hint="Start it, or correct `model.base_url`."
            if asked.here
            else "Check the connection to the internet.",
            retryable=True,
        )
    return broken_off(asked) if _cut(error) else _no_answer(asked)


def _ours(error: Exception) -> ServiceUnavailable | None:
    """Return what lrwr itself refused, however the client has wrapped it."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ServiceUnavailable):
        cause = cause.__cause__
    return cause


def broken_off(asked: Asked) -> Refused:
    """Say that an answer ended before its end."""
    return Refused(
        f"{asked.server} broke off in the middle of its answer",
        hint="Ask again.",
        retryable=True,
    )


def _cut(error: Exception) -> bool:
    import openai

    return isinstance(error, openai.APIError) or type(error).__module__.startswith(
        "http"
    )


def _no_answer(asked: Asked) -> Refused:
    return Refused(
        f"{asked.server} answered with something that is no model's answer",
        hint="Check `model.base_url`; it mostly ends in /v1.",
        retryable=False,
    )


def _by_status(error: "APIStatusError", asked: Asked, now: float) -> Refused:
    status, said = error.status_code, _said(error, asked)
    if status == 429 and any(word in said for word in _NO_CREDIT):
        return Refused(
            f"{asked.server} says that the account has no credit left ({status})",
            hint="Add credit to the account, or choose another with `lrwr config"
            " set-key openai`.",
            retryable=False,
        )
    if status in _BUSY:
        reason = "has more requests than it takes" if status == 429 else "failed"
        return Refused(
            f"{asked.server} {reason} ({status})",
            hint="Lower `model.concurrency` or `model.requests_per_minute`, or try"
            " again later."
            if status == 429
            else _LATER,
            retryable=True,
            after=asked_to_wait(error.response.headers, now=now),
        )
    message, hint = _for_good(status, said, asked)
    return Refused(message, hint=hint, retryable=False)


def _for_good(status: int, said: str, asked: Asked) -> tuple[str, str]:
    name, server = asked.model, asked.server
    if status < 400:
        hint = "Set `model.base_url` to the address where the server itself is."
        return f"{server} wants to be asked elsewhere ({status})", hint
    if status == 401:
        hint = (
            "Start the server without a key."
            if asked.here
            else "Set the key anew with `lrwr config set-key openai`."
        )
        return f"{server} does not accept the key ({status})", hint
    if status == 403:
        hint = "Set `model.name` to another model, or ask for access to this one."
        return f"{server} does not let this key use {name} ({status})", hint
    if status == 404:
        hint = "Set `model.name` to a model that it has, and check `model.base_url`."
        return f"{server} has no model {name} ({status})", hint
    if any(words in said for words in _TOO_LONG):
        hint = "Give the model a longer context, or set `model.name` to another."
        return f"{name} cannot read so many pages at once ({status})", hint
    hint = "Check `model.name`, `model.reasoning_effort` and `model.base_url`."
    told = f": {said}" if said else ""
    return f"{server} refused the request ({status}){told}", hint


def _said(error: "APIStatusError", asked: Asked) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    said = body.get("message") or ""
    words = " ".join(f"{said} {error.code or ''}".split())
    if asked.key:
        words = words.replace(asked.key, "…")
    return words[:_SHOWN]


def asked_to_wait(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds that a server asks to wait, None if it does not say.

    It may say milliseconds, seconds or a date.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after", "")
    seconds = _number(told)
    return seconds if seconds is not None else _until(told, now)


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
