"""A way to a server: who is slow is waited for, who is silent or without end is not."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import httpx

MIN_BYTES_PER_SECOND = 125_000
"""Bytes a second at which what travels is still waited for.

It is the 1 Mbit/s upward that households in the United Kingdom may ask for: Electronic
Communications (Universal Service) (Broadband) Order 2018, schedule 1.
"""

_OF_THE_WAY = ("Content-Encoding", "Content-Length", "Transfer-Encoding")
"""Headers that say how a body travelled, not what it is."""


class ExchangeTimeout(TimeoutError):
    """An exchange that was given up after so many `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"given up after {seconds:g} seconds")
        self.seconds = seconds


class ResponseTooLarge(Exception):
    """An answer that was not read on, since it is larger than any may be."""


class BoundedHttpClient(httpx.AsyncClient):
    """A client that reads each answer whole, and bounds how long and how large it is.

    `patience` is in seconds: a server that says nothing for so long is given up. There
    is more time the more is sent and the more has come. `most` is in bytes, unpacked.
    `on_response` is called with each response that was received completely.
    """

    def __init__(
        self,
        patience: float,
        most: int,
        on_response: Callable[[httpx.Response], None] | None = None,
        **options: Any,
    ) -> None:
        # A body is sent in one step, which lasts as long as all of it: what bounds that
        # knows how large it is.
        steps = httpx.Timeout(patience, read=None, write=None)
        super().__init__(timeout=steps, **options)
        self._patience = patience
        self._most = most
        self._came = on_response

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        """Send a request and return the whole answer, be it asked for as a `stream`.

        Raises:
            ExchangeTimeout: The server was silent, or slower than `MIN_BYTES_PER_SECOND`.
            ResponseTooLarge: There is no end to the answer.
            HTTPError: It could not be sent, or was not answered.
        """
        del stream
        wait = _ExchangeDeadline(
            self._patience, int(request.headers.get("Content-Length", 0))
        )
        try:
            async with wait.limit:
                answer = await super().send(request, stream=True, **options)
                async with aclosing(answer):
                    body = await self._read(answer, wait)
        except TimeoutError as error:
            if wait.limit.expired():
                raise ExchangeTimeout(wait.seconds) from error
            raise
        response = _whole(answer, body)
        if self._came is not None:
            self._came(response)
        return response

    async def _read(self, answer: httpx.Response, wait: "_ExchangeDeadline") -> bytes:
        body = bytearray()
        wait.heard(0)
        async for piece in answer.aiter_bytes():
            wait.heard(answer.num_bytes_downloaded)
            body += piece
            if len(body) > self._most:
                raise ResponseTooLarge
        return bytes(body)


class _ExchangeDeadline:
    """How long one exchange may last that sends `size` bytes; `seconds` says it."""

    def __init__(self, patience: float, size: int) -> None:
        self._clock = asyncio.get_running_loop().time
        self._began = self._clock()
        self._patience = patience
        self._whole = patience + size / MIN_BYTES_PER_SECOND
        self.seconds = round(self._whole, 1)
        self.limit = asyncio.timeout_at(self._began + self._whole)

    def heard(self, size: int) -> None:
        """Go on, since the answer has come as far as `size` bytes."""
        now = self._clock()
        total = self._whole + size / MIN_BYTES_PER_SECOND
        is_silence = now + self._patience < self._began + total
        self.seconds = self._patience if is_silence else round(total, 1)
        self.limit.reschedule(min(now + self._patience, self._began + total))


def _whole(answer: httpx.Response, body: bytes) -> httpx.Response:
    """Return an answer with its body, unpacked."""
    headers = answer.headers.copy()
    for name in _OF_THE_WAY:
        headers.pop(name, None)
    return httpx.Response(
        answer.status_code, headers=headers, content=body, request=answer.request
    )
