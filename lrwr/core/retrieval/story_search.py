"""What the story data of pipeline b adds to a search: scores for characters and content
types, filters, facts.
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import Chunk, ChunkId, Passage, SearchScope
from lrwr.core.model.facts import (
    ContentType,
    Fact,
    FactAbout,
    NarrativeFunction,
    PassageField,
)
from lrwr.core.model.text import (
    WORD_PATTERN,
    Span,
    extract_content_words,
    stem_lightly,
)
from lrwr.core.nlp.names.lexicon import normalize_name_title
from lrwr.core.nlp.names.lookup import (
    is_character_name,
    is_misread_place,
    resolve_name,
)
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentFact,
    StoryStore,
)
from lrwr.core.retrieval.people import (
    QuestionCharacter,
    ScopedCast,
    build_scoped_cast,
    build_unscoped_cast,
    find_question_characters,
    find_unknown_question_names,
    resolve_question_names,
)
from lrwr.core.retrieval.proximity import SpeechQuestion, Spot
from lrwr.core.retrieval.query_words import expand_query
from lrwr.core.retrieval.story import StoryOrder, is_within_scope

CONTENT_TYPE_BOOST = 0.25
"""Relative bonus of passages with the content type that the question asks for. A small
one, because labels are often missing or wrong."""

MAX_SEARCH_FACTS = 5
"""Facts returned with the passages of a search, at most."""

_MAX_FACTS_READ = 300  # more than are returned: out of scope and duplicates are dropped

MIN_EVENT_SHARE = 0.75
"""Share of the question's content words that an event must contain to be shown."""

_NAMED_DETAILS = {"target", "hearer"}
"""Details of a fact that name a character."""

_CONTENT_TYPE_PATTERNS = {
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
"""Returns the chunks in scope that contain a word."""


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Filters that the user sets; a passage must pass all of them.

    Every character in `characters` must be present or mentioned in the passage, every
    one in `present` must be present. If set, one of `content_types` and one of
    `functions` must apply. Empty sets filter nothing; the object is false if all are
    empty.
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
    """Reads the story data of a library (cast, appearances, labels, facts) for
    searches.

    The cast is read for every search because each ingestion may change it.
    """

    def __init__(self, stories: StoryStore) -> None:
        self._stories = stories

    async def read_visible_cast(self, scope: SearchScope | None) -> ScopedCast:
        """Return the characters that are named within `scope`; None is the whole story."""
        cast = await self._stories.cast()
        if scope is None:
            return build_unscoped_cast(cast)
        return build_scoped_cast(cast, await self._stories.first_seen(), scope)

    async def analyze_speech_question(
        self,
        question: str,
        scoped_cast: ScopedCast,
        find_chunks_with_word: WordChunkFinder,
    ) -> SpeechQuestion:
        """Return the characters that a question about who says what names, and where
        they appear.

        Names are resolved in `scoped_cast`. Capitalized words that are no name there
        are looked up as words, with `find_chunks_with_word`. Other questions yield no
        characters, because names in them are treated as ordinary words (decision 011).
        """
        question_characters = [
            replace(
                question_character,
                people=scoped_cast.to_whole_cast_names(question_character.people),
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
        for word, role in find_unknown_question_names(question, question_characters):
            question_characters.append(QuestionCharacter(Span(0, 0), (word,), role))
            appearances += _build_appearances(word, await find_chunks_with_word(word))
        documents = {appearance.document for appearance in appearances if people}
        document_quotations = (
            await self._stories.quotations(documents=documents) if documents else []
        )
        return SpeechQuestion(
            question,
            tuple(question_characters),
            tuple(appearances),
            tuple(document_quotations),
            await _find_speaker_names(
                question, question_characters, find_chunks_with_word
            ),
        )

    async def compute_boosts(
        self, question: str, chunks: Collection[ChunkId]
    ) -> Mapping[ChunkId, float]:
        """Return a factor above 1.0 for the score of each of `chunks` that has the
        content type, such as dialogue, that `question` asks for.

        Other chunks are left out; empty if the question asks for no type.
        """
        kinds = {
            kind
            for kind, words in _CONTENT_TYPE_PATTERNS.items()
            if words.search(question)
        }
        if not kinds:
            return {}
        labels = await self._stories.labels(chunks)
        return {
            chunk: 1 + CONTENT_TYPE_BOOST
            for chunk, label in labels.items()
            if label.get(PassageField.CONTENT_TYPE) in kinds
        }

    async def find_filtered_chunks(
        self, filters: SearchFilters, scoped_cast: ScopedCast
    ) -> list[frozenset[ChunkId]]:
        """Return the chunks that pass each of `filters`, of which at least one is set.

        A name is a filter of its own; the kinds of passages are one.

        Names are resolved in `scoped_cast`; chunks after its point of the story are
        included.

        Raises:
            NotFound: A name belongs to nobody in `scoped_cast`.
        """
        allowed_chunks = [
            await self._find_chunks_with_people(scoped_cast.resolve(name), roles)
            for names, roles in (
                (filters.characters, frozenset(AppearanceRole)),
                (filters.present, frozenset({AppearanceRole.PRESENT})),
            )
            for name in sorted(names)
        ]
        if filters.content_types or filters.functions:
            allowed_chunks.append(await self._find_labelled_chunks(filters))
        return allowed_chunks

    async def search_facts(
        self, question: str, scope: SearchScope
    ) -> tuple[DocumentFact, ...]:
        """Return at most `MAX_SEARCH_FACTS` facts within `scope` that fit `question`,
        best match first, each statement once.

        The question must name the fact's subject and have a word of its attribute or
        value; if it names nobody, a word of both. An event must have most of the
        question's words. Characters have their names in the cast, where the text has an
        alias. Facts without a value, and those that take a character for a place, are left out.
        """
        words = _QuestionWords.of(question)
        document_facts = await self._stories.search_facts(
            words.searched, limit=_MAX_FACTS_READ
        )
        if not document_facts:
            return ()
        cast = await self._stories.cast()
        people = _find_named_people(question, cast)
        facts = [
            _use_display_name(document_fact, cast)
            for document_fact in document_facts
            if _shares_statement_words(document_fact.fact, words)
            and _fits_target(document_fact.fact, words)
            and _is_in_scope(document_fact, scope)
            and _fits_subject(document_fact.fact, words, people, cast)
            and not is_misread_place(document_fact.fact, cast)
        ]
        return tuple(_drop_duplicate_facts(facts)[:MAX_SEARCH_FACTS])

    async def _find_chunks_with_people(
        self, people: Collection[str], roles: Collection[AppearanceRole]
    ) -> frozenset[ChunkId]:
        appearances = await self._stories.appearances(people)
        return frozenset(
            appearance.chunk for appearance in appearances if appearance.role in roles
        )

    async def _find_labelled_chunks(self, filters: SearchFilters) -> frozenset[ChunkId]:
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


async def read_best_chunks(
    ranked: Sequence[ChunkId],
    order: StoryOrder,
    scope: SearchScope,
    store: PassageStore,
    *,
    size: int,
) -> tuple[list[Chunk], list[Chunk]]:
    """Return the first chunks of `ranked` that are story text and the first of notes, at
    most `size` of each.

    If `scope` has only notes, they are returned in place of story text. Chunks that are
    not in `order` were ingested since it was read and are left out.
    """
    text: list[Chunk] = []
    notes: list[Chunk] = []
    has_text = any(
        scope.documents is None or document in scope.documents
        for document in order.story
    )
    for start in range(0, len(ranked), size):
        for chunk in await store.chunks(ranked[start : start + size]):
            if chunk.document in order.outlines:
                is_text = chunk.document in order.numbers or not has_text
                (text if is_text else notes).append(chunk)
        if len(text) >= size:
            break
    return text[:size], notes[:size]


def join_notes(
    text: Sequence[Passage], notes: Sequence[Passage], limit: int
) -> list[Passage]:
    """Return the first `limit` passages of `text`, then at most one third as many of
    `notes`, without those that rank below all of this text.
    """
    text = text[:limit]
    least = text[-1].score if len(text) == limit else -math.inf
    shown = [note for note in notes if note.score >= least]
    return [*text, *shown[: -(-limit // 3)]]


def _use_display_name(document_fact: DocumentFact, cast: Cast) -> DocumentFact:
    """Return the fact with the main names of its subject, target and hearer.

    Those that are no character, or may be several, are unchanged.
    """
    fact = document_fact.fact
    subject = fact.subject
    if fact.about is not FactAbout.WORLD:
        subject = _find_display_name(subject, cast)
    details = tuple(
        (key, _find_display_name(value, cast) if key in _NAMED_DETAILS else value)
        for key, value in fact.details
    )
    return replace(document_fact, fact=replace(fact, subject=subject, details=details))


def _find_display_name(name: str, cast: Cast) -> str:
    """Return the main name of the character; `name` if none or several have it."""
    people = resolve_name(name, cast) if is_character_name(name, cast) else ()
    return people[0] if len(people) == 1 else name


def _is_in_scope(document_fact: DocumentFact, scope: SearchScope) -> bool:
    document, fact = document_fact.document, document_fact.fact
    spans = (*fact.spans, Span(0, fact.reach))
    return all(is_within_scope(document, span, scope) for span in spans)


@dataclass(frozen=True, slots=True)
class _QuestionWords:
    """The words of a question, prepared for comparison with many facts.

    `searched` are its content words and related ones. `stems` are those of its own
    words, `all_stems` of all. `asks_how` says whether it asks how two are related.
    """

    searched: Sequence[str]
    stems: frozenset[str]
    all_stems: frozenset[str]
    asks_how: bool

    @classmethod
    def of(cls, question: str) -> "_QuestionWords":
        words = extract_content_words(question)
        searched = [*words, *expand_query(question)]
        return cls(
            searched,
            frozenset(map(stem_lightly, words)),
            frozenset(map(stem_lightly, searched)),
            _RELATED.search(question) is not None,
        )


def _shares_statement_words(fact: Fact, words: _QuestionWords) -> bool:
    """Return whether the question has a word of the fact's attribute or value; of an
    event, which has no subject, most of the question's words.

    Words of the fact's subject do not count. False if the fact has no value.
    """
    value = _extract_value_stems(fact)
    if not _has_subject(fact):
        shared = len(words.stems & value)
        return shared > 1 and shared >= MIN_EVENT_SHARE * len(words.stems)
    shared_stems = words.all_stems & (_extract_attribute_stems(fact) | value)
    return bool(value) and not shared_stems <= _extract_stems(fact.subject)


def _fits_subject(
    fact: Fact, words: _QuestionWords, people: Collection[str], cast: Cast
) -> bool:
    """Return whether the question names the fact's subject, or nobody and has words of
    both the fact's attribute and its value.

    `people` are the characters that the question names.
    """
    if not _has_subject(fact) or _is_about(fact, people, cast):
        return True
    is_character = fact.about is FactAbout.CHARACTER
    if not is_character and _extract_stems(fact.subject) <= words.stems:
        return True
    return (
        not people
        and not words.stems.isdisjoint(_extract_attribute_stems(fact))
        and not words.stems.isdisjoint(_extract_value_stems(fact))
    )


_RELATED = re.compile(r"\brelat(?:ed|ions?|ionship)\b", re.IGNORECASE)


def _fits_target(fact: Fact, words: _QuestionWords) -> bool:
    """Return whether the question asks for the relation that a fact states, or how both
    people are related; true for a fact that states none.
    """
    target = _extract_stems(fact.detail("target"))
    if not target or not words.all_stems.isdisjoint(_extract_attribute_stems(fact)):
        return True
    subject = _extract_stems(fact.subject) - target
    return words.asks_how and bool(subject) and subject | target <= words.all_stems


def _has_subject(fact: Fact) -> bool:
    kinds = (FactAbout.CHARACTER, FactAbout.WORLD, FactAbout.GAP)
    return fact.about in kinds and bool(fact.subject)


def _extract_attribute_stems(fact: Fact) -> frozenset[str]:
    """Return the stems of a fact's attribute."""
    attribute = fact.detail("attribute") or fact.detail("kind") or fact.field
    return _extract_stems(attribute.replace("_", " "))


def _extract_value_stems(fact: Fact) -> frozenset[str]:
    """Return the stems of a fact's value and target."""
    return _extract_stems(f"{fact.value} {fact.detail('target')}")


@lru_cache(maxsize=4_096)
def _extract_stems(text: str) -> frozenset[str]:
    return frozenset(stem_lightly(word) for word in extract_content_words(text))


def _is_about(fact: Fact, people: Collection[str], cast: Cast) -> bool:
    return bool(people) and not set(people).isdisjoint(resolve_name(fact.subject, cast))


def _find_named_people(question: str, cast: Cast) -> frozenset[str]:
    return frozenset(
        person
        for _, people_of_name in resolve_question_names(question, cast)
        for person in people_of_name
    )


def _drop_duplicate_facts(document_facts: Sequence[DocumentFact]) -> list[DocumentFact]:
    """Return the first of the facts that make the same statement, wherever they are."""
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


def _build_appearances(word: str, chunks: Sequence[Chunk]) -> list[Appearance]:
    """Treat an unknown name as a character who appears in every chunk that contains it."""
    return [
        Appearance(chunk.id, chunk.document, chunk.span, chunk.ordinal, word, role, 1)
        for chunk in chunks
        for role in (
            AppearanceRole.HEARS,
            AppearanceRole.PRESENT,
            AppearanceRole.MENTIONED,
        )
    ]


async def _find_speaker_names(
    question: str,
    question_characters: Sequence[QuestionCharacter],
    find_chunks_with_word: WordChunkFinder,
) -> dict[Spot, float]:
    """Return the greatest share of the words of a speaker's name, titles left out, that
    each passage contains.
    """
    shares: dict[Spot, float] = {}
    for character in question_characters:
        name = question[character.span.start : character.span.end]
        words = [w for w in WORD_PATTERN.findall(name) if not normalize_name_title(w)]
        if character.role is not AppearanceRole.SPEAKS or not words:
            continue
        own = Counter[Spot]()
        for word in words:
            chunks = await find_chunks_with_word(word)
            own.update((chunk.document, chunk.ordinal) for chunk in chunks)
        for spot, number in own.items():
            shares[spot] = max(shares.get(spot, 0.0), number / len(words))
    return shares
