"""The command palette: every action, and the themes."""

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from lrwr.tui.actions.table import ROOM_ACTIONS, Action
from lrwr.tui.input.keymap import format_key, resolve_keys
from lrwr.tui.room import RoomApp

THEME = "Theme: "

COLOURS = "Choose the room's colours"

_ITSELF = "room.palette"


class RoomCommandProvider(Provider):
    """Lists all actions with their keys, and themes that match the query."""

    async def discover(self) -> Hits:
        """Yield all actions, in the order of the table."""
        for action in self._actions():
            yield DiscoveryHit(
                self._label(action), self._run(action), action.title, action.help
            )
        yield DiscoveryHit(Content("Theme"), self.app.search_themes, help=COLOURS)

    async def search(self, query: str) -> Hits:
        """Yield actions and themes that match `query`."""
        matcher = self.matcher(query)
        for action in self._actions():
            texts = (action.title, f"/{action.slash}", action.help)
            if score := max(matcher.match(text) for text in texts):
                yield Hit(
                    score,
                    self._label(action),
                    self._run(action),
                    action.title,
                    action.help,
                )
        for name in sorted(self.app.available_themes):
            if score := matcher.match(f"{THEME}{name}"):
                select_theme = partial(setattr, self.app, "theme", name)
                yield Hit(score, matcher.highlight(f"{THEME}{name}"), select_theme)

    def _actions(self) -> Iterator[Action]:
        return (action for action in ROOM_ACTIONS if action.id != _ITSELF)

    def _label(self, action: Action) -> Content:
        """Return the title with its keys and its prompt command."""
        room = cast("RoomApp", self.app)
        keys = ", ".join(map(format_key, resolve_keys(action, room.keymap)))
        slash = f"  /{action.slash}" if action.slash else ""
        return Content.assemble((action.title, "bold"), f"  {keys}", (slash, "dim"))

    def _run(self, action: Action) -> "partial[Coroutine[Any, Any, None]]":
        return partial(self.screen.run_action, action.action)


def create_palette() -> CommandPalette:
    """Return the palette, to be pushed on the chat screen."""
    return CommandPalette(
        providers=[RoomCommandProvider], placeholder="What would you like to do?"
    )
