"""The writing room: one app, its colours and its keys."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from lrwr.core.settings.model import Settings
from lrwr.tui.actions.table import ROOM_ACTIONS
from lrwr.tui.input.keymap import (
    enable_alt_enter_key,
    enable_alt_number_keys,
    parse_keymap,
)
from lrwr.tui.room import CrashReporter, RoomApp
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.themes import build_themes, resolve_theme

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread


class WritingRoom(RoomApp, inherit_bindings=False):
    """Shows the chat screen in the configured theme and with the configured keys."""

    TITLE = "lrwr"
    CSS_PATH = "room.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in ROOM_ACTIONS if action.id == "room.quit"),
        Binding("ctrl+c", "help_quit", show=False, system=True),
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
        """Show the chat screen, and warn of settings that cannot be used."""
        if self.settings.screen.keys:
            self._apply_keymap()
        self.push_screen(ChatScreen(self._options))
        for problem in self._problems:
            self.notify(problem, severity="warning", markup=False)

    def refresh_css(self, animate: bool = True) -> None:
        """Parse the styles again, unless they were parsed with the same colours."""
        if self._parsed_colours == self._current_colours():
            self.stylesheet.update(self, animate=animate)
        else:
            self._parsed_colours = self._current_colours()
            super().refresh_css(animate)

    def _current_colours(self) -> dict[str, str]:
        return self.get_css_variables()

    def _apply_keymap(self) -> None:
        """Bind the writer's own keys."""
        self.keymap, problems = parse_keymap(self.settings.screen.keys)
        self.set_keymap(self.keymap)
        self._problems = [*problems, *self._problems]

    def _apply_theme(self) -> Iterator[str]:
        """Set the configured theme before anything is drawn; yield what is wrong."""
        for theme in build_themes():
            self.register_theme(theme)
        name = resolve_theme(self.settings.screen.theme, os.environ)
        if name in self.available_themes:
            self.theme = name
            return
        self.theme = resolve_theme("auto", os.environ)
        yield f"There is no theme “{name}”."
