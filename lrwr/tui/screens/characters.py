"""Whom the writer talks about, or with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import format_mention_count, render_character
from lrwr.app.presenters.text import StyledLine, StyledText
from lrwr.core.bible.values import Bible, CharacterProfile
from lrwr.tui.actions.table import CHARACTER_ACTIONS
from lrwr.tui.queries.story import load_story
from lrwr.tui.room import RoomScreen
from lrwr.tui.rows import ListRow
from lrwr.tui.screens.master_detail import MasterDetailScreen

NOBODY = "nobody"
"""What the writer says for no character at all, and the list's first row."""


@dataclass(frozen=True, slots=True)
class CharacterChoice:
    """Whom the writer chose, nobody for an empty name; `talk` says to talk with them."""

    name: str
    talk: bool


class CharactersScreen(MasterDetailScreen[CharacterChoice | None]):
    """A list of everybody, with a card beside it."""

    RANKED: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in CHARACTER_ACTIONS),
    ]

    def __init__(self, room: RoomScreen, title: str) -> None:
        super().__init__(room, title)
        self._bible: Bible | None = None

    async def rows(self) -> Sequence[ListRow]:
        """Return nobody, then everybody who is known so far."""
        scope = self.room.scope
        self._bible = await self.room.room.service_thread.run(
            lambda workspace: load_story(workspace, scope.as_of)
        )
        chosen = scope.character
        marked = (
            _row(character, chosen=chosen) for character in self._bible.characters
        )
        return [ListRow(NOBODY, NOBODY, "the whole cast"), *marked]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the card of a character."""
        if self._bible is None or key == NOBODY:
            explanation = "No character is chosen: the analyst answers about everybody."
            return [
                StyledLine((StyledText(NOBODY, "strong"),)),
                StyledLine((explanation,), 2),
            ]
        name = key.removeprefix(_SOMEBODY)
        profile = next(
            character for character in self._bible.characters if character.name == name
        )
        return render_character(profile, self._bible)

    def select(self, key: str) -> None:
        """Choose, and leave it open who answers."""
        self.dismiss(CharacterChoice(_name(key), talk=False))

    def action_talk(self) -> None:
        """Choose, and have them answer."""
        if self.key and self.key != NOBODY:
            self.dismiss(CharacterChoice(_name(self.key), talk=True))


_SOMEBODY = "="
"""Stands before a name in a row's key: somebody may be called Nobody."""


def _name(key: str) -> str:
    return key.removeprefix(_SOMEBODY) if key.startswith(_SOMEBODY) else ""


def _row(profile: CharacterProfile, *, chosen: str) -> ListRow:
    names = tuple(form.name for form in profile.aliases if form.name != profile.name)
    also = (*names, *(claim.value for claim in profile.also_called))
    marker = "chosen, " if profile.name == chosen else ""
    aside = ", ".join((f"{marker}{format_mention_count(profile)}", *names))
    return ListRow(f"{_SOMEBODY}{profile.name}", profile.name, aside, also)
