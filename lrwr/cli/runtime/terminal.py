"""Rendering for a terminal with rich: wrapped lines, tables, progress bars, the pager."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pydoc import pager
from typing import Literal, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from lrwr.app.presenters.text import StyledText, Tone

_NARROWEST = 20
"""The least number of columns that an indented paragraph is wrapped to."""

_STYLES: Mapping[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "faint": "dim",
    "place": "cyan",
    "good": "green",
    "bad": "red",
}


class ProgressBar:
    """One bar of a rich progress display.

    `total` is the number of steps, None if unknown.
    """

    def __init__(self, display: Progress, label: str, total: int | None) -> None:
        self._display = display
        self._task = display.add_task(label, total=total)

    def advance(self, steps: int, total: int | None = None) -> None:
        """Move the bar forward by `steps`; `total` sets the number of all steps.

        None leaves the total unchanged.
        """
        self._display.update(self._task, advance=steps, total=total)


class TerminalRenderer:
    """Renders text that is already sanitized, with the colours and width of a stream."""

    def __init__(
        self,
        file: TextIO,
        *,
        terminal: bool,
        colored: bool,
        width: int,
        env: Mapping[str, str],
    ) -> None:
        self._terminal, self._width = terminal, width
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

    def render_table(
        self,
        headings: Sequence[Sequence[StyledText]],
        rows: Sequence[Sequence[Sequence[StyledText]]],
        right: Collection[int],
    ) -> str:
        """Return a table in which long cells continue on the next line.

        `right` has the indexes, from 0, of right-aligned columns.
        """
        table = Table(
            box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0)
        )
        for index, heading in enumerate(headings):
            justify: Literal["left", "right"] = "right" if index in right else "left"
            table.add_column(_line(heading), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*map(_line, row))
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

    def page(self, text: str) -> None:
        """Show `text` in the user's pager; return when the user leaves it.

        Sets the environment variable `LESS` unless it is set.
        """
        os.environ.setdefault("LESS", "-RFX")  # colours, and no screen of its own
        pager(text)

    def _paragraph(self, pieces: Sequence[StyledText], indent: int) -> Text:
        lines = list(_line(pieces).split("\n", allow_blank=True))
        if self._terminal:
            text_width = max(_NARROWEST, self._width - indent)
            lines = list(
                chain(*(line.wrap(self._console, text_width) for line in lines))
            )
            for line in lines:
                line.rstrip()
        margin = Text(" " * indent)
        return Text("\n").join(margin + line if line else line for line in lines)

    def _render(self, renderable: RenderableType) -> str:
        with self._console.capture() as capture:
            self._console.print(renderable, soft_wrap=True)
        return capture.get()


def _line(pieces: Sequence[StyledText]) -> Text:
    line = Text()
    for piece in pieces:
        line.append(piece.text, style=_STYLES[piece.tone])
    return line
