"""LangSmith: traces through its documented HTTP API.

Its own client is not used: it reads a dozen variables of the shell (which project, how
much, to whom else, a folder for what could not be sent), tells of the machine unasked,
and sends from threads that nobody can wait for.
"""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lrwr.core.adapters.noting import Note, Noting
from lrwr.core.adapters.refusals import Refused
from lrwr.core.adapters.traces.refusals import by_status, failed, no_answer, timed_out
from lrwr.core.adapters.traces.runs import Run, runs_of
from lrwr.core.adapters.waiting import Clock, Pace, Turnstile
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.sent import Purpose, Sent
from lrwr.core.ports.tracer import Span

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

LANGSMITH = "https://api.smith.langchain.com"

MOST_RUNS = 100
"""Runs in one request: the service takes no more."""

_PATIENCE = 3.0
"""Seconds. Nobody waits for a trace but the end of a command."""

_EXISTS = 409
"""The status of what came before, on a try whose answer was lost."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Which project, where the service is, and how it is asked.

    Unless `texts`, no word of the writer's is sent. `timeout` is in seconds and bounds
    one request. `own` says that the server is on this machine: no proxy is used.
    """

    project: str
    base_url: str = LANGSMITH
    texts: bool = False
    timeout: float = 10.0
    own: bool = False

    @property
    def host(self) -> str:
        """Name the machine that is asked."""
        return urlsplit(self.base_url).hostname or ""


class LangSmithTracer:
    """Keeps the Tracer port over HTTP. Nothing is imported or opened before a trace.

    `key` gives the key at each trace: it raises `ServiceUnavailable` where nothing may
    be sent. With `noting` each request is noted before it leaves. `say` is told once
    why a trace was not sent. After a refusal for good no more is tried.
    """

    def __init__(
        self,
        connection: Connection,
        key: Callable[[], str],
        noting: Noting | None = None,
        say: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._noting = noting
        self._say = say
        self._clock = clock or Clock()
        pace = Pace(concurrency=1, patience=_PATIENCE)
        self._turnstile = Turnstile(pace, self._clock)
        self._about = Sent("langsmith", connection.host, Purpose.TRACES)
        self._under_way: set[asyncio.Task[None]] = set()
        self._ended = False
        self._refused: Refused | None = None

    def keep(self, trace: Span) -> None:
        """Take a trace, and send it beside whatever goes on."""
        if self._ended:
            return
        task = asyncio.create_task(self._keep(trace))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def aclose(self) -> None:
        """Wait for what is under way, at most as long as one request may take."""
        self._ended = True
        if not self._under_way:
            return
        _, late = await asyncio.wait(self._under_way, timeout=self._connection.timeout)
        for task in late:
            task.cancel()
        if late:
            self._tell(self._refused or timed_out(self._connection.timeout))
            await asyncio.wait(late)

    async def knows_the_key(self) -> None:
        """Ask for a list of one project, to see whether the key is taken.

        Raises:
            ServiceUnavailable: LangSmith did not answer, or refused.
        """
        key = await asyncio.to_thread(self._key)

        async def ask(http: "AsyncClient") -> "Response":
            return await http.get(
                f"{self._connection.base_url}/sessions", params={"limit": 1}
            )

        async with aclosing(Note(self._noting, self._about)) as note:
            listed = await self._said(key, note, ask)
            if not isinstance(listed, list):
                raise no_answer()
            note.whole()

    async def _keep(self, trace: Span) -> None:
        try:
            await self._sent(trace)
        except ServiceUnavailable as error:
            self._ended = self._ended or not error.retryable
            self._tell(error)

    def _tell(self, error: ServiceUnavailable) -> None:
        """Say once why a trace was not sent."""
        say, self._say = self._say, None
        if say is not None:
            say(f"A trace was not sent. {error.told}")

    async def _sent(self, trace: Span) -> None:
        key = await asyncio.to_thread(self._key)
        about = self._connection
        runs = runs_of(trace, about.project, texts=about.texts)
        async with self._turnstile.place():
            for start in range(0, len(runs), MOST_RUNS):
                some = runs[start : start + MOST_RUNS]
                await self._turnstile.trying(partial(self._try, key, some))

    async def _try(self, key: str, runs: Sequence[Run]) -> None:
        """Send runs once, and remember why they were not taken: the end may come."""
        self._refused = None
        try:
            await self._post(key, runs)
        except Refused as refused:
            self._refused = refused
            raise

    async def _post(self, key: str, runs: Sequence[Run]) -> None:
        async def ask(http: "AsyncClient") -> "Response":
            return await http.post(
                f"{self._connection.base_url}/runs/batch",
                json={"post": runs, "patch": []},
            )

        async with aclosing(Note(self._noting, self._about)) as note:
            taken = await self._said(key, note, ask)
            if not isinstance(taken, dict):
                raise no_answer()
            note.whole()

    async def _said(
        self, key: str, note: Note, ask: "Callable[[AsyncClient], Awaitable[Response]]"
    ) -> object:
        """Return the JSON that the service returns, errors in the writer's words."""
        about = self._connection
        http = await asyncio.to_thread(_open, about)
        if self._noting is not None:
            http.event_hooks["request"].append(note.on_request)
            http.event_hooks["response"].append(note.on_response)
        try:
            async with http, asyncio.timeout(about.timeout):
                http.headers["x-api-key"] = key
                response = await ask(http)
        except Exception as error:  # the client lets anything of its libraries through
            if _never_left(error):
                note.unreached()
            raise failed(error, about.timeout, own=about.own) from error
        if response.status_code == _EXISTS:
            return {}
        if not response.is_success:
            now = self._clock.today()
            raise by_status(response.status_code, response.headers, now)
        return _read(response.content)


def _open(connection: Connection) -> "AsyncClient":
    """Make the connection; it holds to no redirect and keeps no cookies."""
    import httpx

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
    import httpx

    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)


def _read(body: bytes) -> object:
    """Return what a reply says, None where it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
