"""Saves while what came before them is still woven, or still shown."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, fields

import pytest

from lrwr.core.canon.model import Canon
from lrwr.pipeline.speaker_attribution import StoryAttributor
from lrwr.pipeline.watch.debounce import WatchIntervals
from lrwr.pipeline.watch.events import (
    SaveReport,
    WatchCause,
    WatchEvent,
    WatchFailure,
    WatchStart,
)
from tests.fakes.canons import a_service
from tests.fakes.story_desks import StoryDesk
from tests.fakes.watches import Watched, begun, over

GREY = "# One\n\nNell Tallow's eyes were grey. Nell Tallow sang.\n"
FROG = "# Two\n\nThe frog sat on the sluice gate and said nothing.\n"
MAGS = "Mrs. Gannet came in. “Good evening,” said Mrs. Gannet. Mrs. Gannet sat down.\n"
PATIENCE = 20.0
"""Seconds after which weaving goes on whatever happens."""


@dataclass(slots=True)
class SlowDesk(StoryDesk):
    """A desk at which weaving, once begun, goes on when it is told to."""

    begun: threading.Event = field(default_factory=threading.Event)
    may: threading.Event = field(default_factory=threading.Event)
    weavings: int = 0

    def weaver(self) -> StoryAttributor:
        """What makes the cast."""
        return StoryAttributor(
            store=self.library.casts,
            passages=self.library.passages,
            patterns=(),
            canon=self._decided,
        )

    def _decided(self) -> Canon:
        self.weavings += 1
        self.begun.set()
        self.may.wait(PATIENCE)
        return a_service(self.folder).load()

    def halt(self) -> None:
        """Have the next weaving wait."""
        self.begun.clear()
        self.may.clear()

    async def is_weaving(self) -> None:
        """Return when the next weaving has begun."""
        assert await asyncio.to_thread(self.begun.wait, PATIENCE)


@pytest.fixture
async def watched(story: StoryDesk) -> AsyncIterator[Watched]:
    same = {one.name: getattr(story, one.name) for one in fields(story)}
    desk = SlowDesk(**same)
    desk.may.set()
    desk.write("1.md", GREY)
    desk.write("2.md", FROG)
    async with over(desk) as opened:
        try:
            yield opened
        finally:
            desk.may.set()


def desk_of(watched: Watched) -> SlowDesk:
    assert isinstance(watched.desk, SlowDesk)
    return watched.desk


def save(watched: Watched, name: str, text: str) -> None:
    watched.desk.write(name, text)
    watched.events.touch(name)


async def can_be_found(watched: Watched, words: str) -> None:
    for _ in range(4_000):
        if any(words in text for text in await watched.desk.told()):
            return
        await asyncio.sleep(0.005)
    pytest.fail(f"{words} was never found")


async def started(watched: Watched) -> None:
    await watched.hear(SaveReport)
    await watched.hear(WatchStart)


async def test_a_save_can_be_found_while_what_came_before_it_is_woven(
    watched: Watched,
) -> None:
    desk = desk_of(watched)
    async with begun(watched):
        await started(watched)
        desk.halt()
        save(watched, "1.md", GREY.replace("grey", "brown"))
        await desk.is_weaving()
        save(watched, "2.md", FROG.replace("frog", "toad"))
        await can_be_found(watched, "toad")
        assert watched.said.empty()
        desk.may.set()
        first, second = await watched.hear(SaveReport), await watched.hear(SaveReport)
    told = [[one.document for one in s.learned.documents] for s in (first, second)]
    assert told == [["1.md"], ["2.md"]]


async def test_two_saves_of_one_file_each_tell_what_they_changed_and_nothing_twice(
    watched: Watched,
) -> None:
    desk = desk_of(watched)
    async with begun(watched):
        await started(watched)
        desk.halt()
        for eyes in ("brown", "green"):
            save(watched, "1.md", GREY.replace("grey", eyes))
            await desk.is_weaving()
            await can_be_found(watched, eyes)
        desk.may.set()
        saves = [await watched.hear(SaveReport), await watched.hear(SaveReport)]
    shifts = [shift for one in saves for shift in one.learned.facts_changed]
    assert [(one.before, one.after) for one in shifts] == [
        ("grey", "brown"),
        ("brown", "green"),
    ]


async def test_a_name_that_comes_while_others_are_woven_is_told_once(
    watched: Watched,
) -> None:
    desk = desk_of(watched)
    async with begun(watched):
        await started(watched)
        desk.halt()
        save(watched, "1.md", GREY.replace("grey", "brown"))
        await desk.is_weaving()
        save(watched, "2.md", FROG + "\n" + MAGS)
        await can_be_found(watched, "Gannet")
        desk.may.set()
        saves = [await watched.hear(SaveReport), await watched.hear(SaveReport)]
        save(watched, "1.md", GREY)
        saves.append(await watched.hear(SaveReport))
    new = [name for one in saves for name in one.learned.names_new]
    assert new == ["Mrs. Gannet"]
    assert [one.learned.names_gone for one in saves] == [(), (), ()]


async def test_saves_that_come_while_another_is_woven_are_woven_together(
    watched: Watched,
) -> None:
    desk = desk_of(watched)
    async with begun(watched):
        await started(watched)
        desk.halt()
        save(watched, "1.md", GREY.replace("grey", "brown"))
        await desk.is_weaving()
        for name in ("3.md", "4.md"):
            save(watched, name, FROG.replace("frog", f"newt of {name}"))
            await can_be_found(watched, f"newt of {name}")
        desk.may.set()
        saves = [await watched.hear(SaveReport) for _ in range(3)]
    told = [one.document for s in saves for one in s.learned.documents]
    assert told == ["1.md", "3.md", "4.md"]
    assert desk.weavings == 3  # at the start, for the first save, for the others


async def test_what_could_not_be_woven_is_told_when_it_can_be(watched: Watched) -> None:
    canon = watched.desk.folder / "lrwr.canon.toml"
    async with begun(watched):
        await started(watched)
        canon.write_text("no = [", encoding="utf-8")
        save(watched, "1.md", GREY.replace("grey", "brown"))
        await watched.hear(WatchFailure)
        save(watched, "1.md", GREY.replace("grey", "green"))
        await can_be_found(watched, "green")
        canon.unlink()
        save(watched, "2.md", FROG.replace("frog", "toad"))
        saves = [await watched.hear(SaveReport) for _ in range(3)]
    shifts = [shift for one in saves for shift in one.learned.facts_changed]
    assert [shift.after for shift in shifts] == ["brown", "green"]


async def test_what_was_never_woven_is_woven_by_the_next_watch(
    watched: Watched,
) -> None:
    desk = desk_of(watched)
    async with begun(watched):
        await started(watched)
        desk.halt()
        save(watched, "2.md", FROG + "\n" + MAGS)
        await desk.is_weaving()
        await can_be_found(watched, "Gannet")
    desk.may.set()
    assert "Mrs. Gannet" not in await desk.people()
    async with begun(watched):
        await watched.hear(WatchStart)
        assert "Mrs. Gannet" in await desk.people()


async def test_a_save_is_read_while_another_is_shown(watched: Watched) -> None:
    watched.pace = WatchIntervals(debounce=0.001, sweep=3600)
    may, shown = asyncio.Event(), list[WatchEvent]()

    async def show(event: WatchEvent) -> None:
        if isinstance(event, SaveReport) and event.cause is WatchCause.SAVE:
            await may.wait()
        shown.append(event)
        watched.said.put_nowait(event)

    running = asyncio.create_task(watched.service().run(show))
    try:
        await started(watched)
        save(watched, "1.md", GREY.replace("grey", "brown"))
        await can_be_found(watched, "brown")
        save(watched, "2.md", FROG.replace("frog", "toad"))
        await can_be_found(watched, "toad")
        assert len(shown) == 2
        may.set()
        await watched.hear(SaveReport)
        await watched.hear(SaveReport)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
