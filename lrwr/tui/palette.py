"""The command palette: everything that can be done, found by a few letters."""

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from lrwr.tui.actions.table import ROOM_ACTIONS, Action
from lrwr.tui.input.keymap import format_key, resolve_keys

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen

THEME = "Theme: "

COLOURS = "Choose the room's colours"

_ITSELF = "room.palette"


class RoomCommandProvider(Provider):
    """What the room can do, each with its key; and themes once one looks for them."""

    async def discover(self) -> Hits:
        """Yield all that can be done, in the order of the table."""
        for action in self._actions():
            yield DiscoveryHit(
                self._told(action), self._doing(action), action.title, action.help
            )
        yield DiscoveryHit(Content("Theme"), self.app.search_themes, help=COLOURS)

    async def search(self, query: str) -> Hits:
        """Yield what is called so or does so, and themes of that name."""
        matcher = self.matcher(query)
        for action in self._actions():
            texts = (action.title, f"/{action.slash}", action.help)
            if score := max(matcher.match(text) for text in texts):
                yield Hit(
                    score,
                    self._told(action),
                    self._doing(action),
                    action.title,
                    action.help,
                )
        for name in sorted(self.app.available_themes):
            if score := matcher.match(f"{THEME}{name}"):
                dress = partial(setattr, self.app, "theme", name)
                yield Hit(score, matcher.highlight(f"{THEME}{name}"), dress)

    def _actions(self) -> Iterator[Action]:
        return (action for action in ROOM_ACTIONS if action.id != _ITSELF)

    def _told(self, action: Action) -> Content:
        """Return a title with its keys, and the command that does the same."""
        room = cast("ChatScreen", self.screen).room
        keys = ", ".join(map(format_key, resolve_keys(action, room.keymap)))
        slash = f"  /{action.slash}" if action.slash else ""
        return Content.assemble((action.title, "bold"), f"  {keys}", (slash, "dim"))

    def _doing(self, action: Action) -> "partial[Coroutine[Any, Any, None]]":
        return partial(self.screen.run_action, action.does)


def create_palette() -> CommandPalette:
    """Return the palette, to be shown on the room's screen."""
    return CommandPalette(
        providers=[RoomCommandProvider], placeholder="What would you like to do?"
    )
