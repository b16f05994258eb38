"""The entries of the sources pane: cited passages of one paragraph, and web pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import sanitize_text
from lrwr.core.model.text import LineRange
from lrwr.core.model.turns import Citation, WebCitation
from lrwr.tui.widgets.reply import render_prose

if TYPE_CHECKING:
    from lrwr.tui.queries.passages import CitationContext

LABEL, MUTED, CHANGED = "bold $accent", "$foreground 60%", "$warning"
MAX_SHOWN_CHARS = 4_000
"""Maximum number of characters shown of a passage."""


def shorten_place(place: str, width: int) -> str:
    """Return a location that fits `width` columns, as far as possible.

    Folders are left out first, then the middle of the file name. A width of 0 or less
    is unknown, and nothing is shortened.
    """
    if width <= 0 or cell_len(place) <= width:
        return place
    bare = f"…/{place.rpartition('/')[2]}" if "/" in place else place
    excess = cell_len(bare) - width
    if excess <= 0:
        return bare
    name, colon, lines = bare.partition(":")
    middle = len(name) // 2
    start = max(0, middle - excess // 2 - 1)
    return f"{name[:start]}…{name[start + excess + 1 :]}{colon}{lines}"


class SourceView(Static):
    """Cited passages of one paragraph with their location.

    If selected, it shows the text around them, too. `citation` is the one that was
    selected last, at first the first one.
    """

    ALLOW_SELECT = True

    def __init__(self, citation: Citation) -> None:
        super().__init__(markup=False, classes="source")
        self.citation = citation
        self.citations: tuple[Citation, ...] = (citation,)
        self._contexts: dict[int, CitationContext] = {}
        self._chosen = False
        self._width = 0
        self._draw()

    @property
    def number(self) -> str:
        """The number of the selected citation as text, without brackets."""
        return str(self.citation.number)

    @property
    def context(self) -> "CitationContext | None":
        """The selected citation in the current text; None before `fill`."""
        return self._contexts.get(self.citation.number)

    @property
    def place(self) -> str:
        """The location as text; the current one after `fill`."""
        if len(self.citations) == 1 and self.context is not None:
            return self.context.place
        shown = [context or citation for context, citation in self._pairs()]
        first = min(passage.lines.first for passage in shown)
        last = max(passage.lines.last for passage in shown)
        return sanitize_text(format_place(shown[0].document, LineRange(first, last)))

    @property
    def words(self) -> str:
        """The text of all citations in text order; the current one after `fill`."""
        return "".join(text for text, _ in self._pieces())

    def has(self, number: str) -> bool:
        """Return whether one of the citations has `number`."""
        return any(str(citation.number) == number for citation in self.citations)

    def accepts(self, citation: Citation) -> bool:
        """Return whether `citation` is in the same paragraph as one shown here."""
        return any(_share_paragraph(citation, shown) for shown in self.citations)

    def add(self, citation: Citation) -> None:
        """Show a further citation of the same paragraph."""
        self.citations = (*self.citations, citation)
        self._draw()

    def select(self, number: str) -> None:
        """Make the citation with `number` the selected one; ignore other numbers."""
        for citation in self.citations:
            if str(citation.number) == number:
                self.citation = citation

    def fill(self, context: "CitationContext") -> None:
        """Show location, text and surroundings of one citation from `context`."""
        self._contexts[context.number] = context
        self._draw()

    def choose(self, *, chosen: bool) -> None:
        """Show the passage as selected, or not."""
        if chosen != self._chosen:
            self._chosen = chosen
            self.set_class(chosen, "chosen")
            self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Shorten the location to the new width."""
        del event
        if self._width != self.content_size.width:
            self._width = self.content_size.width
            self._draw()

    def on_click(self, event: events.Click) -> None:
        """Stop a double click from selecting all text; it opens the passage instead."""
        if event.chain == 2:
            event.prevent_default()

    def _pairs(self) -> "list[tuple[CitationContext | None, Citation]]":
        """Return each citation with its context, in text order; longer ones first."""
        ordered = sorted(self.citations, key=lambda c: (c.span.start, -c.span.end))
        return [(self._contexts.get(c.number), c) for c in ordered]

    def _pieces(self) -> list[tuple[str, bool]]:
        """Return the text in pieces, and whether each is to be marked."""
        pieces: list[tuple[str, bool]] = []
        last: Citation | None = None
        for context, citation in self._pairs():
            words = context.words if context else sanitize_text(citation.text)
            if last is not None and last.span.holds(citation.span):
                pieces = _mark(pieces, words)
                continue
            if last is not None:
                pieces.append((_gap_between(last, citation), False))
            best = citation.best
            marked = citation.text[best.start : best.end] if best else ""
            is_marked = not marked and len(self.citations) > 1
            pieces += _mark([(words, is_marked)], sanitize_text(marked))
            last = citation
        return pieces

    def _draw(self) -> None:
        context, pairs = self.context, self._pairs()
        label = "".join(f"[{citation.number}]" for citation in self.citations) + " "
        parts: list[Content | tuple[str, str]] = [
            (label, LABEL),
            (shorten_place(self.place, self._width - len(label)), "bold"),
        ]
        if context and context.chapter:
            parts.append((f"\n{context.chapter}", f"italic {MUTED}"))
        if context and context.change:
            parts.append((f"\n{context.change}", CHANGED if context.stale else MUTED))
        parts.append(("\n", ""))
        first, last = pairs[0][0], pairs[-1][0]
        if self._chosen and first and first.before.strip():
            parts.append(render_prose(first.before, MUTED))
        parts += [
            render_prose(text, "bold" if is_marked else "")
            for text, is_marked in _cut(self._pieces(), MAX_SHOWN_CHARS)
        ]
        if self._chosen and last and last.after.strip():
            parts.append(render_prose(last.after, MUTED))
        self.update(Content.assemble(*parts))


def _share_paragraph(first: Citation, second: Citation) -> bool:
    """Return whether two citations are in one paragraph, as their lines tell.

    In Markdown a paragraph may have several lines, without an empty one between.
    """
    if first.document != second.document:
        return False
    reach = 1 if first.document.endswith(".md") else 0
    before, after = sorted((first.lines, second.lines), key=lambda r: r.first)
    return after.first <= before.last + reach


def _gap_between(first: Citation, second: Citation) -> str:
    """Return what separates two citations: a space, or a sign for words left out."""
    return " " if second.span.start - first.span.end <= 1 else " … "


def _mark(pieces: list[tuple[str, bool]], words: str) -> list[tuple[str, bool]]:
    """Return `pieces` with the first occurrence of `words` marked."""
    for number, (text, _) in enumerate(pieces):
        before, found_words, after = text.partition(words) if words else (text, "", "")
        if found_words:
            split = [(before, False), (found_words, True), (after, False)]
            return [*pieces[:number], *split, *pieces[number + 1 :]]
    return pieces


def _cut(pieces: list[tuple[str, bool]], limit: int) -> list[tuple[str, bool]]:
    """Return the first `limit` characters of all pieces; an ellipsis marks a cut."""
    shown: list[tuple[str, bool]] = []
    for text, is_marked in pieces:
        if len(text) > limit:
            return [*shown, (f"{text[:limit]} …", is_marked)]
        limit -= len(text)
        shown.append((text, is_marked))
    return shown


class PageView(Static):
    """One cited web page; lrwr shows its address but never opens it."""

    def __init__(self, page: WebCitation) -> None:
        super().__init__(markup=False, classes="source web")
        self.page = page
        self._chosen = False
        self._draw()

    @property
    def number(self) -> str:
        """The page's citation number as text, such as "w1"."""
        return f"w{self.page.number}"

    @property
    def place(self) -> str:
        """The page's address."""
        return sanitize_text(self.page.url)

    @property
    def words(self) -> str:
        """The page's text."""
        return sanitize_text(self.page.text)

    def has(self, number: str) -> bool:
        """Return whether the page has the citation number `number`, such as "w1"."""
        return number == self.number

    def choose(self, *, chosen: bool) -> None:
        """Show the page as selected or not; if selected, with its full text."""
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
                (f"\n{self.place}", MUTED),
                (f"\n{words[:MAX_SHOWN_CHARS]}" if words else "", ""),
            )
        )


SourceItem = SourceView | PageView


def group_citations(citations: Sequence[Citation]) -> list[SourceView]:
    """Return a widget for each paragraph that is cited, in the order of `citations`."""
    views: list[SourceView] = []
    for citation in citations:
        same = next((view for view in views if view.accepts(citation)), None)
        if same is None:
            views.append(SourceView(citation))
        else:
            same.add(citation)
    return views
