"""How many calls run at once, how soon one follows another, and when to try again."""

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
"""Seconds of patience with a server while somebody sits and waits for an answer.

A question asks for vectors, a plan and an answer one after the other, and each has a
way to do without: together they must not keep a writer for more than half a minute.
"""

NO_RETRY_SECONDS = 30.0
"""Seconds for which a server that was waited for in vain is asked but not waited for:
the rest of the same question."""

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What a server can take. `patience` are the seconds after which no try is made.

    `requests_per_minute` is 0 for as many as can be.
    """

    concurrency: int
    requests_per_minute: int = 0
    patience: float = 120.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the waiting knows it: seconds that only grow, and sleep.

    `today` is the time of day in seconds; `chance` is between 0.0 and 1.0.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    today: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random


class RateLimiter:
    """Lets calls through at the pace of one server, and lets them try again."""

    def __init__(self, pace: RateLimit, clock: Clock) -> None:
        self._pace = pace
        self._clock = clock
        self._places = asyncio.Semaphore(pace.concurrency)
        self._next = 0.0
        self._in_vain_until = 0.0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold one of the places of calls that run at once."""
        async with self._places:
            yield

    async def trying(
        self, call: Callable[[], Awaitable[T]], patience: float | None = None
    ) -> T:
        """Return what `call` returns, after as many tries as it takes.

        A server that asks one caller to wait is left alone by all. `patience` shortens
        that of the pace, for one whom somebody waits for: then it is waited for in vain
        once, and not again by the next for a while.

        Raises:
            ServiceCallError: Waiting does not help, or would take longer than the patience.
        """
        try:
            result = await self._tried(call, self._longest(patience))
        except ServiceCallError as refused:
            if refused.retryable and patience is not None:
                self._in_vain_until = self._clock.now() + NO_RETRY_SECONDS
            raise
        self._in_vain_until = 0.0
        return result

    def rest(self, seconds: float) -> None:
        """Leave the server alone for so long: it said that it takes no more till then."""
        self._next = max(self._next, self._clock.now() + seconds)

    async def _tried(self, call: Callable[[], Awaitable[T]], patience: float) -> T:
        began, tries = self._clock.now(), 0
        while True:
            await self._may_start()
            try:
                return await call()
            except ServiceCallError as refused:
                pause = self._pause(tries, refused.after)
                elapsed = self._clock.now() - began
                if not refused.retryable or elapsed + pause > patience:
                    raise
                if refused.after is not None:
                    self.rest(pause)
                tries += 1
                await self._clock.sleep(pause)

    def _longest(self, patience: float | None) -> float:
        if patience is None:
            return self._pace.patience
        if self._clock.now() < self._in_vain_until:
            return 0.0
        return min(patience, self._pace.patience)

    def _pause(self, tries: int, after: float | None) -> float:
        """Return seconds to wait: twice as long each time, never the same for two."""
        grown = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**tries)
        pause = grown * (0.5 + self._clock.chance() / 2)
        return pause if after is None else max(after, after + pause / 4)

    async def _may_start(self) -> None:
        now = self._clock.now()
        start = max(now, self._next)
        if self._pace.requests_per_minute:
            self._next = start + 60 / self._pace.requests_per_minute
        if start > now:
            await self._clock.sleep(start - now)
