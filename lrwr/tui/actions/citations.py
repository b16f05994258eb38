"""Actions that open a cited passage in the editor, and copy answers and passages."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from textual.app import SuspendNotSupported

from lrwr.app.presenters.answers import strip_links
from lrwr.app.presenters.text import sanitize_line, sanitize_text, shorten_excerpt
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import Turn
from lrwr.tui.input.editor import (
    EditorCommand,
    EditorError,
    build_editor_command,
    build_opener_command,
    explain_clipboard_failure,
    find_editor,
    is_shell_unsafe,
)
from lrwr.tui.queries.passages import (
    FileLocation,
    locate_citation,
    locate_document_line,
)
from lrwr.tui.room import RoomApp, RoomScreen
from lrwr.tui.widgets.source_views import PageView, SourceView
from lrwr.tui.widgets.split_view import SplitView

STARTUP_SECONDS = 2.0
"""Seconds to wait for a windowed editor that fails to start."""


async def open_cited_passage(screen: RoomScreen, words: str) -> None:
    """Open the selected passage in the user's editor, at its first line.

    If `words` is a citation number, with or without brackets, it is selected first; if
    the answer has no such citation, a notification says so. A web page is not opened:
    its address is shown.

    Raises:
        NotFound: No passage is selected, or its file does not exist.
        EditorError: No editor is set, or it failed.
    """
    split_view = screen.query_one(SplitView)
    if number := words.strip().strip("[]"):
        split_view.jump(number)
    chosen = split_view.sources.chosen
    if isinstance(chosen, PageView):
        screen.notify(
            f"lrwr does not open web pages. The address is {chosen.place}",
            markup=False,
        )
        return
    if chosen is None:
        raise NotFound(
            "No passage is selected",
            hint="Press Alt+1 or click [1] to select the first.",
        )
    citation = chosen.citation
    location = await screen.room.service_thread.run(
        lambda workspace: locate_citation(workspace, citation)
    )
    await _open_location(screen.room, location)


async def open_document_at_line(screen: RoomScreen, document: str, line: int) -> None:
    """Open a document, given by its id, at a line in the user's editor.

    `line` counts from 1. A `.docx` is opened with the system's program for it; there,
    `line` is a paragraph, whose number is shown.

    Raises:
        NotFound: The file does not exist.
        EditorError: No editor is set, or it failed.
    """
    location = await screen.room.service_thread.run(
        lambda workspace: locate_document_line(workspace, document, line)
    )
    await _open_location(screen.room, location)


async def copy_answer(screen: RoomScreen, words: str) -> None:
    """Copy the text of the newest finished answer to the clipboard.

    If `words` is `quote` or `passage`, copy the selected source instead: its text, then
    its location or web address on a line of its own. Other `words` are ignored.

    Raises:
        NotFound: There is no answer, or no selected source.
    """
    if words.strip().lower() in ("quote", "passage"):
        text, subject = _format_passage(screen.query_one(SplitView)), "the passage"
    else:
        text, subject = _get_answer(screen.query_one(SplitView)), "the last answer"
    screen.app.copy_to_clipboard(text)
    explanation = explain_clipboard_failure(os.environ, sys.platform)
    screen.notify(f"Copied {subject}. {explanation}".strip(), markup=False)


def _get_answer(split_view: SplitView) -> str:
    turn: Turn | None = split_view.transcript.last
    if turn is None:
        raise NotFound("There is no answer to copy yet", hint="Ask a question first.")
    return sanitize_text(strip_links(turn.output.response_text)).strip()


def _format_passage(split_view: SplitView) -> str:
    chosen: SourceView | PageView | None = split_view.sources.chosen
    if chosen is None:
        raise NotFound(
            "No passage is selected",
            hint="Press Alt+1 or click [1] to select the first.",
        )
    return f"{chosen.words.strip()}\n— {chosen.place}"


async def _open_location(room: RoomApp, location: FileLocation) -> None:
    if location.gone:
        room.notify(
            "The passage is no longer in the text. Its last known location was"
            f" {_format_location(location)}.",
            markup=False,
        )
    if location.paragraphs:
        await _open_document(room, location)
        return
    editor = find_editor(os.environ, sys.platform, shutil.which)
    if not editor:
        raise EditorError(
            f"No editor is set. The passage is at {_format_location(location)}",
            hint='Set `EDITOR` in your shell, for example: export EDITOR="nano"',
        )
    windows = sys.platform == "win32"
    try:
        command = build_editor_command(
            editor, location.file, location.line, windows=windows
        )
    except ValueError as error:
        raise EditorError(
            f"The editor command is invalid: {shorten_excerpt(editor)}",
            hint="Check the quotation marks in `VISUAL` and `EDITOR`.",
        ) from error
    if not command.has_line:
        room.notify(
            f"{command.program} gets only the file: lrwr does not know how it takes a"
            f" line. The passage is at {_format_location(location)}.",
            markup=False,
        )
    await _run(room, command, location)


async def _open_document(room: RoomApp, location: FileLocation) -> None:
    """Open a `.docx` with the system's default program, and name the paragraph."""
    name = sanitize_text(sanitize_line(location.file.name))
    room.notify(f"The passage is in paragraph {location.line} of {name}.", markup=False)
    if sys.platform == "win32":
        await asyncio.to_thread(os.startfile, location.file)
    else:
        await _run(room, build_opener_command(location.file, sys.platform), location)


async def _run(room: RoomApp, command: EditorCommand, location: FileLocation) -> None:
    program = shutil.which(command.arguments[0])
    if program is None:
        raise EditorError(
            f"The editor `{command.program}` is not installed. The passage is at"
            f" {_format_location(location)}",
            hint="Set `VISUAL` or `EDITOR` to an installed editor.",
        )
    if is_shell_unsafe(command, program):
        raise EditorError(
            f"This file name is not safe to pass to {command.program}",
            hint=f"Open the file yourself: {_format_location(location)}",
        )
    arguments = [program, *command.arguments[1:]]
    if command.windowed:
        code = await asyncio.to_thread(_start_windowed, arguments)
    else:
        code = _run_in_terminal(room, arguments, command.program)
    if code:
        raise EditorError(
            f"{command.program} exited with code {code}",
            hint=f"The passage is at {_format_location(location)}.",
        )


def _run_in_terminal(room: RoomApp, arguments: list[str], program: str) -> int:
    """Run an editor in this terminal and return its exit code.

    Blocks the event loop on purpose: the application must not draw meanwhile.
    """
    try:
        with room.suspend():
            return subprocess.run(arguments, check=False).returncode
    except SuspendNotSupported as error:
        raise EditorError(
            f"{program} cannot run in this terminal while lrwr is open",
            hint="Set `VISUAL` to an editor that opens its own window.",
        ) from error
    except OSError as error:
        raise _start_error(program, error) from error


def _start_windowed(arguments: list[str]) -> int:
    """Start an editor with its own window.

    Returns its exit code if it exits within `STARTUP_SECONDS`, else 0.
    """
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _start_error(arguments[0], error) from error
    try:
        return process.wait(timeout=STARTUP_SECONDS)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, name="editor", daemon=True).start()
        return 0


def _start_error(program: str, error: OSError) -> EditorError:
    return EditorError(
        f"{Path(program).name} could not be started: {error.strerror}",
        hint="Check `VISUAL` and `EDITOR`.",
    )


def _format_location(location: FileLocation) -> str:
    name = sanitize_text(sanitize_line(str(location.file)))
    return (
        f"{name}, paragraph {location.line}"
        if location.paragraphs
        else f"{name}:{location.line}"
    )
