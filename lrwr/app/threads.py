"""Export of threads as Markdown files."""

from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.app.presenters.threads import thread_to_blocks
from lrwr.core.adapters.document_renderer import render_blocks_as_markdown
from lrwr.core.model.turns import ThreadId
from lrwr.core.settings.files import check_output_file, write_output_file


async def render_thread(workspace: Workspace, thread: ThreadId) -> str:
    """Return a thread as Markdown text, with the current locations of its citations.

    Raises:
        NotFound: There is no such thread.
    """
    stored = await workspace.threads.thread(thread)
    turns = await workspace.threads.turns(thread)
    places = await workspace.freshness.anchor_turns(turns)
    return render_blocks_as_markdown(thread_to_blocks(stored, turns, places))


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
