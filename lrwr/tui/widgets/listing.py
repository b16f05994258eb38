"""Lists of rows, and of lines to read."""

import asyncio
from collections.abc import Iterable
from typing import ClassVar

from textual import events, work
from textual.content import Content
from textual.geometry import Spacing
from textual.visual import Padding, Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lrwr.app.presenters.text import StyledLine, StyledText, sanitize_text
from lrwr.tui.rows import ListRow

AT_ONCE = 100
"""Rows or lines that are laid out between two looks at the keys."""

BREATH = 0.02
"""Seconds in which keys are looked at, before more is laid out."""

_TONES = (
    ("strong", "bold"),
    ("faint", "$foreground-muted"),
    ("place", "$text-accent"),
    ("good", "$text-success"),
    ("bad", "$text-warning"),
)


class BrowseList(OptionList):
    """Options of which a click shows one, and another click on it chooses it."""

    DEFAULT_CSS: ClassVar[str] = """
    BrowseList {
        border: none;
        padding: 0;
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        &:focus { border: none; }
        & > .option-list--option { padding: 0 1; }
        & > .option-list--option-disabled { color: $text-muted; text-style: italic; }
        & > .option-list--option-hover { background: $panel; }
        & > .option-list--option-highlighted,
        &:focus > .option-list--option-highlighted {
            color: $foreground;
            background: $primary 18%;
            text-style: none;
        }
        &:focus > .option-list--option-highlighted { background: $primary 35%; }
    }
    """

    def __init__(self, *, id: str, classes: str = "") -> None:  # noqa: A002 - Textual's
        super().__init__(id=id, classes=classes, markup=False)

    async def _on_click(self, event: events.Click) -> None:
        """Show what is clicked; what was shown already is chosen."""
        event.prevent_default()
        clicked: int | None = event.style.meta.get("option")
        if clicked is None or self.options[clicked].disabled:
            return
        if clicked == self.highlighted:
            self.action_select()
        self.highlighted = clicked

    def turn(self, by: int) -> None:
        """Go a page back or on."""
        page = max(1, self.size.height - 1) * by
        last = len(self.options) - 1
        at = min(max(0, (self.highlighted or 0) + page), last)
        ways = (range(at, last + 1), range(at, -1, -1))
        free = [n for way in ways for n in way if not self.options[n].disabled]
        self.highlighted = free[0] if free else None


class RowList(BrowseList):
    """Rows, one line each."""

    DEFAULT_CSS: ClassVar[str] = """
    RowList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id)
        self._shown: list[ListRow] = []

    @property
    def key(self) -> str:
        """The highlighted row's key; empty where no row is."""
        at = self.highlighted
        return "" if at is None else self._shown[at].key

    def show(self, rows: Iterable[ListRow], *, at: str = "") -> None:
        """Show rows, `at` the one of that key or else the first that can be chosen."""
        self._shown = list(rows)
        free = [number for number, row in enumerate(self._shown) if not row.heading]
        there = (number for number in free if self._shown[number].key == at)
        stand = next(there, free[0] if free else None)
        first = AT_ONCE + (stand or 0)
        self.set_options(map(_option, self._shown[:first]))
        self.highlighted = stand
        self._lay_out_from(first)

    @work(exclusive=True, group="rows", exit_on_error=False)
    async def _lay_out_from(self, first: int) -> None:
        """Lay out the other rows while nobody presses a key."""
        rows = self._shown
        for start in range(first, len(rows), AT_ONCE):
            await asyncio.sleep(BREATH)
            self.add_options(map(_option, rows[start : start + AT_ONCE]))

    def after(self, key: str) -> str:
        """Return the key of the row after one, or before it at the end; empty for none."""
        keys = [row.key for row in self._shown if not row.heading]
        if key not in keys:
            return ""
        at = keys.index(key)
        return next(iter(keys[at + 1 :] or keys[max(0, at - 1) : at]), "")


class LineList(BrowseList):
    """Lines to read, each as long as it is."""

    DEFAULT_CSS: ClassVar[str] = """
    LineList > .option-list--option-highlighted { background: transparent; }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id)
        self._told: list[StyledLine] = []

    @property
    def line(self) -> StyledLine | None:
        """The highlighted line."""
        at = self.highlighted
        return None if at is None else self._told[at]

    def read(self, lines: Iterable[StyledLine]) -> None:
        """Show lines from the first."""
        self._told = list(lines)
        self.set_options(Option(_line(line)) for line in self._told[:AT_ONCE])
        self.highlighted = 0 if self._told else None
        self._lay_out_from(AT_ONCE)

    @work(exclusive=True, group="lines", exit_on_error=False)
    async def _lay_out_from(self, first: int) -> None:
        """Lay out the other lines while nobody presses a key."""
        lines = self._told
        for start in range(first, len(lines), AT_ONCE):
            await asyncio.sleep(BREATH)
            self.add_options(
                Option(_line(one)) for one in lines[start : start + AT_ONCE]
            )


def _option(row: ListRow) -> Option:
    return Option(_row(row), disabled=row.heading)


def _row(row: ListRow) -> Content:
    name = Content(f"{' ' * row.deep}{_flat(row.name)}")
    return (
        name + Content.styled(f"  {_flat(row.aside)}", "$foreground-muted")
        if (row.aside)
        else name
    )


def _line(line: StyledLine) -> Visual:
    tones = dict(_TONES)
    content = Content("")
    for piece in line.pieces:
        if isinstance(piece, StyledText):
            content += Content.styled(
                sanitize_text(piece.text), tones.get(piece.tone, "")
            )
        else:
            content += Content(sanitize_text(piece))
    return Padding(content, Spacing(0, 0, 0, line.indent))


def _flat(text: str) -> str:
    return " ".join(sanitize_text(text).split())
