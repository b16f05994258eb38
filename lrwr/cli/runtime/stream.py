"""One of the two streams of a command, and what it can show."""

import os
import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from lrwr.app.presenters.text import LinePiece as LinePiece
from lrwr.app.presenters.text import StyledText as StyledText
from lrwr.app.presenters.text import Tone as Tone
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

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
            named = {found.name: getattr(value, found.name) for found in fields(value)}
            return to_jsonable(named)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def escape_json(text: str) -> str:
    """Return JSON with what could steer a terminal or end a line written as `\\uXXXX`; same value."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


ColorMode: TypeAlias = Literal["auto", "always", "never"]
"""Whether there is any style at all; auto asks the terminal and NO_COLOR."""
_STYLES: Mapping[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "faint": "dim",
    "place": "cyan",
    "good": "green",
    "bad": "red",
}
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
        self._console: Console | None = None
        self._gathered: list[str] | None = None
        self.terminal = is_terminal(file)
        wanted = self.terminal and env.get("TERM") != "dumb" and not env.get("NO_COLOR")
        self.colored = color == "always" or (color == "auto" and wanted)
        self.width = _width(file, env) if self.terminal else _FALLBACK_WIDTH

    def write_line(self, pieces: Sequence[LinePiece], indent: int = 0) -> None:
        """Write one line or paragraph and end it."""
        if self.terminal or self.colored:
            self.write(self.rendered(self.text(pieces, indent)))
        else:
            margin = " " * indent
            lines = join_pieces(pieces).split("\n")
            self.write("".join(f"{margin}{one}\n" if one else "\n" for one in lines))

    def text(self, pieces: Sequence[LinePiece], indent: int = 0) -> "Text":
        """Return a paragraph for rich; on a terminal it is wrapped at words."""
        from rich.text import Text

        lines = list(self.cell(pieces).split("\n", allow_blank=True))
        if self.terminal:
            room = max(_NARROWEST, self.width - indent)
            console = self.console()
            lines = list(chain(*(line.wrap(console, room) for line in lines)))
            for line in lines:
                line.rstrip()
        margin = Text(" " * indent)
        return Text("\n").join(margin + line if line else line for line in lines)

    def cell(self, pieces: Sequence[LinePiece]) -> "Text":
        """Return a table's cell for rich, as it is."""
        from rich.text import Text

        whole = Text()
        for part in map(_styled, pieces):
            text = replace_unencodable(sanitize_text(part.text), self._file.encoding)
            whole.append(text, style=_STYLES[part.tone])
        return whole

    def rendered(self, shown: "RenderableType") -> str:
        """Return what rich would print, unprinted."""
        console = self.console()
        with console.capture() as capture:
            console.print(shown, soft_wrap=True)
        return capture.get()

    def console(self) -> "Console":
        """Return the stream's rich console; the same one every time."""
        from rich.console import Console

        if self._console is None:
            system: Literal["auto", "standard"] = (
                "auto" if self.terminal else "standard"
            )
            self._console = Console(
                file=self._file,
                force_terminal=self.terminal or self.colored,
                color_system=system if self.colored else None,
                no_color=not self.colored,
                width=self.width,
                markup=False,
                emoji=False,
                highlight=False,
                _environ=self._env,
            )
        return self._console

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
        from pydoc import pager

        os.environ.setdefault("LESS", "-RFX")  # colours, and no screen of its own
        pager(replace_unencodable(text, self._file.encoding))

    def _let_go(self) -> None:
        # Python flushes once more on its way out; what is left goes nowhere.
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)


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
        found = os.get_terminal_size(file.fileno()).columns
        return max(_NARROWEST, found or _FALLBACK_WIDTH)
    return _FALLBACK_WIDTH
