"""What somebody answers, as it comes."""

import re
from collections.abc import Sequence
from typing import Protocol

from textual.content import Content
from textual.content import Span as Stretch
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from lrwr.app.presenters.answers import strip_links
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.text import Span
from lrwr.tui.widgets.link_buffer import LinkBuffer

MARK = re.compile(r"\[(w?\d{1,3})\]")
"""The number of a passage or of a page, as an answer has it."""

FRAME = 0.05
"""Seconds for which words are gathered before they are drawn."""

UNSUPPORTED = "underline $warning"
"""How a stretch looks that no passage bears out."""


class MarkChosen(Message):
    """The writer has clicked the number of a passage."""

    def __init__(self, number: str) -> None:
        super().__init__()
        self.number = number


class ReplyWidget(Protocol):
    """Shows words piece by piece."""

    async def write(self, text: str) -> None:
        """Show some more, soon."""
        ...

    async def finish(self) -> None:
        """Show what was held back: nothing more comes."""
        ...


class VerbatimReply(Static):
    """The text's own words, verbatim: nothing in them is markup.

    The numbers of passages can be clicked.
    """

    def __init__(self, text: str = "", unsupported: Sequence[Span] = ()) -> None:
        shown, spans = _shown(text, unsupported)
        super().__init__(
            render_citation_marks(shown, spans), markup=False, classes="reply quoted"
        )
        self._text = shown
        self._held = LinkBuffer()
        self._timer: Timer | None = None

    async def write(self, text: str) -> None:
        """Show some more, soon."""
        self._text += self._held.take(text)
        if self._timer is None:
            self._timer = self.set_timer(FRAME, self._draw)

    async def finish(self) -> None:
        """Show what was held back."""
        self._text += self._held.rest()
        self._draw()

    def settle(self, text: str, unsupported: Sequence[Span]) -> None:
        """Show the answer as it is kept, with the stretches that nothing bears out."""
        self._text, spans = _shown(text, unsupported)
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
    """Return a text whose numbers of passages stand out and can be clicked."""
    doubted = [Stretch(one.start, one.end, UNSUPPORTED) for one in unsupported]
    return Content(text, spans=[*doubted, *find_citation_marks(text)])


def find_citation_marks(text: str) -> list[Stretch]:
    """Return where numbers of passages stand, each of which can be clicked."""
    stretches = []
    for found in MARK.finditer(text):
        click = Style.from_meta({"@click": f"jump('{found[1]}')"})
        stretches.append(Stretch(*found.span(), click))
    return stretches


def _shown(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return a text as it is shown, and where its stretches are in that."""
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
