"""The sources of an answer, beside the transcript: cited passages and web pages."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from lrwr.app.presenters.citations import format_place
from lrwr.app.presenters.text import format_count, sanitize_text
from lrwr.core.model.turns import Citation, Turn, TurnState, WebCitation
from lrwr.tui.actions.keys_and_commands import SOURCE_ACTIONS
from lrwr.tui.input.keymap import format_key, resolve_keys

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
    name, colon, lines = bare.rpartition(":")
    middle = len(name) // 2
    start = max(0, middle - excess // 2 - 1)
    return f"{name[:start]}…{name[start + excess + 1 :]}{colon}{lines}"


class SourceView(Static):
    """One cited passage with its location; if selected, with the text around it."""

    ALLOW_SELECT = True

    def __init__(self, citation: Citation) -> None:
        super().__init__(markup=False, classes="source")
        self.citation = citation
        self.context: CitationContext | None = None
        self._chosen = False
        self._width = 0
        self._draw()

    @property
    def number(self) -> str:
        """The citation number as text, without brackets."""
        return str(self.citation.number)

    @property
    def place(self) -> str:
        """The passage's location as text; the current one after `fill`."""
        if self.context is not None:
            return self.context.place
        return sanitize_text(format_place(self.citation.document, self.citation.lines))

    @property
    def words(self) -> str:
        """The passage's text; the current one after `fill`."""
        return self.context.words if self.context else sanitize_text(self.citation.text)

    def fill(self, context: "CitationContext") -> None:
        """Show location, text and surroundings of the passage from `context`."""
        self.context = context
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

    def _draw(self) -> None:
        context = self.context
        label = f"[{self.number}] "
        parts: list[tuple[str, str]] = [
            (label, LABEL),
            (shorten_place(self.place, self._width - len(label)), "bold"),
        ]
        if context and context.chapter:
            parts.append((f"\n{context.chapter}", f"italic {MUTED}"))
        if context and context.change:
            parts.append((f"\n{context.change}", CHANGED if context.stale else MUTED))
        parts.append(("\n", ""))
        around = context if self._chosen else None
        if around and around.before.strip():
            parts.append((around.before, MUTED))
        words = self.words
        cut = words if len(words) <= MAX_SHOWN_CHARS else f"{words[:MAX_SHOWN_CHARS]} …"
        best = self.citation.best
        marked = "" if best is None else self.citation.text[best.start : best.end]
        before, best_words, after = cut.partition(sanitize_text(marked) or cut)
        parts += [(before, ""), (best_words, "bold" if marked else ""), (after, "")]
        if around and around.after.strip():
            parts.append((around.after, MUTED))
        self.update(Content.assemble(*parts))


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


INTRODUCTION = (
    "The passages that an answer cites appear here, each with its file and line."
)
SEARCHING = "Searching for passages…"
UNCITED = "This answer cites no passage, so your text does not support it."
"""Shown for an answer of a language model without citations."""
NO_SOURCES = "No passage to show."
"""Shown for an answer that found nothing, and for an error."""
STOPPED = "Stopped before any passage was cited."
WEB_HEADING = "From the web, not from your manuscript"
KEY_HINT = "{} open · {} read · {} copy · {} back"
SourceItem = SourceView | PageView


class Sources(VerticalScroll):
    """Lists the sources of one turn, of which one is selected: passages and web pages.

    The selected passage is shown with the text around it. `keymap` maps action ids to
    configured keys, separated by commas; other actions have their default keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in SOURCE_ACTIONS),
        *(
            Binding(f"{n}", f"jump('{n}')", f"Passage {n}", show=False, id=f"place.{n}")
            for n in range(1, 10)
        ),
    ]

    class ContextsNeeded(Message):
        """Asks for the current text of `citations`, to be passed to `fill`."""

        def __init__(self, citations: Sequence[Citation]) -> None:
            super().__init__()
            self.citations = tuple(citations)

    def __init__(self, keymap: Mapping[str, str]) -> None:
        super().__init__(id="sources")
        self._keymap = keymap
        self._changing = asyncio.Lock()
        self._chosen = ""

    @property
    def views(self) -> list[SourceItem]:
        """The sources as widgets, in the order of display: passages, then web pages."""
        return [v for v in self.children if isinstance(v, SourceView | PageView)]

    @property
    def chosen(self) -> SourceItem | None:
        """The widget of the selected source; None if there are no sources."""
        return self._find(self._chosen)

    async def introduce(self) -> None:
        """Show an explanation of this pane instead of sources."""
        await self._replace([_message(INTRODUCTION)])

    async def clear(self) -> None:
        """Remove all sources, and say that a search is running."""
        await self.show_sources((), (), is_final=False)

    async def show(self, turn: Turn) -> None:
        """Show the sources of a finished turn, or a message if it cites none."""
        output = turn.output
        if turn.state is TurnState.STOPPED:
            without = STOPPED
        else:
            without = UNCITED if output.model else NO_SOURCES
        await self.show_sources(
            output.citations,
            output.web,
            is_final=True,
            question=turn.question,
            without=without,
        )

    async def show_sources(
        self,
        citations: Sequence[Citation],
        pages: Sequence[WebCitation],
        *,
        is_final: bool,
        question: str = "",
        without: str = NO_SOURCES,
    ) -> None:
        """Replace the present sources by cited passages, then web pages.

        `is_final` means that no more will be added. Then passages get a heading with
        their number and `question`, and `without` is the message if there are no
        sources at all. The selected citation number stays selected if it is present,
        else the first is.
        """
        views: list[Static] = [SourceView(citation) for citation in citations]
        page_views = [PageView(page) for page in pages]
        if page_views:
            views += [_heading(WEB_HEADING, "web"), *page_views]
        if not citations and not page_views:
            views.append(_message(without if is_final else SEARCHING))
        if citations and is_final:
            count = format_count(len(citations), "passage")
            label = (
                f" · “{' '.join(sanitize_text(question).split())}”" if question else ""
            )
            views.insert(0, _heading(f"{count}{label}", "for"))
        await self._replace(views)

    async def add(self, citation: Citation) -> None:
        """Append a cited passage, above the web pages.

        It is selected if no other source is.
        """
        async with self._changing:
            await self.query(".source-message").remove()
            apart = self.query(".source-web")
            before = apart.first() if apart else None
            await self.mount(SourceView(citation), before=before or ".source-hint")
        self._choose_first()

    async def add_page(self, page: WebCitation) -> None:
        """Append a web page, below the passages and the other web pages.

        It is selected if no other source is.
        """
        async with self._changing:
            await self.query(".source-message").remove()
            if not self.query(".source-web"):
                await self.mount(_heading(WEB_HEADING, "web"), before=".source-hint")
            await self.mount(PageView(page), before=".source-hint")
        self._choose_first()

    def fill(self, contexts: "Sequence[CitationContext]") -> None:
        """Show passages as they are in the current text, matched by citation number.

        Items of `contexts` for passages that are not shown are ignored.
        """
        by_number = {context.number: context for context in contexts}
        for view in self.query_children(SourceView):
            if view.citation.number in by_number:
                view.fill(by_number[view.citation.number])
        # A layout that is under way may have measured the shorter text.
        self.call_after_refresh(self._lay_out_again)

    def _lay_out_again(self) -> None:
        for view in self.views:
            view.refresh(layout=True)

    def reload_contexts(self) -> None:
        """Ask for the current text of all passages again; it may have changed."""
        if citations := [view.citation for view in self.query_children(SourceView)]:
            self.post_message(self.ContextsNeeded(citations))

    def jump(self, number: str) -> bool:
        """Select the source with the citation number `number`, such as "1" or "w1".

        Return whether it exists; if not, a notification says so.
        """
        view = self._find(number)
        if view is None:
            self.notify(f"This answer has no passage [{number}].", markup=False)
            return False
        self._choose(view)
        self.call_after_refresh(view.scroll_visible, animate=False, top=True)
        return True

    def action_jump(self, number: str) -> None:
        """Select the source with the citation number `number`."""
        self.jump(number)

    def action_move(self, by: int) -> None:
        """Move the selection by `by` sources, down if positive.

        It stops at the ends of the list.
        """
        views = self.views
        if not views:
            return
        now = next(
            (n for n, view in enumerate(views) if view.number == self._chosen), -1
        )
        view = views[max(0, min(len(views) - 1, now + by))]
        self._choose(view)
        self.call_after_refresh(view.scroll_visible, animate=False)

    async def action_open(self) -> None:
        """Open the selected passage in the user's editor.

        Of a web page, the address is shown. Nothing happens if no source is selected.
        """
        if self.chosen is not None:
            await self.run_action("screen.do('open')")

    async def action_read(self) -> None:
        """Show the selected passage in the reader; nothing happens without one."""
        if isinstance(self.chosen, SourceView):
            await self.run_action("screen.do('read_passage')")

    async def action_copy_quote(self) -> None:
        """Copy text and location of the selected source to the clipboard.

        Nothing happens if no source is selected.
        """
        if self.chosen is not None:
            await self.run_action("screen.do('copy', 'quote')")

    async def action_back(self) -> None:
        """Move the focus to the prompt."""
        await self.run_action("screen.back")

    async def on_click(self, event: events.Click) -> None:
        """Select the clicked source; a double click opens it."""
        view = event.widget
        if isinstance(view, SourceView | PageView):
            self._choose(view)
            if event.chain == 2:
                await self.action_open()

    async def _replace(self, views: Sequence[Static]) -> None:
        async with self._changing:
            with self.app.batch_update():
                await self.remove_children()
                hint = Static(_hint(self._keymap), classes="source-hint")
                await self.mount_all([*views, hint])
        self._choose_first()

    def _find(self, number: str) -> SourceItem | None:
        return next((view for view in self.views if view.number == number), None)

    def _choose(self, source_item: SourceItem) -> None:
        self._chosen = source_item.number
        for view in self.views:
            view.choose(chosen=view is source_item)

    def _choose_first(self) -> None:
        """Select a source if none is, and request all contexts."""
        if view := self.chosen or next(iter(self.views), None):
            self._choose(view)
        self.reload_contexts()


def _hint(keymap: Mapping[str, str]) -> Content:
    """Return the key hint, with configured keys if there are any."""
    if not keymap:
        return Content(KEY_HINT.format("Enter", "r", "c", "Esc"))
    keys = {a.id: format_key(resolve_keys(a, keymap)[0]) for a in SOURCE_ACTIONS}
    names = (keys[f"place.{name}"] for name in ("open", "read", "copy", "leave"))
    return Content(KEY_HINT.format(*names))


def _message(text: str) -> Static:
    return Static(text, markup=False, classes="source-message")


def _heading(text: str, kind: str) -> Static:
    return Static(text, markup=False, classes=f"source-heading source-{kind}")
