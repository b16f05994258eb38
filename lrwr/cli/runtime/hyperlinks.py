"""Hyperlinks (OSC 8) from the locations that commands print to the files."""

import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

HyperlinkMode: TypeAlias = Literal["auto", "always", "never"]
"""When to print hyperlinks; `auto` means in terminals that are known to show them."""

_LOCATION = re.compile(
    r"\s*(?P<file>\S(?:.*\S)?\.(?:md|markdown|txt|docx|epub|toml))(?::(?P<line>\d+)(?:-\d+)?)?\s*",
    re.IGNORECASE,
)
_PROGRAMS = frozenset({
    "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "mintty",
})  # fmt: skip
"""Values of TERM_PROGRAM of terminals that show hyperlinks."""
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "contour", "wezterm")
"""Values of TERM of such terminals, or how they begin."""
_VARIABLES = ("WT_SESSION", "KITTY_WINDOW_ID", "DOMTERM")
"""Variables that only such terminals set."""
_LEAST_VTE, _LEAST_KONSOLE = 5_000, 201_200
_SEQUENCE = re.compile(r"\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)")


class FileLinks:
    """Finds the address that a printed location links to.

    `root` is the library's folder, to which locations are relative. With `lines`,
    addresses end in the line, as in `file://host/novel/03.md#15`.
    """

    def __init__(self, root: Path, *, lines: bool) -> None:
        self._root, self._lines = root, lines
        self._addresses: dict[str, str] = {}

    def find(self, location: str) -> str:
        """Return the address of the file of `location`, such as `chapters/03.md:15`.

        Empty if `location` is something else, or no such file exists.
        """
        match = _LOCATION.fullmatch(location)
        if match is None:
            return ""
        name, line = match["file"], match["line"]
        if name not in self._addresses:
            file = self._root / name
            self._addresses[name] = _address(file) if file.is_file() else ""
        address = self._addresses[name]
        return f"{address}#{line}" if address and line and self._lines else address


def create_file_links(
    mode: HyperlinkMode, root: Path, env: Mapping[str, str]
) -> FileLinks | None:
    """Return the links for a terminal with the environment `env`; None for no links."""
    if mode == "never" or (mode == "auto" and not shows_hyperlinks(env)):
        return None
    return FileLinks(root, lines=_opens_lines(env))


def shows_hyperlinks(env: Mapping[str, str]) -> bool:
    """Return whether the terminal with the environment `env` is known to show links.

    Terminals do not tell; most others ignore the escape sequence. Inside tmux and
    screen, which may drop it, False. FORCE_HYPERLINK decides if set: 0 means no.
    """
    if forced := env.get("FORCE_HYPERLINK"):
        return forced != "0"
    if env.get("TMUX") or env.get("STY"):
        return False
    return (
        env.get("TERM_PROGRAM") in _PROGRAMS
        or env.get("TERM", "").startswith(_TERMS)
        or any(map(env.get, _VARIABLES))
        or _number(env, "VTE_VERSION") >= _LEAST_VTE
        or _number(env, "KONSOLE_VERSION") >= _LEAST_KONSOLE
    )


def strip_hyperlinks(text: str) -> str:
    """Return `text` without the escape sequences of hyperlinks."""
    return _SEQUENCE.sub("", text)


def _opens_lines(env: Mapping[str, str]) -> bool:
    """Return whether the terminal reads the line from the end of an address."""
    return bool(env.get("KITTY_WINDOW_ID")) or env.get("TERM_PROGRAM") == "vscode"


def _address(file: Path) -> str:
    uri = file.absolute().as_uri()
    # With the host, a terminal on another machine does not open a file of its own.
    host = "" if sys.platform == "win32" else socket.gethostname()
    return uri.replace("file://", f"file://{host}", 1)


def _number(env: Mapping[str, str], name: str) -> int:
    digits = env.get(name, "")
    return int(digits) if digits.isdecimal() else 0
