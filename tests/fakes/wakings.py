"""Listening for changes of a library, with waits that end when a test says so."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.supabase.realtime import (
    HEARTBEAT_INTERVAL,
    RealtimeListener,
)
from lrwr.core.model.errors import LrwrError
from tests.fakes.realtime_server import RealtimeServer

LIBRARY = "5b6c2a4e-0f0e-4b7e-9a5c-3d2a1c0b9f8e"
TOPIC = f"realtime:lrwr-{LIBRARY}"
KEY = "sb_publishable_lrwr-tests"
TOKEN = "a token of Nell Tallow's"


class Rests:
    """Waits that end when a test says so; `next` is the one that begins next."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[tuple[float, asyncio.Event]] = asyncio.Queue()

    async def __call__(self, seconds: float) -> None:
        over = asyncio.Event()
        self._begun.put_nowait((seconds, over))
        await over.wait()

    async def next(self) -> tuple[float, asyncio.Event]:
        return await self._begun.get()

    async def end(self, seconds: float) -> None:
        """Let the next one be over, and make sure that it was of that length."""
        length, over = await self.next()
        assert length == seconds
        over.set()


class Came:
    """Counts what came, and lets a test wait for it."""

    def __init__(self) -> None:
        self.count = 0
        self._came: asyncio.Queue[None] = asyncio.Queue()

    def __call__(self) -> None:
        self.count += 1
        self._came.put_nowait(None)

    async def next(self) -> None:
        await self._came.get()


class Copy:
    """A working copy that counts how often it looked."""

    def __init__(self) -> None:
        self.looks = 0
        self.meanwhile: Callable[[], None] | None = None
        self.error: LrwrError | None = None

    async def catch_up(self) -> int:
        self.looks += 1
        if self.meanwhile is not None:
            self.meanwhile()
        if self.error is not None:
            raise self.error
        return 0


async def its_token() -> str:
    return TOKEN


@asynccontextmanager
async def listening(
    url: str,
    came: Callable[[], None] | None = None,
    *,
    token: Callable[[], Awaitable[str]] = its_token,
    rest: Rests | None = None,
    request_logger: EgressLogger | None = None,
    own: bool = True,
) -> AsyncIterator[RealtimeListener]:
    project = SupabaseConnection(url, KEY, own=own)
    waking = RealtimeListener(
        project,
        LIBRARY,
        token,
        came or Came(),
        request_logger=request_logger,
        sleep=rest or Rests(),
    )
    waking.begin()
    try:
        yield waking
    finally:
        await waking.aclose()


async def beat(realtime: RealtimeServer, rests: Rests, came: Came) -> None:
    """Let a beat go by whose answer has been heard."""
    await rests.end(HEARTBEAT_INTERVAL)
    await realtime.asked("heartbeat")
    await realtime.changed(LIBRARY)
    await came.next()
