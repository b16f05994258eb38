"""The reading screen of an e-book: text up to the position, contents, annotations, and
questions about the selection.
"""

import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from lrwr.app.books import BookRecord
from lrwr.app.presenters.answers import describe_answer_notes, strip_links
from lrwr.app.presenters.text import sanitize_line, sanitize_text, shorten_excerpt
from lrwr.core.model.text import Span
from lrwr.core.model.turns import (
    AnswerToken,
    ThreadId,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.reading.annotations import HighlightColor, PlacedAnnotation
from lrwr.tui.actions.screen_keys import BOOK_ACTIONS
from lrwr.tui.queries.book import (
    BookReading,
    ask_about_book,
    load_book_reading,
    save_book_reading,
)
from lrwr.tui.queries.reader import ReaderContents, compile_words_pattern
from lrwr.tui.room import RoomApp
from lrwr.tui.screens.dialogs import SIDE_BY_SIDE, TextInputScreen
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

ResultT = TypeVar("ResultT")
ANNOTATION = -2
"""Stands for the index of a part in the contents: what follows is an annotation's."""


class BookContents(ContentsTree):
    """Shows the chapters up to the position, and the annotations below."""

    def show_book(
        self, contents: ReaderContents, placed: list[PlacedAnnotation]
    ) -> None:
        """Show the chapters and the annotations."""
        self.show(contents)
        if placed:
            parent = self.root.add("Annotations", expand=True)
            for number, item in enumerate(placed):
                note = item.annotation.note
                label = note if note else f"“{item.annotation.quote}”"
                text = Text(shorten_excerpt(sanitize_line(label)))
                parent.add_leaf(text, (ANNOTATION, number))


class BookPane(TextPane, inherit_bindings=False):
    """The text, whose keys are those of the screen."""


class BookView(Screen[None]):
    """Shows the book `record` up to its position, which is stored when it moves."""

    DEFAULT_CSS: ClassVar[str] = """
    BookView {
        background: $background;
        #book-title {
            height: 1;
            padding: 0 1;
            background: $panel;
            color: $primary;
            text-style: bold;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        #book-both { height: 1fr; background: $surface; }
        #book-details {
            height: auto;
            max-height: 40%;
            padding: 0 1;
            border-top: solid $panel;
            background: $background;
            display: none;
        }
        #book-details.shown { display: block; }
        #book-input { background: $background; display: none; }
        #book-status {
            height: 1;
            padding: 0 1;
            background: $panel;
            color: $text-muted;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        &.-narrow #reader-tree { display: none; width: 100%; border-right: none; }
        &.-narrow.contents #reader-tree { display: block; }
        &.-narrow.contents TextPane { display: none; }
    }
    """

    def __init__(self, room: RoomApp, record: BookRecord) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]
        self._room, self._record = room, record
        self._reading: BookReading | None = None
        self._part: Span | None = None
        self._answer = ""
        self._purpose = ""
        self._thread: ThreadId | None = None

    def compose(self) -> ComposeResult:
        """Lay out title, contents, text, details, input, status and footer."""
        yield Static(sanitize_line(self._record.title), markup=False, id="book-title")
        with Horizontal(id="book-both"):
            yield BookContents()
            yield BookPane()
        with VerticalScroll(id="book-details"):
            yield Static(markup=False, id="book-detail")
        yield Input(compact=True, id="book-input")
        yield Static("Loading…", markup=False, id="book-status")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Focus the text, and load the book."""
        self.query_one(TextPane).focus()
        self._load()

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _load(self) -> None:
        record = self._record
        self._reading = await self._run(lambda w: load_book_reading(w, record))
        if self._reading is not None:
            self._show()

    @on(TextPane.Moved)
    def _moved(self) -> None:
        # Only then is it certain what is on the screen.
        self.call_after_refresh(self._mark_seen)

    async def _mark_seen(self) -> None:
        """Move the position to the last paragraph that is wholly on the screen."""
        reading = self._reading
        if reading is None or self._part is None:
            return
        if reading.mark_seen(self.query_one(TextPane).visible_span):
            self._update("title", reading.summary)
            await self._save(annotations=False)

    async def _run(
        self, work: "Callable[[Workspace], Coroutine[None, None, ResultT]]"
    ) -> "ResultT | None":
        """Return the result of `work`; of a failure, show the error and return None."""
        try:
            return await self._room.service_thread.run(work)
        except Exception as error:  # noqa: BLE001 - a traceback tells a reader nothing
            self._show_error(error)
            return None

    def _show_error(self, error: Exception) -> None:
        self._show_status(self._room.describe_error(error).full_text)

    async def _save(self, *, annotations: bool) -> None:
        """Store the position, and with `annotations` these too."""
        reading = self._reading
        if reading is None:
            return
        changed = list(reading.annotations) if annotations else None
        save = partial(
            save_book_reading,
            record=reading.record,
            position=reading.position,
            annotations=changed,
            now=time.time(),
        )
        await self._run(save)

    def _show(self, status: str = "") -> None:
        """Show the part of the selection with its marks, and what belongs to it."""
        reading = self._reading
        if reading is None:
            return
        contents = reading.list_parts()
        number = contents.find_part(contents.position)
        part, pane = contents.parts[number].span, self.query_one(TextPane)
        tree = self.query_one(BookContents)
        if part != self._part:
            self._part = part
            pane.show(reading.visible_text, part, reading.text.lines)
        pane.set_marks(reading.list_marks(part))
        pane.go_to(reading.selected.start)
        if self.focused is not tree:
            tree.show_book(contents, reading.placed)
            tree.open_part(number, (), 0)
        self._update("title", reading.summary)
        self._show_details()
        self._show_status(status or f"Paragraph {reading.paragraph + 1:,}")

    def _show_details(self) -> None:
        """Show the answer, else what belongs to the selection."""
        reading = self._reading
        lines = reading.describe_selection() if reading else []
        text = self._answer or "\n".join(lines)
        self._update("detail", text)
        self.query_one("#book-details").set_class(bool(text), "shown")

    def _update(self, name: str, text: str) -> None:
        self.query_one(f"#book-{name}", Static).update(sanitize_text(text))

    def _show_status(self, text: str) -> None:
        self._update("status", text)


class BookScreen(BookView):
    """The reading screen with its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in BOOK_ACTIONS),
    ]

    def action_on(self) -> None:
        """Scroll down; at the end of what is read, show the next page of the book."""
        reading, pane = self._reading, self.query_one(TextPane)
        if reading is None:
            return
        if pane.scroll_offset.y < pane.max_scroll_y:
            pane.scroll_page_down(animate=False)
            self.call_after_refresh(self._select_visible)
            return
        contents = reading.list_parts()
        later = [
            p.span for p in contents.parts if p.span.start > reading.selected.start
        ]
        if later:
            reading.select_at(later[0])
            reading.select(reading.paragraph)
        elif not reading.advance():
            self._show_status("You have read the whole book.")
            return
        self._show()
        pane.scroll_to_top(reading.selected.start)

    def action_back(self) -> None:
        """Scroll back a page."""
        self.query_one(TextPane).scroll_page_up(animate=False)
        self.call_after_refresh(self._select_visible)

    def _select_visible(self) -> None:
        """Select the first paragraph on the screen, after a scroll."""
        reading, pane = self._reading, self.query_one(TextPane)
        if reading is not None:
            reading.select_first_in(pane.visible_span)
            pane.set_marks(reading.list_marks(self._part or pane.visible_span))
            self._show_details()
            self._show_status(f"Paragraph {reading.paragraph + 1:,}")

    def action_step(self, by: int) -> None:
        """Select the next paragraph if `by` is positive, else the one before."""
        reading = self._reading
        if reading is None:
            return
        if reading.select(reading.paragraph + by):
            self._show()
            pane = self.query_one(TextPane)
            if pane.visible_span.end < reading.selected.end:
                pane.scroll_to_top(reading.selected.start)
        elif by > 0:
            self._show_status("Space shows the next page.")

    def action_sentence(self, by: int) -> None:
        """Select the next sentence if `by` is positive, else the one before."""
        if self._reading is not None:
            self._reading.select_sentence(by)
            self._show()

    async def action_highlight(self, color: str) -> None:
        """Highlight the selection in a colour."""
        await self._annotate(HighlightColor(color), "")

    @work(exclusive=True, group="note", exit_on_error=False)
    async def action_note(self) -> None:
        """Ask for a note on the selection."""
        if self._reading is None:
            return
        question = f"Note on “{shorten_excerpt(self._reading.selected_text)}”"
        note = await self.app.push_screen_wait(TextInputScreen(question))
        if note is not None:
            await self._annotate(HighlightColor.YELLOW, note)

    async def _annotate(self, color: HighlightColor, note: str) -> None:
        if self._reading is not None:
            self._reading.annotate(color, note, time.time())
            self._reading.mark_read(self._reading.paragraph + 1)
            await self._save(annotations=True)
            self._show("Noted." if note else f"Highlighted in {color}.")

    async def action_delete(self) -> None:
        """Delete the annotation on the selection."""
        if self._reading is None:
            return
        if self._reading.delete_annotation():
            await self._save(annotations=True)
            self._show("Deleted.")
        else:
            self._show_status("There is no highlight or note here.")

    def action_find(self) -> None:
        """Ask for the words to find."""
        self._open_input("find", "Find in what you have read…")

    def action_ask(self) -> None:
        """Ask for a question about the selection."""
        self._open_input("ask", "Ask about the selection…")

    def _open_input(self, purpose: str, placeholder: str) -> None:
        line = self.query_one("#book-input", Input)
        self._purpose = purpose
        line.value, line.placeholder, line.display = "", placeholder, True
        line.focus()

    @on(Input.Submitted, "#book-input")
    def _submitted(self, event: Input.Submitted) -> None:
        words, is_question = event.value.strip(), self._purpose == "ask"
        self._show_text()
        if not words or self._reading is None:
            return
        if is_question:
            self._ask(words)
        else:
            self._reading.pattern = compile_words_pattern(words)
            self.action_match(1)

    def action_match(self, by: int) -> None:
        """Go to the next match of the found words if `by` is positive, else back."""
        reading = self._reading
        if reading is None or reading.pattern is None:
            self._show_status("Press / to find text.")
            return
        match = reading.find_match(forward=by > 0)
        if match is None:
            self._show_status("That is not in what you have read.")
        else:
            reading.select_at(match)
            self._show()

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def _ask(self, question: str) -> None:
        """Ask about the selection, and show the steps and the answer as they come."""
        reading, thread = self._reading, self._thread
        if reading is None:
            return
        self._answer = f"{question}\n"
        passage = reading.selected_text
        if reading.mark_read(reading.paragraph + 1):
            await self._save(annotations=False)
        try:
            stream = self._room.service_thread.stream(
                lambda w: ask_about_book(w, reading, question, passage, thread),
                keeps="the answer",
            )
            async with aclosing(stream) as events:
                async for event in events:
                    self._show_event(event)
        except Exception as error:  # noqa: BLE001 - a traceback tells a reader nothing
            self._show_error(error)

    def _show_event(self, event: TurnEvent) -> None:
        match event:
            case TurnStageStarted():
                self._show_status(f"{event.text} …")
            case AnswerToken():
                self._answer += strip_links(event.text)
                self._show_details()
            case TurnDone():
                self._thread = event.thread
                self._answer += self._describe_end(event.turn)
                self._show_details()
                self._show_status("Escape closes the answer.")
            case _:
                pass

    def _describe_end(self, turn: Turn) -> str:
        """Return the citations with their paragraphs, and the remarks."""
        outline = self._record.outline
        lines = [
            f"[{citation.number}] paragraph"
            f" {outline.find_paragraph(citation.span.start) + 1:,}"
            f" “{shorten_excerpt(strip_links(citation.text))}”"
            for citation in turn.output.citations
        ]
        lines += [note.text for note in describe_answer_notes(turn)]
        return "\n" + "\n".join(lines)

    @on(ContentsTree.Chosen)
    def _chosen(self, event: ContentsTree.Chosen) -> None:
        event.stop()
        reading = self._reading
        if reading is None:
            return
        if event.part == ANNOTATION:
            span = reading.placed[event.scene].span
        else:
            span = reading.list_parts().parts[event.part].span
            span = Span(span.start, span.start)
        if span is not None:
            reading.select_at(span)
            if not span:
                reading.select(reading.paragraph)
        self._show_text()
        self._show()

    def action_contents(self) -> None:
        """Move the focus to the contents, or back to the text."""
        if self.focused is self.query_one(BookContents):
            self._show_text()
        else:
            self.add_class("contents")
            self.query_one(BookContents).focus()

    def _show_text(self) -> None:
        self.remove_class("contents")
        self.query_one("#book-input").display = False
        self.query_one(TextPane).focus()

    def action_close(self) -> None:
        """Close the input, the contents or the answer if there is one, else the book."""
        if self.focused is not self.query_one(TextPane):
            self._show_text()
        elif self._answer:
            self._answer = ""
            self.workers.cancel_group(self, "turn")
            self._show()
        else:
            self._room.exit()
