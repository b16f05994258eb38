"""Reading what is known of the story."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.tui.screens.room import RoomScreen


async def people(screen: "RoomScreen", words: str) -> None:
    """Read what the text says of everybody, or of those that are named."""
    from lrwr.tui.screens.people import PeopleScreen

    await screen.app.push_screen_wait(PeopleScreen(screen, words.strip()))


async def world(screen: "RoomScreen", words: str) -> None:
    """Read of places, things and rules."""
    from lrwr.tui.screens.world import WorldScreen

    await screen.app.push_screen_wait(WorldScreen(screen, words.strip()))


async def timeline(screen: "RoomScreen", words: str) -> None:
    """Read what happens, in story order."""
    from lrwr.tui.screens.timeline import TimelineScreen

    await screen.app.push_screen_wait(TimelineScreen(screen, words.strip()))


async def gaps(screen: "RoomScreen", words: str) -> None:
    """See what is left open, and answer it."""
    del words
    from lrwr.tui.screens.gaps import GapsScreen

    await screen.app.push_screen_wait(GapsScreen(screen))
