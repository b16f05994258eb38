"""An e-book as its reading screen shows it: parts up to the position, the selected words,
annotations, and questions about them.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import InitVar, dataclass, field, replace
from typing import TYPE_CHECKING

from lrwr.app.books import (
    BookRecord,
    find_book_sentences,
    open_bookshelf,
)
from lrwr.app.companion import open_reading_companion
from lrwr.app.egress import announce_first_uses
from lrwr.app.presenters.books import describe_position
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.books import BookParagraph
from lrwr.core.model.text import Span
from lrwr.core.model.turns import ThreadId, TurnEvent
from lrwr.core.ports.stores import DocumentText
from lrwr.core.reading.annotations import (
    Annotation,
    HighlightColor,
    PlacedAnnotation,
    create_annotation,
    place_annotations,
)
from lrwr.core.reading.bounded_book import (
    BoundedBook,
    build_horizon_text,
    find_next_position,
)
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.tui.queries.reader import (
    ReaderContents,
    ReaderPart,
    ReaderPosition,
    match_spans,
)
from lrwr.tui.widgets.text_pane import MarkKind, TextMark

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


@dataclass(slots=True)
class BookReading:
    """A book that is read on the screen. `text` is that of the whole book: show only what
    `visible_text` returns.

    `position` is how many paragraphs have been on the screen as a whole, and `loaded` how
    many the pane has: the rest of a page is seen after scrolling. `paragraph` is the
    index of the selected one, and `selected` the selected words: a paragraph or a
    sentence in it; `is_chosen` says that the user selected them, not a scroll. `placed` are the annotations in what is loaded, and `deleted` those
    that were deleted since it was opened, the latest last. With `reads_on` the page after
    the position is loaded first, as at the beginning of a book.
    """

    record: BookRecord
    text: DocumentText
    position: int
    annotations: list[Annotation]
    paragraph: int = 0
    selected: Span = field(default_factory=lambda: Span(0, 0))
    placed: list[PlacedAnnotation] = field(default_factory=list)
    is_chosen: bool = False
    pattern: re.Pattern[str] | None = None
    loaded: int = 0
    deleted: list[Annotation] = field(default_factory=list)
    reads_on: InitVar[bool] = False

    def __post_init__(self, reads_on: bool) -> None:
        self.loaded = self.position
        if reads_on or not self.position:
            self.advance()
        else:
            self.select(self.loaded - len(self.book.page()))
            self.place()

    @property
    def book(self) -> BoundedBook:
        """The book up to the position."""
        return self._bound(self.position)

    def _bound(self, end: int) -> BoundedBook:
        record = self.record
        return BoundedBook(record.outline, record.chapters, self.text.text, end)

    @property
    def visible_text(self) -> str:
        """The text that the pane has."""
        return self.text.text[: self._bound(self.loaded).end]

    def mark_read(self, paragraphs: int) -> bool:
        """Move the position forward to this number of paragraphs; return whether it was
        before it. The caller stores it.
        """
        before, self.position = self.position, max(self.position, paragraphs)
        return self.position > before

    def mark_seen(self, span: Span) -> bool:
        """Move the position to the last paragraph that ends within `span`, which is on
        the screen; return whether it moved.
        """
        paragraphs = self.record.outline.paragraphs[self.position : self.loaded]
        wholly_visible = [
            number
            for number, paragraph in enumerate(paragraphs, self.position + 1)
            if paragraph.span.end <= span.end
        ]
        return bool(span and wholly_visible) and self.mark_read(wholly_visible[-1])

    def select_first_in(self, span: Span) -> None:
        """Select the first paragraph that begins within `span`, else the one there."""
        outline = self.record.outline
        first = outline.find_paragraph(span.start)
        starts = [p.span.start for p in outline.paragraphs[first : first + 2]]
        begins_before = starts[0] < span.start and starts[-1] < span.end
        self.select(first + (begins_before and first + 1 < self.loaded))

    @property
    def summary(self) -> str:
        """Title, chapter and share of the position."""
        return describe_position(self.book)

    def list_parts(self) -> ReaderContents:
        """Return the chapters that the pane has, and the part of the selection."""
        book, document = self._bound(self.loaded), self.record.document
        paragraphs = book.outline.paragraphs
        starts = [
            (c.title or f"Chapter {c.number}", c.number, c.paragraph)
            for c in book.chapters()
        ]
        if not starts or starts[0][2]:
            starts.insert(0, (book.outline.title, 0, 0))
        ends = [start for _, _, start in starts[1:]] + [self.loaded]
        parts = [
            ReaderPart(
                document,
                Span(paragraphs[start].span.start, paragraphs[end - 1].span.end),
                name,
                name,
                chapter=number,
            )
            for (name, number, start), end in zip(starts, ends, strict=True)
        ]
        here = ReaderPosition(document, self.selected.start)
        return ReaderContents(tuple(parts), here)

    def advance(self) -> bool:
        """Load the next page, and select its first paragraph; return whether there was
        one.
        """
        outline, first = self.record.outline, self.loaded
        self.loaded = find_next_position(outline, self.record.chapters, first)
        self.select(first)
        self.place()
        return self.loaded > first

    def select(self, paragraph: int) -> bool:
        """Select the paragraph with this index; return whether it is loaded."""
        if not 0 <= paragraph < self.loaded:
            return False
        self.paragraph, self.is_chosen = paragraph, False
        self.selected = self.record.outline.paragraphs[paragraph].span
        return True

    def choose_paragraph(self, paragraph: int) -> bool:
        """Select the paragraph with this index for the user, who may ask about it; return
        whether it is loaded.
        """
        is_loaded = self.select(paragraph)
        self.is_chosen = self.is_chosen or is_loaded
        return is_loaded

    def select_at(self, span: Span) -> None:
        """Select the words at `span` for the user."""
        self.select(self.record.outline.find_paragraph(span.start))
        self.selected, self.is_chosen = span, True

    def select_sentence(self, by: int) -> None:
        """Select the next sentence of the paragraph if `by` is positive, else the one
        before; beyond the ends, the whole paragraph.
        """
        whole = self.record.outline.paragraphs[self.paragraph].span
        text = self.text.text[whole.start : whole.end]
        spans = [
            Span(whole.start + span.start, whole.start + span.end)
            for span in find_book_sentences(text)
        ]
        at = spans.index(self.selected) if self.selected in spans else -1
        number = at + by if at >= 0 or by > 0 else len(spans) - 1
        self.selected = spans[number] if 0 <= number < len(spans) else whole
        self.is_chosen = True

    @property
    def selected_text(self) -> str:
        """The selected words."""
        return self.text.text[self.selected.start : self.selected.end]

    def count_matches(self) -> tuple[int, int]:
        """Return the number of the selected match, from 1, and how many there are."""
        starts = [match.start for match in self._list_matches()]
        return starts.index(self.selected.start) + 1, len(starts)

    def _list_matches(self) -> list[Span]:
        text = self.text.text[: self.book.end]
        whole = Span(0, len(text))
        return match_spans(self.pattern, text, whole) if self.pattern else []

    def place(self) -> None:
        """Find the annotations in the text that the pane has."""
        placed = place_annotations(self.annotations, self.visible_text)
        self.placed = [item for item in placed if item.span is not None]

    def annotate(self, color: HighlightColor, note: str, now: float) -> Annotation:
        """Annotate the selected words at `now` (seconds); the caller stores it.

        An annotation of the same words gets the colour instead, or if it is the user's
        the note.
        """
        same = [i.annotation for i in self.placed if i.span == self.selected]
        own = [annotation for annotation in same if not annotation.author]
        if own and note:
            return self._exchange(own[-1], replace(own[-1], note=note))
        if same and not note:
            return self._exchange(same[-1], replace(same[-1], color=color))
        annotation = create_annotation(
            self.visible_text,
            self.record.outline,
            self.selected,
            color=color,
            note=note,
            now=now,
        )
        self.annotations.append(annotation)
        self.place()
        return annotation

    def _exchange(self, annotation: Annotation, changed: Annotation) -> Annotation:
        self.annotations[self.annotations.index(annotation)] = changed
        self.place()
        return changed

    def find_note(self) -> str:
        """Return the user's note on exactly the selected words; empty without one."""
        same = [i.annotation for i in self.placed if i.span == self.selected]
        return next((a.note for a in reversed(same) if not a.author), "")

    def find_annotation(self) -> PlacedAnnotation | None:
        """Return the latest annotation on the selected words; None without one."""
        start, end = self.selected.start, self.selected.end
        touching = [
            item
            for item in self.placed
            if item.span and item.span.start < end and start < item.span.end
        ]
        return touching[-1] if touching else None

    def delete_annotation(self) -> bool:
        """Delete the annotation on the selected words; return whether there was one."""
        item = self.find_annotation()
        if item is None:
            return False
        self.annotations.remove(item.annotation)
        self.deleted.append(item.annotation)
        self.place()
        return True

    def restore_annotation(self) -> bool:
        """Restore the annotation that was deleted last; return whether there was one."""
        if not self.deleted:
            return False
        self.annotations.append(self.deleted.pop())
        self.place()
        return True

    def find_match(self, *, forward: bool) -> Span | None:
        """Return the match of `pattern` after the selected words, or before them; at an
        end of what has been read, the search goes on at the other. None without any.
        """
        matches = self._list_matches()
        if forward:
            later = [m for m in matches if m.start > self.selected.start]
            return next(iter(later or matches), None)
        earlier = [m for m in matches if m.start < self.selected.start]
        return next(reversed(earlier or matches), None)

    def list_marks(self, part: Span) -> list[TextMark]:
        """Return what is marked in a part: annotations, matches and the selection."""
        marks = [
            TextMark(item.span, _get_mark_kind(item.annotation.color))
            for item in self.placed
            if item.span
        ]
        if self.pattern is not None:
            matches = match_spans(self.pattern, self.visible_text, part)
            marks += [TextMark(match, "match") for match in matches]
        marks.append(TextMark(self.selected, "selected"))
        shown = [
            m for m in marks if m.span.start < part.end and part.start < m.span.end
        ]
        return [*shown, *self._list_note_marks(part)]

    def _list_note_marks(self, part: Span) -> list[TextMark]:
        """Return the words of a part after which it refers to footnotes; the beginning of
        the paragraph where the place is unknown.
        """
        outline = self.record.outline
        notes = outline.paragraphs[outline.length :]
        places = {
            self._find_reference(note) for note in notes if note.anchor < self.loaded
        }
        return [
            TextMark(place, "note")
            for place in sorted(places)
            if part.start <= place.start < part.end
        ]

    def _find_reference(self, note: BookParagraph) -> Span:
        start = self.record.outline.paragraphs[note.anchor].span.start
        if note.reference is None:
            return Span(start, start)
        word = self.text.text[start : note.reference].rpartition(" ")[2]
        return Span(note.reference - len(word), note.reference)

    def describe_selection(self) -> list[str]:
        """Return what belongs to the selection: its annotation and its footnotes."""
        lines = []
        item = self.find_annotation()
        if item is not None:
            note, author = item.annotation.note, item.annotation.author
            highlight = f"highlighted in {item.annotation.color}"
            if note:
                lines.append(f"{author or 'Your note'}: {note}")
            else:
                lines.append(
                    f"{author}: {highlight}" if author else highlight.capitalize()
                )
        paragraph = self._bound(self.loaded).paragraphs(
            self.paragraph, self.paragraph + 1
        )
        lines += [note for entry in paragraph for note in entry.notes]
        return lines


def _get_mark_kind(color: str) -> MarkKind:
    """Return the mark of a highlight; one of an unknown colour is yellow."""
    kinds: dict[str, MarkKind] = {"green": "green", "blue": "blue", "pink": "pink"}
    return kinds.get(color, "yellow")


async def load_book_reading(
    workspace: "Workspace", record: BookRecord, *, reads_on: bool
) -> BookReading:
    """Return a book on the shelf at its position, from the workspace of its library; with
    `reads_on` at the page after it.

    Raises:
        StoreProblem: The shelf or the library cannot be read.
    """
    shelf = open_bookshelf()
    text = await workspace.passages.text(record.document)
    return BookReading(
        record,
        text,
        shelf.position(record.id),
        shelf.annotations(record.id),
        reads_on=reads_on,
    )


async def save_book_reading(
    _workspace: "Workspace",
    record: BookRecord,
    position: int,
    annotations: Sequence[Annotation] | None,
    now: float,
) -> None:
    """Store the position, and the annotations unless they are None, at `now` (seconds).

    Raises:
        StoreProblem: They cannot be written.
    """
    shelf = open_bookshelf()
    shelf.store_position(record.id, position)
    if annotations is not None:
        shelf.store_annotations(record, annotations, now)


async def list_first_uses(workspace: "Workspace") -> list[str]:
    """Return notices about the services that receive words of the book for the first
    time.
    """
    notices: list[str] = []
    announce_first_uses(workspace.egress, HOSTED_SERVICES, notices.append)
    return notices


async def ask_about_book(
    workspace: "Workspace",
    reading: BookReading,
    question: str,
    passage: str,
    thread: ThreadId | None,
) -> AsyncGenerator[TurnEvent]:
    """Ask about a passage of a book up to the position, which is stored; yield what
    happens. `thread` is continued, None begins a new one.

    Raises:
        LrwrError: The library cannot be read, or the model did not answer.
    """
    words = " ".join(passage.split())
    companion = await open_reading_companion(
        workspace, reading.record.id, whole=False, passage=words
    )
    request = TurnRequest(
        text=f"{question} “{words}”" if words else question,
        thread=thread,
        as_of=build_horizon_text(reading.book),
    )
    sessions = workspace.sessions(companion=companion)
    async with aclosing(sessions.ask(request)) as events:
        async for event in events:
            yield event
