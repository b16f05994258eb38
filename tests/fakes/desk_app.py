"""The conversation and its passages alone: no services, no prompt."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

import lrwr.tui
from lrwr.core.model.turns import Citation
from lrwr.core.retrieval.anchoring import Anchored, Freshness, Place
from lrwr.tui.context import Surroundings, surrounded
from lrwr.tui.themes import DARK, themes
from lrwr.tui.widgets.desk import Desk

WIDE = (120, 30)


class DeskApp(App[None]):
    """Shows a desk whose passages stand where they stood, in a text that is all they."""

    CSS_PATH = Path(lrwr.tui.__file__).parent / "room.tcss"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def compose(self) -> ComposeResult:
        """Lay out the desk, and something else that can be looked at."""
        yield Desk(42, look_up)
        yield Static("the end", markup=False)

    def on_mount(self) -> None:
        """Wear the room's own colours."""
        for theme in themes():
            self.register_theme(theme)
        self.theme = DARK

    @property
    def desk(self) -> Desk:
        """The conversation and its passages."""
        return self.query_one(Desk)


async def look_up(cited: Sequence[Citation]) -> list[Surroundings]:
    """Say of each passage that it is where it was."""
    return [
        surrounded(
            Anchored(
                one,
                Freshness.CURRENT,
                Place(one.document, one.span, one.lines, one.text),
                1.0,
            ),
            "",
            None,
        )
        for one in cited
    ]


@asynccontextmanager
async def a_desk(
    size: tuple[int, int] = WIDE,
) -> AsyncIterator[tuple[DeskApp, Pilot[None]]]:
    """Open a desk, and put a pilot to it."""
    app = DeskApp()
    async with app.run_test(size=size) as pilot:
        yield app, pilot


async def settle(app: DeskApp, pilot: Pilot[None]) -> None:
    """Wait until all that was begun is done."""
    for _ in range(3):
        await pilot.pause()
        for one in list(app.workers):
            if not one.is_finished:
                await one.wait()
    await pilot.pause()
