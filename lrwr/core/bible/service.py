"""Reads stored story data and builds the story bible up to a horizon."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import sha256

from lrwr.core.bible.horizon import normalize_character_name
from lrwr.core.bible.index import (
    BibleIndex,
    BibleParts,
    list_part_documents,
    project_bible_parts,
    select_part_facts,
)
from lrwr.core.bible.index_builder import INDEXED_FACTS, build_bible_index
from lrwr.core.bible.profiles import extract_visible_cast
from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    CharacterProfile,
    TimelineMoment,
    WorldElement,
    find_last_scenes,
)
from lrwr.core.bible.world import select_possible_elements
from lrwr.core.canon.model import Canon
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.codec import InvalidData, decode_checked_json, encode_json
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.facts import FactAbout, list_reader_models
from lrwr.core.model.turns import GapFlag
from lrwr.core.nlp.names.lookup import match_written_name, suggest_names
from lrwr.core.ports.stores import DocumentText, PassageStore
from lrwr.core.ports.story_stores import BiblePartStore, DocumentFact, StoryStore
from lrwr.core.ports.threads import RecordedGap
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_story_order,
    is_at_or_before_horizon,
    parse_horizon,
)

_TOLD = frozenset(FactAbout) - {FactAbout.PASSAGE}
"""Facts that the bible uses; those about passages are many, and used for search only."""


_INDEX_FORMAT = 9
"""Raise it when the same library gives another `BibleIndex`."""


@dataclass(frozen=True, slots=True)
class _IndexedNames:
    index: BibleIndex
    names: Bible


@dataclass(slots=True)
class _LibraryState:
    """What is the same for all questions until the library or the canon changes, which
    `key` identifies: the story order and the index of each horizon.
    """

    key: str
    canon: Canon
    order: StoryOrder
    indexes: dict[Horizon | None, _IndexedNames] = field(default_factory=dict)


class BibleService:
    """Read access to the story bible of a library; calls may run concurrently.

    `parts` reads what one question needs, and stores the index of the whole story.
    `patterns` is the setting `[manuscript] order`. `canon` loads the user's decisions,
    `flagged_gaps` the gaps found while answering questions; both are called for each read.
    """

    def __init__(
        self,
        *,
        stories: StoryStore,
        passages: PassageStore,
        parts: BiblePartStore,
        patterns: Sequence[str],
        canon: Callable[[], Canon],
        flagged_gaps: Callable[[], Awaitable[Sequence[RecordedGap]]],
    ) -> None:
        self._stories = stories
        self._passages = passages
        self._parts = parts
        self._state: _LibraryState | None = None
        self._patterns = patterns
        self._canon = canon
        self._flagged_gaps = flagged_gaps

    async def horizon(self, text: str) -> Horizon:
        """Return the horizon for a chapter, scene or file that the user types, such as
        `ch12:s2`; see `parse_horizon`.

        Raises:
            NotFound: There is no such chapter, scene or file.
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        return parse_horizon(text, await self.story_order())

    async def story_order(self) -> StoryOrder:
        """Return the library's documents in story order, with the user's decisions
        applied. It is read again only if the library or the canon has changed.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        return (await self._read_state()).order

    async def read(self, horizon: Horizon | None = None) -> Bible:
        """Return the story bible up to `horizon`; None is the whole story.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        knowledge = await self.knowledge(horizon)
        counts = await self._passages.counts(Pipeline.AGENTIC)
        bible = project_bible(knowledge, horizon)
        return replace(bible, unread=not counts.documents, waiting=counts.waiting)

    async def knowledge(self, horizon: Horizon | None = None) -> StoryKnowledge:
        """Return all stored data of the story; only gaps found while answering
        questions are limited to `horizon`.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        order = await self._order(canon)
        return StoryKnowledge(
            order=order,
            texts=await self._texts(order),
            cast=await self._stories.cast(),
            first_seen=tuple(await self._stories.first_seen()),
            facts=tuple(await self._stories.facts(_TOLD)),
            quotations=tuple(await self._stories.quotations()),
            appearances=tuple(await self._stories.appearances()),
            canon=canon,
            flagged_gaps=await self._read_flagged_gaps(horizon, order),
        )

    async def names(self, horizon: Horizon | None = None) -> Bible:
        """Return the names of the story bible up to `horizon`: characters and world
        elements without anything else about them; see `BibleIndex.names`.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        state = await self._read_state()
        return (await self._index(state, horizon)).names

    async def read_parts(
        self, parts: BibleParts, horizon: Horizon | None = None
    ) -> Bible:
        """Return the story bible up to `horizon` with `parts` of it, each equal to that
        of `read`. Only what the parts consist of is read.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        state = await self._read_state()
        indexed = await self._index(state, horizon)
        index = indexed.index
        knowledge = StoryKnowledge(
            order=state.order,
            # Up to a horizon, names are visible only if the text has them.
            texts=await self._texts(state.order) if horizon else {},
            cast=await self._stories.cast(),
            facts=tuple(await self._read_part_facts(parts, index)),
            canon=state.canon,
            flagged_gaps=await self._read_flagged_gaps(horizon, state.order),
        )
        knowledge = await self._add_part_rows(knowledge, index, parts, horizon)
        if horizon is None:
            part_documents = list_part_documents(knowledge, index, parts)
            texts = await self._passages.texts(part_documents)
            knowledge = replace(knowledge, texts=texts)
        return project_bible_parts(knowledge, index, indexed.names, parts, horizon)

    async def _read_part_facts(
        self, parts: BibleParts, index: BibleIndex
    ) -> Sequence[DocumentFact]:
        documents = {} if parts.timeline else {FactAbout.SCENE: parts.documents}
        return await self._stories.facts(
            parts.kinds,
            documents=documents,
            subjects={FactAbout.WORLD: index.list_subjects(parts.elements)},
        )

    async def _read_state(self) -> _LibraryState:
        canon = await asyncio.to_thread(self._canon)
        version = await self._parts.content_version()
        parts = (_INDEX_FORMAT, version, tuple(self._patterns), canon)
        key = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
        if self._state is None or self._state.key != key:
            self._state = _LibraryState(key, canon, await self._order(canon))
        return self._state

    async def _index(
        self, state: _LibraryState, horizon: Horizon | None
    ) -> _IndexedNames:
        """Return the index up to `horizon`; that of the whole story is stored."""
        if horizon in state.indexes:
            return state.indexes[horizon]
        index = None if horizon else await self._load_index(state.key)
        if index is None:
            index = await self._build_index(state.order, state.canon, horizon)
            if horizon is None:
                # Python stores a text with other characters in two bytes for each.
                text = encode_json(index, ascii_only=True)
                with suppress(StoreProblem):  # a library that cannot be written
                    await self._parts.save_index(state.key, text)
        indexed = _IndexedNames(index, index.names())
        return state.indexes.setdefault(horizon, indexed)

    async def _load_index(self, key: str) -> BibleIndex | None:
        text = await self._parts.load_index(key)
        try:
            return decode_checked_json(text, BibleIndex) if text else None
        except InvalidData:
            return None

    async def _build_index(
        self, order: StoryOrder, canon: Canon, horizon: Horizon | None
    ) -> BibleIndex:
        counts = await self._passages.counts(Pipeline.AGENTIC)
        counted = await self._parts.count_facts(FactAbout.WORLD)
        subjects = {FactAbout.WORLD: select_possible_elements(counted)}
        knowledge = StoryKnowledge(
            order=order,
            texts=await self._texts(order) if horizon else {},
            cast=await self._stories.cast(),
            first_seen=tuple(await self._stories.first_seen()),
            facts=tuple(await self._stories.facts(INDEXED_FACTS, subjects=subjects)),
            canon=canon,
        )
        readers = list_reader_models(await self._stories.keepers(_TOLD))
        index = build_bible_index(knowledge, horizon)
        return replace(index, readers=readers, unread=not counts.documents)

    async def _add_part_rows(
        self,
        knowledge: StoryKnowledge,
        index: BibleIndex,
        parts: BibleParts,
        horizon: Horizon | None,
    ) -> StoryKnowledge:
        """Return `knowledge` with the facts, quotations and appearances of `parts`
        only.
        """
        facts = select_part_facts(knowledge, index, parts, horizon)
        speakers = index.list_stored_names(parts.speakers, knowledge.cast)
        people = index.list_stored_names(parts.people, knowledge.cast)
        documents = parts.documents
        quotations = await self._parts.quotations_of(speakers, documents)
        # Whoever is said to be "late" may be the namesake of somebody who acts.
        is_acting_asked = parts.timeline or any(f.fact.value == "dead" for f in facts)
        appearances = await self._parts.appearances_of(
            people if is_acting_asked else (), documents
        )
        return replace(
            knowledge,
            facts=facts,
            quotations=tuple(quotations),
            appearances=tuple(appearances),
        )

    async def _read_flagged_gaps(
        self, horizon: Horizon | None, order: StoryOrder
    ) -> tuple[GapFlag, ...]:
        return tuple(
            recorded_gap.gap
            for recorded_gap in await self._flagged_gaps()
            if horizon is None
            or is_at_or_before_horizon(recorded_gap.as_of, horizon, order)
        )

    async def _order(self, canon: Canon) -> StoryOrder:
        return build_story_order(await self._passages.outlines(), self._patterns, canon)

    async def _texts(self, order: StoryOrder) -> dict[DocumentId, DocumentText]:
        return await self._passages.texts(order.outlines)


def find_profile_by_name(name: str, bible: Bible) -> CharacterProfile:
    """Return the only character of `bible` that `name` may mean: by exact name or
    alias, else by a part of the name. A misspelled name is nobody's.

    Raises:
        NotFound: There is none, or several; the hint suggests names.
    """
    people = {profile.name: profile for profile in bible.characters}
    cast = extract_visible_cast(bible)
    fits = [
        people[person] for person in match_written_name(name, cast) if person in people
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = " or ".join(profile.name for profile in fits[:4])
        raise NotFound(f"{name} may mean several characters", hint=f"Use {names}.")
    similar_names = suggest_names(name, cast)
    raise NotFound(
        f"No character is called {name}"
        f"{' up to this point of the story' if bible.bounded else ''}",
        hint=f"Did you mean {' or '.join(similar_names)}?"
        if similar_names
        else "Run `lrwr characters` to list all characters.",
    )


def find_world_element(name: str, bible: Bible) -> WorldElement:
    """Return the world element called `name`.

    If there is none, return the only one whose name contains all words of `name`. Case
    is ignored. World elements are settings, objects, groups, rules and the like.

    Raises:
        NotFound: No element, or several, match; the hint suggests names.
    """
    key = normalize_character_name(name)
    elements = {
        normalize_character_name(element.name): element for element in bible.world
    }
    if key in elements:
        return elements[key]
    words = set(key.split())
    matches = [
        element
        for element_key, element in elements.items()
        if words and words <= set(element_key.split())
    ]
    if len(matches) == 1:
        return matches[0]
    suggestions = [match.name for match in matches[:4]] or get_close_matches(
        name, [element.name for element in bible.world], n=2, cutoff=0.5
    )
    raise NotFound(
        f"“{name}” matches several world elements"
        if matches
        else f"No world element is called “{name}”",
        hint=f"Did you mean {' or '.join(suggestions)}?"
        if suggestions
        else "Run `lrwr world` to list all.",
    )


def list_present_characters(bible: Bible, chapter: int) -> tuple[CharacterProfile, ...]:
    """Return those who act or speak in a chapter, in the order of `bible`."""
    scenes = (scene for scene in bible.scenes if scene.chapter == chapter)
    present = {name for scene in scenes for name in scene.present}
    return tuple(p for p in bible.characters if p.name in present)


def list_absent_characters(bible: Bible, since: int) -> tuple[CharacterProfile, ...]:
    """Return those whose last scene is in the chapter `since` or before."""
    last = find_last_scenes(bible)
    absent = {name for name, scene in last.items() if scene.chapter <= since}
    return tuple(p for p in bible.characters if p.name in absent)


def filter_timeline(
    bible: Bible, character: str, chapter: int | None
) -> Sequence[TimelineMoment]:
    """Return the events of `character` in a chapter; of everybody and everywhere if ""
    and None.

    Raises:
        NotFound: There is no such character, or several have this name.
    """
    name = find_profile_by_name(character, bible).name if character else ""
    return [
        moment
        for moment in bible.timeline
        if (not name or name in moment.characters)
        and (chapter is None or moment.evidence.chapter == chapter)
    ]


def filter_quotes(
    bible: Bible, speaker: str, chapter: int | None, hearer: str = ""
) -> Sequence[AttributedQuote]:
    """Return what the character `speaker` says to `hearer` in a chapter.

    An empty name is everybody, the chapter None the whole story.

    Raises:
        NotFound: There is no such character, or several have this name.
    """
    name = find_profile_by_name(speaker, bible).name if speaker else ""
    addressee = find_profile_by_name(hearer, bible).name if hearer else ""
    return [
        quote
        for quote in bible.quotes
        if (not name or quote.speaker == name)
        and (not addressee or quote.addressee == addressee)
        and (chapter is None or quote.evidence.chapter == chapter)
    ]
