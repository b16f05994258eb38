"""Tending the library: what was read, reading again, watching, and what is set."""

from contextlib import aclosing
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.widgets.split_view import SplitView
from lrwr.tui.widgets.status import StatusLine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from lrwr.app.container import Workspace
    from lrwr.app.watch import SaveEvent
    from lrwr.tui.screens.chat import ChatScreen

WATCH = "watch"
"""The group of what reads saves: it goes on until it is stopped."""
NOTICE_SECONDS = 8.0
"""Seconds for which a line stays that tells what a save brought."""


async def open_library_screen(screen: "ChatScreen", words: str) -> None:
    """Show what was read and what work there is; read again from there."""
    from lrwr.tui.screens.library import LibraryScreen

    del words
    changed = await screen.app.push_screen_wait(
        LibraryScreen(screen.room.stage, screen.learned)
    )
    if changed:
        screen.load()


async def toggle_watch(screen: "ChatScreen", words: str) -> None:
    """Begin to read each save, or stop that; `on` and `off` say which."""
    wanted = {"on": True, "off": False}.get(words.strip().lower())
    watching = any(w.group == WATCH and w.is_running for w in screen.workers)
    if watching and not wanted:
        screen.workers.cancel_group(screen, WATCH)
        screen.query_one(StatusLine).say(index="")
        screen.notify("Saves are not read any more.")
    elif not watching and wanted is not False:
        screen.run_worker(_saves(screen), group=WATCH, exit_on_error=False)


async def _stream_saves(workspace: "Workspace") -> "AsyncGenerator[SaveEvent, None]":
    from lrwr.app.watch import stream_saves  # slow to import: in the service thread

    async with aclosing(stream_saves(workspace)) as events:
        async for event in events:
            yield event


async def _saves(screen: "ChatScreen") -> None:
    """Show what each save brings, until it is stopped."""
    from lrwr.app.presenters.watch import describe_watch_event

    status = screen.query_one(StatusLine)
    status.say(index="reading what changed …")
    saves = screen.room.stage.follow(_stream_saves)
    try:
        async with aclosing(saves) as events:
            async for event in events:
                _learn(screen, *describe_watch_event(event))
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        screen.tell(error)
        status.say(index="")


def _learn(screen: "ChatScreen", line: str, short: str) -> None:
    """Say what a save brought: `line` in full, `short` in the status line."""
    if line:
        screen.learned.append(line)
        screen.notify(sanitize_text(line), markup=False, timeout=NOTICE_SECONDS)
        screen.query_one(SplitView).sources.look_again()
    if short:
        screen.query_one(StatusLine).fresh(short)


async def open_settings_screen(screen: "ChatScreen", words: str) -> None:
    """Show every setting, its value, and where that came from."""
    from lrwr.tui.screens.settings import SettingsScreen

    await screen.app.push_screen_wait(
        SettingsScreen(screen.room.settings, words.strip())
    )


async def open_people_screen(screen: "ChatScreen", words: str) -> None:
    """Read what the text says of everybody, or of those that are named."""
    from lrwr.tui.screens.people import PeopleScreen

    await screen.app.push_screen_wait(PeopleScreen(screen, words.strip()))


async def open_world_screen(screen: "ChatScreen", words: str) -> None:
    """Read of places, things and rules."""
    from lrwr.tui.screens.world import WorldScreen

    await screen.app.push_screen_wait(WorldScreen(screen, words.strip()))


async def open_timeline_screen(screen: "ChatScreen", words: str) -> None:
    """Read what happens, in story order."""
    from lrwr.tui.screens.timeline import TimelineScreen

    await screen.app.push_screen_wait(TimelineScreen(screen, words.strip()))


async def open_gaps_screen(screen: "ChatScreen", words: str) -> None:
    """See what is left open, and answer it."""
    del words
    from lrwr.tui.screens.gaps import GapsScreen

    await screen.app.push_screen_wait(GapsScreen(screen))
