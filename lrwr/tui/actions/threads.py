"""Going back to conversations, and keeping them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.worker import WorkerCancelled, WorkerFailed

from lrwr.app.presenters.text import sanitize_text
from lrwr.app.presenters.threads import format_thread_title
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.queries.threads import (
    export_thread_to_file,
    load_thread_with_turns,
    load_threads,
    suggest_export_path,
)
from lrwr.tui.scope import ChatScope
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.sources import Sources
from lrwr.tui.widgets.split_view import SplitView
from lrwr.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen

TURN = frozenset({"turn", "stopped"})
"""Work on one turn: its answer, and what is kept of one that was stopped."""


async def choose_thread(screen: "ChatScreen", words: str) -> None:
    """Go back to a conversation.

    Raises:
        NotFound: Nothing was read, or the conversation is there no more.
    """
    from lrwr.tui.screens.threads import ThreadsScreen

    chosen = await screen.app.push_screen_wait(ThreadsScreen(screen, words.strip()))
    if chosen is None:
        await _catch_up(screen)
        return
    thread, turns = await screen.room.stage.do(
        lambda workspace: load_thread_with_turns(workspace, chosen)
    )
    await _open(screen, thread, turns)


async def start_thread(screen: "ChatScreen", words: str) -> None:
    """Begin another conversation, with whom and where one stands now."""
    del words
    await _stopped(screen)
    screen.sitting = replace(screen.sitting, thread=None, title="")
    await screen.query_one(Transcript).greet(["A new conversation. Ask something."])
    await screen.query_one(Sources).clear()
    screen.query_one(PromptInputArea).focus()


async def rename_thread(screen: "ChatScreen", words: str) -> None:
    """Give this conversation another title.

    Raises:
        NotFound: It has not begun.
    """
    from lrwr.tui.screens.text_input import TextInputScreen

    thread = _begun(screen)
    title: str | None = words.strip()
    if not title:
        line = TextInputScreen("Its new title", value=screen.sitting.title)
        title = await screen.app.push_screen_wait(line)
    if title:
        new_title = title
        await screen.room.stage.do(
            lambda workspace: workspace.threads.rename(thread, new_title)
        )
        screen.sitting = replace(screen.sitting, title=" ".join(new_title.split()))


async def export_thread(screen: "ChatScreen", words: str) -> None:
    """Write this conversation as Markdown, to a file that the writer names.

    Raises:
        NotFound: It has not begun.
        SettingsProblem: The file is there, is no `.md`, or is in the manuscript.
        LrwrError: It cannot be written.
    """
    thread = _begun(screen)
    file = await export_thread_as(screen, thread, screen.sitting.title, words)
    if file:
        screen.notify(sanitize_text(f"Written to {file}"), markup=False)


async def export_thread_as(
    screen: "ChatScreen", thread: ThreadId, title: str, words: str = ""
) -> str:
    """Write a conversation where the writer says; empty where they do not.

    Raises:
        SettingsProblem: The file is there, is no `.md`, or is in the manuscript.
        LrwrError: It cannot be written.
    """
    from lrwr.tui.screens.text_input import TextInputScreen

    path: str | None = words.strip()
    if not path:
        offered = await screen.room.stage.do(
            lambda workspace: suggest_export_path(workspace, title)
        )
        line = TextInputScreen(
            "Write it to",
            value=offered,
            besides="A .md file outside of the manuscript, which must not be there yet.",
        )
        path = await screen.app.push_screen_wait(line)
    if not path:
        return ""
    wanted = path
    return str(
        await screen.room.stage.do(
            lambda workspace: export_thread_to_file(workspace, thread, wanted)
        )
    )


def _begun(screen: "ChatScreen") -> ThreadId:
    if screen.sitting.thread is None:
        raise NotFound(
            "This conversation has not begun", hint="Your first question begins it."
        )
    return screen.sitting.thread


async def _open(screen: "ChatScreen", thread: Thread, turns: Sequence[Turn]) -> None:
    """Show a conversation, and go on where it left off."""
    await _stopped(screen)
    screen.sitting = ChatScope.of_thread(thread)
    await screen.query_one(SplitView).show(turns)
    screen.query_one(PromptInputArea).focus()


async def _stopped(screen: "ChatScreen") -> None:
    """Stop the answer that is under way, and wait until it is kept where it belongs."""
    await screen.action_stop()
    while under_way := [one for one in screen.workers if one.group in TURN]:
        for worker in under_way:  # the last thing that one does is to begin the next
            with suppress(WorkerFailed, WorkerCancelled):
                await worker.wait()
        await asyncio.sleep(0)


async def _catch_up(screen: "ChatScreen") -> None:
    """Take in what became of this conversation while the list was open."""
    if screen.sitting.thread is None:
        return
    found = await screen.room.stage.do(load_threads)
    kept = [one for one in found if one.id == screen.sitting.thread]
    if kept:
        screen.sitting = replace(screen.sitting, title=format_thread_title(kept[0]))
    else:
        await start_thread(screen, "")
