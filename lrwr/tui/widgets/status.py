"""One line that says how things stand."""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.widgets import Static

from lrwr.wording.cleaning import clean


@dataclass(frozen=True, slots=True)
class Standing:
    """How things stand, each in words; what is empty is not shown.

    `model` says who answers, `spent` what the turn and the conversation took, `index`
    how fresh what is known is, `leaving` what leaves the machine.
    """

    model: str = ""
    spent: str = ""
    index: str = ""
    leaving: str = ""


class StatusLine(Horizontal):
    """The line under the prompt."""

    DEFAULT_CSS: ClassVar[str] = ""
    standing: reactive[Standing] = reactive(Standing)

    def compose(self) -> ComposeResult:
        """Lay out the parts, the one that may be cut first in the middle."""
        yield Static(id="status-model", markup=False)
        yield Static(id="status-index", markup=False)
        yield Static(id="status-leaving", markup=False)
        yield Static(id="status-spent", markup=False)

    def say(self, **parts: str) -> None:
        """Change some parts of what is shown."""
        self.standing = replace(self.standing, **parts)

    def watch_standing(self, standing: Standing) -> None:
        """Show it."""
        if not self.is_mounted:
            return
        for name in ("model", "index", "leaving", "spent"):
            part = self.query_one(f"#status-{name}", Static)
            text = clean(str(getattr(standing, name))).replace("\n", " ")
            part.update(text)
            part.display = bool(text)
