"""One turn: a question and its answer."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.content import Span as Stretch
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from lrwr.app.presenters.answers import (
    UNFINISHED_LINK,
    describe_answer_notes,
    strip_links,
)
from lrwr.app.presenters.text import sanitize_text
from lrwr.app.presenters.threads import ANALYST, describe_speaker
from lrwr.core.model.text import Span
from lrwr.core.model.turns import AnswerSpeaker, Citation, Turn, WebCitation

if TYPE_CHECKING:
    from lrwr.tui.widgets.markdown import MarkdownReply

MARK = re.compile(r"\[(w?\d{1,3})\]")
"""A citation mark in an answer: the number of a passage or of a web page."""
FRAME = 0.05
"""Seconds between two updates while words are streamed."""
UNSUPPORTED = "underline $warning"
"""Style of a span that no passage supports."""


class MarkChosen(Message):
    """The number of a passage was clicked."""

    def __init__(self, number: str) -> None:
        super().__init__()
        self.number = number


class ReplyWidget(Protocol):
    """Shows streamed words."""

    async def write(self, text: str) -> None:
        """Append words; they are drawn at the next update."""
        ...

    async def finish(self) -> None:
        """Draw everything: nothing more comes."""
        ...


class LinkBuffer:
    """Holds back the start of a possible link until the rest of it is streamed."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, text: str) -> str:
        """Add streamed words, and return what can be shown."""
        text = strip_links(self._text + sanitize_text(text))
        match = UNFINISHED_LINK.search(text)
        shown = text[: match.start()] if match else text
        self._text = text[len(shown) :]
        return shown

    def flush(self) -> str:
        """Return what was held back."""
        rest, self._text = self._text, ""
        return rest


class VerbatimReply(Static):
    """The text's own words, verbatim: nothing in them is markup.

    The numbers of passages can be clicked.
    """

    def __init__(self, text: str = "", unsupported: Sequence[Span] = ()) -> None:
        shown, spans = _sanitize_with_spans(text, unsupported)
        super().__init__(
            render_citation_marks(shown, spans), markup=False, classes="reply quoted"
        )
        self._text = shown
        self._buffer = LinkBuffer()
        self._timer: Timer | None = None

    async def write(self, text: str) -> None:
        """Append words; they are drawn at the next update."""
        self._text += self._buffer.feed(text)
        if self._timer is None:
            self._timer = self.set_timer(FRAME, self._draw)

    async def finish(self) -> None:
        """Draw everything: nothing more comes."""
        self._text += self._buffer.flush()
        self._draw()

    def settle(self, text: str, unsupported: Sequence[Span]) -> None:
        """Show the stored answer, with its unsupported spans marked."""
        self._text, spans = _sanitize_with_spans(text, unsupported)
        self.update(render_citation_marks(self._text, spans))

    def action_jump(self, number: str) -> None:
        """Show the passage of that number."""
        self.post_message(MarkChosen(number))

    def _draw(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.update(render_citation_marks(self._text))


def render_citation_marks(text: str, unsupported: Sequence[Span] = ()) -> Content:
    """Return a text whose citation marks can be clicked and unsupported spans stand out."""
    marked = [Stretch(span.start, span.end, UNSUPPORTED) for span in unsupported]
    return Content(text, spans=[*marked, *find_citation_marks(text)])


def find_citation_marks(text: str) -> list[Stretch]:
    """Return a clickable span for each citation mark."""
    stretches = []
    for match in MARK.finditer(text):
        click = Style.from_meta({"@click": f"jump('{match[1]}')"})
        stretches.append(Stretch(*match.span(), click))
    return stretches


def _sanitize_with_spans(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return the sanitized text, and `spans` moved to their place in it."""
    shown, at, moved = "", 0, list[Span]()
    for span in sorted(spans):
        start, end = max(at, span.start), min(len(text), span.end)
        if start >= end:
            continue
        shown += sanitize_text(strip_links(text[at:start]))
        stretch = sanitize_text(strip_links(text[start:end]))
        moved.append(Span(len(shown), len(shown) + len(stretch)))
        shown, at = shown + stretch, end
    return shown + sanitize_text(strip_links(text[at:])), moved


SUPERVISOR = "lrwr"
"""Name of the speaker of system messages."""
BAD = ("no passage", "stopped", "the evidence is weak")
"""Beginnings of notes that are shown as warnings."""


class TurnView(Vertical):
    """Shows a turn, finished or running."""

    class Chosen(Message):
        """Asks to show the sources of this turn, and of them the one of that number."""

        def __init__(self, view: "TurnView", number: str = "") -> None:
            super().__init__()
            self.view = view
            self.number = number

    def __init__(self, question: str, *, turn: Turn | None = None) -> None:
        super().__init__(classes="turn")
        self.question = question
        self.turn = turn
        self.over = turn is not None
        self._citations: list[Citation] = []
        self._pages: list[WebCitation] = []
        self._reply: VerbatimReply | MarkdownReply | None = None
        self._speaker = ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The cited passages; while the turn runs, those that were found."""
        return self.turn.output.citations if self.turn else tuple(self._citations)

    @property
    def pages(self) -> tuple[WebCitation, ...]:
        """The cited web pages; while the turn runs, those that were found."""
        return self.turn.output.web if self.turn else tuple(self._pages)

    def compose(self) -> ComposeResult:
        """Lay out the question, and the answer if there is one."""
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
        """Remember a passage that the answer may cite."""
        self._citations.append(citation)

    def add_page(self, page: WebCitation) -> None:
        """Remember a web page that the answer may cite."""
        self._pages.append(page)

    def show_stage(self, text: str) -> None:
        """Show the running stage; stages stay until the first words of the answer."""
        if self.over:
            return
        for before in self.query(".step.running"):
            before.remove_class("running")
        line = f"{' '.join(sanitize_text(text).split())} …"
        self.mount(Static(line, markup=False, classes="step running"))

    async def write(
        self, text: str, speaker: AnswerSpeaker, *, avatar: str, model: str
    ) -> None:
        """Append words of `speaker`; `avatar` is the character's name, empty for none."""
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
        """Show the finished turn with its notes."""
        self.turn = turn
        await self._end()
        output = turn.output
        if isinstance(self._reply, VerbatimReply) and output.unsupported:
            self._reply.settle(output.response_text, output.unsupported)
        await self.mount_all(self._build_notes(turn))

    async def fail(self, message: str, hint: str) -> None:
        """Show the error that ended the turn, and its hint."""
        await self._end()
        notes = [Static(sanitize_text(message), markup=False, classes="note bad")]
        if hint:
            notes.append(Static(sanitize_text(hint), markup=False, classes="note"))
        await self.mount_all(notes)

    async def stop(self) -> None:
        """Mark the answer as stopped, before it is saved."""
        await self._end()
        await self.mount(_note("stopped"))

    def on_click(self) -> None:
        """Show the sources of this turn."""
        self.post_message(self.Chosen(self))

    def on_mark_chosen(self, event: MarkChosen) -> None:
        """Show one source of this turn."""
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
        for note in describe_answer_notes(turn):
            yield _note(note)


def _note(text: str) -> Static:
    bad = text.startswith(BAD)
    kind = f"note bad{' stopped' if text.startswith('stopped') else ''}"
    sign = "■ " if text.startswith("stopped") else ""
    return Static(
        f"{sign}{sanitize_text(text)}", markup=False, classes=kind if bad else "note"
    )


def _speaker(name: str) -> Static:
    """Return the label of a speaker, marked by a word and a colour."""
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
