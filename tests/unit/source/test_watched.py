"""Real folders, watched with what the system offers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from lrwr.core.adapters.source.folder_watcher import WatchfilesEventSource
from lrwr.core.ports.sources import (
    FolderEvent,
    FolderLost,
    PathsChanged,
    PollingStarted,
)

Said = asyncio.Queue[FolderEvent]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    return tmp_path / "book"


@asynccontextmanager
async def watching(*targets: Path) -> AsyncIterator[Said]:
    """Watch, and wait until something is heard."""
    said: Said = asyncio.Queue()
    listening = asyncio.create_task(
        listen(WatchfilesEventSource(targets).events(), said)
    )
    sign = targets[0].parent if targets[0].is_file() else targets[0]
    probe = targets[0] if targets[0].is_file() else sign / "probe.md"
    while said.empty():
        probe.write_text("probe", encoding="utf-8")
        await asyncio.sleep(0.02)
    yield said
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def listen(news: AsyncGenerator[FolderEvent], said: Said) -> None:
    async with aclosing(news) as opened:
        async for one in opened:
            said.put_nowait(one)


def move_away(book: Path, *, again: bool) -> None:
    book.rename(book.with_name("away"))
    if again:
        book.mkdir()


async def touched(said: Said, wanted: Path) -> set[str]:
    """Return the names of all that is touched, until this is."""
    names: set[str] = set()
    while wanted.name not in names:
        news = await said.get()
        assert isinstance(news, PathsChanged)
        names |= {path.name for path in news.paths}
    return names


async def test_a_save_is_heard(book: Path) -> None:
    async with watching(book) as said:
        (book / "1.md").write_text("one", encoding="utf-8")
        await touched(said, book / "1.md")


async def test_what_editors_keep_beside_a_file_is_not_heard(book: Path) -> None:
    (book / ".git").mkdir()
    async with watching(book) as said:
        for name in (
            ".1.md.swp", "1.md~", "4913", ".#1.md", "#1.md#", "~$1.docx",
            ".~lock.1.docx#", "1.md.tmp", ".git/index.md", "1.odt",
        ):  # fmt: skip
            (book / name).write_text("x", encoding="utf-8")
        (book / "last.md").write_text("x", encoding="utf-8")
        names = await touched(said, book / "last.md")
    assert names <= {"last.md", "probe.md", "book"}


async def test_a_file_put_in_the_place_of_another_is_heard(book: Path) -> None:
    (book / "1.md").write_text("one", encoding="utf-8")
    async with watching(book) as said:
        (book / ".1.md.tmp").write_text("two", encoding="utf-8")
        (book / ".1.md.tmp").replace(book / "1.md")
        await touched(said, book / "1.md")


async def test_a_folder_that_is_moved_is_heard(book: Path) -> None:
    (book / "part").mkdir()
    (book / "part/1.md").write_text("one", encoding="utf-8")
    async with watching(book) as said:
        (book / "part").rename(book / "volume")
        await touched(said, book / "volume")


async def test_of_one_file_only_that_file_is_heard(book: Path) -> None:
    one = book / "1.md"
    one.write_text("one", encoding="utf-8")
    async with watching(one) as said:
        (book / "2.md").write_text("two", encoding="utf-8")
        fresh = book / "fresh.md"
        fresh.write_text("three", encoding="utf-8")
        fresh.replace(one)
        assert await touched(said, one) == {"1.md"}


@pytest.mark.parametrize("again", [False, True])
async def test_a_folder_that_is_gone_or_another_is_lost(
    book: Path, again: bool
) -> None:
    async with watching(book) as said:
        move_away(book, again=again)
        while isinstance(news := await said.get(), PathsChanged):
            pass
        assert news == FolderLost(book)


async def test_a_folder_that_is_not_there_is_lost_at_once(tmp_path: Path) -> None:
    news = [one async for one in WatchfilesEventSource([tmp_path / "none"]).events()]
    assert news == [FolderLost(tmp_path / "none")]


async def test_polling_is_said_and_hears_too(book: Path) -> None:
    said: Said = asyncio.Queue()
    folders = WatchfilesEventSource([book], poll="it is far away")
    listening = asyncio.create_task(listen(folders.events(), said))
    assert await said.get() == PollingStarted("it is far away")
    number = 0
    while said.empty():
        number += 1
        (book / "1.md").write_text("x" * number, encoding="utf-8")
        await asyncio.sleep(0.1)
    assert isinstance(await said.get(), PathsChanged)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
