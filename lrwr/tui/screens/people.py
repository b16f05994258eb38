"""The screen of characters: profiles, who is where, and whose names belong together."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.widgets import Input, Static

from lrwr.app.presenters.story import (
    describe_all_present,
    format_mention_count,
    format_scene_point,
    render_character,
    render_neighbors,
)
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    sanitize_text,
    styled_line,
)
from lrwr.core.bible.service import list_absent_characters, list_present_characters
from lrwr.core.bible.story_graph import (
    Neighbor,
    StoryGraph,
    build_story_graph,
    character_node_id,
    find_neighbors,
)
from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    SceneSummary,
    find_last_scenes,
)
from lrwr.core.canon.decision import (
    Decision,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    format_decision,
)
from lrwr.tui.actions.screen_keys import PEOPLE_ACTIONS
from lrwr.tui.queries.story import record_decision
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.decisions import DecisionScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.master_detail import locate_line
from lrwr.tui.screens.scope import CharactersScreen
from lrwr.tui.screens.story import StoryScreen
from lrwr.tui.widgets.lists import ListRow, RowList

APPLIED_LATER = "It takes effect with the next reading (Alt+L in the chat)."
"""When a decision about names is applied."""

_SINCE = re.compile(
    r"(?:absent |not |gone )?since (?:ch|chapter )(\d{1,4})", re.IGNORECASE
)
"""What the user types to see who does not appear after a chapter."""


_IN_CHAPTER = re.compile(r"(?:in )?(?:ch|chapter )(\d{1,4})", re.IGNORECASE)
"""What the user types to see who is in a chapter."""


class PeopleScreen(StoryScreen, DecisionScreen):
    """Lists all characters, most mentioned first, with profiles and connections.

    Two of them can be merged, a name can be split from its character, and the main name
    of a character can be changed.
    """

    FOCUS_FILTER: ClassVar[bool] = True
    RANKED: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in PEOPLE_ACTIONS),
    ]
    EMPTY_STATEMENT: ClassVar[str] = "No characters found"

    def __init__(self, room: RoomScreen, words: str = "") -> None:
        super().__init__(room, "Characters", words=words)
        self._graph: StoryGraph | None = None
        self.hint = (
            "Type a name, ch4 for who is in it, or since ch4 for who is not after it…"
        )

    def find(self, extra: Sequence[ListRow] = (), *, at: str = "") -> None:
        """Show the characters that match the filter.

        For "ch4" they are those in that chapter; for "since ch4", those absent since.
        """
        text, bible = self.query_one(Input).value.strip(), self.bible
        self.query_one("#master-detail-title", Static).update(
            sanitize_text(f"{self._title}{_describe_filter(text)}")
        )
        if bible is not None and (match := _IN_CHAPTER.fullmatch(text)):
            chapter = int(match[1])
            present = list_present_characters(bible, chapter)
            self._show_only(present, at, f"Nobody was found in chapter {chapter}.")
        elif bible is not None and (match := _SINCE.fullmatch(text)):
            chapter = int(match[1])
            absent = list_absent_characters(bible, chapter)
            self._show_only(absent, at, f"{describe_all_present(chapter)}.")
        else:
            super().find(extra, at=at)

    def _show_only(
        self, characters: Sequence[CharacterProfile], at: str, otherwise: str
    ) -> None:
        names = {profile.name for profile in characters}
        rows = [row for row in self.rows_of(self.bible or Bible()) if row.name in names]
        self.query_one(RowList).show(rows, at=at or self.key)
        if not rows:
            self.show_no_match(otherwise)

    def rows_of(self, bible: "Bible") -> Sequence[ListRow]:
        """Return a row for each character of `bible`, most mentioned first."""
        last_scenes = find_last_scenes(bible)
        return [
            ListRow(
                str(number),
                profile.name,
                ", ".join(
                    (
                        format_mention_count(profile),
                        *_describe_last_scene(last_scenes.get(profile.name)),
                        *(
                            form.name
                            for form in profile.aliases
                            if form.name != profile.name
                        ),
                    )
                ),
                (
                    *(form.name for form in profile.aliases),
                    *(claim.value for claim in profile.also_called),
                ),
            )
            for number, profile in enumerate(bible.characters)
        ]

    def lines_of(self, number: int, bible: "Bible") -> Iterable[StyledLine]:
        """Return the profile of character `number`, from 0: facts and quotations."""
        return render_character(bible.characters[number], bible)

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the profile of a character, then who and what it is connected with."""
        profile_lines, bible = await super().lines(key), self.bible
        if bible is None:
            return profile_lines
        name = bible.characters[int(key)].name
        neighbors = await asyncio.to_thread(self._find_neighbors, bible, name)
        connections = map(_locate_connection, neighbors, render_neighbors(neighbors))
        heading = [styled_line(StyledText("Connected with:", "strong"))]
        return [*profile_lines, *(heading if neighbors else ()), *connections]

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_merge(self) -> None:
        """Choose who is the same character as the highlighted one."""
        if (profile := self._highlighted_profile) is None:
            return
        chooser = CharactersScreen(
            self.room, f"Merge {profile.name} with…", besides=profile.name
        )
        chosen = await self.app.push_screen_wait(chooser)
        if chosen is not None:
            names = (profile.name, chosen.name)
            mentions = {c.name: c.mentions for c in self._characters}
            main = max(names, key=lambda name: mentions.get(name, 0))
            await self._record(NamesMerged(names, main))

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_split(self) -> None:
        """Ask which name of the highlighted character belongs to somebody else."""
        if (profile := self._highlighted_profile) is None:
            return
        others = [form.name for form in profile.aliases if form.name != profile.name]
        if not others:
            self.tell(f"{profile.name} has one name only.", good=False)
            return
        line = TextInputScreen(
            f"Which of these names is not {profile.name}? {', '.join(others)}",
            value=others[0],
            is_selected=True,
            note=f"It becomes a character of its own. {APPLIED_LATER}",
        )
        name = await self.app.push_screen_wait(line)
        if name:
            await self._record(NamesSplit(profile.name, name))

    @work(exclusive=True, group="choose", exit_on_error=False)
    async def action_rename(self) -> None:
        """Ask for the main name of the highlighted character."""
        if (profile := self._highlighted_profile) is None:
            return
        line = TextInputScreen(
            f"By what name is {profile.name} listed?",
            value=profile.name,
            is_selected=True,
            note=f"The text is not changed. {APPLIED_LATER}",
        )
        name = await self.app.push_screen_wait(line)
        if name and name != profile.name:
            await self._record(NameRenamed(profile.name, name))

    async def _record(self, decision: Decision) -> None:
        run = self.room.room.service_thread.run
        stored = await self.run_guarded(run(lambda w: record_decision(w, decision)))
        if stored is not None:
            text = f"{format_decision(decision)} {APPLIED_LATER} F4 undoes it."
            self.add_decision(decision, text)

    @property
    def _characters(self) -> Sequence[CharacterProfile]:
        return self.bible.characters if self.bible else ()

    @property
    def _highlighted_profile(self) -> CharacterProfile | None:
        return self._characters[int(self.key)] if self.key else None

    def _find_neighbors(self, bible: Bible, name: str) -> list[Neighbor]:
        if self._graph is None:
            self._graph = build_story_graph(bible)
        return find_neighbors(self._graph, character_node_id(name), 1)


def _describe_filter(text: str) -> str:
    """Return what the list shows because of the filter `text`, after a comma; or ""."""
    if match := _IN_CHAPTER.fullmatch(text):
        return f", in chapter {match[1]}"
    if match := _SINCE.fullmatch(text):
        return f", not after chapter {match[1]}"
    return f", “{text}”" if text else ""


def _locate_connection(neighbor: Neighbor, line: StyledLine) -> StyledLine:
    """Return a line that Enter opens where the text states the connection."""
    document, _, lines = neighbor.edge.place.rpartition(":")
    first = lines.partition("-")[0]
    line = replace(line, indent=2)
    return locate_line(line, document, int(first)) if first.isdecimal() else line


def _describe_last_scene(scene: SceneSummary | None) -> tuple[str, ...]:
    return (f"last {format_scene_point(scene)}",) if scene else ()
