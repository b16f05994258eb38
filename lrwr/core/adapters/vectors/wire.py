"""The way to a Qdrant server: each request is noted, in time, and tried again here."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from lrwr.core.adapters.chat.line import trusting_nobody
from lrwr.core.adapters.noting import Note, Noting
from lrwr.core.adapters.refusals import asked_to_wait
from lrwr.core.adapters.vectors.wire_refusals import by_status, refusal, unreached
from lrwr.core.adapters.waiting import Clock, Pace, Turnstile
from lrwr.core.model.sent import Purpose, Sent
from lrwr.core.settings.addresses import host_of

if TYPE_CHECKING:
    import httpx
    from qdrant_client import AsyncQdrantClient

QDRANT = "http://127.0.0.1:6333"
"""Where a server of one's own is, unless it was put elsewhere."""

PATIENCE_AFAR = 10.0
PATIENCE_HERE = 2.0
"""Seconds after which no request is made again: a search waits meanwhile, and this
machine can compare by itself."""

_AT_ONCE = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the server is, and how it is asked.

    `timeout` is in seconds and bounds one request. `own` says that the server is on this
    machine: no proxy is used.
    """

    url: str = QDRANT
    key: str = field(default="", repr=False)
    timeout: float = 15.0
    own: bool = True

    @property
    def host(self) -> str:
        """The machine that is asked."""
        return host_of(self.url)


class Wire:
    """Asks one server, and lets a request that failed be made again.

    With `noting` nothing is sent that was not noted before. Nothing is imported or
    opened before the first request. `connect` makes the client, in a thread.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        noting: Noting | None = None,
        clock: Clock | None = None,
        connect: "Callable[[], AsyncQdrantClient] | None" = None,
    ) -> None:
        self.connection = connection
        self.clock = clock or Clock()
        self._noting = noting
        self._connect = connect or self._connected
        patience = PATIENCE_HERE if connection.own else PATIENCE_AFAR
        self._turnstile = Turnstile(Pace(_AT_ONCE, patience=patience), self.clock)
        self._note: ContextVar[Note] = ContextVar("note")
        self._opening = asyncio.Lock()
        self._client: AsyncQdrantClient | None = None

    async def ask(self, call: "Callable[[AsyncQdrantClient], Awaitable[T]]") -> T:
        """Return what `call` gets with one request, after as many tries as it takes.

        Raises:
            Refused: The server cannot be reached, refused, or sent nonsense.
            ServiceUnavailable: The request could not be noted, and was not sent.
        """
        async with self._turnstile.place():
            return await self._turnstile.trying(partial(self._once, call))

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        async with self._opening:
            client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _once(self, call: "Callable[[AsyncQdrantClient], Awaitable[T]]") -> T:
        client = await self._opened()
        about = Sent("qdrant", self.connection.host, Purpose.VECTORS)
        async with aclosing(Note(self._noting, about)) as note:
            token = self._note.set(note)
            try:
                async with asyncio.timeout(self.connection.timeout):
                    answer = await call(client)
            except Exception as error:  # the client lets anything through
                if unreached(error):
                    note.unreached()
                raise refusal(error, self.connection.timeout, self._server) from error
            finally:
                self._note.reset(token)
            note.whole()
            return answer

    @property
    def _server(self) -> str:
        return "Your Qdrant server" if self.connection.own else "Qdrant"

    async def _opened(self) -> "AsyncQdrantClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def _connected(self) -> "AsyncQdrantClient":
        """Import the client, which takes a second, and make it; nothing is sent.

        The key goes along as a header of ours: the client would warn of it wherever the
        address is none of https, and that was looked at before.
        """
        from qdrant_client import AsyncQdrantClient

        connection = self.connection
        return AsyncQdrantClient(
            url=connection.url,
            timeout=ceil(connection.timeout),
            headers={"api-key": connection.key} if connection.key else {},
            check_compatibility=False,
            event_hooks={
                "request": [self._on_request],
                "response": [self._on_response],
            },
            follow_redirects=False,
            trust_env=not connection.own,
            verify=True if connection.url.startswith("https:") else trusting_nobody(),
        )

    async def _on_request(self, request: "httpx.Request") -> None:
        if self._noting is not None:
            await self._note.get().on_request(request)

    async def _on_response(self, response: "httpx.Response") -> None:
        """Say what a refusal means, before the client drops half of what it says."""
        await self._note.get().on_response(response)
        if not response.is_success:
            after = asked_to_wait(response.headers, now=self.clock.today())
            raise by_status(response.status_code, self._server, after)
