"""The threads screen: opens, renames, exports, deletes and restores threads."""

import time
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.presenters.answers import strip_links
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_count,
    format_horizon,
    shorten_excerpt,
)
from lrwr.app.presenters.threads import (
    describe_speaker,
    format_local_time,
    format_thread_title,
)
from lrwr.app.threads import delete_thread
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.core.settings.library import KEPT_DAYS
from lrwr.tui.actions.screen_keys import (
    FIND_ACTION,
    OPEN_THREAD_ACTION,
    THREAD_ACTIONS,
)
from lrwr.tui.queries.threads import (
    export_thread_to_file,
    load_thread_with_turns,
    load_threads,
    search_threads,
    suggest_export_path,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.master_detail import CURRENT_MARK, MasterDetailScreen
from lrwr.tui.widgets.lists import ListRow, RowList

_PREVIEW_TURNS = 6
"""Number of newest turns shown beside the list."""


class ThreadsScreen(MasterDetailScreen[ThreadId | None]):
    """Lists threads, most recently used first; `words` fill the filter.

    The result is the id of the thread to open, None if the user cancels.
    """

    DEFAULT_CSS: ClassVar[str] = """
    ThreadsScreen.-beside #master-detail-rows { width: 56%; }
    """
    FOCUS_FILTER: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_THREAD_ACTION.binding,
        *(action.binding for action in (*THREAD_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Threads", words=words)
        self.hint = "Press / to search titles, questions and answers…"
        self.nothing = "There are no threads yet. Ask a question to start one."
        self._threads: dict[str, Thread] = {}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key works: all but that of the reader, as nothing has a place."""
        del parameters
        return action != "read"

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each thread, most recently used first.

        A row's key is the thread's id.

        Raises:
            NotFound: No manuscript was ingested.
        """
        threads = await self.room.room.service_thread.run(load_threads)
        self._threads = {str(thread.id): thread for thread in threads}
        return [_row(thread, self.first()) for thread in threads]

    def first(self) -> str:
        """Return the id of the current thread; empty for a new one."""
        return self.room.scope.thread or ""

    async def extra_rows(self, text: str) -> Sequence[ListRow]:
        """Return the threads that contain words of `text`, best match first.

        Questions and answers are searched; see `search_threads`. The first row is a
        heading. Empty if nothing matches.
        """
        matches = await self.room.room.service_thread.run(
            lambda workspace: search_threads(workspace, text)
        )
        rows = [
            ListRow(
                str(match.thread.id), format_thread_title(match.thread), match.words
            )
            for match in matches
        ]
        return (
            [ListRow("", "Found in questions and answers", heading=True), *rows]
            if rows
            else []
        )

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return title, date, speaker and newest turns of the thread with the id `key`.

        Turns are oldest first, shortened to one line each for question and answer.

        Raises:
            NotFound: The thread was deleted.
        """
        id_ = ThreadId(key)
        thread, turns = await self.room.room.service_thread.run(
            lambda workspace: load_thread_with_turns(workspace, id_)
        )
        return _render_thread(thread, turns)

    def select(self, key: str) -> None:
        """Close the screen; the result is the thread with the id `key`."""
        self.dismiss(ThreadId(key))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_rename(self) -> None:
        """Ask for a new title of the highlighted thread, and store it.

        Nothing changes if the user cancels or enters nothing.
        """
        if (thread := self._highlighted_thread()) is None:
            return
        line = TextInputScreen(
            "New title of the thread",
            value=format_thread_title(thread),
            is_selected=True,
        )
        title = await self.app.push_screen_wait(line)
        if title:
            await self.run_guarded(self._rename(thread, title))

    async def _rename(self, thread: Thread, title: str) -> None:
        services = self.room.room.service_thread
        await services.run(lambda workspace: workspace.threads.rename(thread.id, title))
        new = format_thread_title(replace(thread, title=title))
        self.set_note(f"Renamed “{format_thread_title(thread)}” to “{new}”.", good=True)
        self.fill(at=str(thread.id))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_export(self) -> None:
        """Ask for a file, and write the highlighted thread to it as Markdown."""
        if (thread := self._highlighted_thread()) is not None:
            file = await self.run_guarded(
                export_thread_as(self.room, thread.id, format_thread_title(thread))
            )
            if file:
                self.set_note(f"Exported to {file}.", good=True)

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_delete(self) -> None:
        """Delete the highlighted thread; it can be restored for `KEPT_DAYS` days."""
        if (thread := self._highlighted_thread()) is not None:
            await self.run_guarded(self._delete(thread))

    async def _delete(self, thread: Thread) -> None:
        gone = await self.room.room.service_thread.run(
            lambda workspace: delete_thread(workspace, thread.id, time.time())
        )
        purged = (
            f" Removed {format_count(gone, 'thread')} deleted more than"
            f" {KEPT_DAYS} days ago."
            if gone
            else ""
        )
        self.set_note(
            f"Deleted “{format_thread_title(thread)}”. Press u or run"
            f" `lrwr threads undo` to restore it.{purged}",
            good=True,
        )
        self.fill(at=self.query_one(RowList).key_after(str(thread.id)))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_undo(self) -> None:
        """Restore the thread that was deleted last, on this screen or elsewhere.

        If there is none, a message says so.
        """
        await self.run_guarded(self._undo())

    async def _undo(self) -> None:
        restored = await self.room.room.service_thread.run(
            lambda workspace: workspace.threads.restore()
        )
        if restored is None:
            self.set_note("There is no deleted thread to restore.")
            return
        self.set_note(f"Restored “{format_thread_title(restored)}”.", good=True)
        self.fill(at=str(restored.id))

    def _highlighted_thread(self) -> Thread | None:
        return self._threads.get(self.key)


def _row(thread: Thread, current: str) -> ListRow:
    speaker = describe_speaker(thread.state)
    details = (
        _format_time(thread.updated_at),
        f"with {speaker}",
        format_count(thread.turns, "turn"),
    )
    marker = CURRENT_MARK if thread.id == current else ""
    title = f"{marker}{format_thread_title(thread)}"
    return ListRow(str(thread.id), title, ", ".join(details))


def _format_time(seconds: float) -> str:
    """Return a time in seconds since 1970: today only "16:43", else with the date."""
    today = format_local_time(time.time()).partition(" ")[0]
    return format_local_time(seconds).removeprefix(f"{today} ")


def _render_thread(thread: Thread, turns: Sequence[Turn]) -> Iterator[StyledLine]:
    yield StyledLine((StyledText(format_thread_title(thread), "strong"),))
    as_of = thread.state.as_of
    until = f", up to {format_horizon(as_of)}" if as_of else ""
    details = (
        f"{format_count(thread.turns, 'turn')}, {format_local_time(thread.updated_at)}"
    )
    yield StyledLine(
        (
            StyledText(
                f"{details}, with {describe_speaker(thread.state)}{until}", "faint"
            ),
        ),
        2,
    )
    if len(turns) > _PREVIEW_TURNS:
        earlier = format_count(len(turns) - _PREVIEW_TURNS, "earlier turn")
        yield StyledLine((StyledText(f"… {earlier}", "faint"),), 2)
    for turn in turns[-_PREVIEW_TURNS:]:
        yield StyledLine((StyledText(shorten_excerpt(turn.question), "strong"),), 2)
        yield StyledLine((shorten_excerpt(strip_links(turn.output.response_text)),), 4)


async def export_thread_as(
    screen: RoomScreen, thread: ThreadId, title: str, path: str = ""
) -> str:
    """Write a thread as Markdown to `path`; if `path` is empty, ask the user for it.

    `title` is the thread's title, from which a path is suggested. A path that the user
    entered is asked for again, with the reason, if it cannot be used. Return the path
    of the new file; empty if the user cancels.

    Raises:
        NotFound: There is no such thread.
        SettingsProblem: The file `path` exists, is not `.md`, or is in the manuscript.
        LrwrError: The file `path` cannot be written.
    """
    services = screen.room.service_thread

    def export(target: str) -> Awaitable[Path]:
        return services.run(
            lambda workspace: export_thread_to_file(workspace, thread, target)
        )

    if path.strip():
        return str(await export(path.strip()))
    chosen: str | None = await services.run(
        lambda workspace: suggest_export_path(workspace, title)
    )
    note = "A new .md file outside the manuscript folders."
    while True:
        # Without an open dialog, the letters of another path would be commands.
        dialog = TextInputScreen("Export to", value=chosen or "", note=note)
        chosen = await screen.app.push_screen_wait(dialog)
        if not chosen:
            return ""
        try:
            return str(await export(chosen))
        except LrwrError as error:
            note = error.full_text
