"""Types searches letter by letter and opens chapters in the chat screen; prints CPU
milliseconds as JSON.

Works on the library in the working directory. `key` is the CPU time of all threads from a
key until nothing is left to do, `chapter` that from the command until the reader shows a
chapter, and `marks` that until who is present and the findings of `check` are shown, too.
The first opening, in which more is read, is left out.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from statistics import quantiles

from lrwr.app.container import open_workspace
from lrwr.cli.runtime.failures import report_crash
from lrwr.core.settings.loader import load_settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.reader import ReaderScreen
from lrwr.tui.screens.search import SearchScreen
from lrwr.tui.service_thread import ServiceThread
from tests.fakes.room import WIDE, Room

TYPED = ("the old house", "letter from her father", "a storm at sea")
PAUSE = 0.15
"""Seconds between two looks, more than the delay of a search."""

CHAPTERS = 30
"""Chapters that are opened, at equal distances in the order of their names."""


async def _main() -> None:
    folder = Path.cwd()
    env = {**os.environ, "LRWR_EMBEDDING_MODEL": "off"}
    settings = load_settings(folder, env, {})
    async with ServiceThread(lambda: open_workspace(settings)) as stage:
        app = WritingRoom(stage, settings, ChatOptions(), report_crash)
        async with app.run_test(size=WIDE) as pilot:
            room = Room(pilot, app, stage)
            await room.settle()
            keys = await _type(room)
            chapters, marks = await _open_chapters(room, folder)
    told = {"key": keys, "chapter": chapters, "marks": marks}
    print(json.dumps({name: _describe(cpus) for name, cpus in told.items()}))


async def _type(room: Room) -> list[float]:
    """Return the cost of each key of `TYPED`."""
    cpus = []
    for words in TYPED:
        room.screen.action_do("search")
        await room.settle()
        assert isinstance(room.app.screen, SearchScreen)
        for key in words:
            began = time.process_time()
            await room.app._press_keys(["space" if key == " " else key])
            await _rest(room)
            cpus.append(1000 * (time.process_time() - began))
        await room.press("escape")
    return cpus


async def _open_chapters(room: Room, folder: Path) -> tuple[list[float], list[float]]:
    """Return the costs of showing each chapter, without and with its marks."""
    chapters, marks = [], []
    for name in _choose_chapters(folder):
        began = time.process_time()
        room.screen.action_do("reader", f"{name}:1")
        await _wait_for_text(room)
        chapters.append(1000 * (time.process_time() - began))
        await _rest(room)
        marks.append(1000 * (time.process_time() - began))
        await room.app._press_keys(["escape"])
        await _rest(room)
    return chapters[1:], marks[1:]


def _choose_chapters(folder: Path) -> list[str]:
    """Return the names of some chapters, relative to `folder`."""
    paths = sorted(folder.rglob("*.md"))
    step = max(1, len(paths) // CHAPTERS)
    return [path.relative_to(folder).as_posix() for path in paths[::step]]


async def _wait_for_text(room: Room) -> None:
    """Wait until the reader has drawn its text."""
    while not isinstance(room.app.screen, ReaderScreen) or room.app.screen.is_loading:
        await _pause(0.01)
    drawn = asyncio.Event()
    room.app.screen.call_after_refresh(drawn.set)
    await drawn.wait()


async def _rest(room: Room) -> None:
    """Wait until nothing is under way. Looks seldom: each look costs something, too."""
    await _pause(PAUSE)
    while room._is_busy:
        await _pause(PAUSE)


async def _pause(seconds: float) -> None:
    await asyncio.sleep(seconds)


def _describe(cpus: list[float]) -> dict[str, float]:
    shares = quantiles(cpus, n=100, method="inclusive")
    return {"p50": shares[49], "p95": shares[94], "most": max(cpus)}


if __name__ == "__main__":
    asyncio.run(_main())
