"""What is known of the story, brought to bear on a search: people, kinds, facts."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import Chunk, ChunkId, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import ContentType, NarrativeFunction, PassageField
from lrwr.core.model.text import Span, extract_content_words
from lrwr.core.nlp.names.lookup import is_misread_place, resolve_name
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentFact,
    DocumentQuotation,
    StoryStore,
)
from lrwr.core.retrieval.people import (
    PRESENT_ROLES,
    CharacterProximity,
    QuestionCharacter,
    ScopedCast,
    asks_first,
    asks_last,
    build_scoped_cast,
    build_unscoped_cast,
    find_question_characters,
    find_unknown_question_names,
    resolve_question_names,
)
from lrwr.core.retrieval.story import StoryOrder, is_within_scope

PEOPLE_WEIGHT = 0.4
EARLINESS_WEIGHT = 6.0
"""What the people of a question about who says what count beside its words and
meaning, and their first or last passages where it asks for those; see decision 011."""

CONTENT_TYPE_BOOST = 0.25
"""What a passage gains that is of the kind that the question asks for."""

MAX_SEARCH_FACTS = 5
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

WordChunkFinder = Callable[[str], Awaitable[Sequence[Chunk]]]
"""The chunks in scope that hold a word."""


@dataclass(frozen=True, slots=True)
class SearchFilters:
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


@dataclass(frozen=True, slots=True)
class SpeechQuestion:
    """A question about who says what: its people, and all that is known of them."""

    question: str
    people: tuple[QuestionCharacter, ...]
    found: tuple[Appearance, ...]
    said: tuple[DocumentQuotation, ...]


class StorySearch:
    """Reads only. The cast is read at every search: it changes with each ingestion."""

    def __init__(self, stories: StoryStore) -> None:
        self._stories = stories

    async def seen(self, scope: SearchScope | None) -> ScopedCast:
        """Return who has been named in `scope`, the story as far as one has read.

        None stands for all of it.
        """
        cast = await self._stories.cast()
        if scope is None:
            return build_unscoped_cast(cast)
        return build_scoped_cast(cast, await self._stories.first_seen(), scope)

    async def asked(
        self, question: str, scoped_cast: ScopedCast, strangers: WordChunkFinder
    ) -> SpeechQuestion:
        """Return whom a question about who says what names, and where they are.

        A name that nobody in the cast bears is looked for as a word, by `strangers`.
        Nobody in other questions, where names are words among others: see decision
        011.
        """
        question_characters = [
            replace(
                question_character,
                people=scoped_cast.meaning(question_character.people),
            )
            for question_character in find_question_characters(
                question, scoped_cast.cast
            )
        ]
        people = {
            person
            for question_character in question_characters
            for person in question_character.people
        }
        appearances = await self._stories.appearances(people) if people else []
        document_quotations = await self._said(question_characters)
        for word, role in find_unknown_question_names(question, question_characters):
            question_characters.append(QuestionCharacter(Span(0, 0), (word,), role))
            appearances += _appearing(word, await strangers(word))
        return SpeechQuestion(
            question,
            tuple(question_characters),
            tuple(appearances),
            tuple(document_quotations),
        )

    async def _said(
        self, question_characters: Sequence[QuestionCharacter]
    ) -> list[DocumentQuotation]:
        speakers = {
            w
            for question_character in question_characters
            if question_character.role is AppearanceRole.SPEAKS
            for w in question_character.people
        }
        return [
            document_quotation
            for speaker in sorted(speakers)
            for document_quotation in await self._stories.quotations(speaker)
        ]

    async def boosts(
        self, question: str, chunks: Collection[ChunkId]
    ) -> Mapping[ChunkId, float]:
        """Return by what to multiply the scores of chunks of the kind asked for."""
        kinds = {kind for kind, words in _KINDS.items() if words.search(question)}
        if not kinds:
            return {}
        labels = await self._stories.labels(chunks)
        return {
            chunk: 1 + CONTENT_TYPE_BOOST
            for chunk, label in labels.items()
            if label.get(PassageField.CONTENT_TYPE) in kinds
        }

    async def allowed(
        self, filters: SearchFilters, scoped_cast: ScopedCast
    ) -> frozenset[ChunkId]:
        """Return which chunks pass `filters`, of which there is at least one.

        Raises:
            NotFound: Nobody who has been seen is called so.
        """
        allowed_chunks = [
            await self._with(scoped_cast.called(name), roles)
            for names, roles in (
                (filters.characters, frozenset(AppearanceRole)),
                (filters.present, PRESENT_ROLES),
            )
            for name in sorted(names)
        ]
        if filters.content_types or filters.functions:
            allowed_chunks.append(await self._labelled(filters))
        return frozenset.intersection(*allowed_chunks)

    async def facts(
        self, question: str, scope: SearchScope, *, names: bool = True
    ) -> tuple[DocumentFact, ...]:
        """Return facts that hold words of `question`, best first, within `scope`.

        A fact of whom the question names comes before others.
        """
        words = extract_content_words(question)
        document_facts = await self._stories.search_facts(words, limit=_FACTS_READ)
        facts_in_scope = [
            document_fact
            for document_fact in document_facts
            if all(
                is_within_scope(document_fact.document, span, scope)
                for span in document_fact.fact.spans
            )
            and is_within_scope(
                document_fact.document, Span(0, document_fact.fact.reach), scope
            )
        ]
        cast = await self._stories.cast()
        facts_in_scope = [
            document_fact
            for document_fact in facts_in_scope
            if not is_misread_place(document_fact.fact, cast)
        ]
        if names:
            facts_in_scope = _of_people_first(facts_in_scope, question, cast)
        return tuple(_each_once(facts_in_scope)[:MAX_SEARCH_FACTS])

    async def _with(
        self, people: Collection[str], roles: Collection[AppearanceRole]
    ) -> frozenset[ChunkId]:
        appearances = await self._stories.appearances(people)
        return frozenset(
            appearance.chunk for appearance in appearances if appearance.role in roles
        )

    async def _labelled(self, filters: SearchFilters) -> frozenset[ChunkId]:
        labels_by_field = {
            PassageField.CONTENT_TYPE: filters.content_types,
            PassageField.NARRATIVE_FUNCTION: filters.functions,
        }
        return frozenset(
            chunk
            for chunk, label in (await self._stories.labels()).items()
            if all(
                not values or label.get(field) in values
                for field, values in labels_by_field.items()
            )
        )


def score_chunks_by_people(
    speech_question: SpeechQuestion,
    scope: SearchScope,
    order: StoryOrder,
    others: Sequence[Chunk],
    *,
    total: int,
) -> dict[ChunkId, float]:
    """Score chunks in `scope` that have the people, and `others`.

    `total` counts all chunks.
    """
    proximity = CharacterProximity(
        speech_question.people,
        speech_question.found,
        speech_question.said,
        scope,
        total=total,
    )
    spots = proximity.chunks | {(c.document, c.ordinal): c.id for c in others}
    scores = {c: PEOPLE_WEIGHT * proximity.score(spot) for spot, c in spots.items()}
    plain = {spot: chunk for spot, chunk in spots.items() if proximity.is_plain(spot)}
    for chunk, bonus in _by_place(speech_question.question, plain, order).items():
        scores[chunk] += EARLINESS_WEIGHT * bonus
    return scores


def _of_people_first(
    document_facts: Sequence[DocumentFact], question: str, cast: Cast
) -> list[DocumentFact]:
    people = {
        person
        for _, people_of_name in resolve_question_names(question, cast)
        for person in people_of_name
    }
    if not people:
        return list(document_facts)
    return sorted(
        document_facts,
        key=lambda document_fact: (
            not people & set(resolve_name(document_fact.fact.subject, cast))
        ),
    )


def _each_once(document_facts: Sequence[DocumentFact]) -> list[DocumentFact]:
    """Keep the first of the facts that state the same, wherever they are."""
    unique_facts: dict[tuple[object, ...], DocumentFact] = {}
    for document_fact in document_facts:
        fact = document_fact.fact
        statement = fact.value or fact.details or (document_fact.document, fact.spans)
        fact_key = (
            fact.about,
            fact.subject,
            fact.field,
            fact.detail("attribute"),
            statement,
        )
        unique_facts.setdefault(fact_key, document_fact)
    return list(unique_facts.values())


def _appearing(word: str, chunks: Sequence[Chunk]) -> list[Appearance]:
    """Take a name that nobody bears for somebody who is in every chunk that has it."""
    return [
        Appearance(chunk.id, chunk.document, chunk.span, chunk.ordinal, word, role, 1)
        for chunk in chunks
        for role in (
            AppearanceRole.HEARS,
            AppearanceRole.PRESENT,
            AppearanceRole.MENTIONED,
        )
    ]


def _by_place(
    question: str, chunks: Mapping[tuple[DocumentId, int], ChunkId], order: StoryOrder
) -> dict[ChunkId, float]:
    """Score chunks by their place in the story, 0.0 to 1.0, if the question asks so.

    "The first words" want the earliest, "the last" the latest.
    """
    last = asks_last(question)
    if not last and not asks_first(question):
        return {}
    ranks = {document: rank for rank, document in enumerate(order.story)}
    story_spots = [spot for spot in chunks if spot[0] in ranks]
    story_spots.sort(key=lambda spot: (ranks[spot[0]], spot[1]), reverse=last)
    return {
        chunks[spot]: 1 - n / len(story_spots) for n, spot in enumerate(story_spots)
    }
