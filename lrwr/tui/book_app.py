"""The application that shows one e-book, `lrwr read`."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from lrwr.app.books import BookRecord
from lrwr.core.settings.model import Settings
from lrwr.tui.app import WritingRoom
from lrwr.tui.room import CrashReporter
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.book import BookScreen

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread


class BookApp(WritingRoom, inherit_bindings=False):
    """Shows the book `record`; `service_thread` has the workspace of its library.

    Themes and keys are those of the chat.
    """

    BINDINGS = WritingRoom.BINDINGS

    def __init__(
        self,
        service_thread: "ServiceThread[Workspace]",
        settings: Settings,
        record: BookRecord,
        report_crash: CrashReporter,
    ) -> None:
        super().__init__(service_thread, settings, ChatOptions(), report_crash)
        self._record = record

    def create_first_screen(self) -> Screen[None]:
        """Return the book's reading screen."""
        return BookScreen(self, self._record)
