"""The application that shows one e-book, `lrwr read`: the keys of its screen, and
questions about the selection.
"""

import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from lrwr.app.books import BookRecord
from lrwr.app.presenters.answers import describe_answer_notes, strip_links
from lrwr.app.presenters.text import (
    format_count,
    sanitize_text,
    shorten_excerpt,
)
from lrwr.core.model.text import Span
from lrwr.core.model.turns import (
    AnswerToken,
    Citation,
    ThreadId,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
)
from lrwr.core.reading.annotations import HighlightColor
from lrwr.core.settings.model import Settings
from lrwr.tui.actions.screen_keys import BOOK_ACTIONS
from lrwr.tui.app import WritingRoom
from lrwr.tui.queries.book import (
    ask_about_book,
    list_first_uses,
)
from lrwr.tui.queries.reader import compile_words_pattern
from lrwr.tui.room import CrashReporter, RoomApp
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.book import ANNOTATION, BookView
from lrwr.tui.screens.dialogs import TextInputScreen, ask_consents
from lrwr.tui.screens.help import HelpScreen
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.service_thread import ServiceThread

HELP_FILTER = "e-book"
"""Part of the title of the help's section on the reading screen."""


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question about the words `passage` of the book, or empty, about the book."""

    text: str
    passage: str


class BookConversation(BookView):
    """Answers questions about the book, one after another."""

    def __init__(
        self, room: RoomApp, record: BookRecord, *, reads_on: bool = False
    ) -> None:
        super().__init__(room, record, reads_on=reads_on)
        self._thread: ThreadId | None = None
        self._before_answer = ""
        self._step = ""
        self._cited: list[Span] = []
        self._place_before: tuple[Span, bool] | None = None
        self._questions: deque[PassageQuestion] = deque()
        self._is_answering = False
        self._has_asked_consent = False

    def ask(self, question: PassageQuestion) -> None:
        """Ask, or wait until the questions before it are answered."""
        self._questions.append(question)
        if self._is_answering:
            self._show_step(self._step)
        else:
            self._is_answering, self._answer = True, ""
            self._answer_questions()

    def cancel_questions(self) -> None:
        """Close the answer, and cancel the questions without one."""
        self._answer, self._cited, self._place_before = "", [], None
        self._questions.clear()
        self._is_answering = False
        self.workers.cancel_group(self, "turn")

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def _answer_questions(self) -> None:
        """Answer the questions in order, also those that are asked meanwhile."""
        while self._questions:
            await self._answer_question(self._questions.popleft())
        self._is_answering = False

    async def _answer_question(self, question: PassageQuestion) -> None:
        """Show the steps and the answer as they come, below earlier answers."""
        reading, thread = self._reading, self._thread
        if reading is None:
            return
        self._before_answer = f"{self._answer}\n\n" if self._answer else ""
        self._before_answer += f"{question.text}\n"
        self._answer = self._before_answer
        self._show_details()
        self._show_newest_answer()
        self._show_step("Looking for an answer …")
        try:
            await self._announce_services()
            stream = self._room.service_thread.stream(
                lambda w: ask_about_book(
                    w, reading, question.text, question.passage, thread
                ),
                keeps="the answer",
            )
            async with aclosing(stream) as events:
                async for event in events:
                    self._show_event(event)
        except Exception as error:  # noqa: BLE001 - a traceback tells a reader nothing
            self._show_error(error)

    def _show_step(self, step: str) -> None:
        """Show what is done for the answer, and how many questions wait for it."""
        self._step = step
        waiting = format_count(len(self._questions), "question")
        self._show_status(f"{step}  {waiting} waiting." if self._questions else step)

    def _show_newest_answer(self) -> None:
        """Bring the beginning of the newest answer into view, below earlier ones."""
        question = self._before_answer.rstrip("\n").rpartition("\n")[2]
        earlier = self._before_answer.removesuffix(f"{question}\n")
        self.call_after_refresh(self._scroll_details_to, earlier)

    async def _announce_services(self) -> None:
        """Before the first question, ask for missing consents and name what is used."""
        if self._has_asked_consent:
            return
        self._has_asked_consent = True
        await ask_consents(self._room, by_address=False)
        for notice in await self._room.service_thread.run(list_first_uses):
            self.notify(sanitize_text(notice), timeout=20, markup=False)

    def _show_event(self, event: TurnEvent) -> None:
        match event:
            case TurnStageStarted():
                self._show_step(f"{event.text} …")
            case AnswerToken():
                self._answer += strip_links(event.text)
                self._show_details()
                self._show_step("Answering …")
            case TurnDone():
                self._thread = event.thread
                places = map(_locate, event.turn.output.citations)
                self._cited = list(dict.fromkeys(places))
                # Not what was streamed: its citation numbers may have been corrected.
                text = strip_links(event.turn.output.response_text)
                end = self._describe_end(event.turn)
                self._answer = f"{self._before_answer}{text}{end}"
                self._show_details()
                self._show_newest_answer()
                if self._reading is not None:
                    self._show_status(self._describe_place(self._reading))
            case _:
                pass

    def _describe_end(self, turn: Turn) -> str:
        """Return the citations with the paragraphs of their words, and the remarks."""
        outline = self._record.outline
        lines = []
        for citation in turn.output.citations:
            span = _locate(citation)
            start = span.start - citation.span.start
            words = strip_links(citation.text[start : start + len(span)])
            lines.append(
                f"[{citation.number}] paragraph"
                f" {outline.find_paragraph(span.start) + 1:,} “{shorten_excerpt(words)}”"
            )
        lines += [note.text for note in describe_answer_notes(turn)]
        return "\n" + "\n".join(lines)


def _locate(citation: Citation) -> Span:
    """Return where the words on which an answer rests are in the book."""
    best, start = citation.best, citation.span.start
    return Span(start + best.start, start + best.end) if best else citation.span


class BookScreen(BookConversation):
    """The reading screen with its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in BOOK_ACTIONS),
        Binding("f1", "help", "Help", show=False, id="room.help"),
    ]

    def __init__(
        self, room: RoomApp, record: BookRecord, *, reads_on: bool = False
    ) -> None:
        super().__init__(room, record, reads_on=reads_on)
        self._purpose = ""

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
            self._show_status(self._describe_place(reading))

    def action_step(self, by: int) -> None:
        """Select the next paragraph if `by` is positive, else the one before."""
        reading = self._reading
        if reading is None:
            return
        if reading.choose_paragraph(reading.paragraph + by):
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
        note = await self.app.push_screen_wait(
            TextInputScreen(question, value=self._reading.find_note())
        )
        if note is not None:
            await self._annotate(HighlightColor.YELLOW, note)

    async def _annotate(self, color: HighlightColor, note: str) -> None:
        if self._reading is not None:
            self._reading.annotate(color, note, time.time())
            self._reading.mark_read(self._reading.paragraph + 1)
            await self._save(annotations=True)
            self._show("Noted." if note else "")

    async def action_delete(self) -> None:
        """Delete the annotation on the selection."""
        if self._reading is None:
            return
        if self._reading.delete_annotation():
            await self._save(annotations=True)
            key = self._list_keys().get("undo", "")
            self._show(f"Deleted. {key} restores it." if key else "Deleted.")
        else:
            self._show_status("There is no highlight or note here.")

    async def action_undo(self) -> None:
        """Restore the annotation that was deleted last on this screen."""
        if self._reading is not None and self._reading.restore_annotation():
            await self._save(annotations=True)
            self._show("Restored.")
        else:
            self._show_status("Nothing was deleted here.")

    def action_scroll_answer(self, by: int) -> None:
        """Scroll what is shown below the text: down if `by` is positive, else up."""
        details = self.query_one("#book-details")
        if by > 0:
            details.scroll_page_down(animate=False)
        else:
            details.scroll_page_up(animate=False)

    def action_find(self) -> None:
        """Ask for the words to find."""
        self._open_input("find", "Find in what you have read…")

    def action_ask(self) -> None:
        """Ask for a question, about the selection if there is one."""
        is_chosen = self._reading is not None and self._reading.is_chosen
        topic = "the selection" if is_chosen else "what you have read"
        self._open_input("ask", f"Ask about {topic}…")

    def action_citation(self, by: int) -> None:
        """Go to the next citation of the newest answer if `by` is positive; after the
        last one, or else, back to where the reader was. The position stays.
        """
        reading = self._reading
        if reading is None or not self._cited:
            self._show_status("No answer is shown that cites the book.")
            return
        place, number = self._place_before, 0
        if place is None:
            place = self._place_before = (reading.selected, reading.is_chosen)
        elif reading.selected in self._cited:
            number = self._cited.index(reading.selected) + 1
        if by > 0 and number < len(self._cited):
            reading.select_at(self._cited[number])
        else:
            reading.select_at(place[0])
            reading.is_chosen, self._place_before = place[1], None
        self._show()

    def _open_input(self, purpose: str, placeholder: str) -> None:
        line = self.query_one("#book-input", Input)
        self._purpose = purpose
        line.value, line.placeholder, line.display = "", placeholder, True
        line.focus()

    @on(Input.Blurred, "#book-input")
    def _left_input(self) -> None:
        self.query_one("#book-input").display = False

    @on(Input.Submitted, "#book-input")
    async def _submitted(self, event: Input.Submitted) -> None:
        words, is_question = event.value.strip(), self._purpose == "ask"
        self._show_text()
        reading = self._reading
        if not words or reading is None:
            return
        if is_question:
            if reading.is_chosen and reading.mark_read(reading.paragraph + 1):
                await self._save(annotations=False)
            passage = reading.selected_text if reading.is_chosen else ""
            self.ask(PassageQuestion(words, passage))
        else:
            reading.pattern = compile_words_pattern(words)
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
            number, count = reading.count_matches()
            label = f"match {number:,} of {count:,}"
            self._show(self._describe_place(reading, label))

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

    def action_help(self) -> None:
        """Show the keys of this screen; those of others when the filter is cleared."""
        self.app.push_screen(HelpScreen(self._room.keymap, HELP_FILTER))

    def action_close(self) -> None:
        """Close the input, the contents, the answer, the note or the search if there is
        one, else the book.
        """
        reading = self._reading
        if self.focused is not self.query_one(TextPane):
            self._show_text()
        elif self._answer:
            self.cancel_questions()
            self._show()
        elif self._close_details():
            return
        elif reading is not None and reading.pattern is not None:
            reading.pattern = None
            self._show()
        else:
            self._room.exit()


class BookApp(WritingRoom, inherit_bindings=False):
    """Shows the book `record` at its position, or with `reads_on` at the page after it;
    `service_thread` has the workspace of its library.

    Themes and keys are those of the chat.
    """

    BINDINGS = WritingRoom.BINDINGS

    def __init__(
        self,
        service_thread: "ServiceThread[Workspace]",
        settings: Settings,
        record: BookRecord,
        report_crash: CrashReporter,
        *,
        reads_on: bool = False,
    ) -> None:
        super().__init__(service_thread, settings, ChatOptions(), report_crash)
        self._record, self._reads_on = record, reads_on

    def get_default_screen(self) -> Screen[None]:
        """Return the book's reading screen."""
        return BookScreen(self, self._record, reads_on=self._reads_on)
