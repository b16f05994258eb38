"""The passages that an answer rests on, each in its context."""

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
from lrwr.core.model.turns import Citation, Turn, WebCitation
from lrwr.tui.actions.table import PLACE_ACTIONS
from lrwr.tui.widgets.source import PageView, SourceView

if TYPE_CHECKING:
    from lrwr.tui.queries.context import CitationContext

BEGINNING = (
    "The passages that an answer rests on stand here, each with its file and line."
)
SEEKING = "Passages stand here as they are found."
NONE = "No passages: this answer rests on none. Nothing in it is borne out by the text."
APART = "From the web, not from your book"
HINT = "{} opens it · {} copies it · {} goes back"

SourceItem = SourceView | PageView


class Sources(VerticalScroll):
    """The pane beside the conversation: one passage is chosen, and shown in context."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in PLACE_ACTIONS),
        *(
            Binding(f"{n}", f"jump('{n}')", f"Passage {n}", show=False, id=f"place.{n}")
            for n in range(1, 10)
        ),
    ]

    class Wanted(Message):
        """What surrounds these passages is wanted; `fill` takes it."""

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
        """What is shown, in the order of the pane."""
        return [one for one in self.children if isinstance(one, SourceView | PageView)]

    @property
    def chosen(self) -> SourceItem | None:
        """What the writer has chosen."""
        return self._numbered(self._chosen)

    async def introduce(self) -> None:
        """Say what the pane is for."""
        await self._replace([_told(BEGINNING)])

    async def clear(self) -> None:
        """Wait for the passages of another answer."""
        await self.show_found((), (), over=False)

    async def show(self, turn: Turn) -> None:
        """Show what a turn rests on."""
        said = turn.output
        await self.show_found(said.citations, said.web, over=True, to=turn.question)

    async def show_found(
        self,
        citations: Sequence[Citation],
        pages: Sequence[WebCitation],
        *,
        over: bool,
        to: str = "",
    ) -> None:
        """Show passages and pages, found for the question `to`.

        `over` says that no more will come. What was chosen stays so if it is there.
        """
        views: list[Static] = [SourceView(one) for one in citations]
        found = [PageView(page) for page in pages]
        if found:
            views += [_heading(APART, "apart"), *found]
        if not citations and not found:
            views.append(_told(NONE if over else SEEKING))
        if citations and over:
            told = format_count(len(citations), "passage")
            named = f" · “{' '.join(sanitize_text(to).split())}”" if to else ""
            views.insert(0, _heading(f"{told}{named}", "for"))
        await self._replace(views)

    async def add(self, citation: Citation) -> None:
        """Show one passage more."""
        async with self._changing:
            await self.query(".source-told").remove()
            apart = self.query(".source-apart")
            before = apart.first() if apart else None
            await self.mount(SourceView(citation), before=before or ".source-hint")
        self._settle()

    async def add_page(self, page: WebCitation) -> None:
        """Show a page of the web, apart from what is the book's."""
        async with self._changing:
            await self.query(".source-told").remove()
            if not self.query(".source-apart"):
                await self.mount(_heading(APART, "apart"), before=".source-hint")
            await self.mount(PageView(page), before=".source-hint")
        self._settle()

    def fill(self, found: "Sequence[CitationContext]") -> None:
        """Show passages in their context; those that are shown no more are left out."""
        around = {one.number: one for one in found}
        for view in self.query_children(SourceView):
            if view.citation.number in around:
                view.fill(around[view.citation.number])

    def look_again(self) -> None:
        """Ask once more what surrounds the passages: the text may have changed."""
        if citations := [view.citation for view in self.query_children(SourceView)]:
            self.post_message(self.Wanted(citations))

    def jump(self, number: str) -> bool:
        """Choose the passage of that number, and say whether it is there."""
        view = self._numbered(number)
        if view is None:
            self.notify(f"There is no passage [{number}] here.", markup=False)
            return False
        self._choose(view)
        self.call_after_refresh(view.scroll_visible, animate=False, top=True)
        return True

    def action_jump(self, number: str) -> None:
        """Choose the passage of that number."""
        self.jump(number)

    def action_move(self, by: int) -> None:
        """Choose the passage that many further down."""
        views = self.views
        if not views:
            return
        now = next((n for n, one in enumerate(views) if one.number == self._chosen), -1)
        view = views[max(0, min(len(views) - 1, now + by))]
        self._choose(view)
        self.call_after_refresh(view.scroll_visible, animate=False)

    async def action_open(self) -> None:
        """Open the chosen passage in the writer's editor."""
        if self.chosen is not None:
            await self.run_action("screen.do('open')")

    async def action_copy_quote(self) -> None:
        """Copy the chosen passage."""
        if self.chosen is not None:
            await self.run_action("screen.do('copy', 'quote')")

    async def action_leave(self) -> None:
        """Go back to the prompt."""
        await self.run_action("screen.back")

    async def on_click(self, event: events.Click) -> None:
        """Choose the passage that is clicked; clicked twice, it is opened."""
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
        self._settle()

    def _numbered(self, number: str) -> SourceItem | None:
        return next((view for view in self.views if view.number == number), None)

    def _choose(self, chosen: SourceItem) -> None:
        self._chosen = chosen.number
        for view in self.views:
            view.choose(chosen=view is chosen)

    def _settle(self) -> None:
        """See to it that one is chosen, and ask for what surrounds them all."""
        if view := self.chosen or next(iter(self.views), None):
            self._choose(view)
        self.look_again()


def _hint(keymap: Mapping[str, str]) -> Content:
    """Return what keys do here, the writer's own where they have set some."""
    if not keymap:
        return Content(HINT.format("Enter", "c", "Esc"))
    from lrwr.tui.input.keymap import format_key, resolve_keys

    keys = {one.id: format_key(resolve_keys(one, keymap)[0]) for one in PLACE_ACTIONS}
    told = (keys[f"place.{name}"] for name in ("open", "copy", "leave"))
    return Content(HINT.format(*told))


def _told(text: str) -> Static:
    return Static(text, markup=False, classes="source-told")


def _heading(text: str, kind: str) -> Static:
    return Static(text, markup=False, classes=f"source-heading source-{kind}")
