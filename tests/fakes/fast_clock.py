"""A clock for commands in the tests' own process: nobody sits out a pause for nothing."""

import asyncio
import random
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

from lrwr.core.adapters.http.rate_limit import Clock

QUICKER = 20
"""How much shorter a pause between two tries is than it says."""


@dataclass(slots=True)
class Hurry:
    """Seconds that go on as they do elsewhere, and `ahead` by what pauses have left out.

    What is asked takes its own time: a server that says nothing is waited for.
    """

    ahead: float = 0.0

    def now(self) -> float:
        """Return the seconds."""
        return time.monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        """Rest for a part of the seconds; afterwards all of them are over."""
        end = self.now() + seconds
        await asyncio.sleep(seconds / QUICKER)
        self.ahead += max(0.0, end - self.now())


def hurried() -> AbstractContextManager[object]:
    """Give what is waited by this clock, unless it is told another."""
    hurry = Hurry()
    usual = (hurry.now, hurry.sleep, time.time, random.random)
    return patch.object(Clock.__init__, "__defaults__", usual)
