"""Finding out what can be done."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import RoomScreen


async def help(screen: "RoomScreen", words: str) -> None:  # noqa: A001 - its name
    """Show everything that can be done; `words` are looked for in it."""
    from lrwr.tui.screens.help import HelpScreen

    await screen.app.push_screen_wait(HelpScreen(screen.room.keymap, words))


async def palette(screen: "RoomScreen", words: str) -> None:  # noqa: ARG001
    """Open the command palette."""
    from lrwr.tui.palette import room_palette

    screen.app.push_screen(room_palette())
