"""Asking the writer's leave before anything is sent that a folder's settings turn on."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Footer, Static

from lrwr.app.egress import ConsentRequest, pending_consents, record_consent
from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.screens.modal import ModalSheet

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.screens.chat import ChatScreen


class ConsentScreen(ModalSheet[bool | None]):
    """A question that is answered with yes, no, or not now (None)."""

    DEFAULT_CSS: ClassVar[str] = """
    ConsentScreen {
        & > Vertical { width: 72; max-width: 90%; height: auto; border: round $warning; }
        .title { color: $warning; }
        .leave-question { height: auto; margin: 1 0; }
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
            tooltip="Nothing is sent; ask again",
        ),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Lay out the question; nothing is allowed unless it is chosen."""
        with Vertical():
            yield Static("May this leave your machine?", classes="title")
            yield Static(
                sanitize_text(self._question), markup=False, classes="leave-question"
            )
            with Horizontal():
                yield Button("No, never here", id="no", variant="primary")
                yield Button("Allow it for this folder", id="yes")
            yield Footer(show_command_palette=False, compact=True)

    @on(Button.Pressed)
    def _answered(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_later(self) -> None:
        """Say neither yes nor no."""
        self.dismiss(None)


async def ask_consent_on_screen(screen: "ChatScreen") -> None:
    """Ask about each service that waits for the writer's leave."""
    stage = screen.room.stage
    for asked in await stage.do(_pending_consents):
        allowed = await screen.app.push_screen_wait(ConsentScreen(asked.question))
        if allowed is not None:
            await stage.do(partial(_record_consent, name=asked.name, allowed=allowed))


async def _pending_consents(workspace: "Workspace") -> tuple[ConsentRequest, ...]:
    return pending_consents(workspace.egress)


async def _record_consent(workspace: "Workspace", *, name: str, allowed: bool) -> None:
    record_consent(workspace.egress, name, allowed=allowed)
    workspace.reset_sessions()
