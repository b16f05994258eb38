"""A language model's words. Loaded where there are any: Markdown takes its time."""

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownParagraph

from lrwr.tui.widgets.held import Held
from lrwr.tui.widgets.reply import FRAME, MarkChosen, marks_in
from lrwr.wording.answers import without_links
from lrwr.wording.cleaning import clean


class _Paragraph(MarkdownParagraph):
    """A paragraph in which the numbers of passages can be clicked."""

    def set_content(self, content: Content) -> None:
        """Show words."""
        super().set_content(content.add_spans(marks_in(content.plain)))

    def action_jump(self, number: str) -> None:
        """Show the passage of that number."""
        self.post_message(MarkChosen(number))


class Worded(Markdown):
    """A language model's words, as Markdown; a link in it leads nowhere."""

    def __init__(self, text: str = "") -> None:
        super().__init__(clean(without_links(text)), open_links=False)
        self.add_class("reply")
        self._held = Held()
        self._pending = ""
        self._timer: Timer | None = None

    async def write(self, text: str) -> None:
        """Show some more, soon."""
        self._pending += self._held.take(text)
        if self._timer is None:
            self._timer = self.set_timer(FRAME, self._flush)

    async def finish(self) -> None:
        """Show what was held back."""
        self._pending += self._held.rest()
        await self._flush()

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        """Return what shows a block of that name."""
        found = super().get_block_class(block_name)
        return _Paragraph if found is MarkdownParagraph else found

    async def _flush(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        text, self._pending = self._pending, ""
        if text:
            await self.append(text)
