"""What everything promises that tells what happens in folders."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from lrwr.core.adapters.source.folder_watcher import WatchfilesEventSource
from lrwr.core.ports.sources import (
    FolderEvent,
    FolderEventSource,
    FolderLost,
    PathsChanged,
    PollingStarted,
)
from tests.fakes.folder_events import ScriptedEvents

News = AsyncGenerator[FolderEvent]
PASSED_OVER = (".1.md.swp", "1.md~", "4913", ".#1.md", "~$1.docx", "1.md.tmp", "1.odt")


class Writer:
    """Somebody at work in a folder that is watched."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.folder = folder
        self._script = ScriptedEvents() if kind == "scripted" else None
        poll = "it is far away" if kind == "polling" else ""
        real = WatchfilesEventSource([folder], poll=poll, every=50)
        self.events: FolderEventSource = self._script or real
        self._saves = 0

    def save(self, name: str) -> None:
        self._saves += 1
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x" * self._saves, encoding="utf-8")
        if self._script:
            self._script.touch(str(path))

    def rename(self, name: str, other: str) -> None:
        (self.folder / name).rename(self.folder / other)
        if self._script:
            self._script.touch(str(self.folder / name), str(self.folder / other))

    def lose(self) -> None:
        self.folder.rename(self.folder.with_name("away"))
        if self._script:
            self._script.tell(FolderLost(self.folder))

    def bring_back(self) -> None:
        self.folder.with_name("away").rename(self.folder)

    async def until_heard(self, news: News, name: str) -> set[Path]:
        """Save `name` time and again until it is heard; return all that was."""
        heard: set[Path] = set()
        while self.folder / name not in heard:
            told = asyncio.ensure_future(anext(news))
            while not told.done():
                self.save(name)
                await asyncio.sleep(0.03)
            one = told.result()
            assert not isinstance(one, FolderLost)
            heard |= one.paths if isinstance(one, PathsChanged) else set()
        return heard


@pytest.fixture(params=["system", "polling", "scripted"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Writer:
    (tmp_path / "book").mkdir()
    return Writer(request.param, tmp_path / "book")


async def until_lost(news: News) -> list[FolderEvent]:
    return [one async for one in news]


async def heard(news: News, path: Path) -> None:
    """Wait until this path is among those that are told."""
    while True:
        one = await anext(news)
        if isinstance(one, PathsChanged) and path in one.paths:
            return


async def test_a_save_is_heard_and_the_next_one_too(writer: Writer) -> None:
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "1.md")
        await writer.until_heard(news, "part/2.docx")


async def test_the_new_name_of_a_file_is_heard(writer: Writer) -> None:
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "1.md")
        writer.rename("1.md", "2.md")
        await heard(news, writer.folder / "2.md")


async def test_what_no_manuscript_is_called_is_never_told(writer: Writer) -> None:
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "1.md")
        for name in PASSED_OVER:
            writer.save(name)
        told = await writer.until_heard(news, "last.md")
    folder = writer.folder
    assert told <= {folder, folder / "1.md", folder / "last.md"}


async def test_a_lost_folder_is_told_last_and_once(writer: Writer) -> None:
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "1.md")
        writer.lose()
        *before, last = await until_lost(news)
        assert last == FolderLost(writer.folder)
        assert not any(isinstance(one, FolderLost) for one in before)


async def test_after_a_loss_it_may_be_asked_again(writer: Writer) -> None:
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "1.md")
        writer.lose()
        await until_lost(news)
    writer.bring_back()
    async with aclosing(writer.events.events()) as news:
        await writer.until_heard(news, "2.md")


async def test_closing_it_ends_the_watching(writer: Writer) -> None:
    news = writer.events.events()
    await writer.until_heard(news, "1.md")
    await news.aclose()
    await news.aclose()
    writer.save("2.md")
    assert await until_lost(news) == []


async def test_one_who_waits_for_news_may_be_stopped(writer: Writer) -> None:
    news = writer.events.events()
    await writer.until_heard(news, "1.md")
    waiting = asyncio.create_task(until_lost(news))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await news.aclose()


async def test_that_it_is_looked_for_is_told_before_anything_else(
    tmp_path: Path,
) -> None:
    async with aclosing(WatchfilesEventSource([tmp_path], poll="far").events()) as news:
        assert await anext(news) == PollingStarted("far")
