"""The transcript: shows the turns of a thread, which it mounts as the user scrolls."""

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

from lrwr.app.presenters.answers import format_spending
from lrwr.core.model.turns import Turn
from lrwr.tui.actions.keys_and_commands import TURN_ACTIONS
from lrwr.tui.widgets.turn import TurnView

INITIAL_TURNS = 20
"""Turns mounted when a thread is opened."""

PAGE_TURNS = 10
"""Turns mounted when the user scrolls to an end."""

MAX_TURNS = INITIAL_TURNS + 2 * PAGE_TURNS
"""Maximum number of mounted turns, without running ones."""

DIGITS = frozenset("123456789")
"""Keys that show the passage with that number."""

MORE_BELOW = "▼ more below · press End"


class Transcript(VerticalScroll):
    """Shows some turns of a thread, and more when the user scrolls to an end.

    It scrolls with new text as long as the end of the thread is visible.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in TURN_ACTIONS),
        *(
            Binding(f"{n}", f"jump('{n}')", f"Passage {n}", show=False, id=f"turn.{n}")
            for n in range(1, 10)
        ),
    ]

    class CitationTyped(Message):
        """Posted when the user types `number`, a citation number from "1" to "9"."""

        def __init__(self, number: str) -> None:
            super().__init__()
            self.number = number

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._older: list[Turn] = []
        self._newer: list[Turn] = []
        self._following = True
        self._mount_lock = asyncio.Lock()
        self._chosen: TurnView | None = None

    def compose(self) -> ComposeResult:
        """Lay out the sign that there are more turns below."""
        yield Static(MORE_BELOW, markup=False, id="below")

    @property
    def views(self) -> list[TurnView]:
        """The widgets of the mounted turns, oldest first."""
        return list(self.query_children(TurnView))

    @property
    def turns(self) -> list[Turn]:
        """All finished turns of the thread, mounted or not, oldest first."""
        return [*self._older, *self._finished_turns(), *self._newer]

    @property
    def spending(self) -> str:
        """Tokens and price of the last turn and of the shown ones, as text."""
        return format_spending(self.turns)

    @property
    def last(self) -> Turn | None:
        """The newest finished turn, or None if there is none."""
        if self._newer:
            return self._newer[-1]
        over = (view.turn for view in reversed(self.views) if view.turn is not None)
        return next(over, None)

    @property
    def chosen(self) -> TurnView | None:
        """The widget of the turn whose sources are shown; None if the thread is empty.

        It is the newest mounted turn unless the user selected another.
        """
        if self._chosen is not None and self._chosen.is_attached:
            return self._chosen
        return next(reversed(self.views), None)

    async def show(self, turns: Sequence[Turn]) -> None:
        """Replace the shown turns by the end of a thread with `turns`, oldest first.

        Earlier turns are mounted when the user scrolls up.
        """
        async with self._mount_lock:
            self._older, self._newer = list(turns[:-INITIAL_TURNS]), []
            self._chosen = None
            shown = [
                TurnView(turn.question, turn=turn) for turn in turns[-INITIAL_TURNS:]
            ]
            await self._replace(shown)
        self._follow()

    async def show_notice(self, lines: Sequence[str]) -> None:
        """Show `lines`, one paragraph each, in place of an empty thread."""
        async with self._mount_lock:
            self._older, self._newer, self._chosen = [], [], None
            await self._replace(
                [Static(line, markup=False, classes="greeting") for line in lines]
            )

    async def start_turn(self, question: str) -> TurnView:
        """Show `question` as a new turn, and return the widget for its answer."""
        if self._newer:
            await self.show([*self._older, *self._finished_turns(), *self._newer])
        view = TurnView(question)
        async with self._mount_lock:
            await self.query(".greeting").remove()
            await self.mount(view)
            await self._drop_oldest(INITIAL_TURNS)
        self.choose(view)
        self._follow()
        return view

    def choose(self, view: TurnView) -> None:
        """Select the turn `view`: highlight it as the one whose sources are shown."""
        self._chosen = view
        for other in self.views:
            other.set_class(other is view, "chosen")

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Record whether the end is visible, and mount more turns if needed."""
        super().watch_scroll_y(old_value, new_value)
        self._following = not self._newer and new_value >= self.max_scroll_y
        self._update_below()
        if old_value != new_value:
            self._load_more()

    def watch_virtual_size(self, old_value: Size, new_value: Size) -> None:
        """Scroll to text added at the end if the end was visible."""
        del old_value, new_value
        if self._following:
            self._go_to_end()
        self._update_below()

    def on_resize(self, event: events.Resize) -> None:
        """Scroll to the end if it was visible."""
        del event
        if self._following:
            self.call_after_refresh(self._go_to_end)

    def on_mouse_scroll_up(self) -> None:
        """Mount older turns, even if the view is scrolled to the top already."""
        self._load_more()

    async def on_key(self, event: events.Key) -> None:
        """Pass typed characters to the prompt, except 1 to 9, which select sources."""
        typed = event.character or ""
        plain = event.is_printable and "+" not in event.key
        if plain and typed not in DIGITS:
            event.stop()
            await self.run_action(f"screen.type({typed!r})")

    def action_choose(self, by: int) -> None:
        """Move the selection by `by` turns, to newer ones if positive.

        It stops at the first and the last mounted turn.
        """
        views = self.views
        if not views:
            return
        now = views.index(self.chosen) if self.chosen in views else len(views) - 1
        view = views[max(0, min(len(views) - 1, now + by))]
        self.choose(view)
        view.scroll_visible(animate=False, top=True)
        view.post_message(TurnView.Chosen(view))

    async def action_to_end(self) -> None:
        """Scroll to the end of the thread."""
        if self._newer:
            await self.show([*self._older, *self._finished_turns(), *self._newer])
        self._follow()

    def action_jump(self, number: str) -> None:
        """Select the source with the citation number `number`."""
        self.post_message(self.CitationTyped(number))

    def _follow(self) -> None:
        self._following = True
        self.call_after_refresh(self._go_to_end)

    def _go_to_end(self) -> None:
        if self._following:
            end = self.max_scroll_y
            self.scroll_to(y=end, animate=False, force=True, immediate=True)

    def _update_below(self) -> None:
        has_more = self._newer or self.scroll_y < self.max_scroll_y - 1
        below = self.query_one("#below")
        below.display = bool(has_more) and not self._following

    def _load_more(self) -> None:
        """Mount more turns when scrolled to the first or last mounted one."""
        if self._mount_lock.locked():
            return
        if self._older and self.scroll_y <= self.size.height:
            self._mount_older()
        elif self._newer and self.scroll_y >= self.max_scroll_y - self.size.height:
            self._mount_newer()
        elif self._following and len(self.views) > INITIAL_TURNS + PAGE_TURNS:
            self._unmount_older()

    @work(group="turning", exit_on_error=False)
    async def _mount_older(self) -> None:
        async with self._mount_lock:
            if not self._older:
                return
            first = self.views[0]
            offset = first.virtual_region.y
            views = [
                TurnView(turn.question, turn=turn) for turn in self._older[-PAGE_TURNS:]
            ]
            del self._older[-PAGE_TURNS:]
            await self.mount_all(views, before=first)
            await self._drop_newest(MAX_TURNS)
            await self._keep_position(first, offset)

    @work(group="turning", exit_on_error=False)
    async def _mount_newer(self) -> None:
        async with self._mount_lock:
            if not self._newer:
                return
            last = self.views[-1]
            offset = last.virtual_region.y
            views = [
                TurnView(turn.question, turn=turn) for turn in self._newer[:PAGE_TURNS]
            ]
            del self._newer[:PAGE_TURNS]
            await self.mount_all(views, after=last)
            await self._drop_oldest(MAX_TURNS)
            await self._keep_position(last, offset)

    @work(group="turning", exit_on_error=False)
    async def _unmount_older(self) -> None:
        async with self._mount_lock:
            if self._following:
                await self._drop_oldest(INITIAL_TURNS)

    async def _keep_position(self, view: TurnView, offset: int) -> None:
        """Scroll so that a turn stays where it was; `offset` was its first line before."""
        drawn = asyncio.Event()

        def scroll() -> None:
            y = self.scroll_y + view.virtual_region.y - offset
            self.scroll_to(y=y, animate=False, force=True, immediate=True)
            drawn.set()

        self.call_after_refresh(scroll)
        await drawn.wait()

    async def _drop_oldest(self, most: int) -> None:
        views = self.views
        dropped = views[: max(0, len(views) - most)]
        self._older += [view.turn for view in dropped if view.turn is not None]
        if dropped:
            await self.remove_children(dropped)

    async def _drop_newest(self, most: int) -> None:
        views = self.views
        dropped: list[TurnView] = []
        while (
            len(views) - len(dropped) > most
            and views[-1 - len(dropped)].turn is not None
        ):
            dropped.append(views[-1 - len(dropped)])
        turns = [view.turn for view in reversed(dropped) if view.turn is not None]
        self._newer = [*turns, *self._newer]
        if dropped:
            await self.remove_children(dropped)

    async def _replace(self, views: Sequence[Widget]) -> None:
        with self.app.batch_update():
            await self.query_children(".turn, .greeting").remove()
            await self.mount_all(views)

    def _finished_turns(self) -> list[Turn]:
        return [view.turn for view in self.views if view.turn is not None]
