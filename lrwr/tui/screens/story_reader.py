"""What every screen shares that reads what is known of the story."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import how_to_read, nobody_evaluated, nothing_known
from lrwr.app.presenters.text import Line
from lrwr.tui.actions.table import GO_TO
from lrwr.tui.queries.story import story_as_of
from lrwr.tui.rows import Row
from lrwr.tui.screens.master_detail import Paired

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import RoomScreen


class StoryScreen(Paired[None]):
    """Shows what is known as far as the story has come. A row's key is its number.

    Made for one part of the story bible each.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        GO_TO.binding,
    ]
    NOTHING: ClassVar[str] = ""
    """What is said where there is no row at all."""

    BY_MODELS: ClassVar[str] = ""
    """What only a language model can tell; empty where each row says so itself."""

    def __init__(self, room: "RoomScreen", title: str, *, words: str = "") -> None:
        as_of = room.sitting.as_of
        super().__init__(
            room, f"{title}{f', as of {as_of}' if as_of else ''}", words=words
        )
        self.bible: Bible | None = None

    def rows_of(self, bible: "Bible") -> Sequence[Row]:
        """Return the rows of a bible."""
        del bible
        return ()

    def lines_of(self, number: int, bible: "Bible") -> Iterable[Line]:
        """Return what is read of a row."""
        del number, bible
        return ()

    async def rows(self) -> Sequence[Row]:
        """Read the story as far as it has come."""
        as_of, room = self.room.sitting.as_of, self.room.room
        bible = await room.stage.do(lambda lent: story_as_of(lent, as_of))
        self.bible = bible
        remedy = how_to_read(bible, room.settings)
        self.nothing = nothing_known(self.NOTHING, as_of or None, remedy)
        if self.BY_MODELS:
            self.note(nobody_evaluated(bible, self.BY_MODELS))
        return self.rows_of(bible)

    async def lines(self, key: str) -> Iterable[Line]:
        """Return what is read of a row."""
        return () if self.bible is None else self.lines_of(int(key), self.bible)
