"""What is printed: the answer on stdout, the story on stderr."""

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TextIO

from lrwr.app.presenters.text import LinePiece, StyledText, sanitize_text
from lrwr.cli.runtime.stream import (
    ColorMode,
    Stream,
    escape_json,
    is_terminal,
    join_pieces,
    to_jsonable,
)
from lrwr.core.model.errors import LrwrError


class AdvanceProgress(Protocol):
    """Moves a bar on by `steps`; `total` says how many there are, once that is known."""

    def __call__(self, steps: int, total: int | None = None) -> None:
        """Move the bar."""


class Output:
    """One command's two streams.

    Every text is data: escape sequences, control characters and characters that turn
    the reading direction are taken out, and nothing in it is markup. On a terminal
    lines are wrapped at words; in a pipe or a file they are left as they are.
    """

    def __init__(
        self,
        *,
        color: ColorMode = "auto",
        progress: bool = True,
        pager: bool = False,
        env: Mapping[str, str] | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        environment = os.environ if env is None else env
        self._out = Stream(stdout or sys.stdout, color, environment)
        self._err = Stream(stderr or sys.stderr, color, environment)
        self._progress = progress
        self._pager = pager and self._out.terminal and is_terminal(sys.stdin)
        self._has_progress_bar = False

    @property
    def width(self) -> int:
        """Columns of the terminal that shows the answer, 80 where there is none."""
        return self._out.width

    @property
    def interactive(self) -> bool:
        """Whether the answer goes straight to a terminal."""
        return self._out.terminal

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Show the answer given meanwhile a screen at a time, if it needs more."""
        if not self._pager:
            yield
            return
        self._out.gather()
        try:
            yield
        finally:
            self._out.show_gathered()

    def answer(self, *pieces: LinePiece, indent: int = 0) -> None:
        """Print one line or paragraph of the answer, `indent` columns from the left."""
        self._out.write_line(pieces, indent)

    def piece(self, text: str) -> None:
        """Print a piece of the answer as it comes, and do not end its line."""
        self._out.write(sanitize_text(text))

    def story(self, *pieces: LinePiece, indent: int = 0) -> None:
        """Say what is going on, apart from the answer."""
        if self._has_progress_bar:
            self._err.renderer.print_paragraph(self._err.clean(pieces), indent)
        else:
            self._err.write_line(pieces, indent)

    def warn(self, sentence: str) -> None:
        """Say what the writer should know although the work goes on."""
        self.story(StyledText("warning: ", "bad"), sentence)

    def problem(self, error: LrwrError) -> None:
        """Say what went wrong and, on a line of its own, what to try."""
        self.story(StyledText("lrwr: ", "bad"), str(error))
        if error.hint:
            self.story(StyledText("hint: ", "strong"), error.hint)

    def json(self, value: object) -> None:
        """Print `value` as the whole answer; see `to_jsonable` for what it may hold."""
        text = json.dumps(to_jsonable(value), ensure_ascii=False, indent=2)
        self._out.write(f"{escape_json(text)}\n")

    def json_line(self, value: object) -> None:
        """Print `value` as one line of JSON, one of many."""
        text = json.dumps(to_jsonable(value), ensure_ascii=False)
        self._out.write(f"{escape_json(text)}\n")

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[LinePiece]],
        *,
        right: Collection[str] = (),
    ) -> None:
        """Print rows under headings; columns whose heading is in `right` end aligned.

        Wide cells are folded on a terminal; elsewhere a row is always one line.
        """
        if self._out.terminal:
            self._out.write(self._out.render_table(headings, rows, right))
            return
        for line in _aligned(headings, rows, right):
            self._out.write_line([line])

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[AdvanceProgress]:
        """Lend out a function that moves a bar on by so many steps of `total`.

        `total` None means that nobody knows yet; the function may tell it later. Where
        nobody watches there is no bar, and the function does nothing.
        """
        if not (self._progress and self._err.terminal) or self._has_progress_bar:
            yield _no_bar
            return
        self._has_progress_bar = True
        try:
            bar = self._err.renderer.show_progress(sanitize_text(label), total)
            with bar as progress_bar:
                yield progress_bar.advance
        finally:
            self._has_progress_bar = False


def _no_bar(steps: int, total: int | None = None) -> None:
    del steps, total


def _aligned(
    headings: Sequence[str],
    rows: Sequence[Sequence[LinePiece]],
    right: Collection[str],
) -> Iterator[str]:
    lines = [[" ".join(join_pieces([piece]).split()) for piece in row] for row in rows]
    lines.insert(0, [join_pieces([heading]) for heading in headings])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(headings, line, widths, strict=True)
        yield "  ".join(
            cell.rjust(width) if heading in right else cell.ljust(width)
            for heading, cell, width in cells
        ).rstrip()
