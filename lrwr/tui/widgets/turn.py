"""One question, and what is answered to it."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from lrwr.app.presenters.answers import describe_answer_notes
from lrwr.app.presenters.text import sanitize_text
from lrwr.app.presenters.threads import ANALYST, describe_speaker
from lrwr.core.model.turns import AnswerSpeaker, Citation, Turn, WebCitation
from lrwr.tui.widgets.reply import MarkChosen, VerbatimReply

if TYPE_CHECKING:
    from lrwr.tui.widgets.markdown import MarkdownReply

SUPERVISOR = "lrwr"
"""Whose words those of no avatar are."""

BAD = ("no passage", "stopped", "the evidence is weak")
"""How notes begin that the writer should not overlook."""


class TurnView(Vertical):
    """Shows a turn, that is over or under way."""

    class Chosen(Message):
        """The writer wants to see what this turn rests on, and of that `number`."""

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
        """The passages that the answer rests on; under way, those that were found."""
        return self.turn.output.citations if self.turn else tuple(self._citations)

    @property
    def pages(self) -> tuple[WebCitation, ...]:
        """The pages that the answer mentions; under way, those that were found."""
        return self.turn.output.web if self.turn else tuple(self._pages)

    def compose(self) -> ComposeResult:
        """Lay out the question, and the answer if there is one."""
        yield Static(sanitize_text(self.question), markup=False, classes="question")
        if self.turn is None:
            return
        said = self.turn.output
        yield _speaker(describe_speaker(said.narrative_state_delta))
        if said.model:
            yield _worded(said.response_text)
        else:
            yield VerbatimReply(said.response_text, said.unsupported)
        yield from self._notes(self.turn)

    def found(self, citation: Citation) -> None:
        """Take note of a passage that the answer may rest on."""
        self._citations.append(citation)

    def found_page(self, page: WebCitation) -> None:
        """Take note of a page that the answer may mention."""
        self._pages.append(page)

    def step(self, text: str) -> None:
        """Say what is being done; the lines stay until there are words to read."""
        if self.over:
            return
        for before in self.query(".step.running"):
            before.remove_class("running")
        line = f"{' '.join(sanitize_text(text).split())} …"
        self.mount(Static(line, markup=False, classes="step running"))

    async def write(
        self, text: str, speaker: AnswerSpeaker, *, called: str, model: str
    ) -> None:
        """Show some more of what `speaker` says; the avatar is `called` so."""
        if self.over:
            return
        name = SUPERVISOR if speaker is AnswerSpeaker.SUPERVISOR else called or ANALYST
        if self._reply is None or name != self._speaker:
            await self._finish_reply()
            self._reply = _worded() if model else VerbatimReply()
            self._speaker = name
            await self.mount(_speaker(name), self._reply)
        if text.strip() and self.query(".step"):
            await self.query(".step").remove()
        await self._reply.write(text)

    async def finish(self, turn: Turn) -> None:
        """Show what there is to say of the answer, now that it is over."""
        self.turn = turn
        await self._end()
        said = turn.output
        if isinstance(self._reply, VerbatimReply) and said.unsupported:
            self._reply.settle(said.response_text, said.unsupported)
        await self.mount_all(self._notes(turn))

    async def fail(self, message: str, hint: str) -> None:
        """Say that the turn failed, and what to try."""
        await self._end()
        told = [Static(sanitize_text(message), markup=False, classes="note bad")]
        if hint:
            told.append(Static(sanitize_text(hint), markup=False, classes="note"))
        await self.mount_all(told)

    async def stop(self) -> None:
        """Mark the answer as stopped, before it is kept."""
        await self._end()
        await self.mount(_note("stopped"))

    def on_click(self) -> None:
        """Show what this turn rests on."""
        self.post_message(self.Chosen(self))

    def on_mark_chosen(self, event: MarkChosen) -> None:
        """Show one passage that this turn rests on."""
        event.stop()
        self.post_message(self.Chosen(self, event.number))

    async def _end(self) -> None:
        self.over = True
        await self._finish_reply()
        await self.query(".step, .stopped").remove()

    async def _finish_reply(self) -> None:
        if self._reply is not None:
            await self._reply.finish()

    def _notes(self, turn: Turn) -> ComposeResult:
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
    """Return who speaks, told apart by a word and by a colour."""
    if name == SUPERVISOR:
        return Static(name, markup=False, classes="speaker supervisor")
    if name == ANALYST:
        return Static(name, markup=False, classes="speaker analyst")
    told = f"{' '.join(sanitize_text(name).split())}, in character"
    return Static(told, markup=False, classes="speaker avatar")


def _worded(text: str = "") -> "MarkdownReply":
    from lrwr.tui.widgets.markdown import MarkdownReply

    return MarkdownReply(text)
