"""One line that says how things stand."""

import time
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.widgets import Static

from lrwr.app.presenters.text import format_age, sanitize_text

FRESH = 5.0
"""Seconds after which it is told anew how long ago something was."""


@dataclass(frozen=True, slots=True)
class StatusFields:
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
    standing: reactive[StatusFields] = reactive(StatusFields)
    _read: tuple[str, float] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the parts, the one that may be cut first in the middle."""
        yield Static(id="status-model", markup=False)
        yield Static(id="status-index", markup=False)
        yield Static(id="status-leaving", markup=False)
        yield Static(id="status-spent", markup=False)

    def on_mount(self) -> None:
        """Go on telling how long ago something was read."""
        self.set_interval(FRESH, self._tell_age)

    def say(self, **parts: str) -> None:
        """Change some parts of what is shown."""
        if "index" in parts:
            self._read = None
        self.standing = replace(self.standing, **parts)

    def fresh(self, what: str) -> None:
        """Say what was read just now, and from then on how long ago that was."""
        self._read = what, time.monotonic()
        self._tell_age()

    def _tell_age(self) -> None:
        if self._read is not None:
            what, at = self._read
            told = f"{what} {format_age(time.monotonic() - at)}"
            self.standing = replace(self.standing, index=told)

    def watch_standing(self, standing: StatusFields) -> None:
        """Show it."""
        if not self.is_mounted:
            return
        for name in ("model", "index", "leaving", "spent"):
            part = self.query_one(f"#status-{name}", Static)
            text = sanitize_text(str(getattr(standing, name))).replace("\n", " ")
            part.update(text)
            part.display = bool(text)
