"""One turn of the transcript: a question and its answer."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from lrwr.app.presenters.answers import (
    AnswerNote,
    describe_answer_notes,
    strip_markup,
)
from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import sanitize_text, shorten_excerpt
from lrwr.app.presenters.threads import ANALYST, describe_speaker
from lrwr.core.model.turns import AnswerSpeaker, Citation, Turn, WebCitation
from lrwr.tui.widgets.reply import CitationClicked, VerbatimReply

if TYPE_CHECKING:
    from lrwr.tui.widgets.markdown import MarkdownReply

SUPERVISOR = "lrwr"
"""Name of the speaker of system messages."""


class TurnView(Vertical):
    """Shows one turn; `turn` is None while the answer to `question` is not finished.

    `over` is true once the turn was finished, failed or stopped; `is_stopped` is true
    if the user stopped the answer while it was shown.
    """

    class Chosen(Message):
        """Asks to show the sources of the turn `view`.

        If `number`, a citation number, is not empty, that source is to be selected.
        """

        def __init__(self, view: "TurnView", number: str = "") -> None:
            super().__init__()
            self.view = view
            self.number = number

    def __init__(self, question: str, *, turn: Turn | None = None) -> None:
        super().__init__(classes="turn")
        self.question = question
        self.turn = turn
        self.over = turn is not None
        self.is_stopped = False
        self._citations: list[Citation] = []
        self._pages: list[WebCitation] = []
        self._reply: VerbatimReply | MarkdownReply | None = None
        self._speaker = ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The cited passages; while the turn runs, the passages found so far."""
        return self.turn.output.citations if self.turn else tuple(self._citations)

    @property
    def pages(self) -> tuple[WebCitation, ...]:
        """The cited web pages; while the turn runs, the pages found so far."""
        return self.turn.output.web if self.turn else tuple(self._pages)

    def compose(self) -> ComposeResult:
        """Lay out the question and, if finished, the answer."""
        yield Static(sanitize_text(self.question), markup=False, classes="question")
        if self.turn is None:
            return
        output = self.turn.output
        yield _speaker(describe_speaker(output.narrative_state_delta))
        if output.model:
            yield _markdown_reply(output.response_text)
        else:
            yield VerbatimReply(output.response_text, output.unsupported)
        yield from self._build_notes(self.turn)

    def add_citation(self, citation: Citation) -> None:
        """Record a passage that the running answer may cite."""
        self._citations.append(citation)

    def add_page(self, page: WebCitation) -> None:
        """Record a web page that the running answer may cite."""
        self._pages.append(page)

    def show_stage(self, text: str) -> None:
        """Show that a step is being done, such as a search, below the earlier steps.

        `text` names the step. All steps disappear when the answer's text starts.
        """
        if self.over:
            return
        for before in self.query(".step.running"):
            before.remove_class("running")
        line = f"{' '.join(sanitize_text(text).split())} …"
        self.mount(Static(line, markup=False, classes="step running"))

    async def write(
        self, text: str, speaker: AnswerSpeaker, *, avatar: str, model: str
    ) -> None:
        """Append `text` of the running answer, below the name of who speaks.

        `avatar` is the name of the character that answers, empty for the analyst.
        `model` is the name of the language model, empty if the answer quotes the text.
        A finished or stopped turn ignores it.
        """
        if self.over:
            return
        name = SUPERVISOR if speaker is AnswerSpeaker.SUPERVISOR else avatar or ANALYST
        if self._reply is None or name != self._speaker:
            await self._finish_reply()
            self._reply = _markdown_reply() if model else VerbatimReply()
            self._speaker = name
            await self.mount(_speaker(name), self._reply)
        if text.strip() and self.query(".step"):
            await self.query(".step").remove()
        await self._reply.write(text)

    async def finish(self, turn: Turn) -> None:
        """Show the finished turn, with remarks below its answer."""
        self.turn = turn
        await self._end()
        output = turn.output
        if isinstance(self._reply, VerbatimReply) and output.unsupported:
            self._reply.settle(output.response_text, output.unsupported)
        await self.mount_all(self._build_notes(turn))

    async def fail(self, message: str, hint: str) -> None:
        """End the turn and show the error `message`, and its hint unless empty."""
        await self._end()
        notes = [Static(sanitize_text(message), markup=False, classes="note bad")]
        if hint:
            notes.append(Static(sanitize_text(hint), markup=False, classes="note"))
        await self.mount_all(notes)

    async def add_remark(self, text: str) -> None:
        """Show the remark `text` below the answer."""
        await self.mount(_note(AnswerNote(text)))

    async def stop(self) -> None:
        """End the turn and show that it was stopped; the saved text is shown later."""
        self.is_stopped = True
        await self._end()
        await self.mount(_note(AnswerNote("stopped", "stopped")))

    def on_click(self) -> None:
        """Ask to show this turn's sources."""
        self.post_message(self.Chosen(self))

    def on_citation_clicked(self, event: CitationClicked) -> None:
        """Ask to select the source whose citation was clicked."""
        event.stop()
        self.post_message(self.Chosen(self, event.number))

    async def _end(self) -> None:
        self.over = True
        await self._finish_reply()
        await self.query(".step, .stopped").remove()

    async def _finish_reply(self) -> None:
        if self._reply is not None:
            await self._reply.finish()

    def _build_notes(self, turn: Turn) -> ComposeResult:
        quoted = [c for c in turn.output.citations if c.best is not None]
        if quoted:
            excerpts = VerbatimReply("\n".join(map(_describe_passage, quoted)))
            excerpts.add_class("excerpts")
            yield excerpts
        for note in describe_answer_notes(turn):
            yield _note(note)


def _describe_passage(citation: Citation) -> str:
    """Return number, location and best sentence of a passage, for narrow screens."""
    best = citation.best
    words = citation.text[best.start : best.end] if best else citation.text
    place = format_place(citation.document, citation.lines)
    return f"[{citation.number}] {place}\n    {shorten_excerpt(strip_markup(words))}"


def _note(note: AnswerNote) -> Static:
    is_stopped = note.kind == "stopped"
    classes = {"info": "note", "warning": "note bad", "stopped": "note bad stopped"}
    return Static(
        f"{'■ ' if is_stopped else ''}{sanitize_text(note.text)}",
        markup=False,
        classes=classes[note.kind],
    )


def _speaker(name: str) -> Static:
    """Return the speaker's label, distinguished by words and colour."""
    if name == SUPERVISOR:
        return Static(name, markup=False, classes="speaker supervisor")
    if name == ANALYST:
        return Static(name, markup=False, classes="speaker analyst")
    label = f"{' '.join(sanitize_text(name).split())}, in character"
    return Static(label, markup=False, classes="speaker avatar")


def _markdown_reply(text: str = "") -> "MarkdownReply":
    # Textual's Markdown is slow to import, and needed only when a model answers.
    from lrwr.tui.widgets.markdown import MarkdownReply

    return MarkdownReply(text)
