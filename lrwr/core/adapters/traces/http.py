"""HTTP client for LangSmith's documented API, with its errors as user messages.

LangSmith's own client is not used: it reads a dozen environment variables (project,
sampling, replicas, a folder for failed uploads), adds data about the machine to each
trace, and sends from background threads that cannot be awaited.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import (
    ServiceCallError,
    find_service_call_error,
    parse_retry_after,
)
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.text import format_seconds
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    is_loopback_host,
    is_tracing_texts,
    parse_host,
    resolve_address,
)

LANGSMITH_URL = "https://api.smith.langchain.com"

MAX_RUNS_PER_REQUEST = 100
"""LangSmith's limit of runs in one request."""

_CONFLICT = 409
"""The item exists already, for example because the response to a first try was lost."""

_OFF = 'turn traces off with `[traces] keeper = "off"`'
_KEY = "Set the key again with `lrwr config set-key langsmith`."
_LATER = f"Try again later, or {_OFF}."


@dataclass(frozen=True, slots=True)
class LangSmithConnection:
    """The LangSmith project that receives traces, and how to send them.

    `project` is its name. Unless `texts`, no text of the user is sent. `timeout` is in
    seconds, per request. `own` says that the server is on this machine; no proxy is
    used then.
    """

    project: str
    base_url: str = LANGSMITH_URL
    texts: bool = False
    timeout: float = 10.0
    own: bool = False

    @property
    def host(self) -> str:
        """The host name of the server, without a port."""
        return urlsplit(self.base_url).hostname or ""


def build_langsmith_connection(settings: Settings) -> LangSmithConnection | None:
    """Return the LangSmith project in `settings`, or None if traces are off.

    Raises:
        SettingsProblem: `traces.base_url` is invalid or not allowed in this folder.
    """
    traces = settings.traces
    if traces.keeper == "off":
        return None
    address = resolve_address(settings, "traces.base_url", LANGSMITH_URL, secret=True)
    return LangSmithConnection(
        project=traces.project.strip() or "lrwr",
        base_url=address,
        texts=is_tracing_texts(settings),
        timeout=float(traces.timeout),
        own=is_loopback_host(parse_host(address)),
    )


@dataclass(frozen=True, slots=True)
class LangSmithRequest:
    """One API request: HTTP method, path below the server's address, and query.

    `body` is sent as JSON; None means that there is none.
    """

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: object = None


@dataclass(frozen=True, slots=True)
class LangSmithResponse:
    """The parsed JSON of a response.

    `already_exists` says that the server refused an item because it was sent before;
    `content` is None then.
    """

    content: object
    already_exists: bool = False


class LangSmithHttpClient:
    """Sends requests to LangSmith. Nothing is opened before the first request.

    With a `request_logger`, each request is recorded in the send log before it is sent.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        request_logger: EgressLogger | None,
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._request_logger = request_logger
        self._clock = clock
        self._log_entry = OutboundRequest(
            "langsmith", connection.host, RequestPurpose.TRACES
        )

    @asynccontextmanager
    async def opened(self) -> "AsyncIterator[httpx.AsyncClient]":
        """Inside this context, provide an HTTP client, to be used for one request at a
        time.
        """
        http = await asyncio.to_thread(_open, self._connection)
        async with http:
            yield http

    async def ask(
        self,
        http: httpx.AsyncClient,
        key: str,
        request: LangSmithRequest,
        expects: type | tuple[type, ...] = (dict, list),
        within: float | None = None,
    ) -> LangSmithResponse:
        """Send one request over `http`, a client of `opened`, and return the response.

        `key` is the API key. `expects` is the type that the response's JSON must have.
        `within` replaces the connection's timeout, in seconds.

        Raises:
            ServiceCallError: LangSmith did not answer, refused, or sent other JSON.
        """
        async with aclosing(
            EgressLogEntry(self._request_logger, self._log_entry)
        ) as entry:
            response = await self._send(http, key, request, entry, within)
            if response.status_code == _CONFLICT:
                return LangSmithResponse(None, already_exists=True)
            if not response.is_success:
                raise translate_langsmith_status(
                    response.status_code, response.headers, self._clock.today()
                )
            content = _parse_json(response.content)
            if not isinstance(content, expects):
                raise _invalid_response_error()
            entry.mark_complete()
            return LangSmithResponse(content)

    async def _send(
        self,
        http: httpx.AsyncClient,
        key: str,
        request: LangSmithRequest,
        entry: EgressLogEntry,
        within: float | None,
    ) -> httpx.Response:
        connection = self._connection
        if self._request_logger is not None:
            http.event_hooks = {
                "request": [entry.on_request],
                "response": [entry.on_response],
            }
        try:
            async with asyncio.timeout(
                connection.timeout if within is None else within
            ):
                return await http.request(
                    request.method,
                    f"{connection.base_url}{request.path}",
                    params=request.query,
                    headers={"x-api-key": key},
                    json=request.body,
                )
        except Exception as error:  # httpx lets errors of its libraries through
            if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                entry.mark_unreachable()
            raise translate_langsmith_error(
                error, connection.timeout, own=connection.own
            ) from error


def translate_langsmith_error(
    error: Exception, timeout: float, *, own: bool
) -> ServiceCallError:
    """Return the error with a message for the user, for an exception of httpx.

    `timeout` is in seconds. `own` says that the server is on this machine.
    """
    own_error = find_service_call_error(error)
    if own_error is not None:
        return own_error
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return build_langsmith_timeout_error(timeout)
    if isinstance(error, httpx.LocalProtocolError):
        # The key is sent in a header, and holds a character that no header may hold.
        message = "The stored LangSmith key is not valid"
        return ServiceCallError(message, hint=_KEY, retryable=False)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        hint = "Check your internet connection."
        if own:
            hint = "Start the server, or correct `traces.base_url`."
        return ServiceCallError(
            "LangSmith cannot be reached", hint=hint, retryable=True
        )
    if isinstance(error, httpx.TransportError):
        message = "LangSmith closed the connection before its answer was complete"
        return ServiceCallError(message, hint=_LATER, retryable=True)
    return _invalid_response_error()


def build_langsmith_timeout_error(timeout: float) -> ServiceCallError:
    """Return the error for a request that took more than `timeout` seconds."""
    return ServiceCallError(
        f"LangSmith did not answer within {format_seconds(timeout)}",
        hint="Raise `traces.timeout` if this happens often.",
        retryable=True,
    )


def translate_langsmith_status(
    status: int, headers: Mapping[str, str], now: float
) -> ServiceCallError:
    """Return the error with a message for the user, for an HTTP status other than 2xx.

    `now` is the time in seconds since 1970; dates in `headers` are compared with it.
    The response's own text is left out: it may repeat what was sent.
    """
    if status in (408, 429) or status >= 500:
        reason = "received too many requests" if status == 429 else "failed"
        return ServiceCallError(
            f"LangSmith {reason} (HTTP {status})",
            hint=_LATER,
            retryable=True,
            after=parse_retry_after(headers, now=now),
        )
    message, hint = _describe_permanent_status(status)
    return ServiceCallError(f"{message} (HTTP {status})", hint=hint, retryable=False)


def _describe_permanent_status(status: int) -> tuple[str, str]:
    if status in (401, 403):
        return "LangSmith does not accept the key", _KEY
    if status == 404:
        return (
            "There is no LangSmith API at this address",
            f"Check `traces.base_url`, or {_OFF}.",
        )
    if status < 400:
        return (
            "LangSmith redirected the request to another address",
            "Set `traces.base_url` to the final address of the service.",
        )
    return "LangSmith refused the data", f"Check `traces.project`, or {_OFF}."


def _invalid_response_error() -> ServiceCallError:
    return ServiceCallError(
        "The answer did not come from LangSmith's API",
        hint=f"Check `traces.base_url`, or {_OFF}.",
        retryable=False,
    )


def _open(connection: LangSmithConnection) -> httpx.AsyncClient:
    # Loading certificates takes a tenth of a second; an empty context costs nothing.
    no_certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    is_encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        timeout=connection.timeout,
        follow_redirects=False,  # a redirect would carry the key to another host
        trust_env=not connection.own,
        verify=True if is_encrypted else no_certificates,
    )


def _parse_json(body: bytes) -> object:
    try:
        return parse_json(body)
    except ValueError:
        return None
