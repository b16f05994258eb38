"""A read-only text with line numbers, marked spans and a margin."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lrwr.app.presenters.text import NOTE_MARK
from lrwr.core.model.text import LineIndex, Span

MAX_COLUMNS = 84
"""Maximum width of the text, in columns; longer lines are hard to read."""

GUTTER = 8
"""Columns for the line number and two marks."""

FINDING_MARK = "!"
"""Marks a line with a finding in the margin."""

MarkKind: TypeAlias = Literal[
    "match", "current", "finding", "selected", "yellow", "green", "blue", "pink", "note"
]

MARGIN_MARKS: Mapping[str, str] = MappingProxyType(
    {
        "yellow": "*",
        "green": "*",
        "blue": "*",
        "pink": "*",
        "finding": FINDING_MARK,
        "note": NOTE_MARK,
    }
)
"""Marks in the margin, also seen without colours."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters and bidirectional overrides, each shown as one symbol, so that
offsets stay the same."""
_WIDE = re.compile(r"[^\x00-\u02ff\u2010-\u2027\u2030-\u205e]")
"""Characters that may be wider or narrower than one column."""


@dataclass(frozen=True, slots=True)
class TextMark:
    """A marked span of the text, such as a match or a finding. An empty span only has
    its mark in the margin.
    """

    span: Span
    kind: MarkKind


@dataclass(frozen=True, slots=True)
class _Row:
    """One row on the screen; `number` is the line that it starts, 0 if it is wrapped."""

    start: int
    end: int
    number: int


class TextPane(ScrollView, can_focus=True):
    """Shows a part of a document, wrapped, and marks spans of it.

    All positions are character offsets in the whole document. Control characters are
    shown as a symbol, so that no text can change the terminal.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TextPane {
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        overflow-x: hidden;
        & > .text-pane--text { color: $foreground; }
        & > .text-pane--heading { color: $secondary; text-style: bold; }
        & > .text-pane--number { color: $foreground-muted; }
        & > .text-pane--here { color: $accent; text-style: bold; }
        & > .text-pane--margin { color: $text-warning; text-style: bold; }
        & > .text-pane--match { color: $text-accent; text-style: bold; }
        & > .text-pane--current { text-style: bold reverse; }
        & > .text-pane--finding { text-style: underline; }
        & > .text-pane--selected { text-style: bold underline; }
        & > .text-pane--note { color: $text-warning; text-style: bold; }
        & > .text-pane--yellow { background: #e8c65a; color: #1b1714; }
        & > .text-pane--green { background: #a4c98a; color: #1b1714; }
        & > .text-pane--blue { background: #9dbbe0; color: #1b1714; }
        & > .text-pane--pink { background: #e6a9bd; color: #1b1714; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"text-pane--{name}"
        for name in (
            "text",
            "heading",
            "number",
            "here",
            "margin",
            "match",
            "current",
            "finding",
            "selected",
            "yellow",
            "green",
            "blue",
            "pink",
            "note",
        )
    }

    class Moved(Message):
        """Posted when another row becomes the current one."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._shown = ""
        self._part = Span(0, 0)
        self._lines = LineIndex((0,))
        self._rows: list[_Row] = []
        self._starts: list[int] = []
        self._marks: list[TextMark] = []
        self._marks_by_row: dict[int, list[TextMark]] = {}
        self._target: int | None = None
        self._columns = 0

    def show(self, text: str, part: Span, lines: LineIndex) -> None:
        """Show `part` of `text`, a document's text with the line index `lines`.

        Marks are removed, and the pane scrolls to the start.
        """
        self._text, self._lines = text, lines
        self._part = Span(part.start, min(part.end, len(text)))
        shown = text[self._part.start : self._part.end].replace("\t", " ")
        self._shown = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", shown)
        self._marks = []
        self._target = None
        self._wrap()
        self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def set_marks(self, marks: Sequence[TextMark]) -> None:
        """Replace the marks; later ones are drawn over earlier ones."""
        self._marks = list(marks)
        self._arrange_marks()

    @property
    def offset_here(self) -> int:
        """The current position: that of the last jump while it is on the screen.

        Otherwise it is the start of the first visible row.
        """
        if not self._rows:
            return self._part.start
        if self._target is not None and self._is_visible(self._target):
            return self._target
        return self._rows[self._top].start

    @property
    def line_here(self) -> int:
        """The line of the current position in the file, from 1."""
        return self._lines.line_of(self.offset_here)

    @property
    def row_span(self) -> Span:
        """The span of the row with the current position."""
        if not self._rows:
            return self._part
        row = self._rows[self._row_at(self.offset_here)]
        return Span(row.start, row.end)

    @property
    def visible_span(self) -> Span:
        """The span of the rows on the screen; empty before the first layout."""
        rows = self._rows[self._top :][: self.size.height] if self._rows else []
        if not rows:
            return Span(self._part.start, self._part.start)
        return Span(rows[0].start, rows[-1].end)

    @property
    def _top(self) -> int:
        return min(max(0, self.scroll_offset.y), len(self._rows) - 1)

    def _is_visible(self, offset: int) -> bool:
        row = self._row_at(offset)
        return self._top <= row < self._top + max(1, self.size.height)

    def go_to(self, offset: int) -> None:
        """Scroll to `offset`, and make it the current position."""
        self._target = max(self._part.start, min(offset, self._part.end))
        row = self._row_at(self._target)
        height = max(1, self.size.height)
        if not self._top <= row < self._top + height - 1 or row == 0:
            y = max(0, row - height // 3)
            self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self.refresh()
        self.post_message(self.Moved())

    def scroll_to_top(self, offset: int) -> None:
        """Scroll until the row of `offset` is the first, or the end is on the screen."""
        y = self._row_at(offset)
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the text to the new width, and stay where it was read."""
        if self._columns != self._measure(event.size.width):
            here = self.offset_here
            self._wrap()
            self.go_to(here)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scroll, and announce the new position."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """Draw the row `y` of the visible ones."""
        number = self.scroll_offset.y + y
        base = self.rich_style
        if number >= len(self._rows):
            return Strip.blank(self.size.width, base)
        row = self._rows[number]
        marks = self._marks_by_row.get(number, [])
        segments = [
            *self._render_gutter(row, number, marks),
            *self._render_text(row, marks),
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _render_gutter(
        self, row: _Row, number: int, marks: Sequence[TextMark]
    ) -> Iterator[Segment]:
        is_here = number == self._row_at(self.offset_here)
        name = "here" if is_here else "number"
        label = f"{row.number:>5}" if row.number else " " * 5
        if is_here and not row.number:
            label = "    ·"
        yield Segment(f"{label} ", self._style(name))
        signs = [MARGIN_MARKS[m.kind] for m in marks if m.kind in MARGIN_MARKS]
        margin = "".join(dict.fromkeys(signs))[:2]
        yield Segment(f"{margin:2}", self._style("margin"))

    def _render_text(self, row: _Row, marks: Sequence[TextMark]) -> Iterator[Segment]:
        first = self._shown[row.start - self._part.start :][:1]
        base = self._style("heading" if first == "#" and row.number else "text")
        ranges = [
            (max(row.start, m.span.start), min(row.end, m.span.end), m.kind)
            for m in marks
        ]
        cuts = sorted({row.start, row.end, *(at for r in ranges for at in r[:2])})
        for start, end in pairwise(cuts):
            style = base
            for _, _, kind in (r for r in ranges if r[0] <= start and end <= r[1]):
                mark = self._style(kind)
                # A selected highlight keeps its colour.
                style += mark.without_color if kind == "selected" else mark
            at = self._part.start
            yield Segment(self._shown[start - at : end - at], style)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"text-pane--{name}")

    def _arrange_marks(self) -> None:
        self._marks_by_row = {}
        for mark in self._marks:
            first = self._row_at(mark.span.start)
            last = self._row_at(max(mark.span.start, mark.span.end - 1))
            for row in range(first, last + 1):
                self._marks_by_row.setdefault(row, []).append(mark)
        self.refresh()

    def _row_at(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)

    def _measure(self, width: int) -> int:
        return max(10, min(MAX_COLUMNS, width - GUTTER - 1))

    def _wrap(self) -> None:
        """Compute the rows for the present width."""
        self._columns = self._measure(self.size.width)
        self._rows = list(self._wrap_lines())
        self._starts = [row.start for row in self._rows]
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._arrange_marks()

    def _wrap_lines(self) -> Iterator[_Row]:
        begin, before = self._part.start, 0
        for line in self._shown.rstrip().split("\n"):
            number = self._lines.line_of(begin)  # the same for a paragraph's lines
            for start, end in wrap_line(line, self._columns):
                is_first = bool(line) and not start and number != before
                yield _Row(begin + start, begin + end, number if is_first else 0)
            begin, before = begin + len(line) + 1, number


def wrap_line(line: str, columns: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each row of `line`, wrapped after spaces.

    The rows follow each other without a gap. They have at most `columns` columns, not
    counting a space at the end, unless a single character is wider. An empty line is
    one empty row.
    """
    start = 0
    while True:
        end = _find_row_end(line, start, columns)
        if end < len(line):
            space = line.rfind(" ", start + 1, end + 1)
            end = space + 1 if space > start else end
        yield start, end
        if end >= len(line):
            return
        start = end


def _find_row_end(line: str, start: int, columns: int) -> int:
    """Return the offset up to which `line` fits into `columns`, at least one character."""
    end = min(len(line), start + columns)
    if not _WIDE.search(line, start, end):
        return end
    width = 0
    for at in range(start, len(line)):
        width += cell_len(line[at])
        if width > columns:
            return max(start + 1, at)
    return len(line)
