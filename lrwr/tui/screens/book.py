"""What the reading screen of an e-book shows: text up to the position, contents,
annotations and details.
"""

import time
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from lrwr.app.books import BookRecord
from lrwr.app.presenters.text import (
    sanitize_line,
    sanitize_text,
    shorten_excerpt,
)
from lrwr.core.model.text import Span
from lrwr.core.reading.annotations import HighlightColor, PlacedAnnotation
from lrwr.tui.queries.book import (
    BookReading,
    load_book_reading,
    save_book_reading,
)
from lrwr.tui.queries.reader import ReaderContents
from lrwr.tui.room import RoomApp
from lrwr.tui.screens.dialogs import SIDE_BY_SIDE
from lrwr.tui.screens.reader import TextScreen
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.status import KeyFooter
from lrwr.tui.widgets.text_pane import TextPane

ANNOTATION = -2
"""Stands for the index of a part in the contents: what follows is an annotation's."""

SHOWN_CHARS = 20
"""Characters of an annotation that the contents show at least."""


class BookContents(ContentsTree):
    """Shows the chapters up to the position, and the annotations below."""

    def show_book(
        self,
        contents: ReaderContents,
        placed: list[PlacedAnnotation],
        paragraphs: list[int],
    ) -> None:
        """Show the chapters and the annotations, with the numbers of their `paragraphs`
        where several begin alike.
        """
        self.show(contents)
        labels = [
            shorten_excerpt(
                sanitize_line(item.annotation.note or f"“{item.annotation.quote}”")
            )
            for item in placed
        ]
        if placed:
            parent = self.root.add("Annotations", expand=True)
            beginnings = [label[:SHOWN_CHARS] for label in labels]
            for number, label in enumerate(labels):
                is_alike = beginnings.count(beginnings[number]) > 1
                text = f"{paragraphs[number]:,}: {label}" if is_alike else label
                parent.add_leaf(Text(text), (ANNOTATION, number))


class BookPane(TextPane, inherit_bindings=False):
    """The text, whose keys are those of the screen."""


class BookView(TextScreen):
    """Shows the book `record` up to its position, which is stored when it moves; with
    `reads_on` at first the page after it.
    """

    DEFAULT_CSS: ClassVar[str] = """
    BookView {
        #book-details {
            height: auto;
            max-height: 40%;
            padding: 0 1;
            border-top: solid $panel;
            background: $background;
            display: none;
        }
        #book-details.shown { display: block; }
    }
    """
    PREFIX: ClassVar[str] = "book"

    def __init__(
        self, room: RoomApp, record: BookRecord, *, reads_on: bool = False
    ) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]
        self._room, self._record, self._reads_on = room, record, reads_on
        self._reading: BookReading | None = None
        self._part: Span | None = None
        self._answer = ""
        self._closed_details = ""

    def compose(self) -> ComposeResult:
        """Lay out title, contents, text, details, input, status and footer."""
        title = sanitize_line(self._record.title)
        yield Static(title, markup=False, classes="bar title", id="book-title")
        with Horizontal(id="book-both"):
            yield BookContents()
            yield BookPane()
        with VerticalScroll(id="book-details"):
            yield Static(markup=False, id="book-detail")
        yield Input(compact=True, id="book-input")
        yield Static("Loading…", markup=False, classes="bar status", id="book-status")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Focus the text, and load the book."""
        self.query_one(TextPane).focus()
        self._load()

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _load(self) -> None:
        record, reads_on = self._record, self._reads_on
        self._reading = await self._run(
            lambda w: load_book_reading(w, record, reads_on=reads_on)
        )
        if self._reading is not None:
            self._show()
            if reads_on:
                pane = self.query_one(TextPane)
                pane.scroll_to_top(self._reading.selected.start)
        self.is_loading = False

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
            outline = self._record.outline
            spans = [item.span for item in reading.placed]
            paragraphs = [
                outline.find_paragraph(s.start) + 1 if s else 0 for s in spans
            ]
            tree.show_book(contents, reading.placed, paragraphs)
            tree.open_part(number, (), 0)
        self._update("title", reading.summary)
        self._show_details()
        self._show_status(status or self._describe_place(reading))

    def _describe_place(self, reading: BookReading, match: str = "") -> str:
        """Return the selected paragraph, the number of the `match`, and the keys that scroll an answer, else those
        that highlight.
        """
        paragraph = f"Paragraph {reading.paragraph + 1:,}"
        keys, place = self._list_keys(), f"{paragraph}  {match}".rstrip()
        if self._answer:
            down, up = keys.get("scroll_answer(1)"), keys.get("scroll_answer(-1)")
            scroll = f"{down}, {up} scroll the answer" if down and up else ""
            cited = f"{key} citations" if (key := keys.get("citation(1)")) else ""
            closing = f"{close} closes it" if (close := keys.get("close")) else ""
            return "  ".join(filter(None, (place, scroll, cited, closing)))
        colors = [
            f"{keys[action]} {color}"
            for color in HighlightColor
            if (action := f"highlight('{color}')") in keys
        ]
        return "  ".join([place, "", *colors])

    def _list_keys(self) -> dict[str, str]:
        """Return the first key of each action that can be used, as it is displayed."""
        return {
            active.binding.action: self.app.get_key_display(active.binding)
            for active in reversed(self.active_bindings.values())
        }

    def _scroll_details_to(self, before: str) -> None:
        """Scroll what is shown below the text to what follows `before` there."""
        width = self.query_one("#book-detail").size.width
        height = Content(sanitize_text(before)).get_height({}, width) if before else 0
        details = self.query_one("#book-details")
        details.scroll_to(y=max(0, height - 1), animate=False)

    def _show_details(self) -> None:
        """Show the answer, else what belongs to the selection, unless it was closed."""
        reading = self._reading
        lines = reading.describe_selection() if reading else []
        text = self._answer or "\n".join(lines)
        if text != self._closed_details:
            self._closed_details = ""
        self._update("detail", text)
        is_shown = bool(text) and not self._closed_details
        self.query_one("#book-details").set_class(is_shown, "shown")

    def _close_details(self) -> bool:
        """Close what belongs to the selection; return whether it was shown."""
        details = self.query_one("#book-details")
        if not details.has_class("shown"):
            return False
        self._closed_details = str(self.query_one("#book-detail", Static).content)
        details.remove_class("shown")
        return True
