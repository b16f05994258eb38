"""The way to LangSmith's documented HTTP API: each request noted before it leaves.

Its own client is not used: it reads a dozen variables of the shell (which project, how
much, to whom else, a folder for what could not be sent), tells of the machine unasked,
and sends from threads that nobody can wait for.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.rate_limit import Clock
from lrwr.core.adapters.traces.errors import (
    TRACE_UPLOAD,
    LangSmithUpload,
    build_langsmith_response_error,
    translate_langsmith_error,
    translate_langsmith_status,
)
from lrwr.core.model.egress import OutboundRequest, RequestPurpose

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

LANGSMITH_URL = "https://api.smith.langchain.com"

MAX_RUNS_PER_REQUEST = 100
"""Runs in one request: the service takes no more."""

_EXISTS = 409
"""The status of what is there already, be it of a try whose answer was lost."""


@dataclass(frozen=True, slots=True)
class LangSmithConnection:
    """Which project, where the service is, and how it is asked.

    Unless `texts`, no word of the writer's is sent. `timeout` is in seconds and bounds
    one request. `own` says that the server is on this machine: no proxy is used.
    """

    project: str
    base_url: str = LANGSMITH_URL
    texts: bool = False
    timeout: float = 10.0
    own: bool = False

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""


@dataclass(frozen=True, slots=True)
class LangSmithRequest:
    """One request: a method, a path of the API, what is asked, and what is sent."""

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: object = None


@dataclass(frozen=True, slots=True)
class LangSmithResponse:
    """What came back. `there` says that what was sent is there already."""

    said: object
    there: bool = False


class LangSmithHttpClient:
    """Asks LangSmith. Nothing is imported or opened before the first request.

    With `noting` each request is noted before it leaves. `sending` is for the sentences
    on what goes wrong.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        noting: EgressLogger | None,
        clock: Clock,
        sending: LangSmithUpload = TRACE_UPLOAD,
    ) -> None:
        self._connection = connection
        self._noting = noting
        self._clock = clock
        self._sending = sending
        self._about = OutboundRequest(
            "langsmith", connection.host, RequestPurpose.TRACES
        )

    @asynccontextmanager
    async def opened(self) -> "AsyncIterator[AsyncClient]":
        """Lend out a connection, for one request after the other."""
        http = await asyncio.to_thread(_open, self._connection)
        async with http:
            yield http

    async def ask(
        self,
        http: "AsyncClient",
        key: str,
        call: LangSmithRequest,
        expects: type | tuple[type, ...] = (dict, list),
        within: float | None = None,
    ) -> LangSmithResponse:
        """Return what comes back; `within` so many seconds, if not the whole time-out.

        Raises:
            ServiceCallError: LangSmith did not answer, or refused, or said something else.
        """
        async with aclosing(EgressLogEntry(self._noting, self._about)) as note:
            response = await self._response(http, key, call, note, within)
            if response.status_code == _EXISTS:
                return LangSmithResponse(None, there=True)
            if not response.is_success:
                raise translate_langsmith_status(
                    response.status_code,
                    response.headers,
                    self._clock.today(),
                    self._sending,
                )
            reply = _read(response.content)
            if not isinstance(reply, expects):
                raise build_langsmith_response_error()
            note.whole()
            return LangSmithResponse(reply)

    async def _response(
        self,
        http: "AsyncClient",
        key: str,
        call: LangSmithRequest,
        note: EgressLogEntry,
        within: float | None,
    ) -> "Response":
        about = self._connection
        if self._noting is not None:
            http.event_hooks = {
                "request": [note.on_request],
                "response": [note.on_response],
            }
        try:
            async with asyncio.timeout(about.timeout if within is None else within):
                return await http.request(
                    call.method,
                    f"{about.base_url}{call.path}",
                    params=call.query,
                    headers={"x-api-key": key},
                    json=call.body,
                )
        except Exception as error:  # the client lets anything of its libraries through
            if _never_left(error):
                note.unreached()
            raise translate_langsmith_error(
                error, about.timeout, self._sending, own=about.own
            ) from error


def _open(connection: LangSmithConnection) -> "AsyncClient":
    """Make the connection; it holds to no redirect and keeps no cookies."""
    # Reading the certificates takes a tenth of a second; what trusts nobody is free.
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    encrypted = connection.base_url.startswith("https:")
    return httpx.AsyncClient(
        timeout=connection.timeout,
        follow_redirects=False,
        trust_env=not connection.own,
        verify=True if encrypted else nobody,
    )


def _never_left(error: Exception) -> bool:
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def _read(body: bytes) -> object:
    """Return what a reply says, None where it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
