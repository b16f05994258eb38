"""Which function does what: looked up when it is wanted, so that nothing loads early."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import RoomScreen

Deed = Callable[["RoomScreen", str], Awaitable[None]]
"""Does something for the screen; the text is what the writer said beside it."""

_MODULES = {
    "help": "help",
    "palette": "help",
    "characters": "scope",
    "horizon": "scope",
    "mode": "scope",
    "witnessed": "scope",
    "threads": "threads",
    "new": "threads",
    "rename": "threads",
    "export": "threads",
    "gaps": "library",
    "people": "library",
    "world": "library",
    "timeline": "library",
    "library": "library",
    "watch": "library",
    "settings": "library",
    "copy": "citations",
    "open": "citations",
}


def deed_called(name: str) -> Deed:
    """Return what does the action of that name."""
    module = import_module(f"lrwr.tui.actions.{_MODULES[name]}")
    return cast("Deed", getattr(module, name))
