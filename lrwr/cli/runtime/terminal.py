"""Rendering for a terminal with rich: wrapped lines, tables, progress bars, the pager."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Literal, TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.style import Style
from rich.table import Table
from rich.text import Text

from lrwr.app.presenters.text import StyledText, Tone
from lrwr.cli.runtime.hyperlinks import (
    HyperlinkMode,
    create_file_links,
    strip_hyperlinks,
)

_NARROWEST = 20
"""The least number of columns that an indented paragraph is wrapped to."""

_PAGER_PROMPT = "-PsSpace shows more, q leaves this list$"
"""The prompt of less, instead of a colon. A prompt in the user's own LESS wins."""

_STYLES: Mapping[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "faint": "dim",
    "place": "cyan",
    "good": "green",
    "bad": "red",
}


_COLUMN_GAP = 2
"""Columns of space between two columns of a table."""
_LOCATION_PART = re.compile(r"[^\s/]*/|[^\s/]+")
"""What is not divided: a word, or a part of a location up to its slash."""
_HYPHEN_PART = re.compile(r"[^\s/-]*[/-]|[^\s/-]+")
"""A part of a location up to its slash or hyphen."""
_LOCATION = re.compile(r"\S*/\S*")

_STREAMED_PART = re.compile(r"\n|[ \t]+|[^ \t\n]+")
"""A line end, blanks or a word."""


class StreamWrapper:
    """Wraps text at words that arrives in pieces, to lines of `width` columns.

    A word that is longer than a line is not divided.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._blanks = ""
        self._word = ""

    def add(self, text: str) -> str:
        """Return what can be printed so far; the last word is held back.

        More of that word may follow, and then it may not fit on its line.
        """
        return "".join(map(self._add_part, _STREAMED_PART.findall(text)))

    def end(self) -> str:
        """Return what was held back; the text that follows begins a line."""
        rest = self._end_word() + self._blanks
        self._column, self._blanks = 0, ""
        return rest

    def _add_part(self, part: str) -> str:
        if part == "\n":
            return f"{self.end()}\n"
        if part.isspace():
            printable = self._end_word()
            self._blanks += part
            return printable
        self._word += part
        return ""

    def _end_word(self) -> str:
        if not self._word:
            return ""
        gap, columns = self._blanks, cell_len(self._blanks + self._word)
        if self._column and self._column + columns > self._width:
            gap, columns, self._column = "\n", cell_len(self._word), 0
        self._column += columns
        printable, self._blanks, self._word = gap + self._word, "", ""
        return printable


class ProgressBar:
    """One bar of a rich progress display.

    `total` is the number of steps, None if unknown.
    """

    def __init__(self, display: Progress, label: str, total: int | None) -> None:
        self._display = display
        self._task = display.add_task(label, total=total)

    def advance(self, steps: int, total: int | None = None, label: str = "") -> None:
        """Move the bar forward by `steps`; `total` sets the number of all steps, and
        `label` what is being done.

        None and an empty label change nothing.
        """
        self._display.update(
            self._task, advance=steps, total=total, description=label or None
        )


def find_pager(env: Mapping[str, str]) -> str:
    """Return the command of the pager: PAGER, else less or more; empty for none.

    None if PAGER is empty or `cat`, if the terminal cannot move its cursor, or if no
    key press would reach the pager: then it would wait for ever.
    """
    if env.get("TERM") in ("dumb", "emacs") or not _has_keyboard():
        return ""
    if "PAGER" in env:
        command = env["PAGER"].strip()
        return "" if command == "cat" else command
    return next((name for name in ("less", "more") if shutil.which(name)), "")


def _has_keyboard() -> bool:
    """Return whether lrwr runs in the foreground of the terminal of stdin."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except AttributeError:  # Windows
        return True
    except (OSError, ValueError):  # not the terminal that controls this process
        return False


class TerminalRenderer:
    """Renders text that is already sanitized, with the colours and width of a stream.

    `links` is when locations become hyperlinks, and the folder to which they are
    relative; None for never.
    """

    def __init__(
        self,
        file: TextIO,
        *,
        terminal: bool,
        colored: bool,
        width: int,
        env: Mapping[str, str],
        links: tuple[HyperlinkMode, Path] | None = None,
    ) -> None:
        self._terminal, self._width, self._env = terminal, width, env
        self._links = create_file_links(*links, env) if links else None
        system: Literal["auto", "standard"] = "auto" if terminal else "standard"
        self._console = Console(
            file=file,
            force_terminal=terminal or colored,
            color_system=system if colored else None,
            no_color=not colored,
            width=width,
            markup=False,
            emoji=False,
            highlight=False,
            _environ=env,
        )

    def render_paragraph(self, pieces: Sequence[StyledText], indent: int) -> str:
        """Return a paragraph, indented by `indent` columns, and its line end.

        On a terminal it is wrapped at words.
        """
        return self._render(self._paragraph(pieces, indent))

    def print_paragraph(self, pieces: Sequence[StyledText], indent: int) -> None:
        """Print a paragraph, indented by `indent` columns, above the progress bar."""
        self._console.print(self._paragraph(pieces, indent), soft_wrap=True)

    def wrap_stream(self) -> StreamWrapper:
        """Return a wrapper for text that arrives in pieces, for the width of a line."""
        return StreamWrapper(self._width)

    def render_table(
        self,
        headings: Sequence[Sequence[StyledText]],
        rows: Sequence[Sequence[Sequence[StyledText]]],
        right: Collection[int],
        optional: Sequence[int] = (),
    ) -> str:
        """Return a table in which long cells continue on the next line.

        They are divided at blanks, and locations behind slashes. `right` and `optional`
        have the indexes, from 0, of right-aligned columns, and of those that are left
        out, the first one first, until all words fit.
        """
        lines = [[self._line(cell) for cell in row] for row in (headings, *rows)]
        shown = _choose_columns([*zip(*lines, strict=True)], optional, self._width)
        lines = [[row[index] for index in shown] for row in lines]
        right = [shown.index(index) for index in right if index in shown]
        widths = _fit_columns(
            [*zip(*lines, strict=True)], self._width - _COLUMN_GAP * len(shown)
        )
        table = Table(
            box=None,
            pad_edge=False,
            header_style="bold",
            padding=(0, _COLUMN_GAP, 0, 0),
        )
        for index, (heading, width) in enumerate(zip(lines[0], widths, strict=True)):
            justify: Literal["left", "right"] = "right" if index in right else "left"
            table.add_column(heading, justify=justify, overflow="fold", width=width)
        for row in lines[1:]:
            table.add_row(*map(_divide_locations, row, widths))
        return self._render(table)

    @contextmanager
    def show_progress(self, label: str, total: int | None) -> Iterator[ProgressBar]:
        """Show a progress bar while the context is open, and yield it.

        `total` is the number of steps, None if unknown.
        """
        display = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        with display:
            yield ProgressBar(display, label, total)

    def page(self, text: str, encoding: str | None) -> bool:
        """Show `text`, encoded as `encoding`, in the user's pager, and return when the user leaves it.

        False, and nothing is shown, if there is no pager; see `find_pager`. Adds `_PAGER_PROMPT` to the options of less in the environment variable `LESS`.
        """
        pager = find_pager(self._env)
        if not pager:
            return False
        options = self._env.get("LESS", "-RFX")  # colours, and no screen of its own
        process = subprocess.Popen(
            pager,
            shell=True,  # PAGER may have options
            stdin=subprocess.PIPE,
            env={**self._env, "LESS": f"{_PAGER_PROMPT} {options}"},
        )
        with suppress(OSError, KeyboardInterrupt):  # the user left before the end
            # Older pagers print the escape sequences of links as text.
            shown = strip_hyperlinks(text)
            process.communicate(shown.encode(encoding or "utf-8", errors="replace"))
        while process.poll() is None:
            with suppress(KeyboardInterrupt):  # the pager handles it
                process.wait()
        return True

    def _paragraph(self, pieces: Sequence[StyledText], indent: int) -> Text:
        lines = list(self._line(pieces).split("\n", allow_blank=True))
        if self._terminal:
            text_width = max(_NARROWEST, self._width - indent)
            lines = list(
                chain(*(line.wrap(self._console, text_width) for line in lines))
            )
            for line in lines:
                line.rstrip()
        margin = Text(" " * indent)
        return Text("\n").join(margin + line if line else line for line in lines)

    def _line(self, pieces: Sequence[StyledText]) -> Text:
        line = Text()
        for piece in pieces:
            style: str | Style = _STYLES[piece.tone]
            if piece.tone == "place" and self._links is not None:
                address = self._links.find(piece.text)
                style = Style.parse(style) + Style(link=address or None)
            line.append(piece.text, style=style)
        return line

    def _render(self, renderable: RenderableType) -> str:
        with self._console.capture() as capture:
            self._console.print(renderable, soft_wrap=True)
        return capture.get()


def _choose_columns(
    columns: Sequence[Sequence[Text]], optional: Sequence[int], width: int
) -> list[int]:
    """Return the indexes of the columns of a table that are shown in `width` columns.

    Those in `optional` are left out, the first one first, until every word fits.
    """
    shown = list(range(len(columns)))
    least = [_widest_part(column, _HYPHEN_PART) for column in columns]
    for index in optional:
        if sum(least[n] + _COLUMN_GAP for n in shown) <= width:
            break
        shown.remove(index)
    return shown


def _fit_columns(columns: Sequence[Sequence[Text]], available: int) -> list[int]:
    """Return the width of each column of a table, at most `available` together.

    The widest columns get narrower first. If not every word fits, locations are
    divided behind hyphens too, then words are divided, and locations last.
    """
    widths = [max(cell.cell_len for cell in column) for column in columns]
    words = [_widest_part(column, _LOCATION_PART) for column in columns]
    hyphens = [
        _widest_part(column, _HYPHEN_PART) if _has_location(column) else width
        for width, column in zip(words, columns, strict=True)
    ]
    locations = [
        width if _has_location(column) else 1
        for width, column in zip(hyphens, columns, strict=True)
    ]
    if sum(locations) > available:
        locations = hyphens
    for floors in (words, hyphens, locations, [1] * len(columns)):
        while sum(widths) > max(available, sum(map(min, widths, floors))):
            _, widest = max(
                (width, index)
                for index, width in enumerate(widths)
                if width > floors[index]
            )
            widths[widest] -= 1
    return widths


def _widest_part(column: Sequence[Text], pattern: re.Pattern[str]) -> int:
    parts = (part for cell in column for part in pattern.findall(cell.plain))
    return max(map(cell_len, parts), default=1)


def _has_location(column: Sequence[Text]) -> bool:
    return any("/" in cell.plain for cell in column)


def _divide_locations(cell: Text, width: int) -> Text:
    """Return `cell` with line ends in locations that are wider than `width`.

    They are behind slashes, and behind hyphens of what is still too wide.
    """
    offsets: list[int] = []
    for location in _LOCATION.finditer(cell.plain):
        if cell_len(location[0]) > width:
            parts = [*_LOCATION_PART.finditer(cell.plain, *location.span())]
            offsets += _find_line_starts(parts, width)
    return Text("\n").join(cell.divide(offsets))


def _find_line_starts(parts: Sequence[re.Match[str]], width: int) -> Iterator[int]:
    """Yield the start of each part of a word that begins a new line of `width`."""
    column = 0
    for part in parts:
        columns = cell_len(part[0])
        if column and column + columns > width:
            yield part.start()
            column = 0
        pieces = [*_HYPHEN_PART.finditer(part.string, *part.span())]
        if columns > width and len(pieces) > 1:
            yield from _find_line_starts(pieces, width)
        column += columns
