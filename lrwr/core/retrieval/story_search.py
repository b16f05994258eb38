"""What is known of the story, brought to bear on a search: people, kinds, facts."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.english.lookup import resolve
from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import ContentType, NarrativeFunction, PassageField
from lrwr.core.model.search import Scope
from lrwr.core.model.text import Span
from lrwr.core.model.words import content_words
from lrwr.core.ports.story_store import Known, Role, StoryStore
from lrwr.core.retrieval.people import (
    earliness,
    people_asked,
    scores_of_people,
    within,
)
from lrwr.core.retrieval.story import StoryOrder

PEOPLE_WEIGHT = 1.5
EARLINESS_WEIGHT = 1.0
"""What the people of a question count beside its words and meaning, and their being
the first or last where it asks for that; see decision 011."""

BOOST = 0.25
"""What a passage gains that is of the kind that the question asks for."""

FACTS = 5
"""Facts that a search gives beside its passages, at most."""

_FACTS_READ = 60

_KINDS = {
    ContentType.DIALOGUE: re.compile(
        r"\b(?:say|says|said|tell|tells|told|ask|asks|asked|reply|replies|replied"
        r"|conversation|argue|argues|argued|talk|talks|talked)\b",
        re.IGNORECASE,
    ),
    ContentType.DESCRIPTION: re.compile(
        r"\b(?:look|looks|looked) like\b|\b(?:describe|described|description|wearing"
        r"|wears?|appearance)\b",
        re.IGNORECASE,
    ),
    ContentType.INTERNAL_MONOLOGUE: re.compile(
        r"\b(?:think|thinks|thought|feel|feels|felt|feelings|wonder|wonders|wondered"
        r"|realise|realises|realize|realizes)\b",
        re.IGNORECASE,
    ),
}

IN_IT = frozenset({Role.SPEAKS, Role.HEARS, Role.PRESENT})
"""What somebody may be to a passage who is there, and not merely spoken of."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What the writer wants to see alone; each of them shuts everything else out.

    `characters` appear in the passage in any way, `present` are in it and not merely
    spoken of; all that are named must be.
    """

    characters: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    content_types: frozenset[ContentType] = frozenset()
    functions: frozenset[NarrativeFunction] = frozenset()

    def __bool__(self) -> bool:
        return bool(
            self.characters or self.present or self.content_types or self.functions
        )


class StorySearch:
    """Reads only. The cast is read at every search: it changes with each ingestion."""

    def __init__(self, stories: StoryStore) -> None:
        self._stories = stories

    async def by_people(
        self, question: str, scope: Scope, order: StoryOrder, *, total: int
    ) -> dict[ChunkId, float]:
        """Score the chunks in `scope` by the people whom `question` names, if any."""
        asked = people_asked(question, await self._stories.cast())
        people = {who for one in asked for who in one.people}
        if not people:
            return {}
        found = await self._stories.appearances(people)
        scores = scores_of_people(asked, found, scope, total=total)
        ranks = {document: rank for rank, document in enumerate(order.story)}
        places = {
            one.chunk: (ranks[one.document], one.span.start)
            for one in found
            if one.document in ranks
        }
        early = earliness(question, scores, places)
        return {
            chunk: PEOPLE_WEIGHT * score**2 + EARLINESS_WEIGHT * early.get(chunk, 0.0)
            for chunk, score in scores.items()
        }

    async def boosts(
        self, question: str, chunks: Collection[ChunkId]
    ) -> Mapping[ChunkId, float]:
        """Return by what to multiply the scores of chunks of the kind asked for."""
        kinds = {kind for kind, words in _KINDS.items() if words.search(question)}
        if not kinds:
            return {}
        labels = await self._stories.labels(chunks)
        return {
            chunk: 1 + BOOST
            for chunk, label in labels.items()
            if label.get(PassageField.CONTENT_TYPE) in kinds
        }

    async def allowed(self, filters: Filters) -> frozenset[ChunkId]:
        """Return which chunks pass `filters`, of which there is at least one.

        Raises:
            NotFound: Nobody in the story is called so.
        """
        cast = await self._stories.cast()
        kept = [
            await self._with(name, cast, roles)
            for names, roles in (
                (filters.characters, frozenset(Role)),
                (filters.present, IN_IT),
            )
            for name in sorted(names)
        ]
        if filters.content_types or filters.functions:
            kept.append(await self._labelled(filters))
        return frozenset.intersection(*kept)

    async def facts(
        self, question: str, scope: Scope, *, names: bool = True
    ) -> tuple[Known, ...]:
        """Return facts that hold words of `question`, best first, within `scope`.

        A fact of whom the question names comes before others.
        """
        words = content_words(question)
        found = await self._stories.search_facts(words, limit=_FACTS_READ)
        near = [
            known
            for known in found
            if all(within(known.document, span, scope) for span in known.fact.spans)
            and within(known.document, Span(0, known.fact.reach), scope)
        ]
        if names:
            near = _of_people_first(near, question, await self._stories.cast())
        return tuple(near[:FACTS])

    async def _with(
        self, name: str, cast: Cast, roles: Collection[Role]
    ) -> frozenset[ChunkId]:
        people = resolve(name, cast)
        if not people:
            raise NotFound(
                f"Nobody in the story is called {name}",
                hint="See who is there with `lrwr characters`.",
            )
        found = await self._stories.appearances(people)
        return frozenset(one.chunk for one in found if one.role in roles)

    async def _labelled(self, filters: Filters) -> frozenset[ChunkId]:
        wanted = {
            PassageField.CONTENT_TYPE: filters.content_types,
            PassageField.NARRATIVE_FUNCTION: filters.functions,
        }
        return frozenset(
            chunk
            for chunk, label in (await self._stories.labels()).items()
            if all(
                not values or label.get(field) in values
                for field, values in wanted.items()
            )
        )


def _of_people_first(found: Sequence[Known], question: str, cast: Cast) -> list[Known]:
    people = {who for one in people_asked(question, cast) for who in one.people}
    if not people:
        return list(found)
    return sorted(
        found, key=lambda known: not people & set(resolve(known.fact.subject, cast))
    )
