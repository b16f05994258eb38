"""The start of a command, and its output: the answer on stdout, progress and diagnostics
on stderr.
"""

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, Protocol, TextIO, TypeAlias

import typer

from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    sanitize_text,
)
from lrwr.core.model.errors import ExitCode, LrwrError
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.cli.runtime.hyperlinks import HyperlinkMode
    from lrwr.cli.runtime.terminal import StreamWrapper, TerminalRenderer

ColorMode: TypeAlias = Literal["auto", "always", "never"]
"""When to print colours; `auto` means on a terminal, unless NO_COLOR is set."""

_FALLBACK_WIDTH = 80
_FALLBACK_HEIGHT = 24
_MINIMUM_WIDTH = 20

# C1 controls, line and paragraph separators, bidirectional overrides and lone
# surrogates: JSON allows them raw, but they can steer a terminal or end a line.
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class AdvanceProgress(Protocol):
    """A function that moves a progress bar forward."""

    def __call__(self, steps: int, total: int | None = None, label: str = "") -> None:
        """Move the bar forward by `steps`; `total` sets the number of all steps, and
        `label` what is being done.

        None and an empty label change nothing.
        """


class Output:
    """The stdout and stderr of one command.

    All text is data: escape sequences, control characters and bidirectional overrides
    are removed, and nothing is interpreted as markup. On a terminal, lines are wrapped
    at words; in a pipe or a file they are written whole.

    With `as_json` the answer is JSON: `notice` then writes to stderr. `progress` and
    `pager` allow progress bars and the pager. `env`, `stdout` and `stderr` default to
    those of the process.
    """

    def __init__(
        self,
        *,
        color: ColorMode = "auto",
        progress: bool = True,
        pager: bool = False,
        hyperlinks: "HyperlinkMode" = "auto",
        root: Path | None = None,
        as_json: bool = False,
        env: Mapping[str, str] | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        environment = os.environ if env is None else env
        links = None if root is None else (hyperlinks, root)
        self._out = Stream(stdout or sys.stdout, color, environment, links)
        self._err = Stream(stderr or sys.stderr, color, environment)
        self._progress = progress
        self._pager = pager and self._out.terminal and is_terminal(sys.stdin)
        self._has_progress_bar = False
        self.as_json = as_json

    @property
    def width(self) -> int:
        """The number of columns of the terminal; 80 if stdout is not a terminal."""
        return self._out.width

    @property
    def interactive(self) -> bool:
        """Whether stdout is a terminal."""
        return self._out.terminal

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Collect what is written to stdout; show it in a pager if it exceeds a screen.

        Has no effect if the pager is off, or stdin or stdout is not a terminal.
        """
        if not self._pager:
            yield
            return
        self._out.start_buffer()
        try:
            yield
        finally:
            self._out.flush_buffer()

    def answer(self, *pieces: LinePiece, indent: int = 0) -> None:
        """Write one line or paragraph to stdout, indented by `indent` columns."""
        self._out.write_line(pieces, indent)

    def show(self, blocks: Iterable[StyledLine | StyledTable]) -> None:
        """Write lines and tables to stdout, in the order of `blocks`."""
        for block in blocks:
            if isinstance(block, StyledTable):
                self._write_table(block)
            else:
                self.answer(*block.pieces, indent=block.indent)

    def write_piece(self, text: str) -> None:
        """Write `text` to stdout without ending the line, for streamed answers.

        On a terminal it is wrapped at words, and the last word is held back until the
        next piece, line or `end_pieces`.
        """
        self._out.write_piece(sanitize_text(text))

    def end_pieces(self) -> None:
        """Write the word that `write_piece` held back."""
        self._out.end_pieces()

    def info(self, *pieces: LinePiece, indent: int = 0) -> None:
        """Write a message about progress or a problem to stderr.

        It is indented by `indent` columns, and appears above the progress bar, if any.
        """
        if self._has_progress_bar:
            self._err.renderer.print_paragraph(self._err.clean(pieces), indent)
        else:
            self._err.write_line(pieces, indent)

    def notice(self, *pieces: LinePiece, indent: int = 0) -> None:
        """Write a remark on the answer to stdout, or to stderr with `as_json`.

        Use it for what limits the answer: skipped steps, missing models, outdated data.
        It is indented by `indent` columns.
        """
        (self.info if self.as_json else self.answer)(*pieces, indent=indent)

    def notice_warning(self, sentence: str, hint: str = "") -> None:
        """Write a warning that belongs to the answer, and unless empty a hint below it.

        It goes to stdout, or to stderr with `as_json`.
        """
        self.notice(StyledText("warning: ", "bad"), sentence)
        if hint:
            self.notice(StyledText("hint: ", "strong"), hint, indent=2)

    def warn(self, sentence: str) -> None:
        """Write a warning to stderr; the command continues."""
        self.info(StyledText("warning: ", "bad"), sentence)

    def error(self, error: LrwrError) -> None:
        """Write the message of `error` to stderr, and below it the hint, if any."""
        self.info(StyledText("lrwr: ", "bad"), str(error))
        if error.hint:
            self.info(StyledText("hint: ", "strong"), error.hint)

    def json(self, value: object) -> None:
        """Write `value` to stdout as indented JSON; see `to_jsonable` for the types."""
        text = json.dumps(to_jsonable(value), ensure_ascii=False, indent=2)
        self._out.write(f"{escape_json(text)}\n")

    def json_line(self, value: object) -> None:
        """Write `value` to stdout as JSON on one line."""
        text = json.dumps(to_jsonable(value), ensure_ascii=False)
        self._out.write(f"{escape_json(text)}\n")

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[LinePiece]],
        *,
        right: Collection[str] = (),
    ) -> None:
        """Write a table to stdout; columns whose heading is in `right` align right.

        On a terminal, wide cells wrap; in a pipe or a file each row is one line.
        """
        self._write_table(StyledTable(headings, rows, right))

    def _write_table(self, table: StyledTable) -> None:
        if self._out.terminal:
            self._out.write(self._out.render_table(table))
            return
        for line in _align_columns(table.headings, table.rows, table.right):
            self._out.write_line([line])

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[AdvanceProgress]:
        """Show a progress bar on stderr and yield the function that advances it.

        `total` None means an unknown number of steps. Without a terminal, with progress
        turned off, or inside another bar, nothing is shown.
        """
        if not (self._progress and self._err.terminal) or self._has_progress_bar:
            yield _ignore_progress
            return
        self._has_progress_bar = True
        try:
            bar = self._err.renderer.show_progress(sanitize_text(label), total)
            with bar as progress_bar:
                yield progress_bar.advance
        finally:
            self._has_progress_bar = False


class Stream:
    """One output stream: sanitizes text and adapts to a terminal, a pipe or a file.

    Rich is imported only when there is a terminal or colour to render for. `links` is
    when locations become hyperlinks, and the folder to which they are relative.
    """

    def __init__(
        self,
        file: TextIO,
        color: ColorMode,
        env: Mapping[str, str],
        links: "tuple[HyperlinkMode, Path] | None" = None,
    ) -> None:
        self._file = file
        self._env = env
        self._links = links
        self._buffer: list[str] | None = None
        self.terminal = is_terminal(file)
        supports_color = (
            self.terminal and env.get("TERM") != "dumb" and not env.get("NO_COLOR")
        )
        self.colored = color == "always" or (color == "auto" and supports_color)
        self.width = _width(file, env) if self.terminal else _FALLBACK_WIDTH

    def write_piece(self, text: str) -> None:
        """Write `text`, wrapped at words on a terminal; see `Output.write_piece`."""
        self.write(self._wrapper.add(text) if self.terminal else text)

    def end_pieces(self) -> None:
        """Write the word that `write_piece` held back; the next line is a new one."""
        if self.terminal and "_wrapper" in vars(self):
            self.write(self._wrapper.end())

    @cached_property
    def _wrapper(self) -> "StreamWrapper":
        return self.renderer.wrap_stream()

    def write_line(self, pieces: Sequence[LinePiece], indent: int = 0) -> None:
        """Write one line or paragraph, indented by `indent` columns, and a line end."""
        self.end_pieces()
        if self.terminal or self.colored:
            text = self.renderer.render_paragraph(self.clean(pieces), indent)
            self.write(text)
        else:
            margin = " " * indent
            lines = join_pieces(pieces).split("\n")
            self.write("".join(f"{margin}{line}\n" if line else "\n" for line in lines))

    def render_table(self, table: StyledTable) -> str:
        """Return a table for a terminal, with wrapped cells."""
        headings = list(table.headings)
        return self.renderer.render_table(
            [self.clean([heading]) for heading in headings],
            [[self.clean([cell]) for cell in row] for row in table.rows],
            {index for index, name in enumerate(headings) if name in table.right},
            [headings.index(name) for name in table.optional],
        )

    def clean(self, pieces: Sequence[LinePiece]) -> list[StyledText]:
        """Return `pieces` without terminal controls; `?` replaces what is
        unencodable.
        """
        encoding = self._file.encoding
        return [
            StyledText(
                replace_unencodable(sanitize_text(piece.text), encoding), piece.tone
            )
            for piece in map(_styled, pieces)
        ]

    @cached_property
    def renderer(self) -> "TerminalRenderer":
        """The object that renders text with rich, which is imported on first use."""
        from lrwr.cli.runtime.terminal import TerminalRenderer

        return TerminalRenderer(
            self._file,
            terminal=self.terminal,
            colored=self.colored,
            width=self.width,
            env=self._env,
            links=self._links if self.terminal and self.colored else None,
        )

    def write(self, text: str) -> None:
        """Write `text` at once; exit with code 0 if the reader closed the pipe.

        After `start_buffer`, the text is only collected.
        """
        if self._buffer is not None:
            self._buffer.append(text)
            return
        try:
            self._file.write(replace_unencodable(text, self._file.encoding))
            self._file.flush()
        except BrokenPipeError:
            self._redirect_to_devnull()
            raise SystemExit(ExitCode.OK) from None

    def start_buffer(self) -> None:
        """Collect everything written from now on, until `flush_buffer`."""
        self._buffer = []

    def flush_buffer(self) -> None:
        """Write what was collected since `start_buffer`, in a pager if it is long.

        It is long if it exceeds the height of the terminal.
        """
        text, self._buffer = "".join(self._buffer or ()), None
        is_long = text.count("\n") >= _height(self._file)
        if not (is_long and self.renderer.page(text, self._file.encoding)):
            self.write(text)

    def _redirect_to_devnull(self) -> None:
        # Python flushes stdout again at exit, which would raise a second time.
        with suppress(OSError, ValueError):
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, self._file.fileno())
            os.close(devnull)


def replace_unencodable(text: str, encoding: str | None) -> str:
    """Return `text` with `?` for each character that `encoding` cannot represent."""
    target = encoding or "utf-8"
    return text.encode(target, errors="replace").decode(target)


def to_jsonable(value: object) -> object:
    """Return `value` as lists, dicts, strings, numbers, booleans and None.

    Dataclasses become dicts, sets sorted lists, paths and string enums strings; keys of
    dicts become strings. It does without the codec of `lrwr.core.model`, whose import
    would delay each command.

    Raises:
        TypeError: `value` contains any other type.
    """
    match value:
        case str():
            return str(value)
        case None | bool() | int() | float():
            return value
        case PurePath():
            return value.as_posix()
        case Mapping():
            return {str(key): to_jsonable(part) for key, part in value.items()}
        case list() | tuple():
            return [to_jsonable(part) for part in value]
        case Set():
            return sorted((to_jsonable(part) for part in value), key=str)
        case _ if is_dataclass(value):
            values_by_field = {
                field.name: getattr(value, field.name) for field in fields(value)
            }
            return to_jsonable(values_by_field)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def escape_json(text: str) -> str:
    r"""Return JSON `text` with terminal controls and line separators as `\uXXXX`.

    The parsed value is the same.
    """
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def error_as_json(error: LrwrError) -> dict[str, object]:
    """Return `{"error": {"message", "hint", "exit_code"}}`, as failed commands print it."""
    return {
        "error": {
            "message": str(error),
            "hint": error.hint,
            "exit_code": int(error.exit_code),
        }
    }


def join_pieces(pieces: Sequence[LinePiece]) -> str:
    """Return the text of `pieces` as one sanitized string, without tones (styles)."""
    return sanitize_text("".join(_styled(piece).text for piece in pieces))


def is_terminal(file: TextIO) -> bool:
    """Return whether `file` is a terminal; False if it is closed."""
    try:
        return file.isatty()
    except ValueError:  # closed
        return False


def _styled(piece: LinePiece) -> StyledText:
    return piece if isinstance(piece, StyledText) else StyledText(piece)


def _height(file: TextIO) -> int:
    with suppress(OSError, ValueError):
        return os.get_terminal_size(file.fileno()).lines or _FALLBACK_HEIGHT
    return _FALLBACK_HEIGHT


def _width(file: TextIO, env: Mapping[str, str]) -> int:
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_MINIMUM_WIDTH, int(columns))
    with suppress(OSError, ValueError):
        terminal_columns = os.get_terminal_size(file.fileno()).columns
        return max(_MINIMUM_WIDTH, terminal_columns or _FALLBACK_WIDTH)
    return _FALLBACK_WIDTH


def _ignore_progress(steps: int, total: int | None = None, label: str = "") -> None:
    del steps, total, label


def _align_columns(
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


def start_session(
    context: typer.Context, flags: Mapping[str, object] | None = None
) -> tuple[Settings, Output]:
    """Return the settings of the working directory's library, and the output.

    `flags` override settings by dotted name ("search.limit"); a value None means that
    the option was not used. Options before the command's name come from `context.obj`.
    Warnings about the settings are printed.

    Raises:
        SettingsProblem: A file, variable or option has an invalid value.
    """
    global_flags = context.find_object(dict) or {}
    overrides = {**global_flags, **(flags or {})}
    settings = load_settings(Path.cwd(), os.environ, overrides)
    output = Output(
        color=settings.output.color,
        progress=settings.output.progress,
        pager=settings.output.pager,
        hyperlinks=settings.output.hyperlinks,
        root=settings.root,
        as_json=bool(context.params.get("as_json")),
    )
    for warning in settings.warnings:
        output.warn(warning)
    return settings, output


def create_output(context: typer.Context) -> Output:
    """Return the output for a command that works even with invalid settings files.

    It uses only the options of the command line.
    """
    flags = context.find_object(dict) or {}
    return Output(
        color=flags.get("output.color") or "auto",
        as_json=bool(context.params.get("as_json")),
    )
