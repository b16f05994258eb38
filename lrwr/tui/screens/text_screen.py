"""The base of the screens that show a text beside its contents: reader and e-book."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.screen import Screen
from textual.widgets import Input, Static

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.room import RoomApp
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

ResultT = TypeVar("ResultT")


class TextScreen(Screen[None]):
    """Shows a text in a pane, and beside it the contents in a tree.

    The ids of title, status and the other lines begin with `PREFIX`; those of one line
    have the class `bar`. An input, hidden at first, is below the text.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TextScreen {
        background: $background;
        .bar {
            height: 1;
            padding: 0 1;
            color: $text-muted;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        .title { background: $panel; color: $primary; text-style: bold; }
        .status { background: $panel; }
        Horizontal { height: 1fr; background: $surface; }
        Input { background: $background; display: none; }
        &.-narrow #reader-tree { display: none; width: 100%; border-right: none; }
        &.-narrow.contents #reader-tree { display: block; }
        &.-narrow.contents TextPane { display: none; }
    }
    """
    PREFIX: ClassVar[str]

    @property
    def application(self) -> RoomApp:
        """The application whose services the screen uses."""
        raise NotImplementedError

    async def _run(
        self, work: "Callable[[Workspace], Coroutine[None, None, ResultT]]"
    ) -> "ResultT | None":
        """Return the result of `work`; of a failure, show the error and return None."""
        try:
            return await self.application.service_thread.run(work)
        except Exception as error:  # noqa: BLE001 - a traceback tells a reader nothing
            self._show_error(error)
            return None

    def _show_error(self, error: Exception) -> None:
        self._show_status(self.application.describe_error(error).full_text)

    def _update(self, name: str, text: str) -> None:
        """Show `text` in the line whose id ends with `name`."""
        line = self.query_one(f"#{self.PREFIX}-{name}", Static)
        line.update(sanitize_text(text))

    def _show_status(self, text: str, *, warn: bool = False) -> None:
        """Show `text` in the status line; `warn` marks a finding."""
        self._update("status", text)
        self.query_one(f"#{self.PREFIX}-status").set_class(warn, "finding")

    def action_contents(self) -> None:
        """Move the focus to the contents, or back to the text."""
        contents = self.query_one(ContentsTree)
        if self.focused is contents:
            self._show_text()
        else:
            self.add_class("contents")
            contents.focus()

    def _show_text(self) -> None:
        """Close the contents of a narrow screen and the input; focus the text."""
        self.remove_class("contents")
        self.query_one(Input).display = False
        # At once: the status line shows the keys of what has the focus.
        self.set_focus(self.query_one(TextPane))
