"""Keys that are typed before the screen for which they are meant can handle them."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker

RETRY_SECONDS = 0.02
"""Seconds between two checks whether the screen is ready for the keys that wait."""
URGENT_KEYS = frozenset({"escape", "ctrl+c", "ctrl+q"})
"""Keys that never wait: they close a screen or stop work."""

INTERRUPT_BINDING = Binding("ctrl+c", "app.interrupt", show=False, system=True)
"""Runs the application's Ctrl+C in modal screens, which hide its own bindings."""

ScreenResultT = TypeVar("ScreenResultT")


class LoadingScreen(Screen[ScreenResultT]):
    """Base class of screens that load their contents after they are shown.

    While `is_loading`, keys wait, except those that write into the focused input.
    """

    BINDINGS: ClassVar[list[BindingType]] = [INTERRUPT_BINDING]
    is_loading = True

    async def leave(self) -> None:
        """Store what outlives the screen, when the application is closed."""

    def holds_key(self, event: Key | Paste) -> bool:
        """Return whether a key must wait until the contents are loaded."""
        focused = self.focused
        if not self.is_loading or focused is None:
            return self.is_loading
        if isinstance(event, Paste):
            return not focused.check_consume_key("a", "a")
        return not focused.check_consume_key(event.key, event.character)


class KeyQueue:
    """Gives keys and pasted text to `handle`, in order, once the screen is ready.

    They wait until the first screen of `app` is open, until a screen is open that a key
    before them opens (`wait_for_screen`), until a `LoadingScreen` has its contents, and
    until it has handled the key before. An urgent key does not wait, and discards those
    that do.
    """

    def __init__(
        self, app: App[None], handle: Callable[[Event], Awaitable[None]]
    ) -> None:
        self._app = app
        self._handle = handle
        self._events: deque[Key | Paste] = deque()
        self._timer: Timer | None = None
        self._expected: tuple[Worker[Any] | None, int] | None = (None, 0)
        """Until more than this number of screens are open, or the worker has ended."""
        self._busy: Screen[Any] | None = None
        """The screen in which the last key has not been handled yet."""

    @property
    def is_empty(self) -> bool:
        """Whether no key waits."""
        return not self._events

    def wait_for_screen(self, worker: Worker[Any]) -> None:
        """Let keys wait until `worker` has opened a screen, or ends without one."""
        self._expected = worker, len(self._app.screen_stack)

    async def put(self, event: Key | Paste) -> None:
        """Handle a new key or pasted text, now or as soon as the screen is ready."""
        if isinstance(event, Key) and event.key in URGENT_KEYS:
            self._events.clear()
            await self._pass_on(event)
            return
        self._events.append(event)
        if len(self._events) == 1:
            await self._release()

    async def _release(self) -> None:
        """Handle the first key that waits, as soon as the screen is ready for it."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self._events or not self._app.screen_stack:  # none: the app is closing
            return
        if not self._is_ready_for(self._events[0]):
            self._timer = self._app.set_timer(RETRY_SECONDS, self._release)
            return
        await self._pass_on(self._events.popleft())
        if self._events:
            self._app.call_later(self._release)

    def _is_ready_for(self, event: Key | Paste) -> bool:
        """Return whether the screen that the user sees or expects can handle a key."""
        if self._expected is not None:
            worker, depth = self._expected
            is_open = len(self._app.screen_stack) > depth and _has_focus(
                self._app.screen
            )
            if not is_open and (worker is None or not worker.is_finished):
                return False
            self._expected = None
        screen = self._app.screen
        if screen is self._busy:
            return False
        return not (isinstance(screen, LoadingScreen) and screen.holds_key(event))

    async def _pass_on(self, event: Key | Paste) -> None:
        """Handle an event now, and let later keys wait until it has been handled.

        Else a later letter, which the focused input inserts at once, or a priority
        binding would overtake the key's own binding, such as that of Backspace, which
        is run when the event has bubbled up to the application. A message that the key
        causes, such as that a row was selected, is waited for in the same way. Text
        that is inserted into an input waits for nothing, except where a list follows it.
        """
        focused = self._app.focused
        if isinstance(self._app.screen, LoadingScreen):
            is_followed = True
        else:
            is_followed = isinstance(event, Key) and not (
                focused and focused.check_consume_key(event.key, event.character)
            )
        await self._handle(event)
        focused = self._app.focused
        if focused is None or not is_followed:
            return
        nodes = deque([*focused.ancestors_with_self] * 2)
        self._busy = self._app.screen

        def follow_event() -> None:
            """Run in one node after another, each time behind the event."""
            while nodes and not nodes[0].is_running:  # the key has closed a screen
                nodes.popleft()
            if nodes:
                nodes.popleft().call_later(follow_event)
            else:
                self._busy = None
                self._app.call_later(self._release)

        follow_event()


def _has_focus(screen: Screen[Any]) -> bool:
    """Return whether a screen is laid out, and has chosen what gets the keys."""
    return screen.is_mounted and (screen.focused is not None or not screen.focus_chain)
