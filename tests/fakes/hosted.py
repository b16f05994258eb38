"""Libraries and accounts in a Supabase project of the tests' own."""

import json
import urllib.request
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, cast
from uuid import uuid4

import pytest

from lrwr.core.adapters.auth.project import Project
from lrwr.core.adapters.records.supabase.calling import Hosted
from lrwr.core.adapters.records.supabase.jobs import SupabaseJobQueue
from lrwr.core.adapters.records.supabase.threads import (
    SupabaseThreadStore,
    open_library,
)
from lrwr.core.model.chunks import Knowledge
from lrwr.core.model.jobs import Claim
from lrwr.core.ports.record_store import KnowledgeStore, Seen
from tests.fakes.libraries import Library
from tests.fakes.postgres_server import Postgres
from tests.fakes.records import Clock
from tests.fakes.supabase_server import SupabaseServer

PASSWORD = "correct-horse-9"


@dataclass(frozen=True, slots=True)
class Writer:
    """An account, and what proves that it asks."""

    id: str
    email: str
    token: str


def sign_up(server: SupabaseServer) -> Writer:
    """Make an account."""
    email = f"{uuid4().hex}@example.org"
    request = urllib.request.Request(
        f"{server.url}/auth/v1/signup",
        data=json.dumps({"email": email, "password": PASSWORD}).encode(),
        headers={"apikey": server.key, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        told = json.load(answer)
    return Writer(told["user"]["id"], email, told["access_token"])


@asynccontextmanager
async def asking(server: SupabaseServer, writer: Writer) -> AsyncIterator[Hosted]:
    """Lend out the project's functions, asked in the name of `writer`."""

    async def token() -> str:
        return writer.token

    hosted = Hosted(Project(server.url, server.key, own=True), token)
    try:
        yield hosted
    finally:
        await hosted.aclose()


@asynccontextmanager
async def hosted_library(
    server: SupabaseServer, writer: Writer
) -> AsyncIterator[Library]:
    """A new library of `writer`'s, as far as its ports are kept there."""
    async with asking(server, writer) as hosted:
        library = await open_library(hosted, uuid4().hex)
        queue = SupabaseJobQueue(hosted, library)
        nobody: Any = Nobody()
        yield Library(
            knowledge=cast("KnowledgeStore", Completing(queue)),
            passages=nobody,
            words=nobody,
            feed=nobody,
            queue=queue,
            story=nobody,
            casts=nobody,
            analysis=nobody,
            threads=SupabaseThreadStore(hosted, library),
            sent=nobody,
            clock=ServerClock(server.postgres),
        )


def library_in_supabase(
    request: pytest.FixtureRequest,
) -> AbstractAsyncContextManager[Library]:
    """A new library in the project that all tests share."""
    server = request.getfixturevalue("supabase")
    return hosted_library(server, request.getfixturevalue("writer"))


class ServerClock(Clock):
    """The project's clock, which goes only when told to."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        super().__init__()

    @property
    def time(self) -> float:
        return self._time

    @time.setter
    def time(self, time: float) -> None:
        self._time = time
        self._postgres.run(f"update test_clock set time = {time}")


class Completing:
    """What a job has made is not kept; that it is complete is, if it is held still."""

    def __init__(self, queue: SupabaseJobQueue) -> None:
        self._queue = queue

    async def replace(self, knowledge: Knowledge, seen: Seen, claim: Claim) -> bool:
        return await self._queue.complete(claim)


class Nobody:
    """Stands where no adapter is yet; a test that needs one fails."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"nobody keeps {name} in Supabase yet")
