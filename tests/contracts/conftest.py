from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.hosted import library_in_supabase
from tests.fakes.libraries import Library, sqlite_library

HOSTED = ("test_job_queue", "test_job_queue_for_documents")
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
