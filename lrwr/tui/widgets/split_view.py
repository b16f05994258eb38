"""Two panes: the transcript and the sources beside it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal

from lrwr.core.model.turns import Citation, Turn, WebCitation
from lrwr.tui.widgets.sources import NO_SOURCES, STOPPED, Sources
from lrwr.tui.widgets.transcript import Transcript
from lrwr.tui.widgets.turn import TurnView

if TYPE_CHECKING:
    from lrwr.tui.queries.passages import CitationContext

MIN_WIDE_COLUMNS = 100
"""Minimum width, in columns, for both panes."""

CitationContextLoader: TypeAlias = (
    "Callable[[Sequence[Citation]], Awaitable[Sequence[CitationContext]]]"
)
"""Returns the contexts of citations in the current text."""


class SplitView(Horizontal):
    """Shows the transcript of a thread, and the sources of the selected turn.

    A new turn is selected when it starts. On narrow screens only one pane is shown.
    `side` is the width of the sources in percent. `load_contexts` returns the current
    text of cited passages. `keymap` maps action ids to configured keys.
    """

    DEFAULT_CSS: ClassVar[str] = ""

    def __init__(
        self,
        side: int,
        load_contexts: "CitationContextLoader",
        keymap: Mapping[str, str],
    ) -> None:
        super().__init__(id="split-view")
        self._load_contexts = load_contexts
        self._sources_percent = side
        self._is_beside = True
        self._is_over = False
        self.transcript = Transcript()
        self.sources = Sources(keymap)

    def compose(self) -> ComposeResult:
        """Lay out the transcript and the sources."""
        self.transcript.styles.width = f"{100 - self._sources_percent}fr"
        self.sources.styles.width = f"{self._sources_percent}fr"
        yield self.transcript
        yield self.sources

    @property
    def is_narrow(self) -> bool:
        """Whether the screen has fewer than `MIN_WIDE_COLUMNS` columns.

        Then only one pane is shown.
        """
        return self.size.width < MIN_WIDE_COLUMNS

    def on_resize(self, event: events.Resize) -> None:
        """Lay out transcript and sources for the new width."""
        self._arrange(event.size.width)

    def toggle(self) -> None:
        """Show or hide the sources; on a narrow screen, in place of the transcript."""
        if self.is_narrow:
            self._is_over = not self._is_over
        else:
            self._is_beside = not self._is_beside
        self._arrange(self.size.width)
        if self._is_over and self.is_narrow:
            self.sources.focus()

    def close_sources(self) -> bool:
        """If the sources are shown in place of the transcript, show the transcript.

        That is so only on a narrow screen. Return whether it was.
        """
        was_over, self._is_over = self._is_over and self.is_narrow, False
        self._arrange(self.size.width)
        return was_over

    def jump(self, number: str) -> None:
        """Select the source with the citation number `number`, and focus the sources.

        If there is none, a notification says so.
        """
        if self.sources.jump(number):
            self._is_over = self._is_beside = True
            self._arrange(self.size.width)
            self.sources.focus()

    async def show(self, turns: Sequence[Turn]) -> None:
        """Show the end of a thread, and the sources of its last answer.

        `turns` are oldest first.
        """
        await self.transcript.show(turns)
        if turns:
            await self.sources.show(turns[-1])
        else:
            await self.sources.introduce()

    async def show_notice(self, lines: Sequence[str]) -> None:
        """Show `lines`, one paragraph each, in place of an empty thread."""
        await self.transcript.show_notice(lines)
        await self.sources.introduce()

    async def start_turn(self, question: str) -> TurnView:
        """Show `question` as a new turn, and return the widget for its answer."""
        view = await self.transcript.start_turn(question)
        await self.sources.clear()
        return view

    async def add_citation(self, view: TurnView, citation: Citation) -> None:
        """Add a passage that was found for the running turn `view`.

        It is shown if that turn is selected.
        """
        view.add_citation(citation)
        if self.transcript.chosen is view:
            await self.sources.add(citation)

    async def add_page(self, view: TurnView, page: WebCitation) -> None:
        """Add a web page that was found for the running turn `view`.

        It is shown if that turn is selected.
        """
        view.add_page(page)
        if self.transcript.chosen is view:
            await self.sources.add_page(page)

    async def finish(self, view: TurnView, turn: Turn) -> None:
        """Show the finished turn in `view`.

        If it is selected, only the sources that it cites are shown from now on.
        """
        await view.finish(turn)
        if self.transcript.chosen is view:
            await self.sources.show(turn)

    async def show_sources_of(self, view: TurnView) -> None:
        """Show the sources of the turn `view`, which may still be running.

        Nothing changes if another turn is selected.
        """
        if self.transcript.chosen is not view:
            return
        if view.turn is not None:
            await self.sources.show(view.turn)
            return
        await self.sources.show_sources(
            view.citations,
            view.pages,
            is_final=view.over,
            question=view.question,
            without=STOPPED if view.is_stopped else NO_SOURCES,
        )

    @on(TurnView.Chosen)
    async def _chosen(self, event: TurnView.Chosen) -> None:
        event.stop()
        view = event.view
        if self.transcript.chosen is not view or not event.number:
            self.transcript.choose(view)
            await self.show_sources_of(view)
        if event.number:
            self.jump(event.number)

    @on(Transcript.CitationTyped)
    def _typed(self, event: Transcript.CitationTyped) -> None:
        event.stop()
        self.jump(event.number)

    @on(Sources.ContextsNeeded)
    def _contexts_needed(self, event: Sources.ContextsNeeded) -> None:
        event.stop()
        self._fill_contexts(event.citations)

    @work(exclusive=True, group="context", exit_on_error=False)
    async def _fill_contexts(self, citations: Sequence[Citation]) -> None:
        """Load and show contexts; if loading fails, passages stay without."""
        self.sources.fill(await self._load_contexts(citations))

    def _arrange(self, width: int) -> None:
        self.set_class(width < MIN_WIDE_COLUMNS, "-narrow")
        is_over = width < MIN_WIDE_COLUMNS and self._is_over
        self.sources.display = is_over if width < MIN_WIDE_COLUMNS else self._is_beside
        self.transcript.display = not is_over
