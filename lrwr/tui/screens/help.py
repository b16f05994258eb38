"""The help screen and the command palette; both list all actions."""

from collections.abc import Collection, Coroutine, Iterator, Mapping
from functools import partial
from itertools import chain, groupby
from typing import Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from lrwr.tui.actions.keys_and_commands import (
    DIGIT_ACTIONS,
    FIXED_ACTIONS,
    HELP_SECTIONS,
    PROMPT_ACTIONS,
    ROOM_ACTIONS,
    SOURCE_ACTIONS,
    TURN_ACTIONS,
    Action,
)
from lrwr.tui.actions.screen_keys import CLOSE_ACTION, SCREEN_ACTIONS
from lrwr.tui.input.keymap import format_key, resolve_keys
from lrwr.tui.key_queue import INTERRUPT_BINDING
from lrwr.tui.room import RoomApp

TRANSCRIPT_SECTION = "Thread (press Tab in an empty prompt)"
SOURCES_SECTION = "Sources (press Tab twice)"
KEYS_HINT = (
    "To change keys, set `keys` under `[screen]` in lrwr.toml:"
    ' keys = ["room.characters ctrl+o", "room.side f12,ctrl+b"]. Type a dot here to see'
    " the names of all actions."
)
MAX_LISTED_KEYS = 4
"""Up to so many keys of one action are listed in full."""
NO_MATCH = "No key or command matches. Change the search or press Esc to close."


class HelpScreen(ModalScreen[None]):
    """Lists all actions with keys and commands; an input filters them.

    A word with a dot is looked for in the ids of actions, which are then shown.

    `keymap` maps action ids to configured keys, separated by commas; other actions have
    their default keys. `words` fill the filter. The sections `first` precede the others.
    """

    DEFAULT_CSS: ClassVar[str] = """
    HelpScreen {
        align: center middle;
    }
    HelpScreen > Vertical {
        width: 90%;
        max-width: 92;
        height: 90%;
        padding: 0 1;
        border: round $primary;
        border-title-color: $primary;
        border-subtitle-color: $text-muted;
        background: $surface;
    }
    HelpScreen Input {
        width: 1fr;
        margin: 1 1;
        background: $panel;
    }
    HelpScreen VerticalScroll {
        height: 1fr;
        padding: 0 0 0 1;
        scrollbar-size-vertical: 1;
    }
    HelpScreen Static {
        height: auto;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        INTERRUPT_BINDING,
        Binding("escape", "close", "Close", id="list.close", priority=True),
        Binding("f1", "close", "Close", show=False, id="room.help", priority=True),
        *(
            Binding(key, f"scroll('{how}')", show=False, id=name, priority=True)
            for key, how, name in (
                ("up", "up", "list.up"),
                ("down", "down", "list.down"),
                ("pageup", "page_up", "list.back"),
                ("pagedown", "page_down", "list.on"),
            )
        ),
    ]

    def __init__(
        self,
        keymap: Mapping[str, str],
        words: str = "",
        first: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._keymap = keymap
        self._words = words
        parts = dict(list_help_parts())
        titles = dict.fromkeys((*first, *parts))
        self._parts = [(title, parts[title]) for title in titles]

    def compose(self) -> ComposeResult:
        """Lay out the search input and the list."""
        with Vertical() as box:
            box.border_title = "Keys and commands"
            close = format_keys(resolve_keys(CLOSE_ACTION, self._keymap))
            box.border_subtitle = f"↑ ↓ scroll · type to search · {close} close"
            yield Input(
                self._words, placeholder="Search keys and commands…", compact=True
            )
            with VerticalScroll(can_focus=False):
                yield Static(self._render_help(self._words))

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        self.query_one(Static).update(self._render_help(event.value))
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_close(self) -> None:
        """Close the help."""
        self.dismiss()

    def action_scroll(self, how: str) -> None:
        """Scroll the list; `how` is "up", "down", "page_up" or "page_down"."""
        pane = self.query_one(VerticalScroll)
        moves = {
            "up": pane.scroll_up,
            "down": pane.scroll_down,
            "page_up": pane.scroll_page_up,
            "page_down": pane.scroll_page_down,
        }
        moves[how](animate=False)

    def _render_help(self, words: str) -> Content:
        """Return the actions that match all of `words`, by section."""
        lines = list(chain(*(self._render_part(*part, words) for part in self._parts)))
        lines = lines or [Content(NO_MATCH)]
        if not words.strip():
            lines += [Content(""), Content.styled(KEYS_HINT, "dim")]
        return Content("\n").join(lines)

    def _render_part(
        self, title: str, actions: tuple[Action, ...], words: str
    ) -> Iterator[Content]:
        matches = [a for a in actions if self._matches(a, title, words)]
        if matches:
            yield Content.styled(title, "bold $secondary")
        for action in matches:
            keys = format_keys(resolve_keys(action, self._keymap))
            slash = (
                f"/{action.slash} {action.argument}".rstrip() if action.slash else ""
            )
            command = f"  {slash}" if slash else ""
            yield Content.assemble((keys.ljust(8), "bold $accent"), command)
            name = f"  {action.id}" if "." in words else ""
            yield Content.assemble(f"  {action.help}", (name, "dim"))
        if matches:
            yield Content("")

    def _matches(self, action: Action, title: str, words: str) -> bool:
        keys = resolve_keys(action, self._keymap)
        names = (*keys, *map(format_key, keys), f"/{action.slash}", action.title)
        text = " ".join((*names, action.help, title)).casefold()
        return all(
            word in (action.id if "." in word else text)
            for word in words.casefold().split()
        )


def format_keys(keys: tuple[str, ...]) -> str:
    """Return keys as shown to the user, separated by commas.

    Of more than `MAX_LISTED_KEYS`, only the first and the last are named.
    """
    if len(keys) > MAX_LISTED_KEYS:
        return f"{format_key(keys[0])} … {format_key(keys[-1])}"
    return ", ".join(map(format_key, keys))


def find_active_sections(screen: Screen[Any]) -> list[str]:
    """Return the titles of the sections of which `screen` has most actions, its own
    before those that it shares with others.
    """
    active = {binding.binding.id for binding in screen.active_bindings.values()}
    titles = [
        title
        for title, actions in list_help_parts()
        if 2 * sum(action.id in active for action in actions) > len(actions)
    ]
    return titles[::-1]


def list_help_parts() -> Iterator[tuple[str, tuple[Action, ...]]]:
    """Yield the title and the actions of each section of the help, in display order."""
    everywhere = (
        *PROMPT_ACTIONS,
        *ROOM_ACTIONS,
        *(action for action in FIXED_ACTIONS if action.section),
    )
    every = sorted(everywhere, key=lambda action: HELP_SECTIONS.index(action.section))
    for section, actions in groupby(every, lambda action: action.section):
        yield section, tuple(actions)
    yield TRANSCRIPT_SECTION, (*TURN_ACTIONS, *DIGIT_ACTIONS[:1])
    yield SOURCES_SECTION, (*SOURCE_ACTIONS, *DIGIT_ACTIONS[1:])
    yield from SCREEN_ACTIONS


THEME_PREFIX = "Theme: "
THEME_HELP = "Choose a colour theme"
_PALETTE_ID = "room.palette"


class RoomCommandProvider(Provider):
    """Provides the command palette with actions and themes."""

    async def discover(self) -> Hits:
        """Yield the chat actions and the choice of a theme, for an empty query."""
        for action in self._actions():
            yield DiscoveryHit(
                self._label(action), self._run(action), action.title, action.help
            )
        yield DiscoveryHit(Content("Theme"), self.app.search_themes, help=THEME_HELP)

    async def search(self, query: str) -> Hits:
        """Yield the chat actions and themes that match `query`.

        Each has a score by which the palette ranks them, the highest first.
        """
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
            if score := matcher.match(f"{THEME_PREFIX}{name}"):
                select_theme = partial(setattr, self.app, "theme", name)
                yield Hit(
                    score, matcher.highlight(f"{THEME_PREFIX}{name}"), select_theme
                )

    def _actions(self) -> Iterator[Action]:
        return (action for action in ROOM_ACTIONS if action.id != _PALETTE_ID)

    def _label(self, action: Action) -> Content:
        """Return the title with its keys and its prompt command."""
        room = cast("RoomApp", self.app)
        keys = ", ".join(map(format_key, resolve_keys(action, room.keymap)))
        slash = f"  /{action.slash}" if action.slash else ""
        return Content.assemble((action.title, "bold"), f"  {keys}", (slash, "dim"))

    def _run(self, action: Action) -> "partial[Coroutine[Any, Any, None]]":
        return partial(self.screen.run_action, action.action)


def create_palette() -> CommandPalette:
    """Return a new command palette, to be pushed over the chat screen."""
    return CommandPalette(
        providers=[RoomCommandProvider], placeholder="Search commands and themes…"
    )
