"""LangSmith: traces through its documented HTTP API."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.http.errors import ServiceCallError
from lrwr.core.adapters.http.rate_limit import Clock, RateLimit, RateLimiter
from lrwr.core.adapters.traces.errors import build_langsmith_timeout_error
from lrwr.core.adapters.traces.http import (
    MAX_RUNS_PER_REQUEST,
    LangSmithConnection,
    LangSmithHttpClient,
    LangSmithRequest,
)
from lrwr.core.adapters.traces.runs import LangSmithRun, build_trace_runs
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.ports.telemetry import TraceSpan

_PATIENCE = 3.0
"""Seconds. Nobody waits for a trace but the end of a command."""


class LangSmithTracer:
    """Keeps the Tracer port over HTTP. Nothing is imported or opened before a trace.

    `key` gives the key at each trace: it raises `ServiceUnavailable` where nothing may
    be sent. With `noting` each request is noted before it leaves. `say` is told once
    why a trace was not sent. After a refusal for good no more is tried.
    """

    def __init__(
        self,
        connection: LangSmithConnection,
        key: Callable[[], str],
        noting: EgressLogger | None = None,
        say: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._connection = connection
        self._key = key
        self._say = say
        clock = clock or Clock()
        pace = RateLimit(concurrency=1, patience=_PATIENCE)
        self._turnstile = RateLimiter(pace, clock)
        self._wire = LangSmithHttpClient(connection, noting, clock)
        self._under_way: set[asyncio.Task[None]] = set()
        self._ended = False
        self._refused: ServiceCallError | None = None

    def keep(self, trace: TraceSpan) -> None:
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
            self._tell(
                self._refused or build_langsmith_timeout_error(self._connection.timeout)
            )
            await asyncio.wait(late)

    async def knows_the_key(self) -> None:
        """Ask for a list of one project, to see whether the key is taken.

        Raises:
            ServiceUnavailable: LangSmith did not answer, or refused.
        """
        key = await asyncio.to_thread(self._key)
        async with self._wire.opened() as http:
            await self._wire.ask(
                http, key, LangSmithRequest("GET", "/sessions", {"limit": 1}), list
            )

    async def _keep(self, trace: TraceSpan) -> None:
        try:
            await self._sent(trace)
        except ServiceUnavailable as error:
            self._ended = self._ended or not error.retryable
            self._tell(error)

    def _tell(self, error: ServiceUnavailable) -> None:
        """Say once why a trace was not sent."""
        say, self._say = self._say, None
        if say is not None:
            say(f"A trace was not sent. {error.full_text}")

    async def _sent(self, trace: TraceSpan) -> None:
        key = await asyncio.to_thread(self._key)
        about = self._connection
        runs = build_trace_runs(trace, about.project, texts=about.texts)
        async with self._turnstile.place():
            for start in range(0, len(runs), MAX_RUNS_PER_REQUEST):
                some = runs[start : start + MAX_RUNS_PER_REQUEST]
                await self._turnstile.trying(partial(self._try, key, some))

    async def _try(self, key: str, runs: Sequence[LangSmithRun]) -> None:
        """Send runs once, and remember why they were not taken: the end may come."""
        self._refused = None
        try:
            await self._post(key, runs)
        except ServiceCallError as refused:
            self._refused = refused
            raise

    async def _post(self, key: str, runs: Sequence[LangSmithRun]) -> None:
        call = LangSmithRequest("POST", "/runs/batch", body={"post": runs, "patch": []})
        async with self._wire.opened() as http:
            await self._wire.ask(http, key, call, dict)
