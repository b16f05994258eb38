"""What screens, actions and the controller may use of the app and the chat screen."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, cast

from textual.app import App
from textual.reactive import reactive
from textual.screen import Screen

from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.model import Settings
from lrwr.tui.scope import ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread


CrashReporter = Callable[[Exception], LrwrError]
"""Turns an unexpected error into one that can be shown."""
MAX_INGEST_NOTICES = 100
"""Lines about ingested saves that are kept for the library screen."""


class RoomApp(App[None], inherit_bindings=False):
    """The app's shared state. All slow work runs on `service_thread`."""

    def __init__(
        self,
        service_thread: "ServiceThread[Workspace]",
        settings: Settings,
        report_crash: CrashReporter,
    ) -> None:
        super().__init__()
        self.service_thread = service_thread
        self.settings = settings
        self.report_crash = report_crash
        self.keymap: Mapping[str, str] = {}

    def describe_error(self, error: Exception) -> LrwrError:
        """Return the error to show for `error`, which may be an unexpected one."""
        return error if isinstance(error, LrwrError) else self.report_crash(error)


class RoomScreen(Screen[None]):
    """The chat screen's state, as actions and other screens read and change it."""

    scope: reactive[ChatScope] = reactive(ChatScope)

    def __init__(self) -> None:
        super().__init__()
        self.scope_lock = asyncio.Lock()
        """Held while an action changes `scope`, so that such actions run in order."""
        self.ingest_notices: deque[str] = deque(maxlen=MAX_INGEST_NOTICES)
        """What each watched save added, oldest first."""

    @property
    def room(self) -> RoomApp:
        """The app that this screen belongs to."""
        return cast("RoomApp", self.app)

    def load(self) -> object:
        """Start to load the library, or to load it again, in a worker."""
        raise NotImplementedError

    def show_spending(self) -> None:
        """Show what the conversation has cost so far."""
        raise NotImplementedError

    def action_do(self, name: str, words: str = "") -> None:
        """Run the action of that name in a worker; `words` is its argument."""
        raise NotImplementedError

    async def action_stop(self) -> None:
        """Stop the answer that is under way."""
        raise NotImplementedError

    def show_error(self, error: Exception) -> None:
        """Show an error and its hint as a notification."""
        problem = self.room.describe_error(error)
        self.notify(
            sanitize_text(f"{problem}\n{problem.hint}".strip()),
            severity="error",
            markup=False,
        )


ActionHandler = Callable[[RoomScreen, str], Awaitable[None]]
"""Runs an action for the chat screen; the text is its argument, empty for none."""
