"""Base classes of the application and of the chat screen, which actions and screens
use.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, cast

from textual.app import App
from textual.events import Event, InputEvent, Key, Paste
from textual.reactive import reactive
from textual.screen import Screen

from lrwr.app.presenters.text import format_count, sanitize_text
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.library import (
    UNSENT_FILE_NAME,
    Library,
    write_private_file,
)
from lrwr.core.settings.model import Settings
from lrwr.tui.key_queue import KeyQueue
from lrwr.tui.scope import ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.core.canon.decision import Decision
    from lrwr.core.model.turns import ThreadId
    from lrwr.tui.queries.reader import ReaderPosition
    from lrwr.tui.service_thread import ServiceThread


CrashReporter = Callable[[Exception], LrwrError]
"""Turns an unexpected error into one that can be shown."""
CONFIRM_SECONDS = 6.0
"""Seconds in which a key that ends work must be pressed a second time."""
MAX_INGEST_NOTICES = 100
"""Maximum number of changes that the library screen shows."""


@dataclass(frozen=True, slots=True)
class IngestStatus:
    """Progress of the ingestion that runs in the background, or result of the last one.

    `finished` of `total` documents are done, and `words` words are stored; `total` is
    None until the files are listed. `lines` are the report after the end, or the error
    and its hint if `is_error`.
    """

    is_running: bool = False
    total: int | None = None
    finished: int = 0
    words: int = 0
    lines: tuple[str, ...] = ()
    is_error: bool = False

    @property
    def progress(self) -> str:
        """How much has been read, such as "9,400 words, 4 of 27 documents"."""
        if self.total is None:
            return "looking for files"
        if self.finished >= self.total:
            return "finding characters and speakers"
        return (
            f"{format_count(self.words, 'word')},"
            f" {self.finished:,} of {format_count(self.total, 'document')}"
        )

    @property
    def stored(self) -> str:
        """What stays in the library if the ingestion is stopped, as a sentence."""
        if not self.finished or self.total is None:
            return "Nothing new has been read."
        return (
            f"{self.finished:,} of {format_count(self.total, 'document')}"
            f" ({format_count(self.words, 'word')}) are read and stay in the library."
        )


class RoomApp(App[None], inherit_bindings=False):
    """Base class of the terminal application, with what its screens and actions use.

    Slow work runs on `service_thread`. `report_crash` writes a crash report of an
    unexpected error, and returns an error that can be shown. `keymap` maps action ids
    to configured keys, separated by commas; other actions have their default keys.
    `failure` is the error that closed the application, None if the user closes it.
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
        self.failure: LrwrError | None = None
        self._unconfirmed = "", 0.0
        self._last_input = monotonic()
        self.key_queue = KeyQueue(self, super().on_event)
        """Passes on what is typed while a screen is being opened."""

    async def on_event(self, event: Event) -> None:
        """Handle an event, and remember when the user typed or clicked last."""
        if isinstance(event, InputEvent):
            self._last_input = monotonic()
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self.key_queue.put(event)
        else:
            await super().on_event(event)

    @property
    def seconds_since_input(self) -> float:
        """Seconds since the user typed or clicked last."""
        return monotonic() - self._last_input

    def describe_error(self, error: Exception) -> LrwrError:
        """Return an error that can be shown to the user.

        An `LrwrError` is returned unchanged; any other error is written to a crash
        report, and the result names that.
        """
        return error if isinstance(error, LrwrError) else self.report_crash(error)

    def fail(self, error: Exception) -> None:
        """Close the application, because `error` leaves nothing to work with.

        The error becomes `failure`, for the command to report.
        """
        self.failure = self.describe_error(error)
        self.exit()

    @property
    def ingesting_screen(self) -> "RoomScreen | None":
        """The chat screen if an ingestion runs in its background, else None."""
        for screen in self.screen_stack:
            if isinstance(screen, RoomScreen) and screen.ingestion.is_running:
                return screen
        return None

    def confirm_key(self, name: str, message: str) -> bool:
        """Return whether the key `name` was pressed before, in the last seconds.

        If not, `message` is shown, which says what a second press does.
        """
        now = monotonic()
        last_name, last_time = self._unconfirmed
        if last_name == name and now - last_time < CONFIRM_SECONDS:
            self._unconfirmed = "", 0.0
            return True
        self._unconfirmed = name, now
        self.notify(message, markup=False, timeout=CONFIRM_SECONDS)
        return False


class RoomScreen(Screen[None]):
    """Base class of the chat screen, with what actions and other screens use of it.

    `scope` has the thread, character, mode and horizon of the next question,
    `ingestion` the state of the ingestion in the background. `library_version` is
    raised when an ingestion ends or a watched save was read, so that open screens load
    their contents again.
    """

    scope: reactive[ChatScope] = reactive(ChatScope)
    ingestion: reactive[IngestStatus] = reactive(IngestStatus)
    library_version: reactive[int] = reactive(0)

    def __init__(self) -> None:
        super().__init__()
        self.scope_lock = asyncio.Lock()
        """Held while an action changes `scope`, so that such actions run in order."""
        self.ingest_notices: deque[str] = deque(maxlen=MAX_INGEST_NOTICES)
        """Descriptions of changes by watched saves, oldest first."""
        self.last_read: ReaderPosition | None = None
        """Where the reader was closed last; None before that."""
        self.decisions: dict[str, list[Decision]] = {}
        """What was decided on each list screen since the start, by its class."""
        self.left_scopes: dict[ThreadId, ChatScope] = {}
        """The scope that each thread had when another thread was opened."""

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


def store_unsent_question(library: Library, text: str) -> bool:
    """Store the question that was typed but not sent when lrwr was closed; return
    whether that was possible.
    """
    try:
        write_private_file(library.state_dir / UNSENT_FILE_NAME, text)
    except OSError:
        return False
    return True


def take_unsent_question(library: Library) -> str:
    """Return and delete the stored question; empty if there is none."""
    file, text = library.state_dir / UNSENT_FILE_NAME, ""
    with suppress(OSError, UnicodeDecodeError):
        text = file.read_text(encoding="utf-8")
        file.unlink()
    return text
