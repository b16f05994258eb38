"""Shows a language model's answer as Markdown.

Imported only when a model answers, because Textual's Markdown is slow to import.
"""

from collections.abc import Iterator
from functools import cache
from typing import cast

from textual.app import ComposeResult
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Markdown
from textual.widgets._markdown import (
    MarkdownBlock,
    MarkdownHeader,
    MarkdownParagraph,
    MarkdownTable,
    MarkdownTableCellContents,
    MarkdownTableContent,
    MarkdownTD,
    MarkdownTH,
)

from lrwr.app.presenters.answers import strip_links
from lrwr.app.presenters.text import sanitize_text
from lrwr.tui.widgets.reply import (
    CitationClicked,
    LinkBuffer,
    compute_frame_seconds,
    find_citation_marks,
)

_TEXT_BLOCKS = (MarkdownHeader, MarkdownParagraph, MarkdownTD, MarkdownTH)
"""Markdown blocks that contain text; all others contain blocks."""


@cache
def _with_citations(block: type[MarkdownBlock]) -> type[MarkdownBlock]:
    """Return a subclass of `block` whose citation marks can be clicked."""
    methods = {
        "set_content": _set_content_with_citations,
        "action_jump": _post_citation_clicked,
    }
    return cast("type[MarkdownBlock]", type(block.__name__, (block,), methods))


def _set_content_with_citations(block: MarkdownBlock, content: Content) -> None:
    marks = find_citation_marks(content.plain)
    MarkdownBlock.set_content(block, content.add_spans(marks))


def _post_citation_clicked(block: MarkdownBlock, number: str) -> None:
    block.post_message(CitationClicked(number))


class _Cell(MarkdownTableCellContents):
    """A table cell whose citation marks can be clicked."""

    def action_jump(self, number: str) -> None:
        """Show the passage of that number."""
        self.post_message(CitationClicked(number))


class _Cells(MarkdownTableContent):
    """Table cells; rows streamed later look like the first ones."""

    def compose(self) -> ComposeResult:
        """Lay out the headings, and row under row."""
        yield from (_cell(header, "header") for header in self.headers)
        yield from self._build_cells(self.rows, 1)

    async def _update_rows(self, updated_rows: list[list[Content]]) -> None:
        """Replace the last row, which may have been incomplete, and append the others."""
        await self.query_children(f".cell.row{self.last_row}").remove()
        await self.mount_all([*self._build_cells(updated_rows, self.last_row)])

    def _build_cells(self, rows: list[list[Content]], first: int) -> Iterator[_Cell]:
        for number, row in enumerate(rows, first):
            self.last_row = number
            yield from (_cell(content, f"row{number} cell") for content in row)


class _Table(MarkdownTable):
    """A table whose citation marks can be clicked."""

    def compose(self) -> ComposeResult:
        """Lay out the cells."""
        self._headers, self._rows = self._get_headers_and_rows()
        yield _Cells(self._headers, self._rows)


def _cell(content: Content, classes: str) -> _Cell:
    cell = _Cell(content, classes=classes)
    cell.tooltip = content
    return cell


class MarkdownReply(Markdown):
    """Shows a language model's answer as Markdown, without links, as it is streamed."""

    def __init__(self, text: str = "") -> None:
        super().__init__(sanitize_text(strip_links(text)), open_links=False)
        self.add_class("reply")
        self._buffer = LinkBuffer()
        self._pending = ""
        self._paragraph = 0  # characters of the last paragraph
        self._timer: Timer | None = None

    async def write(self, text: str) -> None:
        """Append streamed `text`; it is drawn within `compute_frame_seconds`."""
        self._pending += self._buffer.feed(text)
        if self._timer is None:
            seconds = compute_frame_seconds(self._paragraph)
            self._timer = self.set_timer(seconds, self._flush)

    async def finish(self) -> None:
        """Draw all remaining text at the end of the answer."""
        self._pending += self._buffer.flush()
        await self._flush()

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        """Return the widget class for a kind of Markdown block; called by Textual."""
        block_class = super().get_block_class(block_name)
        if issubclass(block_class, _TEXT_BLOCKS):
            return _with_citations(block_class)
        return _Table if block_class is MarkdownTable else block_class

    async def _flush(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        text, self._pending = self._pending, ""
        if text:
            _, gap, last = text.rpartition("\n\n")
            self._paragraph = len(last) + (0 if gap else self._paragraph)
            await self.append(text)
