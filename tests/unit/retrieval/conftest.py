from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.desks import Desk, a_desk
from tests.fakes.story_desks import StoryDesk, a_story_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with a_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as opened:
        yield opened
