"""Which function does what: looked up when it is wanted, so that nothing loads early."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen

ActionHandler = Callable[["ChatScreen", str], Awaitable[None]]
"""Does something for the screen; the text is what the writer said beside it."""

_HANDLERS = {
    "help": ("help", "show_help"),
    "palette": ("help", "open_palette"),
    "characters": ("scope", "choose_character"),
    "horizon": ("scope", "choose_horizon"),
    "mode": ("scope", "switch_mode"),
    "witnessed": ("scope", "toggle_witnessed"),
    "threads": ("threads", "choose_thread"),
    "new": ("threads", "start_thread"),
    "rename": ("threads", "rename_thread"),
    "export": ("threads", "export_thread"),
    "gaps": ("library", "open_gaps_screen"),
    "people": ("library", "open_people_screen"),
    "world": ("library", "open_world_screen"),
    "timeline": ("library", "open_timeline_screen"),
    "library": ("library", "open_library_screen"),
    "watch": ("library", "toggle_watch"),
    "settings": ("library", "open_settings_screen"),
    "copy": ("citations", "copy_answer"),
    "open": ("citations", "open_cited_passage"),
}
"""Module and function of each action."""


def find_action_handler(name: str) -> ActionHandler:
    """Return what does the action of that name."""
    module, function = _HANDLERS[name]
    handlers = import_module(f"lrwr.tui.actions.{module}")
    return cast("ActionHandler", getattr(handlers, function))
