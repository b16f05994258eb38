"""The line to one server, which all who ask it share."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.model.egress import OutboundRequest

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

    from lrwr.core.adapters.chat.logged_client import EgressLoggingHttpClient


class ModelServerClient:
    """Connections to one server, and the pace at which it is asked.

    With `noting`, nothing is sent that was not noted before. Nothing is imported or
    opened before the first call.
    """

    def __init__(
        self,
        pace: RateLimit,
        clock: Clock | None = None,
        noting: EgressLogger | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.turnstile = RateLimiter(pace, self.clock)
        self._noting = noting
        self._opening = asyncio.Lock()
        self._http: DefaultAsyncHttpxClient | None = None
        self._noted: EgressLoggingHttpClient | None = None

    def note(self, about: OutboundRequest) -> EgressLogEntry:
        """Return the note of one request, kept if this line keeps any."""
        return EgressLogEntry(self._noting, about)

    @contextmanager
    def errand(self, note: EgressLogEntry) -> Iterator[None]:
        """Note on `note` what is sent meanwhile by this task and those it starts."""
        if self._noted is None:
            yield
            return
        with self._noted.errand(note):
            yield

    async def http(
        self, base_url: str, *, seconds: float, own: bool
    ) -> "DefaultAsyncHttpxClient":
        """Return the client, made at the first call: all later ones get the same.

        An answer may take so many `seconds`. A server of one's `own` is asked without a proxy.
        """
        async with self._opening:
            if self._http is None:
                await asyncio.to_thread(self._open, base_url, seconds, own)
            if self._http is None:
                raise RuntimeError("the line was closed while it was opened")
            return self._http

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        http, self._http, self._noted = self._http, None, None
        if http is not None:
            await http.aclose()

    def _open(self, base_url: str, seconds: float, own: bool) -> None:
        """Import the client, which takes seconds, and make it; nothing is sent."""
        from lrwr.core.adapters.chat.logged_client import (
            EgressLoggingHttpClient,
            create_unlogged_http_client,
        )

        make = (
            create_unlogged_http_client
            if self._noting is None
            else EgressLoggingHttpClient
        )
        self._http = make(
            timeout=seconds,
            follow_redirects=False,
            trust_env=not own,
            verify=True
            if base_url.startswith("https:")
            else create_empty_ssl_context(),
        )
        if isinstance(self._http, EgressLoggingHttpClient):
            self._noted = self._http


def create_empty_ssl_context() -> ssl.SSLContext:
    """Return what verifies nothing that is encrypted, for where nothing is.

    Reading the certificates takes a tenth of a second; this is free.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
