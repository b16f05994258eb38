"""Following an answer to the text: open a passage in the editor, or copy it."""

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
from lrwr.tui.widgets.sources import PageView, SourceView
from lrwr.tui.widgets.split_view import SplitView

SOON = 2.0
"""Seconds in which an editor with a window of its own may say that it cannot."""


async def open_cited_passage(screen: RoomScreen, words: str) -> None:
    """Open the chosen passage in the writer's editor; `words` may be its number.

    Raises:
        NotFound: There is no such passage, or its file is not there.
        EditorError: No editor is set, or it did not work.
    """
    desk = screen.query_one(SplitView)
    if number := words.strip().strip("[]"):
        desk.jump(number)
    chosen = desk.sources.chosen
    if isinstance(chosen, PageView):
        screen.notify(
            f"Nothing of the web is opened from here. Its address: {chosen.place}",
            markup=False,
        )
        return
    if chosen is None:
        raise NotFound(
            "No passage is chosen", hint="Alt+1 chooses the first, or click [1]."
        )
    citation = chosen.citation
    location = await screen.room.service_thread.run(
        lambda workspace: locate_citation(workspace, citation)
    )
    await _open_location(screen.room, location)


async def open_document_at_line(screen: RoomScreen, document: str, line: int) -> None:
    """Open a document at a line of it, counted from 1; of a `.docx`, a paragraph.

    Raises:
        NotFound: The file is not there.
        EditorError: No editor is set, or it did not work.
    """
    location = await screen.room.service_thread.run(
        lambda workspace: locate_document_line(workspace, document, line)
    )
    await _open_location(screen.room, location)


async def copy_answer(screen: RoomScreen, words: str) -> None:
    """Copy the last answer, or, if `words` say quote, the chosen passage.

    Raises:
        NotFound: There is nothing to copy.
    """
    if words.strip().lower() in ("quote", "passage"):
        text, subject = _quote(screen.query_one(SplitView)), "The passage"
    else:
        text, subject = _answer(screen.query_one(SplitView)), "The answer"
    screen.app.copy_to_clipboard(text)
    explanation = explain_clipboard_failure(os.environ, sys.platform)
    screen.notify(f"{subject} is copied. {explanation}".strip(), markup=False)


def _answer(desk: SplitView) -> str:
    turn: Turn | None = desk.transcript.last
    if turn is None:
        raise NotFound("There is no answer to copy yet", hint="Ask something first.")
    return sanitize_text(strip_links(turn.output.response_text)).strip()


def _quote(desk: SplitView) -> str:
    chosen: SourceView | PageView | None = desk.sources.chosen
    if chosen is None:
        raise NotFound(
            "No passage is chosen", hint="Alt+1 chooses the first, or click [1]."
        )
    return f"{chosen.words.strip()}\n— {chosen.place}"


async def _open_location(room: RoomApp, location: FileLocation) -> None:
    if location.gone:
        room.notify(
            f"The passage is no longer there; it stood at {_format_location(location)}.",
            markup=False,
        )
    if location.paragraphs:
        await _open_document(room, location)
        return
    editor = find_editor(os.environ, sys.platform, shutil.which)
    if not editor:
        raise EditorError(
            f"No editor is set. The passage is at {_format_location(location)}",
            hint='Set EDITOR in your shell, such as: export EDITOR="nano"',
        )
    windows = sys.platform == "win32"
    try:
        command = build_editor_command(
            editor, location.file, location.line, windows=windows
        )
    except ValueError as error:
        raise EditorError(
            f"EDITOR cannot be read: {shorten_excerpt(editor)}",
            hint="Check the quotation marks in VISUAL and EDITOR.",
        ) from error
    await _run(room, command, location)


async def _open_document(room: RoomApp, location: FileLocation) -> None:
    """Open a `.docx` with what the system opens it with, and say where to look."""
    name = sanitize_text(sanitize_line(location.file.name))
    room.notify(f"Look for paragraph {location.line} of {name}.", markup=False)
    if sys.platform == "win32":
        await asyncio.to_thread(os.startfile, location.file)
    else:
        await _run(room, build_opener_command(location.file, sys.platform), location)


async def _run(room: RoomApp, command: EditorCommand, location: FileLocation) -> None:
    program = shutil.which(command.arguments[0])
    if program is None:
        raise EditorError(
            f"There is no program {command.program} here. The passage is at"
            f" {_format_location(location)}",
            hint="Set VISUAL or EDITOR to an editor that you have.",
        )
    if is_shell_unsafe(command, program):
        raise EditorError(
            f"{command.program} cannot safely be given the name of this file",
            hint=f"Open it yourself: {_format_location(location)}",
        )
    arguments = [program, *command.arguments[1:]]
    if command.windowed:
        code = await asyncio.to_thread(_start, arguments)
    else:
        code = _wait_for(room, arguments, command.program)
    if code:
        raise EditorError(
            f"{command.program} ended with code {code}",
            hint=f"The passage is at {_format_location(location)}.",
        )


def _wait_for(room: RoomApp, arguments: list[str], program: str) -> int:
    """Give an editor the terminal, and return its exit code.

    The room stands still meanwhile: nothing else may write to the terminal.
    """
    try:
        with room.suspend():
            return subprocess.run(arguments, check=False).returncode
    except SuspendNotSupported as error:
        raise EditorError(
            f"This terminal cannot be lent to {program}",
            hint="Set VISUAL to an editor with a window of its own.",
        ) from error
    except OSError as error:
        raise _not_started(program, error) from error


def _start(arguments: list[str]) -> int:
    """Start an editor beside the room; return its code if it ends at once, else 0."""
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(arguments[0], error) from error
    try:
        return process.wait(timeout=SOON)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, name="editor", daemon=True).start()
        return 0


def _not_started(program: str, error: OSError) -> EditorError:
    return EditorError(
        f"{Path(program).name} could not be started: {error.strerror}",
        hint="Check VISUAL and EDITOR.",
    )


def _format_location(location: FileLocation) -> str:
    name = sanitize_text(sanitize_line(str(location.file)))
    return (
        f"{name}, paragraph {location.line}"
        if location.paragraphs
        else f"{name}:{location.line}"
    )
