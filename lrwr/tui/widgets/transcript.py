"""The conversation, as far as it is on the screen."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from lrwr.core.model.turns import Turn
from lrwr.tui.actions.table import TURN_ACTIONS
from lrwr.tui.widgets.turn import TurnView

SHOWN = 20
"""Turns that are on the screen where the conversation ends."""

PAGE = 10
"""Turns that come at once as one scrolls to others."""

MOST = SHOWN + 2 * PAGE
"""Turns that are on the screen at most, save those that are under way."""

NUMBERS = frozenset("123456789")
"""What is typed to see a passage."""

BELOW = "▼ more below · End goes there"


class Transcript(VerticalScroll):
    """Shows a stretch of a conversation; others come as one scrolls there.

    It follows what is added at its end for as long as the end is in sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in TURN_ACTIONS),
        *(
            Binding(f"{n}", f"jump('{n}')", f"Passage {n}", show=False, id=f"turn.{n}")
            for n in range(1, 10)
        ),
    ]

    class MarkTyped(Message):
        """The writer wants to see the passage of that number."""

        def __init__(self, number: str) -> None:
            super().__init__()
            self.number = number

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._older: list[Turn] = []
        self._newer: list[Turn] = []
        self._following = True
        self._turning = asyncio.Lock()
        self._chosen: TurnView | None = None

    def compose(self) -> ComposeResult:
        """Lay out what says that there is more below."""
        yield Static(BELOW, markup=False, id="below")

    @property
    def views(self) -> list[TurnView]:
        """The turns on the screen, oldest first."""
        return list(self.query_children(TurnView))

    @property
    def turns(self) -> list[Turn]:
        """All turns of the conversation that are over, on the screen or not."""
        return [*self._older, *self._told(), *self._newer]

    @property
    def last(self) -> Turn | None:
        """The newest turn that is over."""
        if self._newer:
            return self._newer[-1]
        over = (view.turn for view in reversed(self.views) if view.turn is not None)
        return next(over, None)

    @property
    def chosen(self) -> TurnView | None:
        """The turn whose passages are wanted: the newest unless the writer chose."""
        if self._chosen is not None and self._chosen.is_attached:
            return self._chosen
        return next(reversed(self.views), None)

    async def show(self, turns: Sequence[Turn]) -> None:
        """Show a conversation from its end."""
        async with self._turning:
            self._older, self._newer = list(turns[:-SHOWN]), []
            self._chosen = None
            shown = [TurnView(one.question, turn=one) for one in turns[-SHOWN:]]
            await self._replace(shown)
        self._follow()

    async def greet(self, lines: Sequence[str]) -> None:
        """Say something where there is no conversation yet."""
        async with self._turning:
            self._older, self._newer, self._chosen = [], [], None
            await self._replace(
                [Static(line, markup=False, classes="greeting") for line in lines]
            )

    async def begin(self, question: str) -> TurnView:
        """Show a question, and return where its answer goes."""
        if self._newer:
            await self.show([*self._older, *self._told(), *self._newer])
        view = TurnView(question)
        async with self._turning:
            await self.query(".greeting").remove()
            await self.mount(view)
            await self._drop_oldest(SHOWN)
        self.choose(view)
        self._follow()
        return view

    def choose(self, view: TurnView) -> None:
        """Mark a turn as the one whose passages are wanted."""
        self._chosen = view
        for one in self.views:
            one.set_class(one is view, "chosen")

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Note whether the end is in sight, and see to it that turns come."""
        super().watch_scroll_y(old_value, new_value)
        self._following = not self._newer and new_value >= self.max_scroll_y
        self._tell_below()
        if old_value != new_value:
            self._want_turns()

    def watch_virtual_size(self, old_value: Size, new_value: Size) -> None:
        """Go on to what was added at the end, if the end was in sight."""
        del old_value, new_value
        if self._following:
            self._go_to_end()
        self._tell_below()

    def on_resize(self, event: events.Resize) -> None:
        """Keep the end in sight if it was."""
        del event
        if self._following:
            self.call_after_refresh(self._go_to_end)

    def on_mouse_scroll_up(self) -> None:
        """Bring older turns, where the first that is shown is in sight already."""
        self._want_turns()

    async def on_key(self, event: events.Key) -> None:
        """Let what is typed here be typed into the prompt, save for numbers."""
        typed = event.character or ""
        plain = event.is_printable and "+" not in event.key
        if plain and typed not in NUMBERS:
            event.stop()
            await self.run_action(f"screen.type({typed!r})")

    def action_choose(self, by: int) -> None:
        """Choose the turn that many further down."""
        views = self.views
        if not views:
            return
        now = views.index(self.chosen) if self.chosen in views else len(views) - 1
        view = views[max(0, min(len(views) - 1, now + by))]
        self.choose(view)
        view.scroll_visible(animate=False, top=True)
        view.post_message(TurnView.Chosen(view))

    async def action_to_end(self) -> None:
        """Go to the end of the conversation."""
        if self._newer:
            await self.show([*self._older, *self._told(), *self._newer])
        self._follow()

    def action_jump(self, number: str) -> None:
        """Show the passage of that number."""
        self.post_message(self.MarkTyped(number))

    def _follow(self) -> None:
        self._following = True
        self.call_after_refresh(self._go_to_end)

    def _go_to_end(self) -> None:
        if self._following:
            end = self.max_scroll_y
            self.scroll_to(y=end, animate=False, force=True, immediate=True)

    def _tell_below(self) -> None:
        far = self._newer or self.scroll_y < self.max_scroll_y - 1
        below = self.query_one("#below")
        below.display = bool(far) and not self._following

    def _want_turns(self) -> None:
        """Bring turns where one scrolls to the first or the last that is shown."""
        if self._turning.locked():
            return
        if self._older and self.scroll_y <= self.size.height:
            self._bring_older()
        elif self._newer and self.scroll_y >= self.max_scroll_y - self.size.height:
            self._bring_newer()
        elif self._following and len(self.views) > SHOWN + PAGE:
            self._leave_older()

    @work(group="turning", exit_on_error=False)
    async def _bring_older(self) -> None:
        async with self._turning:
            if not self._older:
                return
            first = self.views[0]
            was = first.virtual_region.y
            came = [TurnView(one.question, turn=one) for one in self._older[-PAGE:]]
            del self._older[-PAGE:]
            await self.mount_all(came, before=first)
            await self._drop_newest(MOST)
            await self._stay(first, was)

    @work(group="turning", exit_on_error=False)
    async def _bring_newer(self) -> None:
        async with self._turning:
            if not self._newer:
                return
            last = self.views[-1]
            was = last.virtual_region.y
            came = [TurnView(one.question, turn=one) for one in self._newer[:PAGE]]
            del self._newer[:PAGE]
            await self.mount_all(came, after=last)
            await self._drop_oldest(MOST)
            await self._stay(last, was)

    @work(group="turning", exit_on_error=False)
    async def _leave_older(self) -> None:
        async with self._turning:
            if self._following:
                await self._drop_oldest(SHOWN)

    async def _stay(self, view: TurnView, was: int) -> None:
        """Keep a turn where it is on the screen; it was so far from the first line."""
        drawn = asyncio.Event()

        def scroll() -> None:
            y = self.scroll_y + view.virtual_region.y - was
            self.scroll_to(y=y, animate=False, force=True, immediate=True)
            drawn.set()

        self.call_after_refresh(scroll)
        await drawn.wait()

    async def _drop_oldest(self, most: int) -> None:
        views = self.views
        gone = views[: max(0, len(views) - most)]
        self._older += [view.turn for view in gone if view.turn is not None]
        if gone:
            await self.remove_children(gone)

    async def _drop_newest(self, most: int) -> None:
        views = self.views
        gone: list[TurnView] = []
        while len(views) - len(gone) > most and views[-1 - len(gone)].turn is not None:
            gone.append(views[-1 - len(gone)])
        turns = [view.turn for view in reversed(gone) if view.turn is not None]
        self._newer = [*turns, *self._newer]
        if gone:
            await self.remove_children(gone)

    async def _replace(self, views: Sequence[Widget]) -> None:
        with self.app.batch_update():
            await self.query_children(".turn, .greeting").remove()
            await self.mount_all(views)

    def _told(self) -> list[Turn]:
        return [view.turn for view in self.views if view.turn is not None]
