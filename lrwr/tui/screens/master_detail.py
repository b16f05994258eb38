"""Base class of screens with a filtered list and the details of its highlighted row."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker

from lrwr.app.presenters.text import StyledLine, StyledText, sanitize_text
from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span
from lrwr.tui.actions.citations import open_document_at_line
from lrwr.tui.actions.screen_keys import LIST_ACTIONS
from lrwr.tui.key_queue import LoadingScreen
from lrwr.tui.queries.reader import ReaderPosition
from lrwr.tui.room import RoomApp, RoomScreen
from lrwr.tui.screens.dialogs import SIDE_BY_SIDE
from lrwr.tui.widgets.lists import LineList, ListRow, RowList, SearchableRows
from lrwr.tui.widgets.status import KeyFooter

ResultT = TypeVar("ResultT")
WorkT = TypeVar("WorkT")

SEARCH_DELAY = 0.3
"""Seconds without a key before `extra_rows` is called."""

_HIGHLIGHT_DELAY = 0.04
"""Seconds before a highlighted row's details load; longer than a key repeat."""

DIALOG_GROUPS = frozenset({"keep", "decide", "choose"})
"""Worker groups of actions that may open a dialog over the list."""

CURRENT_MARK = "◆ "
"""Marks the row of what is chosen at present."""

_CSS = """
MasterDetailScreen {
    align: center middle;
    background: $background;
    #master-detail {
        width: 90%;
        max-width: 150;
        height: 90%;
        border: round $primary;
        background: $surface;
    }
    #master-detail-title {
        height: 1;
        padding: 0 1;
        color: $primary;
        text-style: bold;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    #master-detail-find { margin: 0 1; background: $background; }
    #master-detail-both { height: 1fr; margin-top: 1; layout: horizontal; }
    #master-detail-rows { width: 38%; height: 100%; }
    #master-detail-lines { width: 1fr; height: 100%; border-left: solid $panel; }
    #master-detail-note {
        height: auto;
        max-height: 3;
        padding: 0 1;
        color: $text-muted;
        &.good { color: $text-success; }
    }
    &.-stacked {
        #master-detail { width: 100%; height: 100%; }
        #master-detail-both { layout: vertical; margin-top: 0; }
        #master-detail-rows { width: 100%; height: 2fr; }
        #master-detail-lines {
            width: 100%;
            height: 3fr;
            border-left: none;
            border-top: solid $panel;
        }
    }
}
"""


class MasterDetailScreen(ModalScreen[ResultT], LoadingScreen[ResultT]):
    """Shows a list of rows and, beside it, the details of the highlighted row.

    `room` is the chat screen below. `words` fill the filter. Subclasses override `rows`
    and `lines`, and may override `extra_rows`, `select` and `first`.
    """

    DEFAULT_CSS: ClassVar[str] = _CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in LIST_ACTIONS),
    ]
    FOCUS_FILTER: ClassVar[bool] = True
    """Whether typed letters go into the filter; else letters are keys."""

    RANKED: ClassVar[bool] = False
    """Whether the best match comes first; else the rows keep their order."""

    NAMES_FIRST: ClassVar[bool] = False
    """Whether a word of a row's name is not looked for in the details of others."""

    EXTRA_DELAY: ClassVar[float] = SEARCH_DELAY
    """Seconds without a key before `extra_rows` is called."""

    def __init__(self, room: RoomScreen, title: str, *, words: str = "") -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE, "-beside")]
        self.room = room
        self._title = title
        self._words = words
        self._rows = SearchableRows(())
        self._detailed: ListRow | None = None
        self.hint = "Type to search…"
        self.nothing = "The list is empty."
        self.loading_text = "Loading…"

    async def rows(self) -> Sequence[ListRow]:
        """Load and return all rows in display order; the screen applies the filter."""
        return ()

    async def extra_rows(self, text: str) -> Sequence[ListRow]:
        """Return rows of a slow search for `text`, shown last once typing stops."""
        del text
        return ()

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the details of the row with the key `key`."""
        del key
        return ()

    def select(self, key: str) -> None:
        """Handle Enter on the row with the key `key`; by default, focus its details."""
        del key
        self.query_one(LineList).focus()

    def compose(self) -> ComposeResult:
        """Lay out filter, rows, details, message and footer."""
        with Vertical(id="master-detail"):
            yield Static(
                sanitize_text(self._title), markup=False, id="master-detail-title"
            )
            yield Input(
                self._words,
                placeholder=self.hint,
                compact=True,
                id="master-detail-find",
            )
            with Container(id="master-detail-both"):
                yield RowList(id="master-detail-rows")
                yield from self.compose_details()
            yield Static(markup=False, id="master-detail-note")
            yield KeyFooter()

    def compose_details(self) -> ComposeResult:
        """Lay out the details, beside or below the rows."""
        yield LineList(id="master-detail-lines")

    def on_mount(self) -> None:
        """Focus the filter or the rows, and start to load the rows."""
        self.set_note("")
        focus_filter = self.FOCUS_FILTER or self._words
        self.query_one(Input if focus_filter else RowList).focus()
        self.query_one(LineList).show([StyledLine((self.loading_text,))])
        self.fill()
        self.watch(self.room, "library_version", self.reload, init=False)

    def reload(self) -> None:
        """Load the rows again, after the library has changed; the highlight stays."""
        row = self.query_one(RowList).row
        self.fill(at=self.key, name=row.name if row else "")

    def run_worker(self, *args: Any, **options: Any) -> Worker[Any]:
        """Run a worker; keys wait while it opens a dialog, for which they are meant."""
        worker = super().run_worker(*args, **options)
        if worker.group in DIALOG_GROUPS:
            cast("RoomApp", self.app).key_queue.wait_for_screen(worker)
        return worker

    @property
    def key(self) -> str:
        """The key of the highlighted row; empty if there is none."""
        return self.query_one(RowList).key

    @work(exclusive=True, group="fill", exit_on_error=False)
    async def fill(self, at: str = "", name: str = "") -> None:
        """Load all rows again, and highlight the one with the key `at`.

        If `at` is empty, the row that `first` names is highlighted. With `name`, keys
        may have changed: then it is the row of that name, if there is one.
        """
        try:
            self._rows = SearchableRows(await self.rows())
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.show_error(error)
            return
        finally:
            self.is_loading = False
        if name:
            named = [row.key for row in self._rows.all if row.name == name]
            at = at if at in named else next(iter(named), at)
        self.find(at=at or self.first())

    def first(self) -> str:
        """Return the key of the row to highlight when the list is loaded.

        Empty to let `find` choose.
        """
        return ""

    def find(self, extra: Sequence[ListRow] = (), *, at: str = "") -> None:
        """Show the rows that match the filter, then those of `extra` with other keys.

        The row with the key `at` is highlighted; without `at` the first on a ranked
        screen with a filter, else the row as before. If it is not shown, the first is.
        """
        text = self.query_one(Input).value
        matches = (
            self._rows.rank(text)
            if self.RANKED
            else self._rows.filter(text, names_first=self.NAMES_FIRST)
        )
        keys = {row.key for row in matches}
        matches += [row for row in extra if row.key not in keys]
        usual = "" if text and self.RANKED else self.key
        self.query_one(RowList).show(matches, at=at or usual)
        if not any(not row.heading for row in matches):
            message = f"Nothing matches “{text}”." if self._rows.all else self.nothing
            self.show_no_match(message)

    def show_no_match(self, message: str) -> None:
        """Show `message` instead of the details of a row that is no longer listed."""
        self.workers.cancel_group(self, "read")
        _show_alone(StyledLine((StyledText(message, "faint"),)), self.query(LineList))

    def set_note(self, text: str, *, good: bool = False) -> None:
        """Show the message `text` below the lists, if any; `good` marks success."""
        note = self.query_one("#master-detail-note", Static)
        note.update(sanitize_text(text))
        note.set_class(good, "good")
        note.display = bool(text)

    def show_error(self, error: Exception) -> None:
        """Show an error and its hint in place of the details."""
        problem = cast("RoomApp", self.app).describe_error(error)
        parts = (StyledText(str(problem), "bad"),), (problem.hint,)
        self.query_one(LineList).show(
            StyledLine(pieces) for pieces in parts if pieces[0]
        )

    @on(Input.Changed, "#master-detail-find")
    def _typed(self) -> None:
        self.typed()
        self._search_extra()

    def typed(self) -> None:
        """Handle a change of the filter; by default, show the rows that match.

        While the rows are loading, nothing happens: they are filtered when they arrive.
        """
        if not self.is_loading:
            self.find()

    @work(exclusive=True, group="extra", exit_on_error=False)
    async def _search_extra(self) -> None:
        """Load extra rows once no key was pressed for `SEARCH_DELAY` seconds."""
        text = self.query_one(Input).value.strip()
        if not text:
            return
        await asyncio.sleep(self.EXTRA_DELAY)
        try:
            extra = await self.extra_rows(text)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.show_error(error)
            return
        if extra:
            self.find(extra)

    @on(OptionList.OptionHighlighted, "#master-detail-rows")
    def _highlighted(self) -> None:
        if key := self.key:
            self._read(key)

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _read(self, key: str) -> None:
        """Load the details of a row once it stays highlighted."""
        await asyncio.sleep(_HIGHLIGHT_DELAY)
        try:
            lines = await self.lines(key)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.show_error(error)
            return
        row = self.query_one(RowList).row
        is_same = row is not None and self._detailed == row
        self._detailed = row
        self.query_one(LineList).show(lines, stay=is_same)

    def action_enter(self) -> None:
        """Do what Enter does in the focused widget, after keys pressed earlier."""
        match self.focused:
            case Input() as find:
                find.call_later(find.action_submit)
            case OptionList() as options:
                options.call_later(options.action_select)

    @on(OptionList.OptionSelected)
    @on(Input.Submitted, "#master-detail-find")
    def _entered(self) -> None:
        """Select the row, or open the file at the evidence of the highlighted line.

        If the line has none, it is that of the next line with evidence.
        """
        if not isinstance(self.focused, LineList):
            self.submit()
            return
        if (evidence := self.focused.evidence_below) is None:
            self.notify("These lines have no location to open.")
        else:
            self._open(evidence.document, evidence.lines.first)

    def submit(self) -> None:
        """Handle Enter outside the details; by default, select the highlighted row."""
        if key := self.key:
            self.select(key)

    async def run_guarded(self, work: "Awaitable[WorkT]") -> "WorkT | None":
        """Await `work` and return its result.

        An error is shown below the lists instead of being raised; the result is then
        None.
        """
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.set_note(cast("RoomApp", self.app).describe_error(error).full_text)
            return None

    @work(exclusive=True, group="open", exit_on_error=False)
    async def _open(self, document: str, line: int) -> None:
        try:
            await open_document_at_line(self.room, document, line)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.room.show_error(error)

    def action_read(self) -> None:
        """Show the location of the highlighted detail line in the reader.

        Without one, it is the first location in the details. Nothing happens if there
        is none.
        """
        focused = self.focused
        lines = focused if isinstance(focused, LineList) else self.query_one(LineList)
        if (evidence := lines.evidence) is not None:
            start = evidence.spans[0].start
            self.room.last_read = ReaderPosition(evidence.document, start)
            self.room.action_do("reader")

    def action_step(self, by: int) -> None:
        """Move the highlight of the list or the focused details down or up by one."""
        active = self._active_list
        (active.action_cursor_down if by > 0 else active.action_cursor_up)()

    def action_page(self, by: int) -> None:
        """Move the highlight by `by` pages, down if positive.

        If the details have the focus, it moves there.
        """
        self._active_list.move_page(by)

    @property
    def _active_list(self) -> RowList | LineList:
        """The list that the cursor keys move in."""
        focused = self.focused
        return focused if isinstance(focused, LineList) else self.query_one(RowList)

    def action_find(self) -> None:
        """Focus the filter."""
        self.query_one(Input).focus()

    def action_close(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Move the focus to the list of rows."""
        self.query_one(RowList).focus()

    def on_key(self, event: events.Key) -> None:
        """Insert typed characters into the filter, whichever widget has the focus.

        Screens with `FOCUS_FILTER` False use letters as keys instead.
        """
        find = self.query_one(Input)
        typed = event.character if event.is_printable else None
        if typed and self.FOCUS_FILTER and self.focused is not find:
            event.stop()
            find.focus()
            find.insert_text_at_cursor(typed)


def _show_alone(line: StyledLine, lists: Iterable[LineList]) -> None:
    """Show `line` in the first list, and nothing in the others."""
    for number, lines in enumerate(lists):
        lines.show(() if number else (line,))


def locate_line(line: StyledLine, document: str, number: int) -> StyledLine:
    """Return a line of the details that Enter opens at line `number` of a document.

    `document` is a path relative to the library's folder; it may be any text file.
    """
    evidence = TextEvidence(
        document=DocumentId(document),
        spans=(Span(0, 1),),
        text="",
        lines=LineRange(number, number),
        chapter=None,
        chapter_title="",
        scene=None,
        keeper=RULES_KEEPER,
        certainty=Certainty.PROBABLE,
    )
    return replace(line, evidence=evidence)


def locate_lines(lines: Iterable[StyledLine], document: str) -> Iterator[StyledLine]:
    """Yield the lines of a report on `document`, each opened where it is about.

    A line that starts with a location, such as "posts/1.md:12", sets the place of the
    lines after it. A line with its own quotation keeps that.
    """
    number = 1
    for line in lines:
        first = line.pieces[0] if line.pieces else ""
        if line.indent == 0 and isinstance(first, StyledText) and first.tone == "place":
            last = first.text.rpartition(":")[2].split("–")[0].split("-")[0]
            number = int(last) if last.isdecimal() else number
        yield line if line.evidence else locate_line(line, document, number)
