from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.libraries import Library, sqlite_library


@pytest.fixture(params=["sqlite"])
async def library(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Library]:
    assert request.param == "sqlite"
    async with sqlite_library(tmp_path) as opened:
        yield opened
