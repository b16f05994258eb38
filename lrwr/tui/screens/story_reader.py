"""What every screen shares that reads what is known of the story."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import (
    describe_not_evaluated,
    describe_nothing_known,
    explain_model_setup,
)
from lrwr.app.presenters.text import StyledLine
from lrwr.tui.actions.table import GO_TO_ACTION
from lrwr.tui.queries.story import load_story
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.master_detail import MasterDetailScreen

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import ChatScreen


class StoryScreen(MasterDetailScreen[None]):
    """Shows what is known as far as the story has come. A row's key is its number.

    Made for one part of the story bible each.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        GO_TO_ACTION.binding,
    ]
    NOTHING: ClassVar[str] = ""
    """What is said where there is no row at all."""

    BY_MODELS: ClassVar[str] = ""
    """What only a language model can tell; empty where each row says so itself."""

    def __init__(self, room: "ChatScreen", title: str, *, words: str = "") -> None:
        as_of = room.sitting.as_of
        super().__init__(
            room, f"{title}{f', as of {as_of}' if as_of else ''}", words=words
        )
        self.bible: Bible | None = None

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return the rows of a bible."""
        del bible
        return ()

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return what is read of a row."""
        del number, bible
        return ()

    async def rows(self) -> Sequence[ListRow]:
        """Read the story as far as it has come."""
        as_of, room = self.room.sitting.as_of, self.room.room
        bible = await room.stage.do(lambda workspace: load_story(workspace, as_of))
        self.bible = bible
        remedy = explain_model_setup(bible, room.settings)
        self.nothing = describe_nothing_known(self.NOTHING, as_of or None, remedy)
        if self.BY_MODELS:
            self.note(describe_not_evaluated(bible, self.BY_MODELS))
        return self.rows_of(bible)

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return what is read of a row."""
        return () if self.bible is None else self.lines_of(int(key), self.bible)
