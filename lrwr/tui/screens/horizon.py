"""How far the story has come."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lrwr.app.presenters.text import StyledLine, StyledText
from lrwr.tui.queries.story import HorizonStop, list_horizon_stops
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.master_detail import MasterDetailScreen

if TYPE_CHECKING:
    from lrwr.tui.screens.chat import ChatScreen

WHOLE = "the whole story"
"""What the writer says for no bound at all, and the list's first row."""

_HERE = "◆ "


class HorizonScreen(MasterDetailScreen[str | None]):
    """Chapters and scenes; what comes back is the place, empty for the whole story."""

    DEFAULT_CSS: ClassVar[str] = """
    HorizonScreen.-beside #paired-rows { width: 58%; }
    """

    def __init__(self, room: "ChatScreen") -> None:
        super().__init__(room, "How far has the story come?")
        self._stops: dict[str, HorizonStop] = {}

    async def rows(self) -> Sequence[ListRow]:
        """Return the whole story, then its chapters and their scenes."""
        as_of = self.room.sitting.as_of
        found = await self.room.room.stage.do(
            lambda workspace: list_horizon_stops(workspace, as_of)
        )
        self._stops = {_key(stop): stop for stop in found}
        here = "" if as_of else _HERE
        return [ListRow(WHOLE, f"{here}{WHOLE}"), *map(_row, found)]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Say what follows from stopping there."""
        return _told(self._stops.get(key))

    def first(self) -> str:
        """Stand where the writer stands."""
        return next((key for key, stop in self._stops.items() if stop.present), WHOLE)

    def choose(self, key: str) -> None:
        """Stop there."""
        stop = self._stops.get(key)
        self.dismiss(stop.as_of if stop else "")


def _key(stop: HorizonStop) -> str:
    return f"={stop.as_of}"


def _row(stop: HorizonStop) -> ListRow:
    here = _HERE if stop.present else ""
    key, also = _key(stop), (stop.as_of,)
    if stop.scene:
        name = f"{here}scene {stop.scene}"
        return ListRow(key, name, stop.begins, also, deep=2)
    return ListRow(key, f"{here}{_name_of(stop)}", stop.title, also)


def _name_of(stop: HorizonStop) -> str:
    if stop.chapter == 0:
        return "before chapter 1"
    opens = not stop.as_of.startswith("ch")
    return f"what opens chapter {stop.chapter}" if opens else f"chapter {stop.chapter}"


def _told(stop: HorizonStop | None) -> Iterator[StyledLine]:
    if stop is None:
        yield StyledLine((StyledText(WHOLE, "strong"),))
        yield StyledLine(("Answers may use everything that was read, notes, too.",), 2)
        return
    what = f"{_name_of(stop)}{f', scene {stop.scene}' if stop.scene else ''}"
    yield StyledLine(
        (StyledText(what, "strong"), StyledText(f"  {stop.as_of}", "place"))
    )
    if stop.title or stop.begins:
        yield StyledLine((f"“{stop.title or stop.begins}”",), 2)
    yield StyledLine(
        ("Answers use nothing of what is told after it, and none of your notes.",), 2
    )
