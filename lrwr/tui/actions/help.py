"""Finding out what can be done."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen


async def show_help(screen: "ChatScreen", words: str) -> None:
    """Show everything that can be done; `words` are looked for in it."""
    from lrwr.tui.screens.help import HelpScreen

    await screen.app.push_screen_wait(HelpScreen(screen.room.keymap, words))


async def open_palette(screen: "ChatScreen", words: str) -> None:  # noqa: ARG001
    """Open the command palette."""
    from lrwr.tui.palette import create_palette

    screen.app.push_screen(create_palette())
