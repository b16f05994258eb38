"""Asks for one line."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.actions.table import LINE_ACTIONS


class TextInputScreen(ModalScreen[str | None]):
    """Lets the writer write one line, at the foot of what is open.

    What comes back is what is written, without blanks around it, or None where the
    writer thinks better of it.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TextInputScreen {
        align: center bottom;
        & > Vertical {
            width: 90%;
            max-width: 140;
            height: auto;
            max-height: 90%;
            margin-bottom: 1;
            border: round $accent;
            background: $surface;
            padding: 0 1;
        }
        .line-asked { height: auto; max-height: 6; color: $accent; }
        .line-besides { height: auto; max-height: 4; color: $text-muted; }
        Input { background: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in LINE_ACTIONS),
    ]

    def __init__(self, asked: str, *, value: str = "", besides: str = "") -> None:
        super().__init__()
        self._asked = asked
        self._value = value
        self._besides = besides

    def compose(self) -> ComposeResult:
        """Lay out what is asked, the line, and what to know."""
        with Vertical():
            yield Static(sanitize_text(self._asked), markup=False, classes="line-asked")
            yield Input(
                " ".join(sanitize_text(self._value).split()),
                select_on_focus=False,
                compact=True,
            )
            if self._besides:
                yield Static(
                    sanitize_text(self._besides), markup=False, classes="line-besides"
                )
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Be ready to be written in, and leave in sight what it is about."""
        self.styles.background = self.styles.background.with_alpha(0.5)
        self.query_one(Input).focus()

    def action_give(self) -> None:
        """Take it, once the letters before that are written."""
        line = self.query_one(Input)
        line.call_later(line.action_submit)

    @on(Input.Submitted)
    def _given(self) -> None:
        """Take what is written; nothing written is nothing said."""
        self.dismiss(self.query_one(Input).value.strip() or None)

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)
