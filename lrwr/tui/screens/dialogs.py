"""Dialogs: their base class, a text input, and a consent question."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from lrwr.app.egress import ConsentRequest, pending_consents, record_consent
from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.actions.screen_keys import TEXT_INPUT_ACTIONS
from lrwr.tui.key_queue import INTERRUPT_BINDING
from lrwr.tui.room import RoomApp
from lrwr.tui.widgets.status import KeyFooter

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

SIDE_BY_SIDE = 90
"""Minimum width, in columns, for two panes side by side."""

ResultT = TypeVar("ResultT")


class ModalSheet(ModalScreen[ResultT]):
    """Base class of dialogs with a centred frame, a title and a footer."""

    BINDINGS: ClassVar[list[BindingType]] = [INTERRUPT_BINDING]
    DEFAULT_CSS: ClassVar[str] = """
    ModalSheet {
        align: center middle;
        & > Vertical {
            width: 90%;
            height: 90%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
        }
        .title { text-style: bold; color: $primary; height: 1; }
        .hint { height: auto; color: $text-muted; }
    }
    """


class TextInputScreen(ModalScreen[str | None]):
    """Asks `question` and reads one line of text at the bottom of the screen.

    `value` is the text to edit, `note` a sentence below the input, `placeholder` the
    text of an empty input. If `is_selected`, typing replaces `value`. The result is the stripped text; None if the user cancels or
    enters nothing.
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
        .input-question { height: auto; max-height: 6; color: $accent; }
        .input-note { height: auto; max-height: 4; color: $text-muted; }
        Input { background: $background; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in TEXT_INPUT_ACTIONS),
        INTERRUPT_BINDING,
    ]

    def __init__(
        self,
        question: str,
        *,
        value: str = "",
        note: str = "",
        placeholder: str = "",
        is_selected: bool = False,
    ) -> None:
        super().__init__()
        self._is_selected = is_selected
        self._question = question
        self._value = value
        self._note = note
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """Lay out question, input, note and footer."""
        with Vertical():
            yield Static(
                sanitize_text(self._question), markup=False, classes="input-question"
            )
            yield Input(
                " ".join(sanitize_text(self._value).split()),
                placeholder=self._placeholder,
                select_on_focus=self._is_selected,
                compact=True,
            )
            if self._note:
                yield Static(
                    sanitize_text(self._note), markup=False, classes="input-note"
                )
            yield KeyFooter()

    def on_mount(self) -> None:
        """Focus the input, and dim the screen below."""
        self.styles.background = self.styles.background.with_alpha(0.5)
        self.query_one(Input).focus()

    def action_submit(self) -> None:
        """Close with the text, after keys that were typed earlier are processed."""
        line = self.query_one(Input)
        line.call_later(line.action_submit)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        """Return the text; an empty one counts as cancelled."""
        self.dismiss(self.query_one(Input).value.strip() or None)

    def action_close(self) -> None:
        """Close with the result None."""
        self.dismiss(None)


class ConsentScreen(ModalSheet[bool | None]):
    """Asks for consent to send data to a service; `question` describes the service.

    The result is True if the user consents, False for a refusal, and None for "not
    now", which decides nothing.
    """

    DEFAULT_CSS: ClassVar[str] = """
    ConsentScreen {
        & > Vertical { width: 72; max-width: 90%; height: auto; border: round $warning; }
        .title { color: $warning; }
        .consent-question { height: auto; margin: 1 0; }
        Horizontal { height: 3; align: center middle; }
        Button { margin: 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "later",
            "Not now",
            id="list.close",
            tooltip="Send nothing now, and ask again later",
        ),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Lay out the question; the button that refuses is the default."""
        with Vertical():
            yield Static("Send data to a service?", classes="title")
            yield Static(
                sanitize_text(self._question), markup=False, classes="consent-question"
            )
            with Horizontal():
                yield Button("Don't allow", id="no", variant="primary")
                yield Button("Allow for this folder", id="yes")
            yield KeyFooter()

    @on(Button.Pressed)
    def _answered(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_later(self) -> None:
        """Close with the result None: no decision."""
        self.dismiss(None)


async def ask_consents(room: RoomApp, *, by_address: bool) -> None:
    """Ask for consent to each configured service that has no recorded decision.

    With `by_address` False, not to those of which the settings only name the address.

    Raises:
        StoreProblem: A decision cannot be stored.
    """

    async def list_requests(workspace: "Workspace") -> tuple[ConsentRequest, ...]:
        return pending_consents(workspace.egress, by_address=by_address)

    for request in await room.service_thread.run(list_requests):
        allowed = await room.push_screen_wait(ConsentScreen(request.question))
        if allowed is not None:
            await room.service_thread.run(
                partial(_save_consent, name=request.name, allowed=allowed)
            )


async def _save_consent(workspace: "Workspace", *, name: str, allowed: bool) -> None:
    record_consent(workspace.egress, name, allowed=allowed)
    workspace.reset_sessions()
