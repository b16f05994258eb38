"""Web search through the service Tavily and its package `tavily-python`."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from lrwr.core.adapters.chat.connection import create_empty_ssl_context
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import (
    ErrorHints,
    HttpRequestInfo,
    build_interrupted_error,
    build_invalid_response_error,
    build_timeout_error,
    build_unreachable_error,
    parse_retry_after,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.web.pages import parse_web_pages
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.sources import WebPage
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import (
    find_key,
    is_loopback_host,
    parse_host,
    resolve_address,
)

if TYPE_CHECKING:
    from httpx import AsyncClient, Response
    from tavily import AsyncTavilyClient

TAVILY_URL = "https://api.tavily.com"
_LATER = "Ask again later. Answers from your manuscript work without web search."
_OR_OFF = ', or set [web] use = "off"'

_REFUSALS = {
    401: (
        "Tavily does not accept the key",
        "Set the key again with `lrwr config set-key tavily`.",
    ),
    403: (
        "Tavily does not let this key search",
        f"Request access from Tavily{_OR_OFF}.",
    ),
    432: (
        "The searches of your Tavily plan are used up",
        f"Raise the limit in your Tavily account{_OR_OFF}.",
    ),
    433: (
        "The spending limit of your Tavily account is reached",
        f"Raise the limit in your Tavily account{_OR_OFF}.",
    ),
}
_QUERY_REFUSED = (
    "Tavily refused the query",
    f"Ask the question in other words{_OR_OFF}.",
)

_NO_USAGE_STATUSES = frozenset({404, 405})
"""Statuses of a server that searches but does not report credits."""

TavilyCall = Callable[["AsyncClient"], Awaitable[object]]
"""Makes one request with an HTTP client and returns the decoded reply."""


@dataclass(frozen=True, slots=True)
class TavilyConnection:
    """Tavily's server and API key.

    `timeout` is in seconds, for a whole search. `own` says that the server is on this
    machine; no proxy is used then.
    """

    key: str = field(repr=False)
    base_url: str = TAVILY_URL
    timeout: float = 15.0
    own: bool = False


@dataclass(frozen=True, slots=True)
class TavilyCredits:
    """Credits of an account at Tavily: the number `used`, and the number `of` credits
    that its plan allows.
    """

    used: int
    of: int


class CreditsUnavailable(ServiceUnavailable):
    """The server does not report credits; the key may still be valid."""


class TavilySearch:
    """The `WebSearch` port over Tavily; opens nothing before the first search.

    A search sends the query, the number of pages and the key. It is never retried,
    because the user waits for it. `sentences` splits texts to shorten them; `today`
    returns seconds since 1970. With a `request_logger`, each search is recorded in the
    send log before it is sent.

    Raises:
        ValueError: The key is empty.
    """

    def __init__(
        self,
        connection: TavilyConnection,
        sentences: SentenceSplitter,
        today: Callable[[], float] = time.time,
        request_logger: EgressLogger | None = None,
    ) -> None:
        if not connection.key:
            raise ValueError("without a key, the client would send the query anyway")
        self._connection = connection
        hints = ErrorHints(section="web", key="tavily", base_url_note=_OR_OFF)
        self._request = HttpRequestInfo(
            "Tavily", "", connection.timeout, connection.own, hints
        )
        self._sentences = sentences
        self._today = today
        self._request_logger = request_logger

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return at most `limit` pages about `query`, best first, each address once.

        Raises:
            ServiceUnavailable: Tavily did not answer, refused, or sent an invalid
                reply.
        """
        answer = await self._send(lambda http: self._search(http, query, limit))
        results = answer.get("results") if isinstance(answer, Mapping) else None
        if not isinstance(results, list):
            raise build_invalid_response_error(self._request)
        return await asyncio.to_thread(parse_web_pages, results, limit, self._sentences)

    async def check_key(self) -> TavilyCredits | None:
        """Check that Tavily accepts the key, without a search, and return the account's
        credits.

        None if the reply does not contain them. Tavily accepts ten such requests in ten
        minutes.

        Raises:
            CreditsUnavailable: The server has no such request.
            ServiceUnavailable: Tavily did not answer, refused, or sent an invalid
                reply.
        """
        answer = await self._send(self._usage)
        if not isinstance(answer, Mapping):
            raise build_invalid_response_error(self._request)
        return _parse_credits(answer)

    async def _search(self, http: "AsyncClient", query: str, limit: int) -> object:
        client = await asyncio.to_thread(_create_client, http, self._connection)
        async with asyncio.timeout(self._connection.timeout):
            return await client.search(
                query,
                search_depth="basic",
                max_results=limit,
                include_answer=False,
                timeout=self._connection.timeout,
            )

    async def _usage(self, http: "AsyncClient") -> object:
        key = {"Authorization": f"Bearer {self._connection.key}"}
        async with asyncio.timeout(self._connection.timeout):
            response = await http.get("/usage", headers=key)
        try:
            return response.json()
        except (ValueError, RecursionError):
            return None

    async def _send(self, ask: TavilyCall) -> object:
        host = urlsplit(self._connection.base_url).hostname or ""
        about = OutboundRequest("tavily", host, RequestPurpose.WEB_SEARCH)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            answer = await self._send_logged(ask, note)
            note.mark_complete()
        return answer

    async def _send_logged(self, ask: TavilyCall, note: EgressLogEntry) -> object:
        http = await asyncio.to_thread(_open_http, self._connection)
        if self._request_logger is not None:
            http.event_hooks["request"].append(note.on_request)
            http.event_hooks["response"].append(note.on_response)
        http.event_hooks["response"].append(self._check)
        try:
            async with http:
                return await ask(http)
        except ServiceUnavailable:
            raise
        except Exception as error:  # the client passes on errors of its libraries
            if isinstance(error, httpx.ConnectError):
                note.mark_unreachable()
            raise _client_error(error, self._request) from error

    async def _check(self, response: "Response") -> None:
        """Raise for an error status; the client would drop part of the response."""
        status = response.status_code
        if status in _NO_USAGE_STATUSES and response.request.method == "GET":
            raise CreditsUnavailable(
                f"The server does not report whether it accepts the key (HTTP {status})",
                hint="To test the key, ask a question that needs a web search; or check `web.base_url`.",
            )
        if status != 200:
            wait = parse_retry_after(response.headers, now=self._today())
            raise _status_error(status, wait)


def _open_http(connection: TavilyConnection) -> "AsyncClient":
    """Create the HTTP client; it follows no redirects."""
    encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        base_url=connection.base_url,
        timeout=connection.timeout,
        follow_redirects=False,
        trust_env=not connection.own,
        verify=True if encrypted else create_empty_ssl_context(),
    )


def _import_tavily() -> ModuleType:
    """Import Tavily's package, which takes a quarter of a second."""
    import tavily

    package: ModuleType = tavily
    return package


def _create_client(
    http: "AsyncClient", connection: TavilyConnection
) -> "AsyncTavilyClient":
    client: AsyncTavilyClient = _import_tavily().AsyncTavilyClient(
        api_key=connection.key, api_base_url=connection.base_url, client=http
    )
    return client


def _status_error(status: int, wait: float | None) -> ServiceUnavailable:
    """Return the error for an HTTP status; `wait` are seconds that Tavily asks for."""
    if status == 429:
        wait_text = f"in {_format_wait(wait)}" if wait is not None else "in a minute"
        return ServiceUnavailable(
            "Tavily received too many requests (HTTP 429)",
            hint=f"Ask again {wait_text}.",
            retryable=True,
        )
    if status >= 500 or status == 408:
        return ServiceUnavailable(
            f"Tavily failed (HTTP {status})", hint=_LATER, retryable=True
        )
    if status < 400:
        message = "Tavily redirects requests to another address"
        hint = "Set `web.base_url` to the final address of the server."
    else:
        message, hint = _REFUSALS.get(status, _QUERY_REFUSED)
    return ServiceUnavailable(f"{message} (HTTP {status})", hint=hint)


def _client_error(error: Exception, request: HttpRequestInfo) -> ServiceUnavailable:
    """Return the error for an exception of Tavily's client or the libraries below it."""
    if isinstance(error, TimeoutError | _import_tavily().errors.TimeoutError):
        return build_timeout_error(request)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return build_unreachable_error(request)
    if isinstance(error, httpx.TransportError):
        return build_interrupted_error(request)
    return build_invalid_response_error(request)


def _parse_credits(answer: Mapping[object, object]) -> TavilyCredits | None:
    """Return the credits in a reply; None if a number is missing."""
    account = answer.get("account")
    fields = account if isinstance(account, Mapping) else {}
    used, of = fields.get("plan_usage"), fields.get("plan_limit")
    if isinstance(used, int) and isinstance(of, int):
        return TavilyCredits(used, of)
    return None


def _format_wait(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes"


_KEY = "TAVILY_API_KEY"


def create_tavily_search(
    settings: Settings,
    env: Mapping[str, str],
    request_logger: EgressLogger | None = None,
) -> TavilySearch | None:
    """Return the web search; None if `web.use` is off. Nothing is sent or opened yet.

    `env` are the environment variables; one of them may hold the key. With a
    `request_logger`, every later search is recorded in the send log, whatever the
    address. A key alone turns nothing on.

    Raises:
        SettingsProblem: The key is missing, or the address is invalid or not allowed.
        ServiceUnavailable: The system keyring is locked.
    """
    connection = build_tavily_connection(settings, env)
    if connection is None:
        return None
    return TavilySearch(connection, find_sentence_spans, request_logger=request_logger)


def build_tavily_connection(
    settings: Settings, env: Mapping[str, str]
) -> TavilyConnection | None:
    """Return Tavily's server and key; None if `web.use` is off. Nothing is sent.

    `env` are the environment variables; one of them may hold the key.

    Raises:
        SettingsProblem: The key is missing, or the address is invalid or not allowed.
        ServiceUnavailable: The system keyring is locked.
    """
    if settings.web.use == "off":
        return None
    address = resolve_address(settings, "web.base_url", TAVILY_URL, secret=True)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`web.use` is tavily, but there is no API key",
            hint=f"Store a key with `lrwr config set-key tavily`, or set {_KEY}.",
        )
    is_local = is_loopback_host(parse_host(address))
    return TavilyConnection(key, address, float(settings.web.timeout), is_local)


class UnavailableWebSearch:
    """The `WebSearch` port if no search is allowed: every search raises an error.

    Its message and hint are those of `error`.
    """

    def __init__(self, error: LrwrError) -> None:
        self._why = error

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Always raise an error.

        Raises:
            ServiceUnavailable: With the reason why no search is allowed.
        """
        del query, limit
        raise ServiceUnavailable(str(self._why), hint=self._why.hint)
