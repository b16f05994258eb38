"""An HTTP client that limits how long an exchange takes and how large a response is."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import httpx

MIN_BYTES_PER_SECOND = 125_000
"""Slowest transfer that is waited for, in bytes per second (1 Mbit/s).

This is the upload speed that households in the United Kingdom are entitled to:
Electronic Communications (Universal Service) (Broadband) Order 2018, schedule 1.
"""

_TRANSFER_HEADERS = ("Content-Encoding", "Content-Length", "Transfer-Encoding")
"""Headers that describe the transfer of a body, not its decoded content."""


class ExchangeTimeout(TimeoutError):
    """A request and its response took more than `seconds` and were cancelled."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"cancelled after {seconds:g} seconds")
        self.seconds = seconds


class ResponseTooLarge(Exception):
    """A response exceeds the client's limit; the rest of it was not read."""


class BoundedHttpClient(httpx.AsyncClient):
    """An HTTP client that reads every response completely, within limits of time and
    size.

    `patience` is the number of seconds for which the server may be silent. The whole
    exchange may take longer, in proportion to the bytes sent and received, at
    `MIN_BYTES_PER_SECOND`. `most` is the maximum size of a decoded response, in bytes.
    `on_response` is called with each complete response. `options` are those of
    `httpx.AsyncClient`.
    """

    def __init__(
        self,
        patience: float,
        most: int,
        on_response: Callable[[httpx.Response], None] | None = None,
        **options: Any,
    ) -> None:
        # httpx sends a body in one step, so its write timeout cannot depend on the
        # size of the body. `_ExchangeDeadline` bounds reading and writing instead.
        timeout = httpx.Timeout(patience, read=None, write=None)
        super().__init__(timeout=timeout, **options)
        self._patience = patience
        self._most = most
        self._on_response = on_response

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        """Send a request and return the complete response, even if `stream` is True.

        Raises:
            ExchangeTimeout: The server was silent, or slower than
                `MIN_BYTES_PER_SECOND`.
            ResponseTooLarge: The response exceeds the limit.
            HTTPError: The request could not be sent or was not answered.
        """
        del stream
        request_size = int(request.headers.get("Content-Length", 0))
        deadline = _ExchangeDeadline(self._patience, request_size)
        try:
            async with deadline.timeout:
                streamed = await super().send(request, stream=True, **options)
                async with aclosing(streamed):
                    body = await self._read(streamed, deadline)
        except TimeoutError as error:
            if deadline.timeout.expired():
                raise ExchangeTimeout(deadline.seconds) from error
            raise
        response = _build_complete_response(streamed, body)
        if self._on_response is not None:
            self._on_response(response)
        return response

    async def _read(
        self, response: httpx.Response, deadline: "_ExchangeDeadline"
    ) -> bytes:
        body = bytearray()
        deadline.extend(0)
        async for part in response.aiter_bytes():
            deadline.extend(response.num_bytes_downloaded)
            body += part
            if len(body) > self._most:
                raise ResponseTooLarge
        return bytes(body)


class _ExchangeDeadline:
    """The deadline of an exchange that sends `size` bytes; `seconds` is its length."""

    def __init__(self, patience: float, size: int) -> None:
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._patience = patience
        self._base = patience + size / MIN_BYTES_PER_SECOND
        self.seconds = round(self._base, 1)
        self.timeout = asyncio.timeout_at(self._began + self._base)

    def extend(self, received: int) -> None:
        """Move the deadline after `received` bytes of the response have arrived.

        It is the earlier of two moments: `patience` seconds of silence from now, and
        the time by which all bytes so far should have been transferred.
        """
        now = self._clock()
        total = self._base + received / MIN_BYTES_PER_SECOND
        is_silence_first = now + self._patience < self._began + total
        self.seconds = self._patience if is_silence_first else round(total, 1)
        self.timeout.reschedule(min(now + self._patience, self._began + total))


def _build_complete_response(streamed: httpx.Response, body: bytes) -> httpx.Response:
    """Return a response with its decoded body, without headers about the transfer."""
    headers = streamed.headers.copy()
    for name in _TRANSFER_HEADERS:
        headers.pop(name, None)
    return httpx.Response(
        streamed.status_code, headers=headers, content=body, request=streamed.request
    )
