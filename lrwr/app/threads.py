"""Deletion of threads, and their export as Markdown files."""

import asyncio
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.app.maintenance.automatic_backup import drop_threads_from_backups
from lrwr.app.presenters.threads import thread_to_blocks
from lrwr.core.adapters.document_renderer import render_blocks_as_markdown
from lrwr.core.adapters.storage.sqlite.user_rows import list_expired_threads
from lrwr.core.model.turns import ThreadId
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.settings.files import check_output_file, write_output_file
from lrwr.core.settings.library import KEPT_DAYS

_DAY_SECONDS = 86_400.0


async def render_thread(workspace: Workspace, thread: ThreadId) -> str:
    """Return a thread as Markdown text, with the current locations of its citations.

    Raises:
        NotFound: There is no such thread.
    """
    stored = await workspace.threads.thread(thread)
    turns = await workspace.threads.turns(thread)
    places = await FreshnessService(workspace.passages).anchor_turns(turns)
    return render_blocks_as_markdown(thread_to_blocks(stored, turns, places))


async def delete_thread(workspace: Workspace, thread: ThreadId, now: float) -> int:
    """Delete a thread; it can be restored for `KEPT_DAYS` days.

    Threads that were deleted longer ago are removed for good, from the automatic
    backups too; return how many were. `now` is in seconds since 1970.

    Raises:
        NotFound: There is no such thread.
        StoreProblem: The library or a backup cannot be written.
    """
    before = now - KEPT_DAYS * _DAY_SECONDS
    await workspace.threads.delete(thread, now)
    library = workspace.library
    expired = await asyncio.to_thread(list_expired_threads, library.database, before)
    # The backups first: they keep threads that the library has lost.
    await asyncio.to_thread(drop_threads_from_backups, library, expired)
    return await workspace.threads.purge(before)


async def write_thread_file(workspace: Workspace, thread: ThreadId, file: Path) -> None:
    """Write a thread to `file`, a Markdown file that does not exist yet.

    Raises:
        NotFound: There is no such thread.
        SettingsProblem: The file exists, does not end in `.md`, or is in the
            manuscript.
        LrwrError: The file cannot be written.
    """
    check_output_file(file, workspace.settings, [".md"], force=None)
    text = await render_thread(workspace, thread)
    write_output_file(file, text.encode(), force=None)
