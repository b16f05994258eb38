"""Which function does what: looked up when it is wanted, so that nothing loads early."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from lrwr.tui.screens.room import RoomScreen

Deed = Callable[["RoomScreen", str], Awaitable[None]]
"""Does something for the screen; the text is what the writer said beside it."""

_MODULES = {
    "help": "helping",
    "palette": "helping",
    "characters": "choosing",
    "horizon": "choosing",
    "mode": "choosing",
    "witnessed": "choosing",
    "threads": "keeping",
    "new": "keeping",
    "rename": "keeping",
    "export": "keeping",
    "gaps": "reading",
    "people": "reading",
    "world": "reading",
    "timeline": "reading",
    "library": "tending",
    "watch": "tending",
    "settings": "tending",
    "copy": "citing",
    "open": "citing",
}


def deed_called(name: str) -> Deed:
    """Return what does the action of that name."""
    module = import_module(f"lrwr.tui.doing.{_MODULES[name]}")
    return cast("Deed", getattr(module, name))
