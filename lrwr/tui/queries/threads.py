"""What the screens do with conversations. Runs in the service thread."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.presenters.threads import KEPT_DAYS, cut_around_words
from lrwr.app.threads import write_thread_file
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.queries.story import require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

FOUND = 20
"""Turns that a search through conversations gives at most."""

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class ThreadMatch:
    """A conversation that holds what was looked for, and the words around it."""

    thread: Thread
    words: str


async def load_threads(workspace: "Workspace") -> Sequence[Thread]:
    """Return the conversations, the one that was spoken in last first.

    Raises:
        NotFound: Nothing was read.
    """
    require_ingested(workspace)
    return await workspace.threads.threads()


async def load_thread_with_turns(
    workspace: "Workspace", thread: ThreadId
) -> tuple[Thread, Sequence[Turn]]:
    """Return a conversation with its turns.

    Raises:
        NotFound: There is none, or it is deleted.
    """
    return await workspace.threads.thread(thread), await workspace.threads.turns(thread)


async def search_threads(workspace: "Workspace", text: str) -> list[ThreadMatch]:
    """Return conversations that contain any of the words, best match first."""
    content_words = extract_content_words(text)
    if not content_words:
        return []
    matches: dict[ThreadId, ThreadMatch] = {}
    for thread, turn in await workspace.threads.search(content_words, limit=FOUND):
        turn_text = f"{turn.question} {turn.output.response_text}"
        matches.setdefault(
            thread.id, ThreadMatch(thread, cut_around_words(turn_text, content_words))
        )
    return list(matches.values())


async def delete_thread(workspace: "Workspace", thread: ThreadId) -> int:
    """Delete a conversation; return how many are gone for good, after 30 days."""
    now = time.time()
    await workspace.threads.delete(thread, now)
    return await workspace.threads.purge(now - KEPT_DAYS * _DAY)


async def export_thread_to_file(
    workspace: "Workspace", thread: ThreadId, path: str
) -> Path:
    """Write a conversation to the file that the writer names, and return which.

    Raises:
        SettingsProblem: The file is there, is no `.md`, or is in the manuscript.
        LrwrError: It cannot be written.
    """
    file = _expanded(path)
    await write_thread_file(workspace, thread, file)
    return file


async def suggest_export_path(workspace: "Workspace", title: str) -> str:
    """Return an unused export path for a conversation: beside the library, named by title."""
    words = "".join(
        character if character.isalnum() else " " for character in title.casefold()
    ).split()
    name = "-".join(words)[:40].strip("-") or "conversation"
    folder = workspace.library.root.parent
    existing_names = {path.name for path in folder.glob(f"{name}*.md")}
    names = (
        f"{name}{f'-{n}' if n > 1 else ''}.md"
        for n in range(1, len(existing_names) + 2)
    )
    return str(folder / next(file for file in names if file not in existing_names))


def _expanded(path: str) -> Path:
    return Path(path).expanduser()
