"""Opening a passage from a plain conversation."""

import asyncio
import os
import shutil
import subprocess
import sys

from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.stream import is_terminal
from lrwr.tui.input.editor import (
    EditorCommand,
    EditorError,
    build_editor_command,
    find_editor,
    is_shell_unsafe,
)
from lrwr.tui.queries.passages import FileLocation


async def open_file_location(spot: FileLocation, output: Output) -> None:
    """Say where a passage stands and, where somebody sits at a terminal, open it.

    Raises:
        EditorError: The editor does not work.
    """
    if spot.gone:
        output.story("The passage is no longer there; this is where it stood.")
    if spot.paragraphs:
        output.answer(StyledText(f"{spot.file}, paragraph {spot.line}", "place"))
        return
    output.answer(StyledText(f"{spot.file}:{spot.line}", "place"))
    editor = find_editor(os.environ, sys.platform, shutil.which)
    if not (output.interactive and is_terminal(sys.stdin)):
        return
    if not editor:
        output.story("Set EDITOR in your shell, and it is opened there.")
        return
    windows = sys.platform == "win32"
    try:
        command = build_editor_command(editor, spot.file, spot.line, windows=windows)
    except ValueError as error:
        raise EditorError(
            "EDITOR cannot be read", hint="Check its quotation marks."
        ) from error
    await _run(command)


async def _run(command: EditorCommand) -> None:
    program = shutil.which(command.arguments[0])
    if program is None or is_shell_unsafe(command, program):
        raise EditorError(
            f"{command.program} cannot be run here",
            hint="Set VISUAL or EDITOR to an editor that you have.",
        )
    code = await asyncio.to_thread(_start, [program, *command.arguments[1:]], command)
    if code:
        raise EditorError(f"{command.program} ended with code {code}")


def _start(arguments: list[str], command: EditorCommand) -> int:
    """Run an editor to its end, or start it beside; return its exit code."""
    devnull = subprocess.DEVNULL
    try:
        if not command.windowed:
            return subprocess.run(arguments, check=False).returncode
        subprocess.Popen(arguments, stdin=devnull, stdout=devnull, stderr=devnull)
    except OSError as error:
        raise EditorError(
            f"{command.program} could not be started: {error.strerror}",
            hint="Check VISUAL and EDITOR.",
        ) from error
    return 0
