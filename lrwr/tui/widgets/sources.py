"""The sources of an answer, beside the transcript: cited passages and web pages."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from lrwr.app.presenters.text import format_count, sanitize_text
from lrwr.core.model.turns import Citation, Turn, TurnState, WebCitation
from lrwr.tui.actions.keys_and_commands import SOURCE_ACTIONS
from lrwr.tui.input.keymap import format_key, resolve_keys
from lrwr.tui.widgets.source_views import (
    PageView,
    SourceItem,
    SourceView,
    group_citations,
)

if TYPE_CHECKING:
    from lrwr.tui.queries.passages import CitationContext

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
        views: list[Static] = [*group_citations(citations)]
        page_views = [PageView(page) for page in pages]
        passages = len(views)
        if page_views:
            views += [_heading(WEB_HEADING, "web"), *page_views]
        if not citations and not page_views:
            views.append(_message(without if is_final else SEARCHING))
        if citations and is_final:
            count = format_count(passages, "passage")
            label = (
                f" · “{' '.join(sanitize_text(question).split())}”" if question else ""
            )
            views.insert(0, _heading(f"{count}{label}", "for"))
        await self._replace(views)

    async def add(self, citation: Citation) -> None:
        """Append a cited passage, above the web pages.

        One of a paragraph that is shown is added to its entry. It is selected if no
        other source is.
        """
        async with self._changing:
            await self.query(".source-message").remove()
            apart = self.query(".source-web")
            before = apart.first() if apart else None
            shown = [v for v in self.query_children(SourceView) if v.accepts(citation)]
            if shown:
                shown[0].add(citation)
            else:
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
        for view in self.query_children(SourceView):
            for context in contexts:
                if view.has(str(context.number)):
                    view.fill(context)
        # A layout that is under way may have measured the shorter text.
        self.call_after_refresh(self._lay_out_again)

    def _lay_out_again(self) -> None:
        for view in self.views:
            view.refresh(layout=True)

    def reload_contexts(self) -> None:
        """Ask for the current text of all passages again; it may have changed."""
        views = self.query_children(SourceView)
        if citations := [citation for view in views for citation in view.citations]:
            self.post_message(self.ContextsNeeded(citations))

    def jump(self, number: str) -> bool:
        """Select the source with the citation number `number`, such as "1" or "w1".

        Return whether it exists; if not, a notification says so.
        """
        view = self._find(number)
        if view is None:
            self.notify(f"This answer has no passage [{number}].", markup=False)
            return False
        if isinstance(view, SourceView):
            view.select(number)
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
        now = next((n for n, view in enumerate(views) if view is self.chosen), -1)
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

    async def on_key(self, event: events.Key) -> None:
        """Pass typed characters that are no keys of the sources to the prompt."""
        is_bound = event.key in self.screen.active_bindings
        if event.is_printable and event.character and not is_bound:
            event.stop()
            await self.run_action(f"screen.type({event.character!r})")

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
        return next((view for view in self.views if view.has(number)), None)

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
