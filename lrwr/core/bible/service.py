"""Reads stored story data and builds the story bible up to a horizon."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from lrwr.core.bible.claims import collect_visible_facts, list_reader_models
from lrwr.core.bible.gaps import build_gap_ledger
from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.profiles import build_character_profiles, collect_relations
from lrwr.core.bible.scenes import build_scene_summaries
from lrwr.core.bible.timeline import (
    build_timeline,
    collect_disclosures,
    collect_events,
    collect_quotes,
    collect_world_elements,
)
from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
)
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Alias, Cast, Character
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.turns import GapFlag
from lrwr.core.nlp.names.lookup import resolve_name
from lrwr.core.ports.stores import DocumentText, PassageStore, RecordedGap
from lrwr.core.ports.story_stores import (
    Appearance,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
    StoryStore,
)
from lrwr.core.retrieval.freshness import load_existing_texts
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_story_order,
    is_at_or_before_horizon,
    parse_horizon,
)


@dataclass(frozen=True, slots=True)
class StoryKnowledge:
    """All stored data from which the story bible is built, without a horizon.

    `first_seen` are the first mentions of all aliases in each document. `canon` are the
    user's decisions. `flagged_gaps` are gaps found while answering questions, the only part
    that may be limited to a horizon.
    """

    order: StoryOrder
    texts: Mapping[DocumentId, DocumentText]
    cast: Cast = field(default_factory=Cast)
    first_seen: tuple[FirstMention, ...] = ()
    facts: tuple[DocumentFact, ...] = ()
    quotations: tuple[DocumentQuotation, ...] = ()
    appearances: tuple[Appearance, ...] = ()
    canon: Canon = field(default_factory=Canon)
    flagged_gaps: tuple[GapFlag, ...] = ()


def project_bible(knowledge: StoryKnowledge, horizon: Horizon | None = None) -> Bible:
    """Return the story bible as known up to `horizon`; None is the whole story.

    With a horizon, facts are left out whose evidence is after it, in a note or in an
    author's comment, and so are names that are not mentioned by then.
    """
    horizon_view = HorizonView(knowledge.order, knowledge.texts, horizon)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, horizon_cast, horizon_view)
    gaps = build_gap_ledger(material, knowledge.canon, knowledge.flagged_gaps)
    relations = collect_relations(material)
    events, disclosures = collect_events(material), collect_disclosures(material)
    scenes = build_scene_summaries(material, knowledge.appearances, knowledge.canon)
    return Bible(
        characters=build_character_profiles(material, relations, gaps),
        world=collect_world_elements(material),
        events=events,
        relations=relations,
        told=disclosures,
        scenes=scenes,
        timeline=build_timeline(events, disclosures, scenes, material),
        quotes=collect_quotes(knowledge.quotations, material),
        gaps=gaps,
        readers=list_reader_models(knowledge.facts),
        bounded=horizon_view.bounded,
    )


_TOLD = frozenset(FactAbout) - {FactAbout.PASSAGE}
"""Facts that the bible uses; those about passages are many, and used for search only."""


class BibleService:
    """Read access to the story bible of a library; calls may run concurrently.

    `patterns` is the setting `[manuscript] order`. `canon` loads the user's decisions,
    `flagged_gaps` the gaps found while answering questions; both are called for each read.
    """

    def __init__(
        self,
        *,
        stories: StoryStore,
        passages: PassageStore,
        patterns: Sequence[str],
        canon: Callable[[], Canon],
        flagged_gaps: Callable[[], Awaitable[Sequence[RecordedGap]]],
    ) -> None:
        self._stories = stories
        self._passages = passages
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
        canon = await asyncio.to_thread(self._canon)
        return parse_horizon(text, await self._order(canon))

    async def read(self, horizon: Horizon | None = None) -> Bible:
        """Return the story bible up to `horizon`; None is the whole story.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        knowledge = await self.knowledge(horizon)
        counts = await self._passages.counts(Pipeline.AGENTIC)
        return replace(project_bible(knowledge, horizon), unread=not counts.documents)

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
            flagged_gaps=tuple(
                recorded_gap.gap
                for recorded_gap in await self._flagged_gaps()
                if horizon is None
                or is_at_or_before_horizon(recorded_gap.as_of, horizon, order)
            ),
        )

    async def stated(self) -> StoryKnowledge:
        """Return the data that the contradiction rules need: texts, cast, facts about
        characters, and canon.

        Other facts, quotations, appearances and gaps are left empty.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        order = await self._order(canon)
        texts, facts = await self._texts_with_facts(order)
        return StoryKnowledge(
            order=order,
            texts=texts,
            cast=await self._stories.cast(),
            first_seen=tuple(await self._stories.first_seen()),
            facts=tuple(facts),
            canon=canon,
        )

    async def _order(self, canon: Canon) -> StoryOrder:
        return build_story_order(await self._passages.outlines(), self._patterns, canon)

    async def _texts(self, order: StoryOrder) -> dict[DocumentId, DocumentText]:
        return await load_existing_texts(self._passages, order.outlines)

    async def _texts_with_facts(
        self, order: StoryOrder
    ) -> tuple[dict[DocumentId, DocumentText], list[DocumentFact]]:
        """Return texts and the character facts in them, consistent with each other.

        Another process may store a save in between, so the facts are read before and
        after the texts until both are equal.
        """
        facts = await self._stories.facts({FactAbout.CHARACTER})
        while True:
            texts = await self._texts(order)
            before, facts = facts, await self._stories.facts({FactAbout.CHARACTER})
            if facts == before:
                return texts, facts


def find_profile_by_name(name: str, bible: Bible) -> CharacterProfile:
    """Return the only character of `bible` that `name` may mean: by exact name or
    alias, else by a part of the name or a misspelling.

    Raises:
        NotFound: There is none, or several; the hint suggests names.
    """
    people = {profile.name: profile for profile in bible.characters}
    fits = [
        people[person]
        for person in resolve_name(name, extract_visible_cast(bible))
        if person in people
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = " or ".join(profile.name for profile in fits[:4])
        raise NotFound(f"{name} may mean several characters", hint=f"Use {names}.")
    similar_names = get_close_matches(name, list(people), n=2, cutoff=0.5)
    raise NotFound(
        f"No character is called {name}"
        f"{' up to this point of the story' if bible.bounded else ''}",
        hint=f"Did you mean {' or '.join(similar_names)}?"
        if similar_names
        else "Run `lrwr characters` to list all characters.",
    )


def extract_visible_cast(bible: Bible) -> Cast:
    """Return the characters of `bible` as a cast, with the aliases visible at its
    horizon.
    """
    return Cast(
        tuple(
            Character(
                name=profile.name,
                aliases=tuple(
                    Alias(form.name, form.mentions, form.certainty)
                    for form in profile.aliases
                ),
                gender=profile.gender,
                gender_certainty=profile.gender_certainty,
                certainty=profile.certainty,
            )
            for profile in bible.characters
        )
    )
