"""A project that is slow, that is silent, and one whose answers never end."""

import gzip
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from threading import Event

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.files.folder import hash_file_content
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.errors import ServiceUnavailable
from tests.fakes.loopback import Line, Loopback

LARGE = "x" * 12_000_000
"""More than the buffers of a connection hold."""

PIECE = b"1" * 10_000
MOST = 1024 * 1024


@dataclass
class Slow(Loopback):
    """A database that takes nothing until its client has waited for `late` seconds."""

    late: float = 0.0

    def serve(self, line: Line) -> None:
        Event().wait(self.late)
        line.received()
        line.send(200, b"true", {"Content-Type": "application/json"})


@dataclass
class Silent(Loopback):
    """A database that takes what it is sent, and says nothing."""

    def serve(self, line: Line) -> None:
        line.received()
        self.until_closed()


@dataclass
class Endless(Loopback):
    """What answers for ever: with pieces, or with one that holds too much."""

    packed: bool = False
    sent: int = 0
    ended: Event = field(default_factory=Event)

    def serve(self, line: Line) -> None:
        line.received()
        line.close_connection = True
        kind = {"Content-Type": "application/json"}
        if self.packed:
            body = gzip.compress(PIECE * 200)
            line.send(200, body, {**kind, "Content-Encoding": "gzip"})
            return
        line.begin(200, kind)
        try:
            while True:
                line.wfile.write(PIECE)
                self.sent += len(PIECE)
        finally:
            self.ended.set()


async def token() -> str:
    return "any"


async def put_record(project: SupabaseConnection, body: str) -> object:
    hosted = SupabaseRpc(project, token)
    try:
        return await hosted.call("put_record", body=body)
    finally:
        await hosted.aclose()


async def get_file(project: SupabaseConnection) -> object:
    store = SupabaseFileStore(project, token, "account", "library")
    try:
        return await store.get(hash_file_content(b"any"))
    finally:
        await store.aclose()


def project_at(server: Loopback, timeout: float) -> SupabaseConnection:
    return SupabaseConnection(server.origin, "sb_publishable_x", timeout, own=True)


async def test_a_large_record_is_sent_to_its_end_though_it_takes_longer() -> None:
    with Slow(late=0.5) as server:
        assert await put_record(project_at(server, 0.1), LARGE) is True


async def test_a_larger_record_is_waited_for_longer() -> None:
    with Silent() as server, pytest.raises(ServiceUnavailable) as caught:
        await put_record(project_at(server, 0.2), "x" * 50_000)
    assert "did not answer within 0.6 seconds" in str(caught.value)
    assert caught.value.retryable


@pytest.mark.parametrize(
    "ask",
    [get_file, lambda project: put_record(project, "any")],
    ids=["file", "record"],
)
@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_that_never_ends_is_not_read_on(
    ask: Callable[[SupabaseConnection], Awaitable[object]], packed: bool
) -> None:
    with Endless(packed=packed) as server:
        project = replace(project_at(server, 30), most=MOST)
        with pytest.raises(ServiceUnavailable) as caught:
            await ask(project)
        assert packed or server.ended.wait(30)
    assert "1 MB" in str(caught.value)
    assert "supabase.url" in caught.value.hint
    assert not caught.value.retryable
