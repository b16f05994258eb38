"""Writes the send log: each request to a service is recorded before it is sent."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.egress import (
    OutboundRequest,
    OutboundRequestId,
    RequestCompletion,
    RequestOutcome,
)
from lrwr.core.model.errors import ServiceUnavailable, StoreProblem
from lrwr.core.model.language_model import Usage


@dataclass(frozen=True, slots=True)
class EgressLogger:
    """What is needed to write the send log: the log itself, a clock and prices.

    `now` returns seconds since 1970. `price` returns what a usage of a model costs in
    US dollars, or None if the price of the model is unknown.
    """

    log: SqliteEgressLog
    now: Callable[[], float]
    price: Callable[[Usage, str], float | None]


class LoggableRequest(Protocol):
    """The part of an HTTP client's request that the send log needs."""

    async def aread(self) -> bytes:
        """Return the bytes of the request's body."""
        ...


class LoggableResponse(Protocol):
    """The part of an HTTP client's response that the send log needs."""

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        ...

    @property
    def num_bytes_downloaded(self) -> int:
        """The number of bytes of the body received so far."""
        ...


class EgressLogEntry:
    """The entry of one request, `about`, in the send log.

        async with aclosing(EgressLogEntry(logger, about)) as entry:
            await entry.record_request(len(body))
            ...                                     # send the request
            entry.record_response(ok=True, is_complete=True, received=lambda: size)

    The entry is written by `record_request` and completed by `aclose`. An entry without
    a response is completed as "no response seen". If `logger` is None, `record_request`
    may not be called, and nothing is written.
    """

    def __init__(self, logger: EgressLogger | None, about: OutboundRequest) -> None:
        self._logger = logger
        self._about = about
        self._row: OutboundRequestId | None = None
        self._outcome = RequestOutcome.UNSEEN
        self._received: Callable[[], int] | None = None
        self._usage: Usage | None = None

    async def record_request(self, size: int) -> None:
        """Write the entry of a request that is about to be sent with a body of `size`
        bytes.

        Raises:
            ServiceUnavailable: The entry cannot be written, so nothing may be sent.
        """
        if self._logger is None:
            raise LookupError("a request was recorded without a send log")
        request = replace(self._about, when=self._logger.now(), sent_bytes=size)
        try:
            self._row = await self._logger.log.begin(request)
        except StoreProblem as error:
            raise ServiceUnavailable(
                f"Nothing was sent to {request.host}, because the send log cannot be"
                f" written. {error}",
                hint=error.hint,
            ) from error

    async def on_request(self, request: LoggableRequest) -> None:
        """Write the entry of `request`, which is about to be sent.

        For the list `event_hooks["request"]` of an HTTP client.

        Raises:
            ServiceUnavailable: The entry cannot be written, so nothing may be sent.
        """
        await self.record_request(len(await request.aread()))

    async def on_response(self, response: LoggableResponse) -> None:
        """Record that a response has begun.

        For the list `event_hooks["response"]` of an HTTP client. Call `mark_complete`
        when the body was read.
        """
        self.record_response(
            ok=response.is_success,
            is_complete=False,
            received=lambda: response.num_bytes_downloaded,
        )

    def mark_unreachable(self) -> None:
        """Record that the server could not be reached, so that it received nothing."""
        self._outcome = RequestOutcome.UNREACHED

    def record_response(
        self, *, ok: bool, is_complete: bool, received: Callable[[], int]
    ) -> None:
        """Record a response; `ok` is False if the server refused the request.

        `is_complete` says that the body was read to its end; `mark_complete` can say so
        later. `received` returns the number of bytes received; it is called when the
        entry is closed.
        """
        self._received = received
        self._outcome = RequestOutcome.CUT if ok else RequestOutcome.REFUSED
        if is_complete:
            self.mark_complete()

    def mark_complete(self) -> None:
        """Record that a successful response was received to its end."""
        if self._outcome is RequestOutcome.CUT:
            self._outcome = RequestOutcome.ANSWERED

    def record_usage(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Record the numbers of tokens of the request and of the response."""
        self._usage = Usage(1, prompt_tokens, completion_tokens)

    async def aclose(self) -> None:
        """Complete the entry with what was recorded. Idempotent.

        An error of the log is ignored here, because a response that was received is
        worth more than its entry: the entry then continues to say that no response was
        seen.
        """
        row, self._row = self._row, None
        if row is None or self._logger is None:
            return
        completion = self._build_completion(self._logger.price)
        with suppress(StoreProblem):
            await asyncio.shield(self._logger.log.end(row, completion))

    def _build_completion(
        self, price: Callable[[Usage, str], float | None]
    ) -> RequestCompletion:
        received = self._received() if self._received else None
        has_answer = self._outcome in (RequestOutcome.ANSWERED, RequestOutcome.CUT)
        if self._usage is None or not has_answer:
            return RequestCompletion(self._outcome, received)
        usage = self._usage
        return RequestCompletion(
            self._outcome,
            received,
            usage.prompt_tokens,
            usage.completion_tokens,
            price(usage, self._about.model),
        )
