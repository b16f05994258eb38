"""The writing room: one app, its colours and its keys."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.model import Settings
from lrwr.tui.actions.table import ROOM_ACTIONS
from lrwr.tui.input.keyboard import enable_alt_enter_key, enable_alt_number_keys
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.chat import ChatScreen
from lrwr.tui.themes import build_themes, resolve_theme

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread

CrashReporter = Callable[[Exception], LrwrError]
"""Makes of an error that nobody foresaw what a writer is told."""


class WritingRoom(App[None], inherit_bindings=False):
    """Shows the conversation; whatever takes time happens on `stage`."""

    TITLE = "lrwr"
    CSS_PATH = "room.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in ROOM_ACTIONS if action.id == "room.quit"),
        Binding("ctrl+c", "help_quit", show=False, system=True),
    ]
    ENABLE_COMMAND_PALETTE = False  # the room has its own, with keys of its own

    def __init__(
        self,
        stage: "ServiceThread[Workspace]",
        settings: Settings,
        opening: ChatOptions,
        fault: CrashReporter,
    ) -> None:
        super().__init__()
        enable_alt_number_keys()
        enable_alt_enter_key()
        self.stage = stage
        self.settings = settings
        self.fault = fault
        self.keymap: Mapping[str, str] = {}
        self._opening = opening
        self._problems = list(self._dress())
        self._read_so = self._colours()
        self.stylesheet.set_variables(self._read_so)

    def on_mount(self) -> None:
        """Show the conversation, and what is wrong with the room's settings."""
        if self.settings.screen.keys:
            self._take_keys()
        self.push_screen(ChatScreen(self._opening))
        for problem in self._problems:
            self.notify(problem, severity="warning", markup=False)

    def refresh_css(self, animate: bool = True) -> None:
        """Read the styles anew, unless they were read in these colours."""
        if self._read_so == self._colours():
            self.stylesheet.update(self, animate=animate)
        else:
            self._read_so = self._colours()
            super().refresh_css(animate)

    def _colours(self) -> dict[str, str]:
        return self.get_css_variables()

    def _take_keys(self) -> None:
        """Do what is done with the writer's own keys."""
        from lrwr.tui.input.keymap import parse_keymap

        self.keymap, problems = parse_keymap(self.settings.screen.keys)
        self.set_keymap(self.keymap)
        self._problems = [*problems, *self._problems]

    def _dress(self) -> Iterator[str]:
        """Put on the theme that is set, before anything is drawn in another."""
        for theme in build_themes():
            self.register_theme(theme)
        wanted = resolve_theme(self.settings.screen.theme, os.environ)
        if wanted in self.available_themes:
            self.theme = wanted
            return
        self.theme = resolve_theme("auto", os.environ)
        yield f"There is no theme “{wanted}”."

    def told(self, error: Exception) -> LrwrError:
        """Return what the writer is told of an error, foreseen or not."""
        return error if isinstance(error, LrwrError) else self.fault(error)
