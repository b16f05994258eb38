from collections.abc import Iterator
from dataclasses import replace

import pytest

from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.storage.supabase.records import find_missing_migrations
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    StoreProblem,
)
from tests.fakes.hosted import Writer, asking
from tests.fakes.supabase_server import SupabaseServer

pytestmark = pytest.mark.supabase


@pytest.fixture
def server(supabase: SupabaseServer) -> Iterator[SupabaseServer]:
    yield supabase
    supabase.gate.held.clear()
    supabase.gate.refusals.clear()


async def test_a_project_tells_which_scripts_it_has_run(
    server: SupabaseServer, writer: Writer
) -> None:
    async with asking(server, writer) as hosted:
        assert find_missing_migrations(await hosted.call("migrations")) == []


async def test_a_project_that_lacks_a_script_says_what_to_do(
    server: SupabaseServer, writer: Writer
) -> None:
    async with asking(server, writer) as hosted:
        with pytest.raises(StoreProblem) as caught:
            await hosted.call("no_such_function")
    assert "lrwr doctor --sql" in caught.value.hint


async def test_a_library_that_is_nobodys_is_not_there(
    server: SupabaseServer, writer: Writer
) -> None:
    orders = '[{"kind": "process", "document": "a.md", "pipeline": "a"}]'
    nowhere = "00000000-0000-4000-8000-000000000000"
    async with asking(server, writer) as hosted:
        with pytest.raises(NotFound) as caught:
            await hosted.call("enqueue", library=nowhere, orders=orders, kept=9)
    assert "lrwr login" in caught.value.hint


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_project_that_fails_is_asked_once_and_may_be_asked_again(
    server: SupabaseServer, writer: Writer, status: int
) -> None:
    async with asking(server, writer) as hosted:
        before = len(server.gate.asked)
        server.gate.refusals.append(status)
        with pytest.raises(ServiceUnavailable) as caught:
            await hosted.call("migrations")
        assert caught.value.retryable
        assert len(server.gate.asked) == before + 1
        assert await hosted.call("migrations")


async def test_a_session_that_is_none_is_told_how_to_be_one(
    server: SupabaseServer, writer: Writer
) -> None:
    async with asking(server, replace(writer, token="no.such.token")) as hosted:
        with pytest.raises(LrwrError) as caught:
            await hosted.call("new_library", name="Tides")
    assert "lrwr login" in caught.value.hint


async def test_a_project_that_does_not_answer_is_not_waited_for(
    server: SupabaseServer,
) -> None:
    async def token() -> str:
        return "any"

    server.gate.held.set()
    hosted = SupabaseRpc(
        SupabaseConnection(server.url, server.key, timeout=0.2, own=True), token
    )
    with pytest.raises(ServiceUnavailable, match="did not answer within"):
        await hosted.call("migrations")
    await hosted.aclose()
    await hosted.aclose()


async def test_a_project_that_is_not_there_cannot_be_reached() -> None:
    async def token() -> str:
        return "any"

    hosted = SupabaseRpc(
        SupabaseConnection("http://127.0.0.1:9", "key", own=True), token
    )
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        await hosted.call("migrations")
    await hosted.aclose()
