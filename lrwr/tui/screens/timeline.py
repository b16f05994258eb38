"""What happens, in story order."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from lrwr.app.presenters.story import moment_lines
from lrwr.app.presenters.text import Line, Styled, excerpt
from lrwr.tui.rows import Row
from lrwr.tui.screens.story_reader import StoryScreen

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible
    from lrwr.tui.screens.chat import RoomScreen


class TimelineScreen(StoryScreen):
    """Moments under their chapters; what is typed may be a character's name."""

    DEFAULT_CSS: ClassVar[str] = """
    TimelineScreen.-beside #paired-rows { width: 56%; }
    """
    NOTHING: ClassVar[str] = "Nothing is known to happen"
    BY_MODELS: ClassVar[str] = "What else happens"

    def __init__(self, room: "RoomScreen", words: str = "") -> None:
        super().__init__(room, "What happens", words=words)
        self.hint = "type a name, or words of what happens …"

    def rows_of(self, bible: "Bible") -> Sequence[Row]:
        """Return a row for each moment, under its chapter."""
        return list(_rows(bible))

    def lines_of(self, number: int, bible: "Bible") -> Iterable[Line]:
        """Return a moment, and the words that say so."""
        from lrwr.core.bible.phrases import name_of_chapter

        moment = bible.timeline[number]
        yield Line((Styled(name_of_chapter(moment.evidence), "strong"),))
        yield from moment_lines(moment)


def _rows(bible: "Bible") -> Iterator[Row]:
    from lrwr.core.bible.phrases import name_of_chapter

    forms = {
        one.name: tuple(form.name for form in one.aliases) for one in bible.characters
    }
    moments = enumerate(bible.timeline)
    for chapter, told in groupby(moments, lambda one: name_of_chapter(one[1].evidence)):
        yield Row("", chapter, heading=True)
        for number, moment in told:
            also = [form for who in moment.characters for form in forms.get(who, ())]
            who = ", ".join(moment.characters)
            yield Row(str(number), excerpt(moment.text), who, tuple(also))
