"""Whom the writer talks about, or with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import character_lines, times_mentioned
from lrwr.app.presenters.text import Line, Styled
from lrwr.tui.actions.table import CHARACTERS
from lrwr.tui.queries.story import story_as_of
from lrwr.tui.rows import Row
from lrwr.tui.screens.master_detail import Paired

if TYPE_CHECKING:
    from lrwr.core.bible.values import Bible, CharacterProfile
    from lrwr.tui.screens.chat import RoomScreen

NOBODY = "nobody"
"""What the writer says for no character at all, and the list's first row."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whom the writer chose, nobody for an empty name; `talk` says to talk with them."""

    name: str
    talk: bool


class CharactersScreen(Paired[Chosen | None]):
    """A list of everybody, with a card beside it."""

    RANKED: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in CHARACTERS),
    ]

    def __init__(self, room: "RoomScreen", title: str) -> None:
        super().__init__(room, title)
        self._bible: Bible | None = None

    async def rows(self) -> Sequence[Row]:
        """Return nobody, then everybody who is known so far."""
        sitting = self.room.sitting
        self._bible = await self.room.room.stage.do(
            lambda lent: story_as_of(lent, sitting.as_of)
        )
        chosen = sitting.character
        marked = (_row(one, chosen=chosen) for one in self._bible.characters)
        return [Row(NOBODY, NOBODY, "the whole cast"), *marked]

    async def lines(self, key: str) -> Iterable[Line]:
        """Return the card of a character."""
        if self._bible is None or key == NOBODY:
            told = "No character is chosen: the analyst answers about everybody."
            return [Line((Styled(NOBODY, "strong"),)), Line((told,), 2)]
        name = key.removeprefix(_SOMEBODY)
        found = next(one for one in self._bible.characters if one.name == name)
        return character_lines(found, self._bible)

    def choose(self, key: str) -> None:
        """Choose, and leave it open who answers."""
        self.dismiss(Chosen(_name(key), talk=False))

    def action_talk(self) -> None:
        """Choose, and have them answer."""
        if self.key and self.key != NOBODY:
            self.dismiss(Chosen(_name(self.key), talk=True))


_SOMEBODY = "="
"""Stands before a name in a row's key: somebody may be called Nobody."""


def _name(key: str) -> str:
    return key.removeprefix(_SOMEBODY) if key.startswith(_SOMEBODY) else ""


def _row(profile: "CharacterProfile", *, chosen: str) -> Row:
    names = tuple(form.name for form in profile.aliases if form.name != profile.name)
    also = (*names, *(claim.value for claim in profile.also_called))
    here = "chosen, " if profile.name == chosen else ""
    aside = ", ".join((f"{here}{times_mentioned(profile)}", *names))
    return Row(f"{_SOMEBODY}{profile.name}", profile.name, aside, also)
