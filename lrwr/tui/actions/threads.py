"""Actions that open, start, rename and export threads."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from textual.worker import WorkerCancelled, WorkerFailed

from lrwr.app.presenters.text import sanitize_text
from lrwr.app.presenters.threads import format_thread_title
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.queries.threads import (
    load_thread_with_turns,
    load_threads,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.scope import ChatScope, describe_scope
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.threads import ThreadsScreen, export_thread_as
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.split_view import SplitView

TURN_GROUPS = frozenset({"turn", "stopped"})
"""Worker groups of a turn: streaming, and showing a stopped turn as saved."""


async def choose_thread(screen: RoomScreen, words: str) -> None:
    """Show the list of threads, filtered by `words`, and open the chosen one.

    A running answer is stopped then. If the user cancels, the current thread stays
    open; if it was deleted in the list, a new one is started.

    Raises:
        NotFound: No manuscript was ingested, or the thread was deleted meanwhile.
    """
    chosen = await screen.app.push_screen_wait(ThreadsScreen(screen, words.strip()))
    if chosen is None:
        await _refresh_title(screen)
        return
    thread, turns = await screen.room.service_thread.run(
        lambda workspace: load_thread_with_turns(workspace, chosen)
    )
    await _open(screen, thread, turns)


async def start_thread(screen: RoomScreen, words: str) -> None:
    """Stop the running answer and start a new thread; `words` is ignored.

    Character, mode, horizon and witnessed filter are preserved.
    """
    del words
    await _stop_answer(screen)
    _remember_scope(screen)
    screen.scope = replace(screen.scope, thread=None, title="")
    await screen.query_one(SplitView).show_notice(
        ["This is a new thread. Ask a question."]
    )
    screen.query_one(PromptInputArea).focus()


async def rename_thread(screen: RoomScreen, words: str) -> None:
    """Set the title of the current thread to `words`; if empty, ask the user for it.

    The title is unchanged if the user cancels or enters nothing.

    Raises:
        NotFound: The thread has no turn yet.
    """
    thread = _require_thread(screen)
    title: str | None = words.strip()
    if not title:
        dialog = TextInputScreen(
            "New title of the thread", value=screen.scope.title, is_selected=True
        )
        title = await screen.app.push_screen_wait(dialog)
    if title:
        new_title = title
        await screen.room.service_thread.run(
            lambda workspace: workspace.threads.rename(thread, new_title)
        )
        screen.scope = replace(screen.scope, title=" ".join(new_title.split()))


async def export_thread(screen: RoomScreen, words: str) -> None:
    """Write the current thread as Markdown to the file `words`.

    If `words` is empty, ask the user for a file.

    Raises:
        NotFound: The thread has no turn yet.
        SettingsProblem: The file exists, is not `.md`, or is in the manuscript.
        LrwrError: The file cannot be written.
    """
    thread = _require_thread(screen)
    file = await export_thread_as(screen, thread, screen.scope.title, words)
    if file:
        screen.notify(sanitize_text(f"Exported to {file}."), markup=False)


def _require_thread(screen: RoomScreen) -> ThreadId:
    if screen.scope.thread is None:
        raise NotFound(
            "This thread is still empty", hint="Ask a question first to save it."
        )
    return screen.scope.thread


async def _open(screen: RoomScreen, thread: Thread, turns: Sequence[Turn]) -> None:
    """Show a thread and restore its character, mode and horizon.

    They are what the user chose for the thread last: since the start of lrwr, else with
    its last question. A message names them unless they are those of the thread before.
    """
    await _stop_answer(screen)
    _remember_scope(screen)
    before, scope = screen.scope, ChatScope.of_thread(thread)
    scope = replace(screen.left_scopes.get(thread.id, scope), title=scope.title)
    screen.scope = scope
    if describe_scope(scope) != describe_scope(before):
        phrases = ", ".join(describe_scope(scope))
        until = "" if scope.as_of else ", with the whole story"
        message = f"This thread goes on as it was: {phrases}{until}. F3 changes that."
        screen.notify(sanitize_text(message), markup=False)
    await screen.query_one(SplitView).show(turns)
    screen.query_one(PromptInputArea).focus()


def _remember_scope(screen: RoomScreen) -> None:
    """Remember the scope of the thread that is left."""
    if screen.scope.thread is not None:
        screen.left_scopes[screen.scope.thread] = screen.scope


async def _stop_answer(screen: RoomScreen) -> None:
    """Stop the running answer and wait until it is saved in its thread."""
    await screen.action_stop()
    while running := [w for w in screen.workers if w.group in TURN_GROUPS]:
        for worker in running:  # a stopped turn ends by starting the next worker
            with suppress(WorkerFailed, WorkerCancelled):
                await worker.wait()
        await asyncio.sleep(0)


async def _refresh_title(screen: RoomScreen) -> None:
    """Update the header after the current thread was renamed or deleted in the list."""
    if screen.scope.thread is None:
        return
    threads = await screen.room.service_thread.run(load_threads)
    current = next((t for t in threads if t.id == screen.scope.thread), None)
    if current is not None:
        screen.scope = replace(screen.scope, title=format_thread_title(current))
    else:
        await start_thread(screen, "")
