"""The status line: model, index, network use, cost."""

import time
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.widgets import Static

from lrwr.app.presenters.text import format_age, sanitize_text

AGE_INTERVAL = 5.0
"""Seconds between two updates of how long ago something was ingested."""


@dataclass(frozen=True, slots=True)
class StatusFields:
    """The parts of the status line, each a short text; empty ones are hidden.

    `model` names the model that answers, `spent` the cost of the turn and of the
    conversation, `index` how fresh the index is, `leaving` what leaves the machine.
    """

    model: str = ""
    spent: str = ""
    index: str = ""
    leaving: str = ""


class StatusLine(Horizontal):
    """The line under the prompt."""

    DEFAULT_CSS: ClassVar[str] = ""
    status: reactive[StatusFields] = reactive(StatusFields)
    _fresh_since: tuple[str, float] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the parts, the one that may be cut first in the middle."""
        yield Static(id="status-model", markup=False)
        yield Static(id="status-index", markup=False)
        yield Static(id="status-leaving", markup=False)
        yield Static(id="status-spent", markup=False)

    def on_mount(self) -> None:
        """Start to update the age of the last ingested save."""
        self.set_interval(AGE_INTERVAL, self._show_age)

    def update_fields(self, **fields: str) -> None:
        """Change the named fields of `StatusFields`; the others stay."""
        if "index" in fields:
            self._fresh_since = None
        self.status = replace(self.status, **fields)

    def mark_fresh(self, text: str) -> None:
        """Show `text` as the index state, and from now on how long ago that was."""
        self._fresh_since = text, time.monotonic()
        self._show_age()

    def _show_age(self) -> None:
        if self._fresh_since is not None:
            text, since = self._fresh_since
            index = f"{text} {format_age(time.monotonic() - since)}"
            self.status = replace(self.status, index=index)

    def watch_status(self, status: StatusFields) -> None:
        """Show the fields; hide those that are empty."""
        if not self.is_mounted:
            return
        for name in ("model", "index", "leaving", "spent"):
            part = self.query_one(f"#status-{name}", Static)
            text = sanitize_text(str(getattr(status, name))).replace("\n", " ")
            part.update(text)
            part.display = bool(text)
