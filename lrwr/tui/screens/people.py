"""What the text says of everybody."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from lrwr.app.presenters.story import format_mention_count, render_character
from lrwr.app.presenters.text import StyledLine
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.story_reader import StoryScreen

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import ChatScreen


class PeopleScreen(StoryScreen):
    """Everybody who is known so far, most mentioned first, each with a profile."""

    RANKED: ClassVar[bool] = True
    NOTHING: ClassVar[str] = "Nobody is known"

    def __init__(self, room: "ChatScreen", words: str = "") -> None:
        super().__init__(room, "People", words=words)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for everybody."""
        return [
            ListRow(
                str(number),
                one.name,
                ", ".join(
                    (
                        format_mention_count(one),
                        *(form.name for form in one.aliases if form.name != one.name),
                    )
                ),
                (
                    *(form.name for form in one.aliases),
                    *(claim.value for claim in one.also_called),
                ),
            )
            for number, one in enumerate(bible.characters)
        ]

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return a profile: every claim, with its words and their place."""
        return render_character(bible.characters[number], bible)
