from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.desks import Desk, a_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened
