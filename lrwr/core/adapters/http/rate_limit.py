"""Rate limits and retries of calls to one server."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from lrwr.core.adapters.http.errors import ServiceCallError

T = TypeVar("T")

INTERACTIVE_RETRY_SECONDS = 10.0
"""Seconds of retries while a person waits for an answer.

A question needs vectors, a plan and an answer one after the other, and each has a
fallback. Together their retries must not take more than half a minute.
"""

NO_RETRY_SECONDS = 30.0
"""Seconds without retries after retries for a waiting person failed: about the rest of
the same question."""

NOTICE_SECONDS = 2.0
"""Seconds of retries after which the user is told about them."""

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of the calls to one server.

    At most `concurrency` calls run at once, and `requests_per_minute` start in a
    minute; 0 requests per minute means any number. A failed call is not retried if the
    next attempt would start more than `patience` seconds after the first attempt began
    or, if the server answered that one with an error, after the answer: a server that is
    slow to refuse gets another attempt, too.
    """

    concurrency: int
    requests_per_minute: int = 0
    patience: float = 120.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Sources of time and randomness, which tests replace.

    `now` returns seconds of a clock that never goes back, `today` seconds since 1970,
    `chance` a random number in [0.0, 1.0). `sleep` waits for a number of seconds.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    today: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random


class RateLimiter:
    """Limits and retries the calls to one server; all its callers share one limiter.

    `notify` receives a sentence for the user when retries take longer than
    `NOTICE_SECONDS`, at most one in `NO_RETRY_SECONDS`.
    """

    def __init__(
        self,
        limit: RateLimit,
        clock: Clock,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._limit = limit
        self._clock = clock
        self._notify = notify
        self._quiet_until = float("-inf")
        self._slots = asyncio.Semaphore(limit.concurrency)
        self._next_start = 0.0
        self._no_retry_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Inside this context, hold one of the `concurrency` slots; wait until one is
        free.
        """
        async with self._slots:
            yield

    async def call_with_retries(
        self, call: Callable[[], Awaitable[T]], patience: float | None = None
    ) -> T:
        """Return the result of `call`, which is retried while its error is retryable.

        A delay that the server asks for applies to all callers. `patience`, in seconds,
        can shorten the patience of the limit when a user waits for the result. If such
        a call fails after its retries, others with a `patience` are not retried for
        `NO_RETRY_SECONDS`.

        Raises:
            ServiceCallError: The error is not retryable, or the patience is exhausted.
        """
        try:
            result = await self._retry(call, self._effective_patience(patience))
        except ServiceCallError as error:
            if error.retryable and patience is not None:
                self._no_retry_until = self._clock.now() + NO_RETRY_SECONDS
            raise
        self._no_retry_until = 0.0
        return result

    def delay(self, seconds: float) -> None:
        """Let no call of any caller start in the next `seconds`."""
        self._next_start = max(self._next_start, self._clock.now() + seconds)

    async def _retry(self, call: Callable[[], Awaitable[T]], patience: float) -> T:
        began, failures = self._clock.now(), 0
        while True:
            await self._wait_for_start()
            try:
                return await call()
            except ServiceCallError as error:
                pause = self._compute_pause(failures, error.after)
                if error.is_response and not failures:
                    began = self._clock.now()
                elapsed = self._clock.now() - began
                if not error.retryable or elapsed + pause > patience:
                    raise
                if error.after is not None:
                    self.delay(pause)
                failures += 1
                await self._sleep_before_retry(pause, elapsed, error)

    async def _sleep_before_retry(
        self, pause: float, elapsed: float, error: ServiceCallError
    ) -> None:
        """Sleep `pause` seconds; if more than `NOTICE_SECONDS` pass, tell the user."""
        is_due = self._clock.now() >= self._quiet_until
        if self._notify is not None and is_due and elapsed + pause > NOTICE_SECONDS:
            until_notice = max(0.0, NOTICE_SECONDS - elapsed)
            self._quiet_until = self._clock.now() + NO_RETRY_SECONDS
            await self._clock.sleep(until_notice)
            pause -= until_notice
            self._notify(f"{error}. Trying again.")
        await self._clock.sleep(pause)

    def _effective_patience(self, patience: float | None) -> float:
        if patience is None:
            return self._limit.patience
        if self._clock.now() < self._no_retry_until:
            return 0.0
        return min(patience, self._limit.patience)

    def _compute_pause(self, failures: int, after: float | None) -> float:
        """Return the seconds before the next try.

        Exponential backoff with jitter: 50 to 100 % of 1, 2, 4 … 30 seconds. A delay
        named by the server is a lower bound, to which a quarter of that is added, so
        that not all callers return at the same moment.
        """
        backoff = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**failures)
        pause = backoff * (0.5 + self._clock.chance() / 2)
        return pause if after is None else after + pause / 4

    async def _wait_for_start(self) -> None:
        now = self._clock.now()
        start = max(now, self._next_start)
        if self._limit.requests_per_minute:
            self._next_start = start + 60 / self._limit.requests_per_minute
        if start > now:
            await self._clock.sleep(start - now)
