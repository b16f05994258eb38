"""The conversation and its passages alone: no services, no prompt."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePath
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

import lrwr.tui
from lrwr.core.model.text import Span
from lrwr.core.model.turns import Citation
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness, QuoteLocation
from lrwr.tui.app import DARK, build_themes
from lrwr.tui.queries.passages import CitationContext, build_citation_context
from lrwr.tui.widgets.split_view import SplitView

WIDE = (120, 30)

TEXT = """The tide had been in and out twice since anybody slept.

The sluice was shut. Nell Tallow had seen to it herself, with both hands, and then had
stood in the reeds until her feet were cold.

Nobody thanked her. OchraMags wrote it down.
"""


class DeskApp(App[None]):
    """Shows a desk whose passages stand where they stood, in a text that is all they."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        Path(lrwr.tui.__file__).parent / "room.tcss",
        Path(lrwr.tui.__file__).parent / "transcript.tcss",
    ]
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(self, wears: str) -> None:
        super().__init__()
        self._wears = wears

    def compose(self) -> ComposeResult:
        """Lay out the desk, and something else that can be looked at."""
        yield SplitView(42, look_up, {})
        yield Static("the end", markup=False)

    def on_mount(self) -> None:
        """Wear the room's own colours."""
        for theme in build_themes():
            self.register_theme(theme)
        self.theme = self._wears

    @property
    def desk(self) -> SplitView:
        """The conversation and its passages."""
        return self.query_one(SplitView)


async def look_up(cited: Sequence[Citation]) -> list[CitationContext]:
    """Say of each passage that it is where it was, in `TEXT` if it stands there."""
    return [build_citation_context(_found(one), TEXT, None) for one in cited]


def _found(one: Citation) -> AnchoredCitation:
    at = TEXT.find(one.text)
    span = Span(at, at + len(one.text)) if at >= 0 else Span(0, 0)
    place = QuoteLocation(one.document, span, one.lines, one.text)
    return AnchoredCitation(one, Freshness.CURRENT, place, 1.0)


@asynccontextmanager
async def a_desk(
    size: tuple[int, int] = WIDE, *, theme: str = DARK
) -> AsyncIterator[tuple[DeskApp, Pilot[None]]]:
    """Open a desk, and put a pilot to it."""
    app = DeskApp(theme)
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
