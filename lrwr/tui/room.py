"""Base classes of the application and of the chat screen, which actions and screens
use.
"""

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
    from lrwr.tui.queries.reader import ReaderPosition
    from lrwr.tui.service_thread import ServiceThread


CrashReporter = Callable[[Exception], LrwrError]
"""Turns an unexpected error into one that can be shown."""
MAX_INGEST_NOTICES = 100
"""Maximum number of changes that the library screen shows."""


class RoomApp(App[None], inherit_bindings=False):
    """Base class of the terminal application, with what its screens and actions use.

    Slow work runs on `service_thread`. `report_crash` writes a crash report of an
    unexpected error, and returns an error that can be shown. `keymap` maps action ids
    to configured keys, separated by commas; other actions have their default keys.
    """

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
        """Return an error that can be shown to the user.

        An `LrwrError` is returned unchanged; any other error is written to a crash
        report, and the result names that.
        """
        return error if isinstance(error, LrwrError) else self.report_crash(error)


class RoomScreen(Screen[None]):
    """Base class of the chat screen, with what actions and other screens use of it.

    `scope` has the thread, character, mode and horizon of the next question.
    """

    scope: reactive[ChatScope] = reactive(ChatScope)

    def __init__(self) -> None:
        super().__init__()
        self.scope_lock = asyncio.Lock()
        """Held while an action changes `scope`, so that such actions run in order."""
        self.ingest_notices: deque[str] = deque(maxlen=MAX_INGEST_NOTICES)
        """Descriptions of changes by watched saves, oldest first."""
        self.last_read: ReaderPosition | None = None
        """Where the reader was closed last; None before that."""

    @property
    def room(self) -> RoomApp:
        """The application of this screen."""
        return cast("RoomApp", self.app)

    def load(self) -> object:
        """Start and return a worker that loads the library and shows its state.

        It may be called again; the earlier worker is then cancelled.
        """
        raise NotImplementedError

    def show_spending(self) -> None:
        """Show tokens and price of the last turn and of the thread."""
        raise NotImplementedError

    def action_do(self, name: str, words: str = "") -> None:
        """Run an action in a worker.

        `name` is its key in `controller.ACTION_HANDLERS`, `words` its argument, empty
        for none.
        """
        raise NotImplementedError

    async def action_stop(self) -> None:
        """Stop the running answer; without one, return to the prompt."""
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
