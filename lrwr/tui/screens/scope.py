"""Screens that choose the horizon and the character of the chat."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from lrwr.app.presenters.story import format_mention_count, render_character
from lrwr.app.presenters.text import StyledLine, StyledText, shorten_titles
from lrwr.core.bible.values import Bible, CharacterProfile
from lrwr.tui.actions.screen_keys import CHARACTER_CHOICE_ACTIONS
from lrwr.tui.queries.story import HorizonStop, list_horizon_stops, load_story
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import CURRENT_MARK, MasterDetailScreen
from lrwr.tui.widgets.lists import ListRow

WHOLE_STORY = "the whole story"
"""The first row of the list: no horizon."""


class HorizonScreen(MasterDetailScreen[str | None]):
    """Lists chapters and scenes up to which the story can be used.

    The result is the chosen horizon, such as "ch3"; empty for the whole story; None if
    the user cancels.
    """

    DEFAULT_CSS: ClassVar[str] = """
    HorizonScreen.-beside #master-detail-rows { width: 58%; }
    """

    def __init__(self, room: RoomScreen) -> None:
        super().__init__(room, "Use the story up to…")
        self._stops: dict[str, HorizonStop] = {}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key works: all but that of the reader, as nothing has a place."""
        del parameters
        return action != "read"

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for the whole story, then chapters and scenes in story order.

        Raises:
            NotFound: No manuscript was ingested.
        """
        as_of = self.room.scope.as_of
        stops = await self.room.room.service_thread.run(
            lambda workspace: list_horizon_stops(workspace, as_of)
        )
        self._stops = {_key(stop): stop for stop in stops}
        marker = "" if as_of else CURRENT_MARK
        return [ListRow(WHOLE_STORY, f"{marker}{WHOLE_STORY}"), *_stop_rows(stops)]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return title and effect of the horizon in the row with the key `key`."""
        return _render_stop(self._stops.get(key))

    def first(self) -> str:
        """Return the key of the current horizon's row, which may be the whole story."""
        return next(
            (key for key, stop in self._stops.items() if stop.present), WHOLE_STORY
        )

    def select(self, key: str) -> None:
        """Close the screen; the horizon with the key `key` is the result."""
        stop = self._stops.get(key)
        self.dismiss(stop.as_of if stop else "")


def _key(stop: HorizonStop) -> str:
    return f"={stop.as_of}"


def _stop_rows(stops: Sequence[HorizonStop]) -> list[ListRow]:
    chapters = [stop for stop in stops if not stop.scene]
    titles = shorten_titles([stop.title for stop in chapters])
    shown = dict(zip(map(_key, chapters), titles, strict=True))
    return [_stop_row(stop, shown.get(_key(stop), "")) for stop in stops]


def _stop_row(stop: HorizonStop, title: str) -> ListRow:
    marker = CURRENT_MARK if stop.present else ""
    key = _key(stop)
    if stop.scene:
        name = f"{marker}scene {stop.scene}"
        return ListRow(key, name, stop.begins, (stop.as_of,), depth=2)
    return ListRow(key, f"{marker}{_name_of(stop)}", title, (stop.as_of, stop.title))


def _name_of(stop: HorizonStop) -> str:
    if stop.chapter == 0:
        return "before chapter 1"
    opens = not stop.as_of.startswith("ch")
    return f"start of chapter {stop.chapter}" if opens else f"chapter {stop.chapter}"


def _render_stop(stop: HorizonStop | None) -> Iterator[StyledLine]:
    if stop is None:
        yield StyledLine((StyledText(WHOLE_STORY, "strong"),))
        yield StyledLine(("Answers use the whole manuscript, including notes.",), 2)
        return
    heading = f"{_name_of(stop)}{f', scene {stop.scene}' if stop.scene else ''}"
    yield StyledLine(
        (StyledText(heading, "strong"), StyledText(f"  {stop.as_of}", "place"))
    )
    if stop.title or stop.begins:
        yield StyledLine((f"“{stop.title or stop.begins}”",), 2)
    yield StyledLine(
        ("Answers use only the story up to the end of this part, and no notes.",), 2
    )


EVERYONE = "(everyone)"
"""The first row of the list: no character is selected."""


@dataclass(frozen=True, slots=True)
class CharacterChoice:
    """The character that the user chose; `name` is empty for everyone.

    With `talk`, the character answers from now on; without, the answer mode is
    unchanged.
    """

    name: str
    talk: bool


class CharactersScreen(MasterDetailScreen[CharacterChoice | None]):
    """Lists the characters to choose from, with their profiles.

    The result is the user's choice; None if the user cancels. With `besides`, the name
    of a character, that one and "(everyone)" are not listed, and nobody talks.
    """

    DEFAULT_CSS: ClassVar[str] = """
    CharactersScreen.-beside #master-detail-rows { width: 46%; }
    """
    RANKED: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in CHARACTER_CHOICE_ACTIONS),
    ]

    def __init__(
        self, room: RoomScreen, title: str = "Choose a character", *, besides: str = ""
    ) -> None:
        super().__init__(room, title)
        self._besides = besides
        self._bible: Bible | None = None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key works: that of `action_talk` only in the chat's choice."""
        if action == "talk" and self._besides:
            return False
        return super().check_action(action, parameters)

    async def rows(self) -> Sequence[ListRow]:
        """Return a row "(everyone)", then the characters up to the horizon.

        Characters mentioned most come first.

        Raises:
            NotFound: No manuscript was ingested, or the horizon does not exist.
        """
        scope = self.room.scope
        self._bible = await self.room.room.service_thread.run(
            lambda workspace: load_story(workspace, scope.as_of)
        )
        chosen = scope.character
        marked = [
            _character_row(character, chosen=chosen)
            for character in self._bible.characters
            if character.name != self._besides
        ]
        if self._besides:
            return marked
        return [
            ListRow(EVERYONE, EVERYONE, search_terms=("everyone", "nobody", "none")),
            *marked,
        ]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the profile of the character in the row with the key `key`.

        For "(everyone)", a sentence about its effect.
        """
        if self._bible is None or key == EVERYONE:
            explanation = "The analyst answers, about all characters."
            return [
                StyledLine((StyledText(EVERYONE, "strong"),)),
                StyledLine((explanation,), 2),
            ]
        name = key.removeprefix(_NAME_KEY_PREFIX)
        profile = next(
            character for character in self._bible.characters if character.name == name
        )
        return render_character(profile, self._bible)

    def select(self, key: str) -> None:
        """Close with the character in the row with the key `key`.

        The answer mode is not changed.
        """
        self.dismiss(CharacterChoice(_name(key), talk=False))

    def action_talk(self) -> None:
        """Close with the highlighted character, who will also answer.

        Nothing happens if "(everyone)" is highlighted.
        """
        if self.key and self.key != EVERYONE:
            self.dismiss(CharacterChoice(_name(self.key), talk=True))


_NAME_KEY_PREFIX = "="
"""Prefix of row keys with a name, so that no name equals `EVERYONE`."""


def _name(key: str) -> str:
    return (
        key.removeprefix(_NAME_KEY_PREFIX) if key.startswith(_NAME_KEY_PREFIX) else ""
    )


def _character_row(profile: CharacterProfile, *, chosen: str) -> ListRow:
    names = tuple(form.name for form in profile.aliases if form.name != profile.name)
    also = (*names, *(claim.value for claim in profile.also_called))
    marker = CURRENT_MARK if profile.name == chosen else ""
    aside = ", ".join((format_mention_count(profile), *names))
    key, name = f"{_NAME_KEY_PREFIX}{profile.name}", f"{marker}{profile.name}"
    return ListRow(key, name, aside, (profile.name, *also))
