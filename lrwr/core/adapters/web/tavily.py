"""Tavily: pages of the web for a short query, through `tavily-python`."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.errors import parse_retry_after
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
_LATER = "Ask again later; what your book says is answered without it."
_OFF = 'or set [web] use = "off"'
_NO_PAGES = "with something that is no list of pages"
_NO_SUCH_PLACE = frozenset({404, 405})
"""States of a server that searches, and has nothing at the address that was asked."""
TavilyCall = Callable[["AsyncClient"], Awaitable[object]]
"""Asks by a connection, and returns what came back."""


@dataclass(frozen=True, slots=True)
class TavilyConnection:
    """Where the service is, and how it is asked.

    `timeout` is in seconds and bounds a whole search. `own` says that the server is
    on this machine: no proxy is used.
    """

    key: str = field(repr=False)
    base_url: str = TAVILY_URL
    timeout: float = 15.0
    own: bool = False


@dataclass(frozen=True, slots=True)
class TavilyCredits:
    """What an account has used of its plan."""

    used: int
    of: int


class CreditsUnavailable(ServiceUnavailable):
    """A server that does not say what an account has used: its key may be good."""


class TavilySearch:
    """The web as Tavily searches it. Nothing is imported or opened before a search.

    A search sends the query, how many pages are wanted, and the key; nothing is tried
    twice, since a turn waits for it. The client never works without a key: it is given
    a connection of ours, on which it has no keyless mode. With `request_logger` a
    search is noted before it leaves.
    """

    def __init__(
        self,
        connection: TavilyConnection,
        sentences: SentenceSplitter,
        today: Callable[[], float] = time.time,
        request_logger: EgressLogger | None = None,
    ) -> None:
        if not connection.key:
            raise ValueError("without a key the query would be sent all the same")
        self._connection = connection
        self._sentences = sentences
        self._today = today
        self._request_logger = request_logger

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return at most `limit` pages, each address once, the best first.

        Raises:
            ServiceUnavailable: Tavily did not answer, refused, or sent nonsense.
        """
        answer = await self._asked(lambda http: self._search(http, query, limit))
        results = answer.get("results") if isinstance(answer, Mapping) else None
        if not isinstance(results, list):
            raise _nonsense(_NO_PAGES)
        return await asyncio.to_thread(parse_web_pages, results, limit, self._sentences)

    async def takes_the_key(self) -> TavilyCredits | None:
        """Ask what the account has used: no search is made for it.

        None where the key is taken and no counts are told. Tavily takes ten such
        requests in ten minutes, besides those for pages.

        Raises:
            CreditsUnavailable: The server is one that does not tell.
            ServiceUnavailable: Tavily did not answer, refused, or sent nonsense.
        """
        answer = await self._asked(self._usage)
        if not isinstance(answer, Mapping):
            raise _nonsense("with something that is no answer of Tavily's")
        return _credits_in(answer)

    async def _search(self, http: "AsyncClient", query: str, limit: int) -> object:
        client = await asyncio.to_thread(_client, http, self._connection)
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

    async def _asked(self, ask: TavilyCall) -> object:
        host = urlsplit(self._connection.base_url).hostname or ""
        about = OutboundRequest("tavily", host, RequestPurpose.WEB_SEARCH)
        async with aclosing(EgressLogEntry(self._request_logger, about)) as note:
            answer = await self._answered(ask, note)
            note.mark_complete()
        return answer

    async def _answered(self, ask: TavilyCall, note: EgressLogEntry) -> object:
        http = await asyncio.to_thread(_open, self._connection)
        if self._request_logger is not None:
            http.event_hooks["request"].append(note.on_request)
            http.event_hooks["response"].append(note.on_response)
        http.event_hooks["response"].append(self._check)
        try:
            async with http:
                return await ask(http)
        except ServiceUnavailable:
            raise
        except Exception as error:  # the client lets anything of its libraries through
            if isinstance(error, httpx.ConnectError):
                note.mark_unreachable()
            raise _failed(error, self._connection) from error

    async def _check(self, response: "Response") -> None:
        """Say what a refusal means, before the client drops half of what it says."""
        status = response.status_code
        if status in _NO_SUCH_PLACE and response.request.method == "GET":
            raise CreditsUnavailable(
                f"The server does not say whether it takes the key ({status})",
                hint="The next search shows it; or check `web.base_url`.",
            )
        if status != 200:
            wait = parse_retry_after(response.headers, now=self._today())
            raise _refused(status, wait)


def _open(connection: TavilyConnection) -> "AsyncClient":
    """Make the connection; it holds to no redirect and keeps no cookies."""
    # Reading the certificates takes a tenth of a second; what trusts nobody is free.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        base_url=connection.base_url,
        timeout=connection.timeout,
        follow_redirects=False,
        trust_env=not connection.own,
        verify=True if encrypted else nobody,
    )


def _import_tavily() -> ModuleType:
    """Return Tavily's package; importing it takes a quarter of a second."""
    import tavily

    package: ModuleType = tavily
    return package


def _client(http: "AsyncClient", connection: TavilyConnection) -> "AsyncTavilyClient":
    """Create Tavily's client."""
    client: AsyncTavilyClient = _import_tavily().AsyncTavilyClient(
        api_key=connection.key, api_base_url=connection.base_url, client=http
    )
    return client


def _refused(status: int, wait: float | None) -> ServiceUnavailable:
    status_text = f"({status})"
    if status == 429:
        wait_text = f"in {_spoken(wait)}" if wait is not None else "in a minute"
        return ServiceUnavailable(
            f"Tavily has more requests than it takes {status_text}",
            hint=f"Ask again {wait_text}.",
            retryable=True,
        )
    if status >= 500 or status == 408:
        return ServiceUnavailable(
            f"Tavily failed {status_text}", hint=_LATER, retryable=True
        )
    message, hint = _for_good(status)
    return ServiceUnavailable(f"{message} {status_text}", hint=hint)


def _for_good(status: int) -> tuple[str, str]:
    match status:
        case 401:
            return (
                "Tavily does not accept the key",
                "Set the key anew with `lrwr config set-key tavily`.",
            )
        case 403:
            return (
                "Tavily does not let this key search",
                f"Ask Tavily for access, {_OFF}.",
            )
        case 432 | 433:
            limit = "the plan's searches" if status == 432 else "what may be spent"
            return (
                f"Tavily says that {limit} of this account are used up",
                f"Raise the limit in your account there, {_OFF}.",
            )
        case _ if status < 400:
            return (
                "Tavily wants to be asked elsewhere",
                "Set `web.base_url` to the address where the server itself is.",
            )
        case _:
            return ("Tavily refused the query", f"Ask in other words, {_OFF}.")


def _failed(error: Exception, connection: TavilyConnection) -> ServiceUnavailable:
    """Say what an error of the client means, or of the libraries below it."""
    if isinstance(error, TimeoutError | _import_tavily().errors.TimeoutError):
        return ServiceUnavailable(
            f"Tavily did not answer within {connection.timeout:g} seconds",
            hint="Ask again, or raise `web.timeout`.",
            retryable=True,
        )
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return ServiceUnavailable(
            "Tavily cannot be reached",
            hint="Start it, or correct `web.base_url`."
            if connection.own
            else "Check the connection to the internet.",
            retryable=True,
        )
    if isinstance(error, httpx.TransportError):
        return ServiceUnavailable(
            "Tavily broke off in the middle of its answer",
            hint="Ask again.",
            retryable=True,
        )
    return _nonsense(_NO_PAGES)


def _credits_in(answer: Mapping[object, object]) -> TavilyCredits | None:
    """Return what is told of a plan, None where a number lacks."""
    account = answer.get("account")
    fields = account if isinstance(account, Mapping) else {}
    used, of = fields.get("plan_usage"), fields.get("plan_limit")
    if isinstance(used, int) and isinstance(of, int):
        return TavilyCredits(used, of)
    return None


def _nonsense(fault: str) -> ServiceUnavailable:
    return ServiceUnavailable(
        f"Tavily answered {fault}",
        hint=f"Check `web.base_url`, {_OFF}.",
    )


def _spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes"


_KEY = "TAVILY_API_KEY"


def create_tavily_search(
    settings: Settings,
    env: Mapping[str, str],
    request_logger: EgressLogger | None = None,
) -> TavilySearch | None:
    """Return the web that the settings ask for, None where it is off.

    What is searched for is noted before it leaves, whatever the address.

    A key that is there turns nothing on. Nothing is sent or opened yet.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads
            elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    connection = build_tavily_connection(settings, env)
    if connection is None:
        return None
    return TavilySearch(connection, find_sentence_spans, request_logger=request_logger)


def build_tavily_connection(
    settings: Settings, env: Mapping[str, str]
) -> TavilyConnection | None:
    """Return where the web is asked and with what key, None where it is off.

    Raises:
        SettingsProblem: It is on without a key, or a downloaded setting leads
            elsewhere.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.web.use == "off":
        return None
    address = resolve_address(settings, "web.base_url", TAVILY_URL, secret=True)
    key = find_key(_KEY, env)
    if not key:
        raise SettingsProblem(
            "`web.use` is tavily, and there is no key for it",
            hint=f"Keep one with `lrwr config set-key tavily`, or set {_KEY}.",
        )
    is_local = is_loopback_host(parse_host(address))
    return TavilyConnection(key, address, float(settings.web.timeout), is_local)


class UnavailableWebSearch:
    """Asks nobody; `why` is what whoever searches is told."""

    def __init__(self, error: LrwrError) -> None:
        self._why = error

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Refuse."""
        del query, limit
        raise ServiceUnavailable(str(self._why), hint=self._why.hint)
