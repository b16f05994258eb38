"""Screens that show the story bible: characters, world and timeline."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from lrwr.app.presenters.story import (
    UNKNOWN_SPEAKER,
    describe_element,
    describe_not_evaluated,
    describe_nothing_known,
    explain_model_setup,
    render_element,
    render_moment,
    render_quotes,
    render_recap,
    render_relations,
)
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_horizon,
    shorten_chapter_names,
    shorten_excerpt,
)
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    format_chapter_name,
    format_relation,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import format_chapter_title
from lrwr.tui.actions.screen_keys import OPEN_ROW_ACTION
from lrwr.tui.queries.story import load_story
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.widgets.lists import ListRow, RowList

_POINT = re.compile(r"(?:vol\d+\.)?ch\d+(?::s\d+)?", re.IGNORECASE)
"""A point of the story, as `--as-of` takes it."""


STILL_READ = "The manuscript is still being read; the list is updated when it is done."
"""Why a list is empty while an ingestion runs in the background."""


class StoryScreen(MasterDetailScreen[None]):
    """Base class of screens that show one list of the story bible up to the horizon.

    A row's key is the index of its item in that list, from 0, as text. `words` fill the
    filter. `as_of` is a horizon for this screen; empty for that of the chat.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
    ]
    EMPTY_STATEMENT: ClassVar[str] = ""
    """Start of the sentence shown if the list is empty."""

    MODEL_ONLY_TOPIC: ClassVar[str] = ""
    """What only a language model finds, for the note under the list; may be empty."""

    def __init__(
        self, room: RoomScreen, title: str, *, words: str = "", as_of: str = ""
    ) -> None:
        self._as_of = as_of or room.scope.as_of
        until = f", up to {format_horizon(self._as_of)}" if self._as_of else ""
        super().__init__(room, f"{title}{until}", words=words)
        self.bible: Bible | None = None

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return the rows for the screen's list of `bible`, in the order of display."""
        del bible
        return ()

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return the details of item `number`, from 0, of the list in `bible`."""
        del number, bible
        return ()

    async def rows(self) -> Sequence[ListRow]:
        """Load the story bible up to the horizon, and return its rows from `rows_of`.

        Raises:
            NotFound: No manuscript was ingested and none is being read, or the horizon
                does not exist.
        """
        as_of, room = self._as_of, self.room.room
        try:
            bible = await room.service_thread.run(
                lambda workspace: load_story(workspace, as_of)
            )
        except NotFound:
            if as_of or not self.room.ingestion.is_running:
                raise
            bible = Bible()
        self.bible = bible
        remedy = explain_model_setup(bible, room.settings)
        if self.room.ingestion.is_running:
            remedy = STILL_READ
        self.nothing = describe_nothing_known(
            self.EMPTY_STATEMENT, as_of or None, remedy
        )
        if self.MODEL_ONLY_TOPIC:
            self.set_note(describe_not_evaluated(bible, self.MODEL_ONLY_TOPIC))
        return self.rows_of(bible)

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the details of the row with the key `key`."""
        return () if self.bible is None else self.lines_of(int(key), self.bible)


class WorldScreen(StoryScreen):
    """Lists elements of the story's world, in the order of their first occurrence.

    World elements are settings, objects, groups, rules and the like.
    """

    RANKED: ClassVar[bool] = True
    EMPTY_STATEMENT: ClassVar[str] = "No world elements found"
    MODEL_ONLY_TOPIC: ClassVar[str] = "Other technology, factions, artifacts and rules"

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "World", words=words)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each world element, most mentioned first."""
        return [
            ListRow(str(number), element.name, describe_element(element))
            for number, element in enumerate(bible.world)
        ]

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return the facts about world element `number`, from 0, with quotations."""
        return render_element(bible.world[number])


class TimelineScreen(StoryScreen):
    """Lists events in story order under chapter headings.

    The filter also matches the names and aliases of characters in an event.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TimelineScreen.-beside #master-detail-rows { width: 56%; }
    """
    EMPTY_STATEMENT: ClassVar[str] = "No events found"
    MODEL_ONLY_TOPIC: ClassVar[str] = "Other events"

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Timeline", words=words)
        self.hint = "Type a character's name, a chapter (ch3) or words of an event…"

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each event in story order, under chapter headings."""
        return _group_rows(_name_rows(bible))

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return event `number`, from 0, with its chapter and quotation."""
        moment = bible.timeline[number]
        yield StyledLine((StyledText(format_chapter_name(moment.evidence), "strong"),))
        yield from render_moment(moment)


class RelationsScreen(StoryScreen):
    """Lists relationships of characters, stated or derived."""

    DEFAULT_CSS: ClassVar[str] = """
    RelationsScreen.-beside #master-detail-rows { width: 50%; }
    """
    EMPTY_STATEMENT: ClassVar[str] = "No relationships found"
    MODEL_ONLY_TOPIC: ClassVar[str] = "Whether characters are allies or opponents"

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Relations", words=words)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each relationship, in story order."""
        return [
            ListRow(str(number), *format_relation(relation))
            for number, relation in enumerate(bible.relations)
        ]

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return relationship `number`, from 0, with its quotations."""
        return render_relations([bible.relations[number]], shown=None)


_SAID_TO = re.compile(r"(.+?) to (.+?)(?: ch(?:apter )?(\d+))?", re.IGNORECASE)
"""What the user types to see what one character says to another, in a chapter."""


class QuotesScreen(StoryScreen):
    """Lists quoted dialogue with its speakers under chapter headings."""

    DEFAULT_CSS: ClassVar[str] = """
    QuotesScreen.-beside #master-detail-rows { width: 56%; }
    """
    EMPTY_STATEMENT: ClassVar[str] = "No dialogue found"
    NAMES_FIRST: ClassVar[bool] = True

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Quotes", words=words)
        self.hint = "Type a speaker, nell to hob, a chapter (ch3) or words…"

    def find(self, extra: Sequence[ListRow] = (), *, at: str = "") -> None:
        """Show the utterances that match; for "Nell to Hob", what she says to him."""
        match = _SAID_TO.fullmatch(" ".join(self.query_one(Input).value.split()))
        rows = self._list_said_to(*match.groups()) if match else ()
        if rows:
            self.query_one(RowList).show(rows, at=at or self.key)
        else:
            super().find(extra, at=at)

    def _list_said_to(
        self, speaker: str, addressee: str, chapter: str | None
    ) -> Sequence[ListRow]:
        names = speaker.casefold(), addressee.casefold()
        return _list_quotes(
            self.bible or Bible(),
            lambda quote: (
                names[0] in quote.speaker.casefold()
                and names[1] in quote.addressee.casefold()
                and (chapter is None or quote.evidence.chapter == int(chapter))
            ),
        )

    def select(self, key: str) -> None:
        """Open the file at the utterance with the key `key`."""
        evidence = (self.bible or Bible()).quotes[int(key)].evidence
        self._open(evidence.document, evidence.lines.first)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each utterance, in story order."""
        return _list_quotes(bible)

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return utterance `number`, from 0: speaker, addressee, location and words."""
        return render_quotes([bible.quotes[number]])


class RecapScreen(StoryScreen):
    """Lists the scenes of the story with their summaries or key sentences.

    `words` fill the filter, or are the point where the recap ends, such as "ch5".
    """

    EMPTY_STATEMENT: ClassVar[str] = "No scenes found"
    MODEL_ONLY_TOPIC: ClassVar[str] = "Scene summaries"

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        is_point = _POINT.fullmatch(words.strip()) is not None
        as_of, words = (words.strip(), "") if is_point else ("", words)
        super().__init__(room, "Recap", words=words, as_of=as_of)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each scene, in story order."""
        return _group_rows(
            (
                _name_chapter(scene.chapter, scene.chapter_title),
                ListRow(
                    str(number),
                    f"scene {scene.scene}",
                    ", ".join(scene.present),
                    _name_point(scene.chapter),
                ),
            )
            for number, scene in enumerate(bible.scenes)
        )

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return the summary of scene `number`, from 0."""
        return render_recap([bible.scenes[number]])


def _list_quotes(
    bible: Bible, keep: Callable[[AttributedQuote], bool] | None = None
) -> list[ListRow]:
    """Return a row for each utterance, or each that `keep` is true for, by chapter."""
    return _group_rows(
        (
            format_chapter_name(quote.evidence),
            ListRow(
                str(number),
                quote.speaker or UNKNOWN_SPEAKER,
                f"“{shorten_excerpt(quote.evidence.text)}”",
                _name_point(quote.evidence.chapter),
            ),
        )
        for number, quote in enumerate(bible.quotes)
        if keep is None or keep(quote)
    )


def _name_point(chapter: int | None) -> tuple[str, ...]:
    """Return how the user may type a chapter; empty outside the story."""
    return (f"ch{chapter}", f"chapter {chapter}") if chapter else ()


def _name_chapter(number: int, title: str) -> str:
    name = f"Chapter {number}" if number else "Before chapter 1"
    return f"{name}{format_chapter_title(number, title)}"


def _group_rows(named_rows: Iterable[tuple[str, ListRow]]) -> list[ListRow]:
    """Return the rows, each group of the same name under a heading.

    The beginning that the names of neighbouring chapters share is left out.
    """
    groups = [
        (name, [row for _, row in group])
        for name, group in groupby(named_rows, lambda named_row: named_row[0])
    ]
    headings = shorten_chapter_names([name for name, _ in groups])
    rows: list[ListRow] = []
    for heading, (_, group) in zip(headings, groups, strict=True):
        rows += [ListRow("", heading, heading=True), *group]
    return rows


def _name_rows(bible: "Bible") -> Iterator[tuple[str, ListRow]]:
    """Yield a row for each event, with the name of its chapter."""
    forms = {
        character.name: tuple(form.name for form in character.aliases)
        for character in bible.characters
    }
    for number, moment in enumerate(bible.timeline):
        also = [
            form for character in moment.characters for form in forms.get(character, ())
        ]
        people = ", ".join(moment.characters)
        terms = *also, *_name_point(moment.evidence.chapter)
        row = ListRow(str(number), shorten_excerpt(moment.text), people, terms)
        yield format_chapter_name(moment.evidence), row
