"""The conversations, to go back to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.presenters.answers import strip_links
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_count,
    shorten_excerpt,
)
from lrwr.app.presenters.threads import (
    describe_speaker,
    format_local_time,
    format_thread_title,
)
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.actions.table import FIND_ACTION, GO_ON_ACTION, THREAD_ACTIONS
from lrwr.tui.queries.threads import (
    delete_thread,
    load_thread_with_turns,
    load_threads,
    search_threads,
)
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.screens.text_input import TextInputScreen
from lrwr.tui.widgets.listing import RowList

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen

_READ = 6
"""Turns of a conversation that are shown beside the list, its newest."""


class ThreadsScreen(MasterDetailScreen[ThreadId | None]):
    """Conversations, newest first; what comes back is the one to open."""

    DEFAULT_CSS: ClassVar[str] = """
    ThreadsScreen.-beside #paired-rows { width: 50%; }
    """
    WORDS_FIRST: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        GO_ON_ACTION.binding,
        *(action.binding for action in (*THREAD_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: "ChatScreen", words: str = "") -> None:
        super().__init__(room, "Conversations", words=words)
        self.hint = "/ finds titles, and what was said …"
        self.nothing = "There are no conversations yet: ask something first."
        self._threads: dict[str, Thread] = {}

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each conversation."""
        found = await self.room.room.stage.do(load_threads)
        self._threads = {str(thread.id): thread for thread in found}
        return [_row(thread) for thread in found]

    def first(self) -> str:
        """Stand at the conversation that is under way."""
        return self.room.sitting.thread or ""

    async def besides(self, text: str) -> Sequence[ListRow]:
        """Return the conversations in which the words were said."""
        found = await self.room.room.stage.do(
            lambda workspace: search_threads(workspace, text)
        )
        rows = [
            ListRow(str(one.thread.id), format_thread_title(one.thread), one.words)
            for one in found
        ]
        return [ListRow("", "said in", heading=True), *rows] if rows else []

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return who spoke when, and the newest questions and answers."""
        id_ = ThreadId(key)
        thread, turns = await self.room.room.stage.do(
            lambda workspace: load_thread_with_turns(workspace, id_)
        )
        return _told(thread, turns)

    def choose(self, key: str) -> None:
        """Open it."""
        self.dismiss(ThreadId(key))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_rename(self) -> None:
        """Ask for another title."""
        if (thread := self._chosen()) is None:
            return
        line = TextInputScreen("Its new title", value=format_thread_title(thread))
        title = await self.app.push_screen_wait(line)
        if title:
            await self.attempt(self._rename(thread, title))

    async def _rename(self, thread: Thread, title: str) -> None:
        stage = self.room.room.stage
        await stage.do(lambda workspace: workspace.threads.rename(thread.id, title))
        new = format_thread_title(replace(thread, title=title))
        self.note(f"“{format_thread_title(thread)}” is now called “{new}”.", good=True)
        self.fill(at=str(thread.id))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_export(self) -> None:
        """Ask where to write it, and write it."""
        if (thread := self._chosen()) is not None:
            from lrwr.tui.actions.threads import export_thread_as

            file = await self.attempt(
                export_thread_as(self.room, thread.id, format_thread_title(thread))
            )
            if file:
                self.note(f"Written to {file}", good=True)

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_delete(self) -> None:
        """Put it away; it can be had back."""
        if (thread := self._chosen()) is not None:
            await self.attempt(self._delete(thread))

    async def _delete(self, thread: Thread) -> None:
        gone = await self.room.room.stage.do(
            lambda workspace: delete_thread(workspace, thread.id)
        )
        lost = f" {format_count(gone, 'older one')} gone for good." if gone else ""
        self.note(
            f"“{format_thread_title(thread)}” is deleted: u brings it back, and later"
            f" `lrwr threads undo`.{lost}",
            good=True,
        )
        self.fill(at=self.query_one(RowList).after(str(thread.id)))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_undo(self) -> None:
        """Bring back what was deleted last."""
        await self.attempt(self._undo())

    async def _undo(self) -> None:
        found = await self.room.room.stage.do(
            lambda workspace: workspace.threads.restore()
        )
        if found is None:
            self.note("There is no deleted conversation to bring back.")
            return
        self.note(f"“{format_thread_title(found)}” is back.", good=True)
        self.fill(at=str(found.id))

    def _chosen(self) -> Thread | None:
        return self._threads.get(self.key)


def _row(thread: Thread) -> ListRow:
    speaker = describe_speaker(thread.state)
    told = (
        format_local_time(thread.updated_at),
        f"with {speaker}",
        format_count(thread.turns, "turn"),
    )
    return ListRow(str(thread.id), format_thread_title(thread), ", ".join(told))


def _told(thread: Thread, turns: Sequence[Turn]) -> Iterator[StyledLine]:
    yield StyledLine((StyledText(format_thread_title(thread), "strong"),))
    as_of = f", as of {thread.state.as_of}" if thread.state.as_of else ""
    told = (
        f"{format_count(thread.turns, 'turn')}, {format_local_time(thread.updated_at)}"
    )
    yield StyledLine(
        (StyledText(f"{told}, with {describe_speaker(thread.state)}{as_of}", "faint"),),
        2,
    )
    if len(turns) > _READ:
        yield StyledLine((StyledText(f"… {len(turns) - _READ} before", "faint"),), 2)
    for turn in turns[-_READ:]:
        yield StyledLine((StyledText(shorten_excerpt(turn.question), "strong"),), 2)
        yield StyledLine((shorten_excerpt(strip_links(turn.output.response_text)),), 4)
