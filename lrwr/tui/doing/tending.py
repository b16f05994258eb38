"""Tending the library: what was read, reading again, watching, and what is set."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.tui.screens.room import RoomScreen


async def library(screen: "RoomScreen", words: str) -> None:
    """Show what was read and what work there is; read again from there."""
    from lrwr.tui.screens.library import LibraryScreen

    del words
    changed = await screen.app.push_screen_wait(
        LibraryScreen(screen.room.stage, screen.learned)
    )
    if changed:
        screen.load()


async def watch(screen: "RoomScreen", words: str) -> None:
    """Begin to read each save, or stop that; `on` and `off` say which."""
    wanted = {"on": True, "off": False}.get(words.strip().lower())
    screen.watch_manuscript(on=wanted)


async def settings(screen: "RoomScreen", words: str) -> None:
    """Show every setting, its value, and where that came from."""
    from lrwr.tui.screens.settings import SettingsScreen

    await screen.app.push_screen_wait(
        SettingsScreen(screen.room.settings, words.strip())
    )
