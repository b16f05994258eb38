"""A watch while more happens at once than any writer does."""

from collections.abc import AsyncIterator

import pytest

from lrwr.core.ports.sources import FolderLost
from lrwr.pipeline.watch.debounce import WatchIntervals
from lrwr.pipeline.watch.events import (
    ManuscriptAway,
    ManuscriptReturn,
    SaveReport,
    WatchCause,
    WatchStart,
)
from tests.fakes.story_desks import StoryDesk
from tests.fakes.watches import Watched, begun, over

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
STORM = 5_000
AT_START = 1
"""Looks for what changed before the listening began, at most."""


@pytest.fixture
async def watched(story: StoryDesk) -> AsyncIterator[Watched]:
    story.write("1.md", GREY)
    story.write("2.md", "# Two\n\nThe frog sat on the sluice gate and said nothing.\n")
    async with over(story) as opened:
        opened.pace = WatchIntervals(debounce=0.05, sweep=3600)
        yield opened


async def test_five_thousand_events_are_one_look(watched: Watched) -> None:
    async with begun(watched):
        await watched.hear(SaveReport)
        await watched.hear(WatchStart)
        watched.desk.write("1.md", GREY.replace("grey", "brown"))
        for number in range(STORM):
            watched.events.touch("1.md", f"{number}.md", f".{number}.swp")
        saved = await watched.hear(SaveReport)
        assert [one.document for one in saved.learned.documents] == ["1.md"]
    assert watched.rounds.count(WatchCause.SAVE) <= AT_START + 1


async def test_a_storm_while_a_save_is_read_is_one_look_more(watched: Watched) -> None:
    async with begun(watched):
        await watched.hear(SaveReport)
        await watched.hear(WatchStart)
        for eyes in ("brown", "green"):
            watched.desk.write("1.md", GREY.replace("grey", eyes))
            for _ in range(STORM):
                watched.events.touch("1.md")
            (shift,) = (await watched.hear(SaveReport)).learned.facts_changed
            assert shift.after == eyes
    assert watched.rounds.count(WatchCause.SAVE) <= AT_START + 2


async def test_a_folder_that_is_lost_in_a_storm_is_waited_for(watched: Watched) -> None:
    folder = watched.desk.folder
    away = folder.with_name("away")
    async with begun(watched):
        await watched.hear(SaveReport)
        await watched.hear(WatchStart)
        before = await watched.desk.told()
        folder.rename(away)
        for _ in range(STORM):
            watched.events.touch("1.md")
        watched.events.tell(FolderLost(folder))
        await watched.hear(ManuscriptAway)
        assert await watched.desk.told() == before
        watched.meanwhile.append(lambda: away.rename(folder))
        await watched.hear(ManuscriptReturn)
    assert watched.rounds.count(WatchCause.SAVE) <= AT_START + 1
