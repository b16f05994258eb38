"""An HTTP client that notes every request before it leaves.

It imports what takes a second: import it where a client is made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2
import openai

from lrwr.core.adapters.http.egress_log import EgressLogEntry


class EgressLoggingHttpClient(openai.DefaultAsyncHttpxClient):
    """Sends nothing outside of `errand`, and nothing that could not be noted."""

    def __init__(self, **how: Any) -> None:  # the library's own options
        super().__init__(**how)
        self._note: ContextVar[EgressLogEntry] = ContextVar("note")

    @contextmanager
    def errand(self, note: EgressLogEntry) -> Iterator[None]:
        """Note on `note` what is sent meanwhile by this task and those it starts."""
        token = self._note.set(note)
        try:
            yield
        finally:
            self._note.reset(token)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **how: Any
    ) -> httpx2.Response:
        """Note a request, then send it.

        Raises:
            LookupError: Nobody said what it is for.
            ServiceUnavailable: It cannot be noted.
        """
        note = self._note.get()
        await note.leaving(len(await request.aread()))
        try:
            response = await super().send(request, stream=stream, **how)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            note.unreached()
            raise
        note.came(
            ok=response.is_success,
            whole=not stream,
            received=lambda: response.num_bytes_downloaded,
        )
        return response


def create_unlogged_http_client(**how: Any) -> openai.DefaultAsyncHttpxClient:
    """Return a client that notes nothing, for a server on this machine."""
    return openai.DefaultAsyncHttpxClient(**how)
