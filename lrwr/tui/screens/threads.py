"""The conversations, to go back to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.presenters.answers import without_links
from lrwr.app.presenters.text import Line, Styled, count, excerpt
from lrwr.app.presenters.threads import moment, title_of, who_speaks
from lrwr.core.model.turns import Thread, ThreadId, Turn
from lrwr.tui.actions.table import FIND, GO_ON, THREADS
from lrwr.tui.queries.threads import all_threads, holding_words, put_away, whole
from lrwr.tui.rows import Row
from lrwr.tui.screens.master_detail import Paired
from lrwr.tui.screens.text_input import LineScreen
from lrwr.tui.widgets.listing import RowList

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import RoomScreen

_READ = 6
"""Turns of a conversation that are shown beside the list, its newest."""


class ThreadsScreen(Paired[ThreadId | None]):
    """Conversations, newest first; what comes back is the one to open."""

    DEFAULT_CSS: ClassVar[str] = """
    ThreadsScreen.-beside #paired-rows { width: 50%; }
    """
    WORDS_FIRST: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        GO_ON.binding,
        *(action.binding for action in (*THREADS, FIND)),
    ]

    def __init__(self, room: "RoomScreen", words: str = "") -> None:
        super().__init__(room, "Conversations", words=words)
        self.hint = "/ finds titles, and what was said …"
        self.nothing = "There are no conversations yet: ask something first."
        self._threads: dict[str, Thread] = {}

    async def rows(self) -> Sequence[Row]:
        """Return a row for each conversation."""
        found = await self.room.room.stage.do(all_threads)
        self._threads = {str(thread.id): thread for thread in found}
        return [_row(thread) for thread in found]

    def first(self) -> str:
        """Stand at the conversation that is under way."""
        return self.room.sitting.thread or ""

    async def besides(self, text: str) -> Sequence[Row]:
        """Return the conversations in which the words were said."""
        found = await self.room.room.stage.do(lambda lent: holding_words(lent, text))
        rows = [
            Row(str(one.thread.id), title_of(one.thread), one.words) for one in found
        ]
        return [Row("", "said in", heading=True), *rows] if rows else []

    async def lines(self, key: str) -> Iterable[Line]:
        """Return who spoke when, and the newest questions and answers."""
        id_ = ThreadId(key)
        thread, turns = await self.room.room.stage.do(lambda lent: whole(lent, id_))
        return _told(thread, turns)

    def choose(self, key: str) -> None:
        """Open it."""
        self.dismiss(ThreadId(key))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_rename(self) -> None:
        """Ask for another title."""
        if (thread := self._chosen()) is None:
            return
        line = LineScreen("Its new title", value=title_of(thread))
        title = await self.app.push_screen_wait(line)
        if title:
            await self.attempt(self._rename(thread, title))

    async def _rename(self, thread: Thread, title: str) -> None:
        stage = self.room.room.stage
        await stage.do(lambda lent: lent.threads.rename(thread.id, title))
        new = title_of(replace(thread, title=title))
        self.note(f"“{title_of(thread)}” is now called “{new}”.", good=True)
        self.fill(at=str(thread.id))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_export(self) -> None:
        """Ask where to write it, and write it."""
        if (thread := self._chosen()) is not None:
            from lrwr.tui.actions.threads import write_out

            file = await self.attempt(write_out(self.room, thread.id, title_of(thread)))
            if file:
                self.note(f"Written to {file}", good=True)

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_delete(self) -> None:
        """Put it away; it can be had back."""
        if (thread := self._chosen()) is not None:
            await self.attempt(self._delete(thread))

    async def _delete(self, thread: Thread) -> None:
        gone = await self.room.room.stage.do(lambda lent: put_away(lent, thread.id))
        lost = f" {count(gone, 'older one')} gone for good." if gone else ""
        self.note(
            f"“{title_of(thread)}” is deleted: u brings it back, and later"
            f" `lrwr threads undo`.{lost}",
            good=True,
        )
        self.fill(at=self.query_one(RowList).after(str(thread.id)))

    @work(exclusive=True, group="keep", exit_on_error=False)
    async def action_undo(self) -> None:
        """Bring back what was deleted last."""
        await self.attempt(self._undo())

    async def _undo(self) -> None:
        found = await self.room.room.stage.do(lambda lent: lent.threads.restore())
        if found is None:
            self.note("There is no deleted conversation to bring back.")
            return
        self.note(f"“{title_of(found)}” is back.", good=True)
        self.fill(at=str(found.id))

    def _chosen(self) -> Thread | None:
        return self._threads.get(self.key)


def _row(thread: Thread) -> Row:
    speaker = who_speaks(thread.state)
    told = (moment(thread.updated_at), f"with {speaker}", count(thread.turns, "turn"))
    return Row(str(thread.id), title_of(thread), ", ".join(told))


def _told(thread: Thread, turns: Sequence[Turn]) -> Iterator[Line]:
    yield Line((Styled(title_of(thread), "strong"),))
    as_of = f", as of {thread.state.as_of}" if thread.state.as_of else ""
    told = f"{count(thread.turns, 'turn')}, {moment(thread.updated_at)}"
    yield Line((Styled(f"{told}, with {who_speaks(thread.state)}{as_of}", "faint"),), 2)
    if len(turns) > _READ:
        yield Line((Styled(f"… {len(turns) - _READ} before", "faint"),), 2)
    for turn in turns[-_READ:]:
        yield Line((Styled(excerpt(turn.question), "strong"),), 2)
        yield Line((excerpt(without_links(turn.output.response_text)),), 4)
