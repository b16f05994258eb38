"""Places, things, factions and rules of the story."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from lrwr.app.presenters.story import describe_element, render_element
from lrwr.app.presenters.text import StyledLine
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.story_reader import StoryScreen

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import ChatScreen


class WorldScreen(StoryScreen):
    """The things of the world, in the order in which they come up."""

    RANKED: ClassVar[bool] = True
    NOTHING: ClassVar[str] = "No place or thing is known"
    BY_MODELS: ClassVar[str] = "Technology, factions, artifacts, rules"

    def __init__(self, room: "ChatScreen", words: str = "") -> None:
        super().__init__(room, "The world", words=words)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each thing."""
        return [
            ListRow(str(number), one.name, describe_element(one))
            for number, one in enumerate(bible.world)
        ]

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return what is known of a thing."""
        return render_element(bible.world[number])
