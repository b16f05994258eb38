"""Noting what leaves this machine: before it leaves, or it does not leave."""

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
    """Where what leaves is noted.

    `now` tells seconds since 1970, `price` what a usage of a model costs in US dollars,
    None where nobody knows.
    """

    log: SqliteEgressLog
    now: Callable[[], float]
    price: Callable[[Usage, str], float | None]


class LoggableRequest(Protocol):
    """A request of an HTTP client."""

    async def aread(self) -> bytes:
        """Return its body."""
        ...


class LoggableResponse(Protocol):
    """A response of an HTTP client."""

    @property
    def is_success(self) -> bool:
        """Whether it is no refusal."""
        ...

    @property
    def num_bytes_downloaded(self) -> int:
        """Bytes of its body so far."""
        ...


class EgressLogEntry:
    """One request. Nothing is noted until it is about to leave, and then at once.

        async with aclosing(Note(noting, Sent("tavily", host, WEB_SEARCH))) as note:
            await note.leaving(len(body))
            ...                                # it leaves
            note.came(ok=True, whole=True, received=lambda: len(reply))

    A note that is never closed says that no reply was seen. Without a `noting` nothing
    may be noted, and closing does nothing.
    """

    def __init__(self, noting: EgressLogger | None, about: OutboundRequest) -> None:
        self._noting = noting
        self._about = about
        self._row: OutboundRequestId | None = None
        self._outcome = RequestOutcome.UNSEEN
        self._received: Callable[[], int] | None = None
        self._usage: Usage | None = None

    async def leaving(self, size: int) -> None:
        """Note that `size` bytes are about to leave.

        Raises:
            ServiceUnavailable: It cannot be noted: the request must not leave.
        """
        if self._noting is None:
            raise LookupError("nobody keeps this note")
        request = replace(self._about, when=self._noting.now(), sent_bytes=size)
        try:
            self._row = await self._noting.log.begin(request)
        except StoreProblem as error:
            raise ServiceUnavailable(
                f"Nothing was sent to {request.host}: what leaves is noted first, and"
                f" that cannot be done. {error}",
                hint=error.hint,
            ) from error

    async def on_request(self, request: LoggableRequest) -> None:
        """Note a request: for a client's `event_hooks["request"]`.

        Raises:
            ServiceUnavailable: It cannot be noted: the request must not leave.
        """
        await self.leaving(len(await request.aread()))

    async def on_response(self, response: LoggableResponse) -> None:
        """Note that a response began: for a client's `event_hooks["response"]`.

        Say `whole` once its body was read.
        """
        self.came(
            ok=response.is_success,
            is_complete=False,
            received=lambda: response.num_bytes_downloaded,
        )

    def unreached(self) -> None:
        """Say that nobody took the request."""
        self._outcome = RequestOutcome.UNREACHED

    def came(self, *, ok: bool, is_complete: bool, received: Callable[[], int]) -> None:
        """Say that a reply came; `received` tells its bytes, as far as they are read."""
        self._received = received
        self._outcome = RequestOutcome.CUT if ok else RequestOutcome.REFUSED
        if is_complete:
            self.whole()

    def whole(self) -> None:
        """Say that a reply that is none of a refusal has come to its end."""
        if self._outcome is RequestOutcome.CUT:
            self._outcome = RequestOutcome.ANSWERED

    def counted(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Say what the request took."""
        self._usage = Usage(1, prompt_tokens, completion_tokens)

    async def aclose(self) -> None:
        """Note what came of it, once. Nothing that came is lost because of a note."""
        row, self._row = self._row, None
        if row is None or self._noting is None:
            return
        request_completion = self._came(self._noting.price)
        with suppress(StoreProblem):  # the row then says that no reply was seen
            await asyncio.shield(self._noting.log.end(row, request_completion))

    def _came(self, price: Callable[[Usage, str], float | None]) -> RequestCompletion:
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
