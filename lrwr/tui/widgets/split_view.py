"""The conversation, and beside it what its answers rest on."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal

from lrwr.core.model.turns import Citation, Turn, WebCitation
from lrwr.tui.widgets.sources import Sources
from lrwr.tui.widgets.transcript import Transcript
from lrwr.tui.widgets.turn import TurnView

if TYPE_CHECKING:
    from lrwr.tui.queries.context import CitationContext

NARROW = 100
"""Columns below which the pane takes the conversation's place, and only when wanted."""

JUMP_BINDINGS = tuple(
    Binding(
        f"alt+{n}",
        f"jump('{n}')",
        f"Passage {n}",
        show=False,
        id=f"room.jump.{n}",
        tooltip="Show the passage of that number",
        priority=True,
    )
    for n in range(1, 10)
)
"""Keys that show a passage, wherever one is."""

CitationContextLoader: TypeAlias = (
    "Callable[[Sequence[Citation]], Awaitable[Sequence[CitationContext]]]"
)
"""Returns passages in their context, as the text has it now."""


class SplitView(Horizontal):
    """Shows the passages of the turn that is chosen; a new one is chosen by itself."""

    DEFAULT_CSS: ClassVar[str] = ""

    def __init__(
        self, side: int, look_up: "CitationContextLoader", keymap: Mapping[str, str]
    ) -> None:
        super().__init__(id="desk")
        self._look_up = look_up
        self._share = side
        self._beside = True
        self._over = False
        self.transcript = Transcript()
        self.sources = Sources(keymap)

    def compose(self) -> ComposeResult:
        """Lay out both."""
        self.transcript.styles.width = f"{100 - self._share}fr"
        self.sources.styles.width = f"{self._share}fr"
        yield self.transcript
        yield self.sources

    @property
    def narrow(self) -> bool:
        """Whether there is room for one of the two only."""
        return self.size.width < NARROW

    def on_resize(self, event: events.Resize) -> None:
        """Lay out both anew."""
        self._arrange(event.size.width)

    def toggle(self) -> None:
        """Show the pane, or hide it."""
        if self.narrow:
            self._over = not self._over
        else:
            self._beside = not self._beside
        self._arrange(self.size.width)
        if self._over and self.narrow:
            self.sources.focus()

    def leave(self) -> bool:
        """Give the conversation its place back; say whether the pane had taken it."""
        was, self._over = self._over and self.narrow, False
        self._arrange(self.size.width)
        return was

    def jump(self, number: str) -> None:
        """Show the passage of that number, and go there."""
        if self.sources.jump(number):
            self._over = self._beside = True
            self._arrange(self.size.width)
            self.sources.focus()

    async def show(self, turns: Sequence[Turn]) -> None:
        """Show a conversation from its end, and what its last answer rests on."""
        await self.transcript.show(turns)
        if turns:
            await self.sources.show(turns[-1])
        else:
            await self.sources.introduce()

    async def greet(self, lines: Sequence[str]) -> None:
        """Say something where there is no conversation yet."""
        await self.transcript.greet(lines)
        await self.sources.introduce()

    async def begin(self, question: str) -> TurnView:
        """Show a question, and return where its answer goes."""
        view = await self.transcript.begin(question)
        await self.sources.clear()
        return view

    async def found(self, view: TurnView, citation: Citation) -> None:
        """Show a passage that was found for a turn that is under way."""
        view.found(citation)
        if self.transcript.chosen is view:
            await self.sources.add(citation)

    async def found_page(self, view: TurnView, page: WebCitation) -> None:
        """Show a page that was found for a turn that is under way."""
        view.found_page(page)
        if self.transcript.chosen is view:
            await self.sources.add_page(page)

    async def finish(self, view: TurnView, turn: Turn) -> None:
        """Show the whole turn, and of the passages those that it cites."""
        await view.finish(turn)
        if self.transcript.chosen is view:
            await self.sources.show(turn)

    @on(TurnView.Chosen)
    async def _chosen(self, event: TurnView.Chosen) -> None:
        event.stop()
        view = event.view
        if self.transcript.chosen is not view or not event.number:
            self.transcript.choose(view)
            await self.sources.show_found(
                view.citations, view.pages, over=view.over, to=view.question
            )
        if event.number:
            self.jump(event.number)

    @on(Transcript.MarkTyped)
    def _typed(self, event: Transcript.MarkTyped) -> None:
        event.stop()
        self.jump(event.number)

    @on(Sources.Wanted)
    def _wanted(self, event: Sources.Wanted) -> None:
        event.stop()
        self._surround(event.citations)

    @work(exclusive=True, group="context", exit_on_error=False)
    async def _surround(self, citations: Sequence[Citation]) -> None:
        """Show passages in their context; where that fails, they stand without."""
        self.sources.fill(await self._look_up(citations))

    def _arrange(self, width: int) -> None:
        over = width < NARROW and self._over
        self.sources.display = over if width < NARROW else self._beside
        self.transcript.display = not over
