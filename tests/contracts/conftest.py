from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_api import SupabaseThreadApi
from tests.fakes.followed import Desks, desks_of
from tests.fakes.hosted import Machine, Writer, asking, library_in_supabase
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.supabase_gate import SupabaseGate
from tests.fakes.supabase_server import SupabaseServer

HOSTED = (
    "test_change_feed",
    "test_job_queue",
    "test_job_queue_for_documents",
    "test_record_store",
    "test_story_store",
)
"""The contracts that Supabase keeps as well, beside those that name it themselves."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    own = hasattr(metafunc.module, "library")
    if own or "library" not in metafunc.fixturenames:
        return
    keepers = [pytest.param("sqlite")]
    if Path(metafunc.module.__file__).stem in HOSTED:
        keepers.append(pytest.param("supabase", marks=pytest.mark.supabase))
    metafunc.parametrize("library", keepers, indirect=True)


@pytest.fixture
async def library(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Library]:
    if request.param == "supabase":
        async with library_in_supabase(request) as opened:
            yield opened
        return
    async with sqlite_library(tmp_path) as opened:
        yield opened


@pytest.fixture
def gate(supabase: SupabaseServer) -> SupabaseGate:
    return supabase.gate


@pytest.fixture
async def hosted(
    supabase: SupabaseServer, writer: Writer
) -> AsyncIterator[SupabaseRpc]:
    """A project, asked as a writer who is signed in."""
    async with asking(supabase, writer) as opened:
        yield opened


@pytest.fixture
def records(hosted: SupabaseRpc, library: str) -> SupabaseRecords:
    """What one machine keeps of a library in that project."""
    return SupabaseRecords(hosted, library, "here")


@pytest.fixture
async def desks(
    supabase: SupabaseServer, writer: Writer, tmp_path: Path
) -> AsyncIterator[Desks]:
    """Machines by name, on which one writer is signed in."""
    async with desks_of(supabase, writer, tmp_path) as opened:
        yield opened


@pytest.fixture
def there(desks: Desks) -> SupabaseThreadApi:
    return desks.there


@pytest.fixture
async def desk(desks: Desks) -> Machine:
    return await desks("desk")


@pytest.fixture
async def train(desks: Desks) -> Machine:
    return await desks("train")
