"""One of the two streams of a command, and what it can show."""

import os
import re
from collections.abc import Collection, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from lrwr.app.presenters.text import LinePiece, StyledText, sanitize_text
from lrwr.core.model.errors import ExitCode

if TYPE_CHECKING:
    from lrwr.cli.runtime.terminal import TerminalRenderer

_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def replace_unencodable(text: str, encoding: str | None) -> str:
    """Return `text` with a `?` for each character that `encoding` does not have."""
    target = encoding or "utf-8"
    return text.encode(target, errors="replace").decode(target)


def to_jsonable(value: object) -> object:
    """Return `value` as plain lists, dicts, texts and numbers.

    Dataclasses become objects, sets become sorted lists, paths and enums texts.
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
    """Return JSON with what could steer a terminal or end a line written as `\\uXXXX`; same value."""
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


ColorMode: TypeAlias = Literal["auto", "always", "never"]
"""Whether there is any style at all; auto asks the terminal and NO_COLOR."""
_FALLBACK_WIDTH = 80
_FALLBACK_HEIGHT = 24
_NARROWEST = 20


class Stream:
    """A stream that is safe to write to, whatever the text and whoever reads.

    Rich is imported only where there is a terminal or a colour to show.
    """

    def __init__(self, file: TextIO, color: ColorMode, env: Mapping[str, str]) -> None:
        self._file = file
        self._env = env
        self._gathered: list[str] | None = None
        self.terminal = is_terminal(file)
        supports_color = (
            self.terminal and env.get("TERM") != "dumb" and not env.get("NO_COLOR")
        )
        self.colored = color == "always" or (color == "auto" and supports_color)
        self.width = _width(file, env) if self.terminal else _FALLBACK_WIDTH

    def write_line(self, pieces: Sequence[LinePiece], indent: int = 0) -> None:
        """Write one line or paragraph and end it."""
        if self.terminal or self.colored:
            text = self.renderer.render_paragraph(self.clean(pieces), indent)
            self.write(text)
        else:
            margin = " " * indent
            lines = join_pieces(pieces).split("\n")
            self.write("".join(f"{margin}{line}\n" if line else "\n" for line in lines))

    def render_table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[LinePiece]],
        right: Collection[str],
    ) -> str:
        """Return a table for a terminal, with folded cells."""
        return self.renderer.render_table(
            [self.clean([heading]) for heading in headings],
            [[self.clean([cell]) for cell in row] for row in rows],
            {index for index, heading in enumerate(headings) if heading in right},
        )

    def clean(self, pieces: Sequence[LinePiece]) -> list[StyledText]:
        """Return `pieces` without what could steer a terminal or cannot be encoded."""
        encoding = self._file.encoding
        return [
            StyledText(
                replace_unencodable(sanitize_text(piece.text), encoding), piece.tone
            )
            for piece in map(_styled, pieces)
        ]

    @cached_property
    def renderer(self) -> "TerminalRenderer":
        """What renders for a terminal; rich is imported only where there is one."""
        from lrwr.cli.runtime.terminal import TerminalRenderer

        return TerminalRenderer(
            self._file,
            terminal=self.terminal,
            colored=self.colored,
            width=self.width,
            env=self._env,
        )

    def write(self, text: str) -> None:
        """Write and flush; when the reader has left, the command ends quietly."""
        if self._gathered is not None:
            self._gathered.append(text)
            return
        try:
            self._file.write(replace_unencodable(text, self._file.encoding))
            self._file.flush()
        except BrokenPipeError:
            self._let_go()
            raise SystemExit(ExitCode.OK) from None

    def gather(self) -> None:
        """Hold back what is written from now on, until `show_gathered`."""
        self._gathered = []

    def show_gathered(self) -> None:
        """Show what was held back, in a pager when it is longer than the terminal."""
        text, self._gathered = "".join(self._gathered or ()), None
        if text.count("\n") < _height(self._file):
            self.write(text)
            return
        self.renderer.page(replace_unencodable(text, self._file.encoding))

    def _let_go(self) -> None:
        # Python flushes once more on its way out; what is left goes nowhere.
        with suppress(OSError, ValueError):
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, self._file.fileno())
            os.close(devnull)


def join_pieces(pieces: Sequence[LinePiece]) -> str:
    """Return the text of `pieces`, cleaned, without tones."""
    return sanitize_text("".join(_styled(piece).text for piece in pieces))


def _styled(piece: LinePiece) -> StyledText:
    return piece if isinstance(piece, StyledText) else StyledText(piece)


def is_terminal(file: TextIO) -> bool:
    """Say whether a person reads or writes `file`."""
    try:
        return file.isatty()
    except ValueError:  # closed
        return False


def _height(file: TextIO) -> int:
    with suppress(OSError, ValueError):
        return os.get_terminal_size(file.fileno()).lines or _FALLBACK_HEIGHT
    return _FALLBACK_HEIGHT


def _width(file: TextIO, env: Mapping[str, str]) -> int:
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_NARROWEST, int(columns))
    with suppress(OSError, ValueError):
        terminal_columns = os.get_terminal_size(file.fileno()).columns
        return max(_NARROWEST, terminal_columns or _FALLBACK_WIDTH)
    return _FALLBACK_WIDTH
