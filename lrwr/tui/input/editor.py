"""Builds and runs the command that opens a file at a line in the user's editor."""

import asyncio
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from lrwr.core.model.errors import LrwrError

PLUS_LINE_EDITORS = frozenset({
    "vi", "vim", "nvim", "view", "vimx", "elvis", "ex", "nano", "pico", "rnano",
    "emacs", "emacsclient", "mg", "zile", "micro", "kak", "joe", "jmacs", "jpico",
    "jstar", "rjoe", "ne", "jed", "gvim", "mvim", "nvim-qt", "gedit", "pluma",
    "xed", "gnome-text-editor", "bbedit",
})  # fmt: skip
"""Editors that take `+LINE` before the file."""
COLON_LINE_EDITORS = frozenset({
    "hx", "helix", "zed", "zeditor", "subl", "sublime_text", "sublime", "geany",
    "lapce",
})  # fmt: skip
"""Editors that take `file:LINE`."""
GOTO_EDITORS = frozenset({
    "code", "code-insiders", "code-oss", "codium", "vscodium", "cursor",
    "windsurf", "positron",
})  # fmt: skip
"""Editors that take `--goto file:LINE`."""
LINE_OPTION_EDITORS = frozenset({
    "idea", "idea64", "pycharm", "charm", "webstorm", "phpstorm", "goland",
    "clion", "rubymine", "rider", "studio", "fleet", "kate", "kwrite", "mate",
    "mousepad",
})  # fmt: skip
"""Editors that take `--line LINE` before the file."""
WINDOWED_EDITORS = GOTO_EDITORS | LINE_OPTION_EDITORS | frozenset({
    "gvim", "mvim", "nvim-qt", "gedit", "pluma", "xed", "gnome-text-editor",
    "bbedit", "zed", "zeditor", "subl", "sublime_text", "sublime", "geany",
    "lapce", "notepad", "notepad++", "wordpad", "write", "typora", "obsidian",
    "ghostwriter", "focuswriter", "apostrophe", "marktext", "libreoffice",
    "soffice", "lowriter", "open", "xdg-open",
})  # fmt: skip
"""Editors that open their own window; all others need the terminal."""
LINE_EDITORS = (
    PLUS_LINE_EDITORS
    | COLON_LINE_EDITORS
    | GOTO_EDITORS
    | (LINE_OPTION_EDITORS | {"notepad++"})
)
"""Editors whose arguments for a line lrwr knows."""
FALLBACK_EDITORS = ("nano", "micro")
"""Editors used if none is configured: both show on screen how to quit."""
_EXECUTABLE_SUFFIXES = (".exe", ".cmd", ".bat", ".com")
_SHELL_CHARACTERS = frozenset('"%&|<>^!\r\n')


class EditorError(LrwrError):
    """The editor could not be started, or exited with an error."""


@dataclass(frozen=True, slots=True)
class EditorCommand:
    """A program with its arguments; the first of `arguments` is its name or path.

    `windowed` is true for a program that opens a window of its own, false for one that
    runs in the terminal.
    """

    arguments: tuple[str, ...]
    windowed: bool

    @property
    def program(self) -> str:
        """The program's name, without folder and executable suffix, in lower case."""
        return _program_name(self.arguments[0])

    @property
    def has_line(self) -> bool:
        """Whether the program is told the line; it is not if lrwr does not know it."""
        return self.program in LINE_EDITORS


def find_editor(
    env: Mapping[str, str], platform: str, which: Callable[[str], str | None]
) -> str:
    """Return the command line of the user's editor; empty if there is none.

    It is the value of `VISUAL` in `env`, else of `EDITOR`, else `notepad` on Windows or
    the first installed of `FALLBACK_EDITORS`. `platform` is `sys.platform`; `which`
    returns the path of an installed program, else None.
    """
    for name in ("VISUAL", "EDITOR"):
        if written := env.get(name, "").strip():
            return written
    if platform == "win32":
        return "notepad"
    return next((name for name in FALLBACK_EDITORS if which(name)), "")


def build_editor_command(
    editor: str, file: PurePath, line: int, *, windows: bool
) -> EditorCommand:
    """Return the command that opens `file`, an absolute path, at `line`, from 1.

    `editor` is a command line such as "code --wait". If `windows`, its backslashes are
    kept, else it is parsed as a POSIX shell does. The line is left out for editors that
    lrwr does not know.

    Raises:
        ValueError: `file` is not absolute, or `editor` is empty or has unmatched
            quotation marks.
    """
    if not file.is_absolute():
        raise ValueError(f"not an absolute path: {file}")
    words = _split_command(editor, windows=windows)
    if not words:
        raise ValueError("no editor is named")
    name = _program_name(words[0])
    return EditorCommand(
        (*words, *_location_arguments(name, str(file), line)), name in WINDOWED_EDITORS
    )


def build_opener_command(file: PurePath, platform: str) -> EditorCommand:
    """Return the command that opens `file` with the system's default program.

    `platform` is a value of `sys.platform` other than win32.
    """
    program = "open" if platform == "darwin" else "xdg-open"
    return EditorCommand((program, str(file)), windowed=True)


def is_shell_unsafe(command: EditorCommand, program: str) -> bool:
    """Return whether `program` is a batch file and an argument has shell characters.

    `program` is the path of the command's program. Windows runs batch files through its
    shell, which would interpret these characters.
    """
    batch = program.lower().endswith((".cmd", ".bat"))
    return batch and any(
        _SHELL_CHARACTERS & set(argument) for argument in command.arguments[1:]
    )


def _location_arguments(name: str, file: str, line: int) -> tuple[str, ...]:
    if name in GOTO_EDITORS:
        return ("--goto", f"{file}:{line}")
    if name in COLON_LINE_EDITORS:
        return (f"{file}:{line}",)
    if name in LINE_OPTION_EDITORS:
        return ("--line", str(line), file)
    if name == "notepad++":
        return (f"-n{line}", file)
    return (f"+{line}", file) if name in PLUS_LINE_EDITORS else (file,)


def _split_command(editor: str, *, windows: bool) -> list[str]:
    """Split a command line as a shell does; on Windows keep backslashes."""
    if not windows:
        return shlex.split(editor)
    return [word.strip('"') for word in shlex.split(editor, posix=False)]


def _program_name(program: str) -> str:
    name = program.replace("\\", "/").rpartition("/")[2].lower()
    for ending in _EXECUTABLE_SUFFIXES:
        name = name.removesuffix(ending)
    return name


async def run_editor(command: EditorCommand) -> None:
    """Run a terminal editor until it ends; start a windowed one and return at once.

    Raises:
        EditorError: The editor is not installed, cannot be started or fails, or the
            file name is unsafe for it.
    """
    program = shutil.which(command.arguments[0])
    if program is None or is_shell_unsafe(command, program):
        raise EditorError(
            f"Cannot run {command.program}",
            hint="Set VISUAL or EDITOR to an installed editor.",
        )
    code = await asyncio.to_thread(_start, [program, *command.arguments[1:]], command)
    if code:
        raise EditorError(f"{command.program} exited with code {code}")


def _start(arguments: list[str], command: EditorCommand) -> int:
    """Return the exit code of a terminal editor; 0 for a windowed one, once started."""
    devnull = subprocess.DEVNULL
    try:
        if not command.windowed:
            return subprocess.run(arguments, check=False).returncode
        subprocess.Popen(arguments, stdin=devnull, stdout=devnull, stderr=devnull)
    except OSError as error:
        raise EditorError(
            f"Cannot start {command.program}: {error.strerror}",
            hint="Check the environment variables VISUAL and EDITOR.",
        ) from error
    return 0


def explain_clipboard_failure(env: Mapping[str, str], platform: str) -> str:
    """Return how to copy text by hand in a terminal that is known to block copying.

    The result is a sentence; empty for all other terminals. Copying uses a terminal
    escape sequence that no terminal confirms, so a failure cannot be detected. `env` is
    the environment, `platform` is `sys.platform`.
    """
    terminal = _find_blocking_terminal(env, platform)
    if not terminal:
        return ""
    return (
        f"If your clipboard is unchanged, {terminal} blocks copying by programs: hold"
        " Shift (Option on a Mac), select the text with the mouse, and copy it."
    )


def _find_blocking_terminal(env: Mapping[str, str], platform: str) -> str:
    if env.get("TERM_PROGRAM") == "Apple_Terminal":
        return "Terminal.app"
    if env.get("VTE_VERSION"):
        return "this terminal"
    if env.get("TERM") in ("linux", "dumb", "vt100"):
        return "this console"
    if env.get("TMUX"):
        return "tmux without `set-clipboard on`"
    if env.get("STY"):
        return "GNU screen"
    if platform == "win32" and not env.get("WT_SESSION"):
        return "this console"
    return ""
