"""A list, and beside it what there is to read of the row that is chosen."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static

from lrwr.app.presenters.text import StyledLine, StyledText, sanitize_text
from lrwr.tui.actions.table import LIST_ACTIONS
from lrwr.tui.rows import ListRow, SearchableRows
from lrwr.tui.screens.modal import SIDE_BY_SIDE
from lrwr.tui.widgets.listing import LineList, RowList

if TYPE_CHECKING:
    from lrwr.tui.app import WritingRoom
    from lrwr.tui.screens.chat import ChatScreen

Result = TypeVar("Result")
DoneT = TypeVar("DoneT")

PAUSE = 0.3
"""Seconds without a key before what takes long is looked for."""

_SETTLED = 0.04
"""Seconds that a row is highlighted before it is read: keys repeat faster."""

_LOOK = """
MasterDetailScreen {
    align: center middle;
    background: $background;
    #paired {
        width: 90%;
        max-width: 150;
        height: 90%;
        border: round $primary;
        background: $surface;
    }
    #paired-title {
        height: 1;
        padding: 0 1;
        color: $primary;
        text-style: bold;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    #paired-find { margin: 0 1; background: $background; }
    #paired-both { height: 1fr; margin-top: 1; layout: horizontal; }
    #paired-rows { width: 38%; height: 100%; }
    #paired-lines { width: 1fr; height: 100%; border-left: solid $panel; }
    #paired-note {
        height: auto;
        max-height: 3;
        padding: 0 1;
        color: $text-muted;
        &.good { color: $text-success; }
    }
    &.-stacked {
        #paired { width: 100%; height: 100%; }
        #paired-both { layout: vertical; margin-top: 0; }
        #paired-rows { width: 100%; height: 2fr; }
        #paired-lines {
            width: 100%;
            height: 3fr;
            border-left: none;
            border-top: solid $panel;
        }
    }
}
"""


class MasterDetailScreen(ModalScreen[Result]):
    """Shows rows and, of the highlighted one, lines. Made for one kind of rows each.

    Made from it, a screen says what its rows are and what is read of them; see the
    four methods that raise nothing and return little here.
    """

    DEFAULT_CSS: ClassVar[str] = _LOOK
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in LIST_ACTIONS),
    ]
    WORDS_FIRST: ClassVar[bool] = True
    """Whether what is typed goes into the line above the list; else letters are keys."""

    RANKED: ClassVar[bool] = False
    """Whether the likest row comes first, or the rows keep their order."""

    def __init__(self, room: "ChatScreen", title: str, *, words: str = "") -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE, "-beside")]
        self.room = room
        self._title = title
        self._words = words
        self._rows = SearchableRows(())
        self.hint = "type to find …"
        self.nothing = "There is nothing to show."

    async def rows(self) -> Sequence[ListRow]:
        """Return all rows, whatever is looked for."""
        return ()

    async def besides(self, text: str) -> Sequence[ListRow]:
        """Return rows that are found besides by `text`, where that takes longer."""
        del text
        return ()

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return what is read of a row."""
        del key
        return ()

    def choose(self, key: str) -> None:
        """Do what Enter means on a row: go to its lines, if nothing else is said."""
        del key
        self.query_one(LineList).focus()

    def compose(self) -> ComposeResult:
        """Lay out both parts."""
        with Vertical(id="paired"):
            yield Static(sanitize_text(self._title), markup=False, id="paired-title")
            yield Input(
                self._words,
                placeholder=self.hint,
                compact=True,
                id="paired-find",
            )
            with Container(id="paired-both"):
                yield RowList(id="paired-rows")
                yield LineList(id="paired-lines")
            yield Static(markup=False, id="paired-note")
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show what there is, once it is read."""
        self.note("")
        words_first = self.WORDS_FIRST or self._words
        self.query_one(Input if words_first else RowList).focus()
        self.query_one(LineList).read([StyledLine(("Reading …",))])
        self.fill()

    @property
    def key(self) -> str:
        """The highlighted row's key; empty where there is none."""
        return self.query_one(RowList).key

    @work(exclusive=True, group="fill", exit_on_error=False)
    async def fill(self, at: str = "") -> None:
        """Read all rows anew, and stand at one of them."""
        try:
            self._rows = SearchableRows(await self.rows())
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.tell(error)
            return
        self.find(at=at or self.first())

    def first(self) -> str:
        """Return the key of the row to stand at when all is shown, empty for the first."""
        return ""

    def find(self, found: Sequence[ListRow] = (), *, at: str = "") -> None:
        """Show the rows that are looked for, and after them what was `found` besides."""
        text = self.query_one(Input).value
        looked = self._rows.ranked if self.RANKED else self._rows.holding
        fitting = looked(text)
        there = {row.key for row in fitting}
        fitting += [row for row in found if row.key not in there]
        self.query_one(RowList).show(fitting, at=at or self._first(text))
        if not any(not row.heading for row in fitting):
            told = f"Nothing here is like “{text}”." if self._rows.all else self.nothing
            self.query_one(LineList).read([StyledLine((StyledText(told, "faint"),))])

    def _first(self, text: str) -> str:
        """Return where to stand: at the likest row, or where one stood."""
        return "" if text and self.RANKED else self.key

    def note(self, text: str, *, good: bool = False) -> None:
        """Say something under both parts; `good` that it was done."""
        note = self.query_one("#paired-note", Static)
        note.update(sanitize_text(text))
        note.set_class(good, "good")
        note.display = bool(text)

    def tell(self, error: Exception) -> None:
        """Say what went wrong and what to try, where there would be something to read."""
        told = cast("WritingRoom", self.app).told(error)
        said = (StyledText(str(told), "bad"),), (told.hint,)
        self.query_one(LineList).read(
            StyledLine(pieces) for pieces in said if pieces[0]
        )

    @on(Input.Changed, "#paired-find")
    def _typed(self) -> None:
        self.find()
        self._look_further()

    @work(exclusive=True, group="further", exit_on_error=False)
    async def _look_further(self) -> None:
        """Look, after a pause, for what takes longer to find."""
        text = self.query_one(Input).value.strip()
        if not text:
            return
        await asyncio.sleep(PAUSE)
        try:
            found = await self.besides(text)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.tell(error)
            return
        if found:
            self.find(found)

    @on(OptionList.OptionHighlighted, "#paired-rows")
    def _highlighted(self) -> None:
        if key := self.key:
            self._read(key)

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _read(self, key: str) -> None:
        """Show what there is to read of a row, once the writer stays there."""
        await asyncio.sleep(_SETTLED)
        try:
            lines = await self.lines(key)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.tell(error)
            return
        self.query_one(LineList).read(lines)

    def action_enter(self) -> None:
        """Do what Enter does there, once the keys before it are dealt with."""
        match self.focused:
            case Input() as find:
                find.call_later(find.action_submit)
            case OptionList() as found:
                found.call_later(found.action_select)

    @on(OptionList.OptionSelected)
    @on(Input.Submitted, "#paired-find")
    def _entered(self) -> None:
        """Choose the row, or open the place of the line that is being read."""
        if self.focused is not self.query_one(LineList):
            if key := self.key:
                self.choose(key)
            return
        line = self.query_one(LineList).line
        if line is not None and line.evidence is not None:
            self._open(line.evidence.document, line.evidence.lines.first)

    async def attempt(self, work: "Awaitable[DoneT]") -> "DoneT | None":
        """Do something; say in place what went wrong, and return None then."""
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            told = cast("WritingRoom", self.app).told(error)
            self.note(f"{told}. {told.hint}".strip())
            return None

    @work(exclusive=True, group="open", exit_on_error=False)
    async def _open(self, document: str, line: int) -> None:
        from lrwr.tui.actions.citations import open_document_at_line

        try:
            await open_document_at_line(self.room, document, line)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.room.tell(error)

    def action_step(self, by: int) -> None:
        """Go to the row before or after; where lines are read, to the line."""
        at = self._read_in
        (at.action_cursor_down if by > 0 else at.action_cursor_up)()

    def action_page(self, by: int) -> None:
        """Go a page of rows back or on; where lines are read, of lines."""
        self._read_in.turn(by)

    @property
    def _read_in(self) -> RowList | LineList:
        """Where the keys go up and down."""
        lines = self.query_one(LineList)
        return lines if self.focused is lines else self.query_one(RowList)

    def action_find(self) -> None:
        """Type what to look for."""
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Go back to what lies under this screen."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Go back from the lines to the rows."""
        self.query_one(RowList).focus()

    def on_key(self, event: events.Key) -> None:
        """Type into the line above from wherever one is."""
        find = self.query_one(Input)
        typed = event.character if event.is_printable else None
        if typed and self.WORDS_FIRST and self.focused is not find:
            event.stop()
            find.focus()
            find.insert_text_at_cursor(typed)
