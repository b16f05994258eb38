"""The writing room's Textual application, and its colour themes."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme

from lrwr.core.settings.library import resolve_library
from lrwr.core.settings.model import Settings
from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS
from lrwr.tui.input.keymap import (
    enable_alt_enter_key,
    enable_alt_number_keys,
    format_key,
    parse_keymap,
    resolve_keys,
)
from lrwr.tui.key_queue import LoadingScreen
from lrwr.tui.room import CrashReporter, RoomApp, RoomScreen, store_unsent_question
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.widgets.prompt import PromptInputArea

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread

DARK, LIGHT = "little-red-dark", "little-red-light"

WHAT_STAYS = "What has been read stays in the library."
"""Said before an ingestion is stopped."""

PROBLEM_SECONDS = 20.0
"""How long a message about an invalid setting stays on the screen."""


def build_themes() -> tuple[Theme, ...]:
    """Return the colour themes of lrwr: the dark one, then the light one."""
    return (
        Theme(
            name=DARK,
            dark=True,
            primary="#e0675c",
            secondary="#d9a766",
            accent="#e8b04a",
            foreground="#e9e2d8",
            background="#1b1714",
            surface="#231e1a",
            panel="#2d2621",
            success="#8fb573",
            warning="#e0a44f",
            error="#ee6a5f",
            variables=_bars("#231e1a", "#51443a", "#6b5a4d", "#e0675c"),
        ),
        Theme(
            name=LIGHT,
            dark=False,
            primary="#a8322a",
            secondary="#8a5a1e",
            accent="#9a4a12",
            foreground="#2b2420",
            background="#faf6ee",
            surface="#f3ecdf",
            panel="#e8dfce",
            success="#4b7a34",
            warning="#92600f",
            error="#b3261e",
            variables=_bars("#f3ecdf", "#cfc1aa", "#b9a88c", "#a8322a"),
        ),
    )


def _bars(ground: str, bar: str, touched: str, grabbed: str) -> dict[str, str]:
    """Return scroll bar colours: muted, brighter when hovered or dragged."""
    return {
        "scrollbar": bar,
        "scrollbar-hover": touched,
        "scrollbar-active": grabbed,
        "scrollbar-background": ground,
        "scrollbar-background-hover": ground,
        "scrollbar-background-active": ground,
        "scrollbar-corner-color": ground,
    }


def resolve_theme(name: str, env: Mapping[str, str]) -> str:
    """Return the name of the theme that `name`, the `[screen] theme` setting, selects.

    `light` and `dark` select lrwr's own themes. `auto` selects the light one if the
    variable COLORFGBG in `env` has the background colour 7 or 15, else the dark one.
    Any other name is returned unchanged.
    """
    if name == "light":
        return LIGHT
    if name == "dark":
        return DARK
    if name != "auto":
        return name
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in {"7", "15"} else DARK


class WritingRoom(RoomApp, inherit_bindings=False):
    """The terminal application: applies settings, and shows the chat screen.

    Slow work runs on `service_thread`. `options` are the command-line options of the
    chat. `report_crash` turns an unexpected error into one that can be shown.
    """

    TITLE = "lrwr"
    CSS_PATH = "room.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in ROOM_ACTIONS if action.id == "room.quit"),
        Binding("ctrl+c", "interrupt", show=False, system=True),
    ]
    ENABLE_COMMAND_PALETTE = False  # the room has its own, with keys of its own

    def __init__(
        self,
        service_thread: "ServiceThread[Workspace]",
        settings: Settings,
        options: ChatOptions,
        report_crash: CrashReporter,
    ) -> None:
        super().__init__(service_thread, settings, report_crash)
        enable_alt_number_keys()
        enable_alt_enter_key()
        self._options = options
        self._problems = list(self._apply_theme())
        self._parsed_colours = self._current_colours()
        self.stylesheet.set_variables(self._parsed_colours)

    def on_mount(self) -> None:
        """Apply the settings of keys, and warn about invalid settings."""
        if self.settings.screen.keys:
            self._apply_keymap()
        for problem in self._problems:
            self.notify(
                problem, severity="warning", markup=False, timeout=PROBLEM_SECONDS
            )

        self.theme_changed_signal.subscribe(self, self._explain_theme)

    def _explain_theme(self, theme: Theme) -> None:
        """Say how to keep a theme that was chosen in the command palette."""
        setting = {DARK: "dark", LIGHT: "light"}.get(theme.name, theme.name)
        self.notify(
            f'To keep this theme, write theme = "{setting}" under [screen] in lrwr.toml.',
            markup=False,
        )

    def get_default_screen(self) -> Screen[None]:
        """Return the screen to begin with: the chat.

        Over Textual's own empty screen it would be laid out twice before the first frame.
        """
        return ChatScreen(self._options)

    def get_key_display(self, binding: Binding) -> str:
        """Return the name of a binding's key for the footer, as the help writes it."""
        return format_key(binding.key)

    def action_interrupt(self) -> None:
        """Stop a running ingestion if pressed twice; else say which key closes lrwr."""
        screen = self.ingesting_screen
        if screen is None:
            self.notify(f"{self._quit_key} closes lrwr.", markup=False)
        elif self.confirm_key(
            "interrupt", f"Press Ctrl+C again to stop reading. {WHAT_STAYS}"
        ):
            screen.action_do("stop_ingestion")

    async def action_quit(self) -> None:
        """Close lrwr; while an ingestion runs, only if pressed twice.

        A question that is not sent is stored for the next start; where that is not
        possible, the key must be pressed twice, too.
        """
        for shown in self.screen_stack:
            if isinstance(shown, LoadingScreen):
                await shown.leave()
        screen = self.ingesting_screen
        if screen is None:
            question = self._unsent_question
            if not question:
                self.exit()
            elif store_unsent_question(resolve_library(self.settings), question):
                self.exit(message="Your question is kept for the next `lrwr chat`.")
            elif self.confirm_key(
                "quit",
                f"Your question is not sent. Press {self._quit_key} again to close lrwr"
                " without it.",
            ):
                self.exit()
        elif self.confirm_key(
            "quit",
            f"lrwr is still reading. Press {self._quit_key} again to stop reading and"
            f" close lrwr. {WHAT_STAYS}",
        ):
            self.exit(
                message=f"Stopped reading. {screen.ingestion.stored} To go on, run"
                " `lrwr ingest`."
            )

    def action_help(self) -> None:
        """Show all keys and commands, first those of the present screen."""
        for screen in self.screen_stack:
            if isinstance(screen, RoomScreen):
                screen.action_do("help")

    @property
    def _unsent_question(self) -> str:
        """The text of the prompt; empty if it is a command."""
        prompts = self.screen_stack[0].query(PromptInputArea)
        texts = [prompt.text.strip() for prompt in prompts]
        return next((text for text in texts if not text.startswith("/")), "")

    @property
    def _quit_key(self) -> str:
        """The key that closes lrwr, as shown to the user."""
        action = next(action for action in ROOM_ACTIONS if action.id == "room.quit")
        return format_key(resolve_keys(action, self.keymap)[0])

    def refresh_css(self, animate: bool = True) -> None:
        """Update styles; parse the stylesheet again only if theme colours changed."""
        if self._parsed_colours == self._current_colours():
            self.stylesheet.update(self, animate=animate)
        else:
            self._parsed_colours = self._current_colours()
            super().refresh_css(animate)

    def _current_colours(self) -> dict[str, str]:
        return self.get_css_variables()

    def _apply_keymap(self) -> None:
        """Apply the key bindings of the `[screen] keys` setting."""
        self.keymap, problems = parse_keymap(self.settings.screen.keys)
        self.set_keymap(self.keymap)
        self._problems = [*problems, *self._problems]

    def _apply_theme(self) -> Iterator[str]:
        """Set the configured theme before the first frame; yield a warning if unknown."""
        for theme in build_themes():
            self.register_theme(theme)
        name = resolve_theme(self.settings.screen.theme, os.environ)
        if name in self.available_themes:
            self.theme = name
            return
        self.theme = resolve_theme("auto", os.environ)
        yield (
            f"There is no theme “{name}”. Set `theme` under `[screen]` to dark, light"
            " or auto."
        )
