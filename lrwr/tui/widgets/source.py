"""Views of one source: a passage or a web page."""

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.widgets import Static

from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.turns import Citation, WebCitation

if TYPE_CHECKING:
    from lrwr.tui.queries.context import CitationContext

LABEL, QUIET, CHANGED = "bold $accent", "$foreground 60%", "$warning"

LONGEST = 4_000
"""Characters of a passage that are shown; the editor shows the rest."""


class SourceView(Static):
    """One passage: its place and its words, and around them, if chosen, the text."""

    ALLOW_SELECT = True

    def __init__(self, citation: Citation) -> None:
        super().__init__(markup=False, classes="source")
        self.citation = citation
        self.context: CitationContext | None = None
        self._chosen = False
        self._draw()

    @property
    def number(self) -> str:
        """The number in brackets in the answer."""
        return str(self.citation.number)

    @property
    def place(self) -> str:
        """Where the passage stands, as far as that is known."""
        if self.context is not None:
            return self.context.place
        return sanitize_text(format_place(self.citation.document, self.citation.lines))

    @property
    def words(self) -> str:
        """The words that stand there, as far as that is known."""
        return self.context.words if self.context else sanitize_text(self.citation.text)

    def fill(self, context: "CitationContext") -> None:
        """Show what became of the passage, and what surrounds it."""
        self.context = context
        self._draw()

    def choose(self, *, chosen: bool) -> None:
        """Show it as the one that the writer has chosen, or no more."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.set_class(chosen, "chosen")
            self._draw()

    def on_click(self, event: events.Click) -> None:
        """Take a second click for what the pane does, not for choosing all words."""
        if event.chain == 2:
            event.prevent_default()

    def _draw(self) -> None:
        context = self.context
        parts: list[tuple[str, str]] = [
            (f"[{self.number}] ", LABEL),
            (self.place, "bold"),
        ]
        if context and context.chapter:
            parts.append((f"\n{context.chapter}", f"italic {QUIET}"))
        if context and context.became:
            parts.append((f"\n{context.became}", CHANGED if context.stale else QUIET))
        parts.append(("\n", ""))
        around = context if self._chosen else None
        if around and around.before.strip():
            parts.append((around.before, QUIET))
        words = self.words
        cut = words if len(words) <= LONGEST else f"{words[:LONGEST]} …"
        parts.append((cut, ""))
        if around and around.after.strip():
            parts.append((around.after, QUIET))
        self.update(Content.assemble(*parts))


class PageView(Static):
    """A page of the web: no part of the book, and never opened by itself."""

    def __init__(self, page: WebCitation) -> None:
        super().__init__(markup=False, classes="source web")
        self.page = page
        self._chosen = False
        self._draw()

    @property
    def number(self) -> str:
        """What stands in brackets in the answer."""
        return f"w{self.page.number}"

    @property
    def place(self) -> str:
        """The page's address."""
        return sanitize_text(self.page.url)

    @property
    def words(self) -> str:
        """What the page says."""
        return sanitize_text(self.page.text)

    def choose(self, *, chosen: bool) -> None:
        """Show it as the one that the writer has chosen, or no more."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.set_class(chosen, "chosen")
            self._draw()

    def _draw(self) -> None:
        words = self.words if self._chosen else " ".join(self.words.split())[:200]
        self.update(
            Content.assemble(
                (f"[{self.number}] ", LABEL),
                (" ".join(sanitize_text(self.page.title).split()), "bold"),
                (f"\n{self.place}", QUIET),
                (f"\n{words[:LONGEST]}" if words else "", ""),
            )
        )
