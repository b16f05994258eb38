"""Prints the location of a passage, and opens the user's editor there."""

import os
import shutil
import sys

from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output, is_terminal
from lrwr.tui.input.editor import (
    EditorCommand,
    EditorError,
    build_editor_command,
    build_opener_command,
    find_editor,
    run_editor,
)
from lrwr.tui.queries.passages import FileLocation


async def open_file_location(location: FileLocation, output: Output) -> None:
    """Print a location; on a terminal, also open it in the user's editor.

    A `.docx` is opened with the system's program for it. Nothing is opened if stdin or
    stdout is not a terminal.

    Raises:
        EditorError: No editor is set, or it cannot be started or fails.
    """
    print_file_location(location, output)
    if not (output.interactive and is_terminal(sys.stdin)):
        return
    if location.paragraphs and sys.platform == "win32":
        os.startfile(location.file)
        return
    command = _choose_command(location)
    if not location.paragraphs and not command.has_line:
        output.info(
            f"{command.program} gets only the file: lrwr does not know how it takes a"
            " line."
        )
    await run_editor(command)


def print_file_location(location: FileLocation, output: Output) -> None:
    """Print a location as `FILE:LINE`, or the paragraph of a `.docx`.

    If the passage is gone, a message on stderr says that it is the last known location.
    """
    if location.gone:
        output.info("The passage is no longer in the text. Its last location:")
    separator = ", paragraph " if location.paragraphs else ":"
    output.answer(StyledText(f"{location.file}{separator}{location.line}", "place"))


def _choose_command(location: FileLocation) -> EditorCommand:
    if location.paragraphs:
        return build_opener_command(location.file, sys.platform)
    editor = find_editor(os.environ, sys.platform, shutil.which)
    if not editor:
        raise EditorError(
            "No editor is set",
            hint='Set `EDITOR` in your shell, for example: export EDITOR="nano"',
        )
    windows = sys.platform == "win32"
    try:
        return build_editor_command(
            editor, location.file, location.line, windows=windows
        )
    except ValueError as error:
        raise EditorError(
            "The command in VISUAL or EDITOR is invalid",
            hint="Check its quotation marks.",
        ) from error
