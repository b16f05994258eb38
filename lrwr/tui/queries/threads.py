"""What the screens do with conversations. All of it runs backstage."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.queries.story import require_read

if TYPE_CHECKING:
    from lrwr.tui.services import Lends

FOUND = 20
"""Turns that a search through conversations gives at most."""

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Held:
    """A conversation that holds what was looked for, and the words around it."""

    thread: Thread
    words: str


async def all_threads(lent: "Lends") -> Sequence[Thread]:
    """Return the conversations, the one that was spoken in last first.

    Raises:
        NotFound: Nothing was read.
    """
    require_read(lent)
    return await lent.threads.threads()


async def whole(lent: "Lends", thread: ThreadId) -> tuple[Thread, Sequence[Turn]]:
    """Return a conversation with its turns.

    Raises:
        NotFound: There is none, or it is deleted.
    """
    return await lent.threads.thread(thread), await lent.threads.turns(thread)


async def holding_words(lent: "Lends", text: str) -> list[Held]:
    """Return conversations in which any of the words was said, best first."""
    from lrwr.app.presenters.threads import near_words
    from lrwr.core.model.query_terms import content_words

    wanted = content_words(text)
    if not wanted:
        return []
    found: dict[ThreadId, Held] = {}
    for thread, turn in await lent.threads.search(wanted, limit=FOUND):
        told = f"{turn.question} {turn.output.response_text}"
        found.setdefault(thread.id, Held(thread, near_words(told, wanted)))
    return list(found.values())


async def put_away(lent: "Lends", thread: ThreadId) -> int:
    """Delete a conversation; return how many are gone for good, after 30 days."""
    import time

    from lrwr.app.presenters.threads import KEPT_DAYS

    now = time.time()
    await lent.threads.delete(thread, now)
    return await lent.threads.purge(now - KEPT_DAYS * _DAY)


async def written_out(lent: "Lends", thread: ThreadId, path: str) -> Path:
    """Write a conversation to the file that the writer names, and return which.

    Raises:
        SettingsProblem: The file is there, is no `.md`, or is in the manuscript.
        LrwrError: It cannot be written.
    """
    file = _expanded(path)
    await lent.export(thread, file)
    return file


async def file_for(lent: "Lends", title: str) -> str:
    """Return where a conversation may be written: beside the library, by its title."""
    words = "".join(one if one.isalnum() else " " for one in title.casefold()).split()
    name = "-".join(words)[:40].strip("-") or "conversation"
    folder = lent.library.root.parent
    taken = {path.name for path in folder.glob(f"{name}*.md")}
    names = (f"{name}{f'-{n}' if n > 1 else ''}.md" for n in range(1, len(taken) + 2))
    return str(folder / next(one for one in names if one not in taken))


def _expanded(path: str) -> Path:
    return Path(path).expanduser()
