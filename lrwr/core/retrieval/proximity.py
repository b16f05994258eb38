"""Scores passages and utterances by how near the characters of a question are.

Both scores are log-likelihood ratios of naive Bayes: for each character of a question
about who says what, how much likelier an answer is at this level of nearness than any
passage, or any utterance, is.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

from lrwr.core.model.cast import Quotation
from lrwr.core.model.chunks import Chunk, ChunkId, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentQuotation,
)
from lrwr.core.retrieval.people import QuestionCharacter, asks_first, asks_last
from lrwr.core.retrieval.proximity_levels import (
    ANY_ROLE,
    COMPANY_BONUS,
    CONVERSATION_BONUS,
    CONVERSATION_REACH,
    EARLINESS_WEIGHT,
    FIRST_OF_KIND_LEVELS,
    LENGTH_SHARES,
    NAMED_SPEAKER_WEIGHT,
    PEOPLE_WEIGHT,
    PROXIMITY_LEVELS,
    UTTERANCE_BONUS,
    UTTERANCE_LENGTHS,
    UTTERANCE_LEVELS,
    UTTERANCE_SHARES,
    UTTERANCE_WEIGHT,
    ProximityLevel,
    weigh_levels,
)
from lrwr.core.retrieval.query_words import find_topic_words
from lrwr.core.retrieval.story import StoryOrder, is_within_scope

Spot = tuple[DocumentId, int]
"""A passage, identified by document and ordinal."""


@dataclass(frozen=True, slots=True)
class _ProximityTable:
    """The proximity level of each spot to one character of the question.

    `levels` has an integer for each document and level: bit n is set if the chunk with
    the ordinal n is at that level. `weights` has one score for each level and a last
    one for no level. Levels below `plain` count as plainly having the role. `spots` has
    the ordinals at which the character has each role, as bits.
    """

    levels: Mapping[DocumentId, Sequence[int]]
    weights: Sequence[float]
    plain: int
    spots: Mapping[DocumentId, Mapping[AppearanceRole, int]]

    def level_of(self, spot: Spot) -> int:
        """Return the level of a spot; the number of levels if it is at none."""
        document, ordinal = spot
        for number, spots in enumerate(self.levels.get(document, ())):
            if spots >> ordinal & 1:
                return number
        return len(self.weights) - 1

    def find_near(
        self, roles: Collection[AppearanceRole], away: int
    ) -> dict[DocumentId, int]:
        """Return the spots at most `away` from one in which the character has a role of
        `roles`, as bits by document.
        """
        return {
            document: _widen(_join_roles(spots, roles), away)
            for document, spots in self.spots.items()
        }


class CharacterProximity:
    """Scores chunks by the characters of a question that appear in or near them.

    The score of a chunk adds up, for each character, the logarithm of how much likelier
    a chunk at its proximity level is to contain the answer than any chunk; so a
    character who appears everywhere adds little, a rare one a lot. The score of its
    best utterance, computed likewise, and bonuses for matching utterances, for a
    conversation and for the company of all characters are added. Only what is within `scope` counts. `spots` are chunks to score besides those
    in `appearances`; `total` is the number of chunks in the library;
    `document_quotations` are those of all speakers in the documents in which the
    characters appear, in text order: other documents say nothing of them.
    `speaker_named` has the share of the words of the speaker's name that a spot has.
    """

    def __init__(
        self,
        question_characters: Sequence[QuestionCharacter],
        appearances: Sequence[Appearance],
        document_quotations: Sequence[DocumentQuotation],
        scope: SearchScope,
        *,
        total: int,
        spots: Mapping[Spot, Span] | None = None,
        speaker_named: Mapping[Spot, float] | None = None,
    ) -> None:
        visible = [
            appearance
            for appearance in appearances
            if is_within_scope(appearance.document, appearance.span, scope)
        ]
        self.chunks = {(a.document, a.ordinal): a.chunk for a in visible}
        self._tables = [
            _build_proximity_table(character, visible, max(1, total))
            for character in question_characters
        ]
        self._conversation = _find_conversations(question_characters, self._tables)
        self._company = _find_company(self._tables)
        self._speaker_named = dict(speaker_named or {})
        is_bounded = scope.documents is not None or bool(scope.until)
        utterances = [
            quotation
            for quotation in document_quotations
            if not is_bounded
            or is_within_scope(quotation.document, _span(quotation.quotation), scope)
        ]
        spans = {(a.document, a.ordinal): a.span for a in visible} | dict(spots or {})
        spots_of_utterances = _find_spots(utterances, spans)
        self._bonuses = _score_matches(
            question_characters, utterances, spots_of_utterances
        )
        self._utterances = _score_utterances(
            list(zip(question_characters, self._tables, strict=True)),
            utterances,
            spots_of_utterances,
        )
        # A passage without an utterance is a little worse than one with the worst.
        self._no_utterance = min(self._utterances.values(), default=1.0) - 1.0

    def score(self, spot: Spot) -> float:
        """Return the score of the chunk with this document and ordinal; 0.0 is neutral.

        Positive if it is likelier to contain the answer than other chunks, else
        negative.
        """
        people = (table.weights[table.level_of(spot)] for table in self._tables)
        utterance = self._utterances.get(spot, self._no_utterance)
        return (
            sum(people)
            + UTTERANCE_WEIGHT * utterance
            + self._bonuses.get(spot, 0.0)
            + CONVERSATION_BONUS * _has_bit(self._conversation, spot)
            + COMPANY_BONUS * _has_bit(self._company, spot)
            + NAMED_SPEAKER_WEIGHT * self._score_speaker_name(spot)
        )

    def _score_speaker_name(self, spot: Spot) -> float:
        document, ordinal = spot
        own, *beside = (
            self._speaker_named.get((document, ordinal + away), 0.0)
            for away in (0, -1, 1)
        )
        return own + max(own, *beside)

    def is_plain(self, spot: Spot) -> bool:
        """Return whether every character clearly has the role of the question in the
        chunk with this document and ordinal.

        Only such chunks count as the first or last of a kind.
        """
        return all(table.level_of(spot) < table.plain for table in self._tables)


def _build_proximity_table(
    question_character: QuestionCharacter, appearances: Sequence[Appearance], total: int
) -> _ProximityTable:
    spots_by_document: dict[DocumentId, dict[AppearanceRole, int]] = {}
    for appearance in appearances:
        if appearance.character in question_character.people:
            spots = spots_by_document.setdefault(appearance.document, {})
            spot = 1 << appearance.ordinal
            spots[appearance.role] = spots.get(appearance.role, 0) | spot
    proximity_levels = PROXIMITY_LEVELS[question_character.role]
    levels = {
        document: _find_spots_at_levels(spots, proximity_levels)
        for document, spots in spots_by_document.items()
    }
    counts = {
        number: sum(spots[number].bit_count() for spots in levels.values())
        for number in range(len(proximity_levels))
    }
    counts[len(proximity_levels)] = max(0, total - sum(counts.values()))
    return _ProximityTable(
        levels,
        weigh_levels([level.share for level in proximity_levels], counts),
        FIRST_OF_KIND_LEVELS[question_character.role],
        spots_by_document,
    )


def _find_conversations(
    question_characters: Sequence[QuestionCharacter], tables: Sequence[_ProximityTable]
) -> dict[DocumentId, int]:
    """Return the spots near which a speaker and a hearer of the question both speak, as
    bits by document.
    """
    spots: dict[DocumentId, int] = {}
    by_role: dict[AppearanceRole, list[dict[DocumentId, int]]] = {}
    for character, table in zip(question_characters, tables, strict=True):
        near = table.find_near({AppearanceRole.SPEAKS}, CONVERSATION_REACH)
        by_role.setdefault(character.role, []).append(near)
    for speaker in by_role.get(AppearanceRole.SPEAKS, ()):
        for hearer in by_role.get(AppearanceRole.HEARS, ()):
            for document, both in _intersect([speaker, hearer]).items():
                spots[document] = spots.get(document, 0) | both
    return spots


def _find_company(tables: Sequence[_ProximityTable]) -> dict[DocumentId, int]:
    """Return the spots in or beside which all characters appear, as bits by document;
    empty for a single character.
    """
    near = [table.find_near(ANY_ROLE, 1) for table in tables]
    return _intersect(near) if len(near) > 1 else {}


def _intersect(spots: Sequence[Mapping[DocumentId, int]]) -> dict[DocumentId, int]:
    """Return the bits that all of `spots` have, by document."""
    documents = set(spots[0]).intersection(*spots[1:])
    return {d: reduce(and_, (bits[d] for bits in spots)) for d in documents}


def _has_bit(spots: Mapping[DocumentId, int], spot: Spot) -> bool:
    document, ordinal = spot
    return bool(spots.get(document, 0) >> ordinal & 1)


def _join_roles(
    spots: Mapping[AppearanceRole, int], roles: Collection[AppearanceRole]
) -> int:
    return reduce(or_, (spots.get(role, 0) for role in roles))


def _widen(spots: int, away: int) -> int:
    """Return the bits of `spots` and of all spots at most `away` before or after."""
    return reduce(or_, (spots << n | spots >> n for n in range(away + 1)))


def _span(quotation: Quotation) -> Span:
    return Span(quotation.spans[0].start, quotation.spans[-1].end)


@dataclass(frozen=True, slots=True)
class _UtteranceSpots:
    """The spots that each utterance overlaps.

    `groups` are the spots of one utterance, or of several that follow each other in the
    same spots; `numbers` has the position in `groups` of each utterance.
    """

    groups: Sequence[tuple[Spot, ...]]
    numbers: Sequence[int]


def _find_spots(
    utterances: Sequence[DocumentQuotation], spans: Mapping[Spot, Span]
) -> _UtteranceSpots:
    """Return the spots that each of `utterances` overlaps, of those in `spans`."""
    by_document: dict[DocumentId, list[tuple[int, int, int]]] = {}
    for (document, ordinal), span in spans.items():
        by_document.setdefault(document, []).append((span.start, span.end, ordinal))
    for ordered in by_document.values():
        ordered.sort()
    groups: list[tuple[Spot, ...]] = []
    numbers = []
    for utterance in utterances:
        document, parts = utterance.document, utterance.quotation.spans
        start, end = parts[0].start, parts[-1].end
        # Chunks do not overlap: those that begin before the utterance ends are enough.
        chunks = by_document.get(document, [])
        last = bisect(chunks, (end,))
        overlapping = []
        while last and chunks[last - 1][1] > start:
            last -= 1
            overlapping.append((document, chunks[last][2]))
        group = tuple(overlapping)
        if not groups or groups[-1] != group:
            groups.append(group)
        numbers.append(len(groups) - 1)
    return _UtteranceSpots(groups, numbers)


def _score_matches(
    question_characters: Sequence[QuestionCharacter],
    utterances: Sequence[DocumentQuotation],
    spots: _UtteranceSpots,
) -> dict[Spot, float]:
    """Score the spots of utterances whose speaker, and hearer or topic, match."""
    people_by_role = {
        role: {
            person
            for question_character in question_characters
            if question_character.role is role
            for person in question_character.people
        }
        for role in PROXIMITY_LEVELS
    }
    scores: dict[Spot, float] = {}
    for utterance, group in zip(utterances, spots.numbers, strict=True):
        quotation = utterance.quotation
        if quotation.speaker not in people_by_role[AppearanceRole.SPEAKS]:
            continue
        fits = int(quotation.addressee in people_by_role[AppearanceRole.HEARS])
        fits += not people_by_role[AppearanceRole.MENTIONED].isdisjoint(
            quotation.mentions
        )
        for spot in spots.groups[group] if fits else ():
            scores[spot] = max(scores.get(spot, 0.0), UTTERANCE_BONUS * fits)
    return scores


def _score_utterances(
    people: Sequence[tuple[QuestionCharacter, _ProximityTable]],
    utterances: Sequence[DocumentQuotation],
    spots: _UtteranceSpots,
) -> dict[Spot, float]:
    """Return the score of the best utterance in each spot."""
    scores = [0.0] * len(utterances)
    for character, table in people:
        levels = _find_utterance_levels(character, table, utterances, spots)
        weights = weigh_levels(UTTERANCE_SHARES[character.role], Counter(levels))
        scores = [s + weights[n] for s, n in zip(scores, levels, strict=True)]
    if any(character.role is AppearanceRole.MENTIONED for character, _ in people):
        lengths = [
            bisect(UTTERANCE_LENGTHS, sum(span.end - span.start for span in q.spans))
            for q in [utterance.quotation for utterance in utterances]
        ]
        weights = weigh_levels(LENGTH_SHARES[:-1], Counter(lengths))
        scores = [s + weights[n] for s, n in zip(scores, lengths, strict=True)]
    best_of_groups = [-math.inf] * len(spots.groups)
    for score, group in zip(scores, spots.numbers, strict=True):
        if score > best_of_groups[group]:
            best_of_groups[group] = score
    best: dict[Spot, float] = {}
    for score, group_spots in zip(best_of_groups, spots.groups, strict=True):
        for spot in group_spots:
            best[spot] = max(best.get(spot, -math.inf), score)
    return best


def _find_utterance_levels(
    character: QuestionCharacter,
    table: _ProximityTable,
    utterances: Sequence[DocumentQuotation],
    spots: _UtteranceSpots,
) -> list[int]:
    """Return the level of each utterance, counted as in `UTTERANCE_SHARES`."""
    own_levels = UTTERANCE_LEVELS[character.role]
    no_level = len(PROXIMITY_LEVELS[character.role])
    level_of_group = [
        len(own_levels) + min(map(table.level_of, near), default=no_level)
        for near in spots.groups
    ]
    levels = [level_of_group[group] for group in spots.numbers]
    positions = _find_positions(frozenset(character.people), utterances)
    # From the last level to the first, so that the nearest one remains.
    for number, (roles, away) in reversed(list(enumerate(own_levels))):
        exact = {position for role in roles for position in positions.get(role, ())}
        for position in _widen_positions(exact, away, utterances):
            levels[position] = number
    return levels


def _widen_positions(
    positions: Iterable[int], away: int, utterances: Sequence[DocumentQuotation]
) -> set[int]:
    """Return the positions at most `away` before or after, in the same document."""
    if not away:
        return set(positions)
    return {
        near
        for position in positions
        for near in range(
            max(0, position - away), min(position + away + 1, len(utterances))
        )
        if utterances[near].document == utterances[position].document
    }


def _find_positions(
    people: frozenset[str], utterances: Sequence[DocumentQuotation]
) -> dict[AppearanceRole, list[int]]:
    """Return the positions of the utterances in which one of `people` has each role."""
    positions: dict[AppearanceRole, list[int]] = {}
    for position, utterance in enumerate(utterances):
        quotation = utterance.quotation
        if quotation.speaker in people:
            positions.setdefault(AppearanceRole.SPEAKS, []).append(position)
        if quotation.addressee in people:
            positions.setdefault(AppearanceRole.HEARS, []).append(position)
        if quotation.mentions and not people.isdisjoint(quotation.mentions):
            positions.setdefault(AppearanceRole.MENTIONED, []).append(position)
    return positions


def _find_spots_at_levels(
    spots: Mapping[AppearanceRole, int], levels: Sequence[ProximityLevel]
) -> list[int]:
    """Return the spots of one document at each level, and at no earlier one, as bits.

    `spots` has the spots in which a character has each role. A level may include spots
    after the last chunk of the document; none is before the first.
    """
    earlier = 0
    spots_at_levels = []
    for level in levels:
        near = _widen(_join_roles(spots, level.roles), level.away)
        spots_at_levels.append(near & ~earlier)
        earlier |= near
    return spots_at_levels


@dataclass(frozen=True, slots=True)
class SpeechQuestion:
    """A question about who says what, and what the story data has about its characters.

    `people` are the names in the question, `appearances` the records of where these
    characters appear, by passage and role, `quotations` all those of the same documents.
    `speaker_named` has the share of the words of the speaker's name, as the question has
    it, that a passage contains. All are empty for a question of another kind.
    """

    question: str
    people: tuple[QuestionCharacter, ...]
    appearances: tuple[Appearance, ...]
    quotations: tuple[DocumentQuotation, ...]
    speaker_named: Mapping[Spot, float] = field(default_factory=dict)

    @property
    def has_topic(self) -> bool:
        """Whether the question has content words besides names: "What does Nell say
        about the fog?" has, "What does Nell say to Mags?" has none.
        """
        names = [person.span for person in self.people]
        return bool(find_topic_words(self.question, names))


def score_chunks_by_people(
    speech_question: SpeechQuestion,
    scope: SearchScope,
    order: StoryOrder,
    others: Sequence[Chunk],
    *,
    total: int,
) -> dict[ChunkId, float]:
    """Return scores for the chunks in or near which the characters of a question
    appear, and for `others`, by chunk id.

    They are to be added to the scores of the hybrid search; 0.0 is neutral, chunks far
    from the characters have negative scores. Only appearances within `scope` count. If
    the question asks for the first or last passage, chunks early or late in the story
    `order` get more. `total` is the number of chunks in the library.
    """
    proximity = CharacterProximity(
        speech_question.people,
        speech_question.appearances,
        speech_question.quotations,
        scope,
        total=total,
        spots={(chunk.document, chunk.ordinal): chunk.span for chunk in others},
        speaker_named=speech_question.speaker_named,
    )
    spots = proximity.chunks | {(c.document, c.ordinal): c.id for c in others}
    scores = {c: PEOPLE_WEIGHT * proximity.score(spot) for spot, c in spots.items()}
    question = speech_question.question
    if asks_first(question) or asks_last(question):
        plain = {spot: c for spot, c in spots.items() if proximity.is_plain(spot)}
        for chunk, bonus in _score_story_position(question, plain, order).items():
            scores[chunk] += EARLINESS_WEIGHT * bonus
    return scores


def _score_story_position(
    question: str, chunks: Mapping[tuple[DocumentId, int], ChunkId], order: StoryOrder
) -> dict[ChunkId, float]:
    """Score chunks by position in the story, 0.0 to 1.0: the earliest scores highest,
    or the latest if the question asks for the last of something.
    """
    last = asks_last(question)
    ranks = {document: rank for rank, document in enumerate(order.story)}
    story_spots = [spot for spot in chunks if spot[0] in ranks]
    story_spots.sort(key=lambda spot: (ranks[spot[0]], spot[1]), reverse=last)
    return {
        chunks[spot]: 1 - n / len(story_spots) for n, spot in enumerate(story_spots)
    }
