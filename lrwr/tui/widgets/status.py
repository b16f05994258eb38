"""The header above the transcript, the status line below the prompt, and the footer."""

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Offset, Size
from textual.layout import ArrangeResult, Layout
from textual.layouts.horizontal import HorizontalLayout
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Static

from lrwr.app.presenters.text import format_age, sanitize_text
from lrwr.tui.scope import ChatScope, describe_scope

AGE_INTERVAL = 5.0
"""Seconds between two updates of how long ago something was ingested."""


@dataclass(frozen=True, slots=True)
class StatusFields:
    """Texts of the status line; empty ones are hidden.

    `model` is the name of the answering model, `spent` tokens and price of the last
    turn and of the thread, `index` whether the library is up to date, `leaving` whether
    data is sent to services.
    """

    model: str = ""
    spent: str = ""
    index: str = ""
    leaving: str = ""


class StatusLine(Horizontal):
    """The line below the prompt, with the texts of `StatusFields`."""

    DEFAULT_CSS: ClassVar[str] = ""
    status: reactive[StatusFields] = reactive(StatusFields)
    _fresh_since: tuple[str, float] | None = None

    def compose(self) -> ComposeResult:
        """Lay out the fields; on narrow screens only `index` is shortened."""
        yield Static(id="status-model", markup=False)
        yield Static(id="status-index", markup=False)
        yield Static(id="status-leaving", markup=False)
        yield Static(id="status-spent", markup=False)

    def on_mount(self) -> None:
        """Start a timer that updates the age in the `index` field.

        It runs every `AGE_INTERVAL` seconds. The age is the time since the last call of
        `mark_fresh`; before the first call there is none.
        """
        self.set_interval(AGE_INTERVAL, self._show_age)

    def update_fields(self, **fields: str) -> None:
        """Change the named fields of `StatusFields`; the others are unchanged.

        A new `index` also ends the display of an age.
        """
        if "index" in fields:
            self._fresh_since = None
        self.status = replace(self.status, **fields)

    def mark_fresh(self, text: str) -> None:
        """Show `text` in the `index` field, followed by the time since this call.

        The time, such as "2 min ago", is updated until `index` is set otherwise.
        """
        self._fresh_since = text, time.monotonic()
        self._show_age()

    def _show_age(self) -> None:
        if self._fresh_since is not None:
            text, since = self._fresh_since
            index = f"{text} {format_age(time.monotonic() - since)}"
            self.status = replace(self.status, index=index)

    def watch_status(self, status: StatusFields) -> None:
        """Show the texts of `status`, and hide empty ones."""
        if not self.is_mounted:
            return
        for name in ("model", "index", "leaving", "spent"):
            part = self.query_one(f"#status-{name}", Static)
            text = sanitize_text(str(getattr(status, name))).replace("\n", " ")
            part.update(text)
            part.display = bool(text)


SEPARATOR = "  ·  "
MIN_TITLE_WIDTH = 12
"""Minimum width of the title, in columns."""


class RoomHeader(Static):
    """Shows the thread's title and the scope; a title that is too long is shortened."""

    def __init__(self, scope: ChatScope) -> None:
        self._scope = scope
        super().__init__(self._build_content(0), id="header")

    def show_scope(self, scope: ChatScope) -> None:
        """Show `scope` instead of the previous one."""
        self._scope = scope
        self.update(self._build_content(self.content_size.width))

    def on_resize(self) -> None:
        """Shorten the title to the new width."""
        self.update(self._build_content(self.content_size.width))

    def _build_content(self, width: int) -> Content:
        """Return the line for `width` columns; 0 if the width is not known yet."""
        scope = self._scope
        title = Content(" ".join(sanitize_text(scope.title).split()) or "New thread")
        rest = Content(SEPARATOR + sanitize_text(SEPARATOR.join(describe_scope(scope))))
        if width:
            title_width = max(MIN_TITLE_WIDTH, width - rest.cell_length)
            title = title.truncate(title_width, ellipsis=True)
        return title + rest


FOOTER_LINES = 2
"""Lines of the footer at most; keys that have no room in them are left out."""


class _WrappingLayout(HorizontalLayout):
    """Places widgets of one line each from left to right, in as many lines as needed."""

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Return the places of `children`; a wider widget than `size` is cut."""
        placements = super().arrange(parent, children, size, greedy)
        start = line = 0
        wrapped: ArrangeResult = []
        for placement in placements:
            region = placement.region
            if region.right - start > size.width and region.x > start:
                start, line = region.x, line + 1
            place = region.at_offset(Offset(region.x - start, line))
            wrapped.append(placement._replace(region=place))
        return [p for p in wrapped if p.region.y < FOOTER_LINES]


class KeyFooter(Footer):
    """Shows the keys of a screen, most needed first, each with its whole label."""

    DEFAULT_CSS: ClassVar[str] = f"""
    KeyFooter {{ height: auto; min-height: 1; max-height: {FOOTER_LINES}; }}
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._layout = _WrappingLayout()
        self._shown: list[tuple[Binding, bool, str]] | None = None

    @property
    def layout(self) -> Layout:
        """The layout that wraps, which no style names."""
        return self._layout

    def bindings_changed(self, screen: Screen[Any]) -> None:
        """Compose the keys again if they differ: each change of focus announces them."""
        keys = [
            (active.binding, active.enabled, active.tooltip)
            for active in screen.active_bindings.values()
            if active.binding.show
        ]
        if keys != self._shown or not screen.app.app_focus:
            self._shown = keys if screen.app.app_focus else None
            super().bindings_changed(screen)
