"""How far the story has come."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import format_mention_count, render_character
from lrwr.app.presenters.text import StyledLine, StyledText
from lrwr.core.bible.values import Bible, CharacterProfile
from lrwr.tui.actions.table import CHARACTER_ACTIONS
from lrwr.tui.queries.story import HorizonStop, list_horizon_stops, load_story
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.widgets.lists import ListRow

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
            _characters_row(character, chosen=chosen)
            for character in self._bible.characters
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


def _characters_row(profile: CharacterProfile, *, chosen: str) -> ListRow:
    names = tuple(form.name for form in profile.aliases if form.name != profile.name)
    also = (*names, *(claim.value for claim in profile.also_called))
    marker = "chosen, " if profile.name == chosen else ""
    aside = ", ".join((f"{marker}{format_mention_count(profile)}", *names))
    return ListRow(f"{_SOMEBODY}{profile.name}", profile.name, aside, also)
