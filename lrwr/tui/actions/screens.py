"""Open the other screens: help, palette, story, library and settings."""

from lrwr.tui.palette import create_palette
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.gaps import GapsScreen
from lrwr.tui.screens.help import HelpScreen
from lrwr.tui.screens.library import LibraryScreen
from lrwr.tui.screens.settings import SettingsScreen
from lrwr.tui.screens.story import PeopleScreen, TimelineScreen, WorldScreen


async def show_help(screen: RoomScreen, words: str) -> None:
    """Show all keys and commands, filtered by `words`."""
    await screen.app.push_screen_wait(HelpScreen(screen.room.keymap, words))


async def open_palette(screen: RoomScreen, words: str) -> None:
    """Open the command palette."""
    del words
    screen.app.push_screen(create_palette())


async def open_library_screen(screen: RoomScreen, words: str) -> None:
    """Show what was ingested and which jobs there are; ingest again from there."""
    del words
    library = LibraryScreen(screen.room.service_thread, screen.ingest_notices)
    if await screen.app.push_screen_wait(library):
        screen.load()


async def open_settings_screen(screen: RoomScreen, words: str) -> None:
    """Show every setting, its value, and its source."""
    await screen.app.push_screen_wait(
        SettingsScreen(screen.room.settings, words.strip())
    )


async def open_people_screen(screen: RoomScreen, words: str) -> None:
    """Show the profiles of all characters, or of those that match `words`."""
    await screen.app.push_screen_wait(PeopleScreen(screen, words.strip()))


async def open_world_screen(screen: RoomScreen, words: str) -> None:
    """Show places, things and rules."""
    await screen.app.push_screen_wait(WorldScreen(screen, words.strip()))


async def open_timeline_screen(screen: RoomScreen, words: str) -> None:
    """Show what happens, in story order."""
    await screen.app.push_screen_wait(TimelineScreen(screen, words.strip()))


async def open_gaps_screen(screen: RoomScreen, words: str) -> None:
    """Show the open gaps, to be answered."""
    del words
    await screen.app.push_screen_wait(GapsScreen(screen))
