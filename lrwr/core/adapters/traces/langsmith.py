"""Sends traces to LangSmith in the background."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.adapters.traces.http import (
    MAX_RUNS_PER_REQUEST,
    LangSmithConnection,
    LangSmithHttpClient,
    LangSmithRequest,
    build_langsmith_timeout_error,
)
from lrwr.core.adapters.traces.records import LangSmithRow, build_trace_runs
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.traces import TraceSpan

_MAX_RETRY_SECONDS = 3.0
"""Only the end of a command waits for a trace, so retries are short."""


class LangSmithTracer:
    """Sends traces to LangSmith in the background, one after the other.

    Nothing is opened before the first trace. `key` returns the API key and is called
    for each trace; it raises `ServiceUnavailable` if nothing may be sent. With a
    `request_logger`, each request is recorded in the send log before it is sent. `say`
    receives the reason why a trace was not sent, once. After an error that retries
    cannot solve, no more traces are sent.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        key: Callable[[], str],
        request_logger: EgressLogger | None = None,
        say: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._say = say
        clock = clock or Clock()
        self._rate_limiter = RateLimiter(
            RateLimit(concurrency=1, patience=_MAX_RETRY_SECONDS), clock
        )
        self._client = LangSmithHttpClient(connection, request_logger, clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._last_error: ServiceCallError | None = None

    def send(self, trace: TraceSpan) -> None:
        """Start to send a trace in the background; return at once and raise nothing.

        After `aclose`, traces are dropped.
        """
        if self._is_closed:
            return
        task = asyncio.create_task(self._send_or_report(trace))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until all traces are sent, but no longer than the timeout of one
        request.

        The rest is dropped. Idempotent.
        """
        self._is_closed = True
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=self._connection.timeout)
        for task in late:
            task.cancel()
        if late:
            self._report(
                self._last_error
                or build_langsmith_timeout_error(self._connection.timeout)
            )
            await asyncio.wait(late)

    async def check_key(self) -> None:
        """Check that LangSmith accepts the key, by listing one project.

        Raises:
            ServiceUnavailable: LangSmith did not answer or refused.
        """
        key = await asyncio.to_thread(self._key)
        async with self._client.opened() as http:
            request = LangSmithRequest("GET", "/sessions", {"limit": 1})
            await self._client.ask(http, key, request, list)

    async def _send_or_report(self, trace: TraceSpan) -> None:
        try:
            await self._send(trace)
        except ServiceUnavailable as error:
            self._is_closed = self._is_closed or not error.retryable
            self._report(error)

    def _report(self, error: ServiceUnavailable) -> None:
        say, self._say = self._say, None
        if say is not None:
            say(f"A trace was not sent. {error.full_text}")

    async def _send(self, trace: TraceSpan) -> None:
        key = await asyncio.to_thread(self._key)
        connection = self._connection
        runs = build_trace_runs(trace, connection.project, texts=connection.texts)
        async with self._rate_limiter.slot():
            for start in range(0, len(runs), MAX_RUNS_PER_REQUEST):
                batch = runs[start : start + MAX_RUNS_PER_REQUEST]
                await self._rate_limiter.call_with_retries(
                    partial(self._post, key, batch)
                )

    async def _post(self, key: str, runs: Sequence[LangSmithRow]) -> None:
        """Send runs once. The error is stored, because `aclose` may cancel the retry."""
        self._last_error = None
        request = LangSmithRequest(
            "POST", "/runs/batch", body={"post": runs, "patch": []}
        )
        try:
            async with self._client.opened() as http:
                await self._client.ask(http, key, request, dict)
        except ServiceCallError as error:
            self._last_error = error
            raise
