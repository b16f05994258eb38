"""Widgets and functions that show an answer while it is streamed."""

import re
from collections.abc import Sequence

from textual.content import Content
from textual.content import Span as ContentSpan
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from lrwr.app.presenters.answers import UNFINISHED_LINK, strip_links
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.text import Span

CITATION_MARK = re.compile(r"\[(w?\d{1,3})\]")
"""A citation mark in an answer: the number of a passage or of a web page."""

_PROSE_MARKUP = re.compile(
    r"\[\[(?:[^\[\]|]*\|)?(?P<label>[^\[\]|]+)\]\]"
    r"|(?P<strong>\*\*|__)(?=\S)(?P<bold>.+?)(?<=\S)(?P=strong)"
    r"|(?<![\w*])(?P<em>[*_])(?=[^\s*_])(?P<italic>[^*_]+?)(?<=\S)(?P=em)(?![\w*])"
    r"|^(?P<hashes>#{1,6}) (?P<heading>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)
"""Wiki links, emphasis and headings of Markdown, as far as passages show them."""

FRAME_SECONDS = 1 / 15
"""Seconds between two updates while words are streamed."""

LONG_PARAGRAPH = 3_000
"""Characters from which a paragraph is updated less often.

An update wraps and draws the whole paragraph again, so it costs in proportion."""

UNSUPPORTED = "underline $warning"
"""Style of a span that no passage supports."""


class CitationClicked(Message):
    """Posted when a citation such as [1] or [w1] is clicked.

    `number` is the citation without brackets: "1" or "w1".
    """

    def __init__(self, number: str) -> None:
        super().__init__()
        self.number = number


class LinkBuffer:
    """Removes wiki links, such as `[[Nell]]`, from text that is streamed in pieces.

    A link can be split between pieces, so text that may begin one is held back.
    """

    def __init__(self) -> None:
        self._text = ""

    def feed(self, text: str) -> str:
        """Add a piece of streamed text; return the text that can be shown now.

        Links are replaced by their text; the result may be empty.
        """
        text = strip_links(self._text + sanitize_text(text))
        match = UNFINISHED_LINK.search(text)
        shown = text[: match.start()] if match else text
        self._text = text[len(shown) :]
        return shown

    def flush(self) -> str:
        """Return the text that is still held back; call it at the end of the stream."""
        rest, self._text = self._text, ""
        return rest


class VerbatimReply(Static):
    """An answer that quotes the text: no markup, but citations can be clicked.

    `unsupported` are spans of `text`, statements without support, to be highlighted.
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
        """Append streamed `text`; it is drawn within `compute_frame_seconds`."""
        self._text += self._buffer.feed(text)
        if self._timer is None:
            seconds = compute_frame_seconds(len(self._text))
            self._timer = self.set_timer(seconds, self._draw)

    async def finish(self) -> None:
        """Draw all remaining text at the end of the answer."""
        self._text += self._buffer.flush()
        self._draw()

    def settle(self, text: str, unsupported: Sequence[Span]) -> None:
        """Show the stored answer `text`, with the spans `unsupported` highlighted."""
        self._text, spans = _sanitize_with_spans(text, unsupported)
        self.update(render_citation_marks(self._text, spans))

    def action_jump(self, number: str) -> None:
        """Ask the chat screen to select the source with the number `number`."""
        self.post_message(CitationClicked(number))

    def _draw(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.update(render_citation_marks(self._text))


def compute_frame_seconds(characters: int) -> float:
    """Return the seconds until streamed words are drawn in a paragraph so long."""
    return FRAME_SECONDS * max(1.0, characters / LONG_PARAGRAPH)


def render_prose(text: str, style: str = "") -> Content:
    """Return a passage of the manuscript with wiki links and Markdown rendered.

    Links are shown by their labels; `style` applies to all of it.
    """
    content, at = Content(""), 0
    for match in _PROSE_MARKUP.finditer(text):
        content += Content(text[at : match.start()])
        at = match.end()
        if label := match["label"]:
            content += Content.styled(label, "underline")
        elif bold := match["bold"]:
            content += render_prose(bold, "bold")
        elif italic := match["italic"]:
            content += render_prose(italic, "italic")
        else:
            content += render_prose(match["heading"], "bold")
    content += Content(text[at:])
    return content.stylize_before(style) if style else content


def render_citation_marks(text: str, unsupported: Sequence[Span] = ()) -> Content:
    """Return `text` with clickable citations, and with highlighted spans.

    `unsupported` are the spans, in characters of `text`.
    """
    marked = [ContentSpan(span.start, span.end, UNSUPPORTED) for span in unsupported]
    return Content(text, spans=[*marked, *find_citation_marks(text)])


def find_citation_marks(text: str) -> list[ContentSpan]:
    """Return a clickable span for each citation, such as [1] or [w1], in text order."""
    spans = []
    for match in CITATION_MARK.finditer(text):
        click = Style.from_meta({"@click": f"jump('{match[1]}')"})
        spans.append(ContentSpan(*match.span(), click))
    return spans


def _sanitize_with_spans(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return the sanitized text, and `spans` shifted to match it."""
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
