"""How far the story has come."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from lrwr.app.presenters.text import StyledLine, StyledText
from lrwr.tui.queries.story import HorizonStop, list_horizon_stops
from lrwr.tui.room import RoomScreen
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.master_detail import MasterDetailScreen

WHOLE = "the whole story"
"""What the writer says for no bound at all, and the list's first row."""

_HERE = "◆ "


class HorizonScreen(MasterDetailScreen[str | None]):
    """Chapters and scenes; what comes back is the place, empty for the whole story."""

    DEFAULT_CSS: ClassVar[str] = """
    HorizonScreen.-beside #paired-rows { width: 58%; }
    """

    def __init__(self, room: RoomScreen) -> None:
        super().__init__(room, "How far has the story come?")
        self._stops: dict[str, HorizonStop] = {}

    async def rows(self) -> Sequence[ListRow]:
        """Return the whole story, then its chapters and their scenes."""
        as_of = self.room.scope.as_of
        stops = await self.room.room.service_thread.run(
            lambda workspace: list_horizon_stops(workspace, as_of)
        )
        self._stops = {_key(stop): stop for stop in stops}
        marker = "" if as_of else _HERE
        return [ListRow(WHOLE, f"{marker}{WHOLE}"), *map(_row, stops)]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Say what follows from stopping there."""
        return _render_stop(self._stops.get(key))

    def first(self) -> str:
        """Stand where the writer stands."""
        return next((key for key, stop in self._stops.items() if stop.present), WHOLE)

    def select(self, key: str) -> None:
        """Stop there."""
        stop = self._stops.get(key)
        self.dismiss(stop.as_of if stop else "")


def _key(stop: HorizonStop) -> str:
    return f"={stop.as_of}"


def _row(stop: HorizonStop) -> ListRow:
    marker = _HERE if stop.present else ""
    key, also = _key(stop), (stop.as_of,)
    if stop.scene:
        name = f"{marker}scene {stop.scene}"
        return ListRow(key, name, stop.begins, also, depth=2)
    return ListRow(key, f"{marker}{_name_of(stop)}", stop.title, also)


def _name_of(stop: HorizonStop) -> str:
    if stop.chapter == 0:
        return "before chapter 1"
    opens = not stop.as_of.startswith("ch")
    return f"what opens chapter {stop.chapter}" if opens else f"chapter {stop.chapter}"


def _render_stop(stop: HorizonStop | None) -> Iterator[StyledLine]:
    if stop is None:
        yield StyledLine((StyledText(WHOLE, "strong"),))
        yield StyledLine(("Answers may use everything that was read, notes, too.",), 2)
        return
    heading = f"{_name_of(stop)}{f', scene {stop.scene}' if stop.scene else ''}"
    yield StyledLine(
        (StyledText(heading, "strong"), StyledText(f"  {stop.as_of}", "place"))
    )
    if stop.title or stop.begins:
        yield StyledLine((f"“{stop.title or stop.begins}”",), 2)
    yield StyledLine(
        ("Answers use nothing of what is told after it, and none of your notes.",), 2
    )
