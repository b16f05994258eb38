"""What happens, in story order."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from lrwr.app.presenters.story import render_moment
from lrwr.app.presenters.text import StyledLine, StyledText, shorten_excerpt
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.story_reader import StoryScreen

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import ChatScreen


class TimelineScreen(StoryScreen):
    """Moments under their chapters; what is typed may be a character's name."""

    DEFAULT_CSS: ClassVar[str] = """
    TimelineScreen.-beside #paired-rows { width: 56%; }
    """
    NOTHING: ClassVar[str] = "Nothing is known to happen"
    BY_MODELS: ClassVar[str] = "What else happens"

    def __init__(self, room: "ChatScreen", words: str = "") -> None:
        super().__init__(room, "What happens", words=words)
        self.hint = "type a name, or words of what happens …"

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each moment, under its chapter."""
        return list(_rows(bible))

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return a moment, and the words that say so."""
        from lrwr.core.bible.phrases import format_chapter_name

        moment = bible.timeline[number]
        yield StyledLine((StyledText(format_chapter_name(moment.evidence), "strong"),))
        yield from render_moment(moment)


def _rows(bible: "Bible") -> Iterator[ListRow]:
    from lrwr.core.bible.phrases import format_chapter_name

    forms = {
        one.name: tuple(form.name for form in one.aliases) for one in bible.characters
    }
    moments = enumerate(bible.timeline)
    for chapter, told in groupby(
        moments, lambda one: format_chapter_name(one[1].evidence)
    ):
        yield ListRow("", chapter, heading=True)
        for number, moment in told:
            also = [form for who in moment.characters for form in forms.get(who, ())]
            who = ", ".join(moment.characters)
            yield ListRow(str(number), shorten_excerpt(moment.text), who, tuple(also))
