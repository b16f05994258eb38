"""Scores passages and utterances by how near the characters of a question are.

Both scores are log-likelihood ratios of naive Bayes: for each character of a question
about who says what, how much likelier an answer is at this level of nearness than any
passage, or any utterance, is.
"""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from lrwr.core.model.cast import Quotation
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentQuotation,
)
from lrwr.core.retrieval.people import QuestionCharacter
from lrwr.core.retrieval.story import is_within_scope

PRESENT_ROLES = frozenset(
    {AppearanceRole.SPEAKS, AppearanceRole.HEARS, AppearanceRole.PRESENT}
)
"""Roles of a character who is present, not merely mentioned."""

_ANY = frozenset(AppearanceRole)
_SPEAKS, _HEARS = frozenset({AppearanceRole.SPEAKS}), frozenset({AppearanceRole.HEARS})
_PRESENT, _MENTIONED = (
    frozenset({AppearanceRole.PRESENT}),
    frozenset({AppearanceRole.MENTIONED}),
)
_TALKS = _SPEAKS | _HEARS
FIRST_OF_KIND_LEVELS: Mapping[AppearanceRole, int] = {
    AppearanceRole.SPEAKS: 1,
    AppearanceRole.HEARS: 7,
    AppearanceRole.MENTIONED: 5,
}
"""Number of levels at which a character plainly has the role. Only such passages count
when a question asks for the first or last passage of a kind."""

UTTERANCE_BONUS = 1.5
"""Score added to a passage that contains an utterance of the question's speaker to its
hearer; added again if the utterance mentions the question's topic."""

UTTERANCE_WEIGHT = 0.75
"""Weight of a passage's best utterance relative to the passage itself (decision 030)."""

Spot = tuple[DocumentId, int]
"""A passage, identified by document and ordinal."""


@dataclass(frozen=True, slots=True)
class ProximityLevel:
    """One level of nearness between a passage and a character.

    A passage is at this level if the character appears in one of `roles` at most `away`
    passages before or after it. `share` is the share of answering passages, 0.0 to 1.0,
    that are at this level and at no earlier one.
    """

    roles: frozenset[AppearanceRole]
    away: int
    share: float


PROXIMITY_LEVELS: Mapping[AppearanceRole, tuple[ProximityLevel, ...]] = {
    AppearanceRole.SPEAKS: (
        ProximityLevel(_SPEAKS, 0, 0.77),
        ProximityLevel(_HEARS, 0, 0.04),
        ProximityLevel(_SPEAKS, 1, 0.025),
        ProximityLevel(PRESENT_ROLES, 1, 0.07),
        ProximityLevel(PRESENT_ROLES, 4, 0.02),
        ProximityLevel(_ANY, 4, 0.01),
    ),
    AppearanceRole.HEARS: (
        ProximityLevel(_HEARS, 0, 0.45),
        ProximityLevel(_SPEAKS, 0, 0.05),
        ProximityLevel(_PRESENT, 0, 0.08),
        ProximityLevel(_TALKS, 1, 0.12),
        ProximityLevel(PRESENT_ROLES, 1, 0.075),
        ProximityLevel(PRESENT_ROLES, 2, 0.06),
        ProximityLevel(PRESENT_ROLES, 4, 0.05),
        ProximityLevel(PRESENT_ROLES, 8, 0.025),
    ),
    AppearanceRole.MENTIONED: (
        ProximityLevel(_MENTIONED, 0, 0.41),
        ProximityLevel(PRESENT_ROLES, 0, 0.20),
        ProximityLevel(_ANY, 1, 0.11),
        ProximityLevel(_ANY, 2, 0.06),
        ProximityLevel(_ANY, 4, 0.05),
    ),
}
"""Proximity levels for each role of a character in the question.

The shares were counted on 625 questions about the dialogue of 12 novels (decision 011).
They need not add up to 1: the rest of the answering passages is at no level.
"""


UTTERANCE_LEVELS: Mapping[
    AppearanceRole, tuple[tuple[frozenset[AppearanceRole], int], ...]
] = {
    AppearanceRole.SPEAKS: ((_SPEAKS, 0), (_TALKS, 2), (_TALKS, 6)),
    AppearanceRole.HEARS: ((_HEARS, 0), (_SPEAKS, 1), (_TALKS, 3), (_TALKS, 8)),
    AppearanceRole.MENTIONED: ((_MENTIONED, 0), (_MENTIONED, 2), (_MENTIONED, 4)),
}
"""Levels of nearness between an utterance and a character, for each role of the character
in the question: the roles in which one of the utterances at most so many before or after
it has the character. Utterances at no such level are at the level of their passage in
`PROXIMITY_LEVELS`.
"""

UTTERANCE_SHARES: Mapping[AppearanceRole, tuple[float, ...]] = {
    AppearanceRole.SPEAKS: (
        *(0.688, 0.105, 0.038),
        *(0.003, 0.005, 0.006, 0.062, 0.019, 0.009),
    ),
    AppearanceRole.HEARS: (
        *(0.234, 0.139, 0.169, 0.110),
        *(0.015, 0.003, 0.044, 0.026, 0.044, 0.042, 0.036, 0.029),
    ),
    AppearanceRole.MENTIONED: (
        *(0.271, 0.100, 0.049),
        *(0.087, 0.160, 0.089, 0.045, 0.048),
    ),
}
"""Share of the answering utterances at each level: first those of `UTTERANCE_LEVELS`, then
those of `PROXIMITY_LEVELS`. Counted on the same questions.
"""

UTTERANCE_LENGTHS = (60, 120, 240, 500)
LENGTH_SHARES = (0.017, 0.260, 0.298, 0.278, 0.147)
"""Upper ends of five ranges of length in characters, the last of which is open, and the
share of the answering utterances in each. Short utterances rarely are about somebody."""


@dataclass(frozen=True, slots=True)
class _ProximityTable:
    """The proximity level of each spot to one character of the question.

    `levels` has an integer for each document and level: bit n is set if the chunk with
    the ordinal n is at that level. `weights` has one score for each level and a last
    one for no level. Levels below `plain` count as plainly having the role.
    """

    levels: Mapping[DocumentId, Sequence[int]]
    weights: Sequence[float]
    plain: int

    def level_of(self, spot: Spot) -> int:
        """Return the level of a spot; the number of levels if it is at none."""
        document, ordinal = spot
        for number, spots in enumerate(self.levels.get(document, ())):
            if spots >> ordinal & 1:
                return number
        return len(self.weights) - 1


class CharacterProximity:
    """Scores chunks by the characters of a question that appear in or near them.

    The score of a chunk adds up, for each character, the logarithm of how much likelier
    a chunk at its proximity level is to contain the answer than any chunk; so a
    character who appears everywhere adds little, a rare one a lot. The score of its
    best utterance, computed likewise, and `UTTERANCE_BONUS` for matching utterances are
    added. Only what is within `scope` counts. `spots` are chunks to score besides those
    in `appearances`; `total` is the number of chunks in the library;
    `document_quotations` are those of all speakers in the documents in which the
    characters appear, in text order: other documents say nothing of them.
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
    ) -> None:
        visible = [
            appearance
            for appearance in appearances
            if is_within_scope(appearance.document, appearance.span, scope)
        ]
        self.chunks = {
            (appearance.document, appearance.ordinal): appearance.chunk
            for appearance in visible
        }
        self._tables = [
            _build_proximity_table(character, visible, max(1, total))
            for character in question_characters
        ]
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
        return sum(people) + UTTERANCE_WEIGHT * utterance + self._bonuses.get(spot, 0.0)

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
        _weigh_levels([level.share for level in proximity_levels], counts),
        FIRST_OF_KIND_LEVELS[question_character.role],
    )


def _weigh_levels(shares: Sequence[float], counts: Mapping[int, int]) -> list[float]:
    """Return the log-likelihood ratio of each level, and last that of no level.

    `shares` are those of the answers at each level, `counts` the number of all chunks or
    utterances at each, by its position, and at no level.
    """
    all_shares = [*shares, 1 - sum(shares)]
    smoothed_total = sum(counts.values()) + len(all_shares)
    # Laplace smoothing: each level is counted once more than it occurs.
    return [
        math.log(share * smoothed_total / (counts.get(number, 0) + 1))
        for number, share in enumerate(all_shares)
    ]


def _span(quotation: Quotation) -> Span:
    return Span(quotation.spans[0].start, quotation.spans[-1].end)


def _find_spots(
    utterances: Sequence[DocumentQuotation], spans: Mapping[Spot, Span]
) -> list[tuple[Spot, ...]]:
    """Return for each of `utterances` the spots that it overlaps, of those in `spans`."""
    by_document: dict[DocumentId, list[tuple[int, int, int]]] = {}
    for (document, ordinal), span in spans.items():
        by_document.setdefault(document, []).append((span.start, span.end, ordinal))
    for ordered in by_document.values():
        ordered.sort()
    spots_of_utterances = []
    for utterance in utterances:
        span = _span(utterance.quotation)
        # Chunks do not overlap: those that begin before the utterance ends are enough.
        chunks = by_document.get(utterance.document, [])
        last = bisect(chunks, (span.end,))
        overlapping = []
        while last and chunks[last - 1][1] > span.start:
            last -= 1
            overlapping.append((utterance.document, chunks[last][2]))
        spots_of_utterances.append(tuple(overlapping))
    return spots_of_utterances


def _score_matches(
    question_characters: Sequence[QuestionCharacter],
    utterances: Sequence[DocumentQuotation],
    spots: Sequence[Sequence[Spot]],
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
    for utterance, utterance_spots in zip(utterances, spots, strict=True):
        quotation = utterance.quotation
        if quotation.speaker not in people_by_role[AppearanceRole.SPEAKS]:
            continue
        fits = int(quotation.addressee in people_by_role[AppearanceRole.HEARS])
        fits += not people_by_role[AppearanceRole.MENTIONED].isdisjoint(
            quotation.mentions
        )
        for spot in utterance_spots if fits else ():
            scores[spot] = max(scores.get(spot, 0.0), UTTERANCE_BONUS * fits)
    return scores


def _score_utterances(
    people: Sequence[tuple[QuestionCharacter, _ProximityTable]],
    utterances: Sequence[DocumentQuotation],
    spots: Sequence[tuple[Spot, ...]],
) -> dict[Spot, float]:
    """Return the score of the best utterance in each spot."""
    scores = [0.0] * len(utterances)
    for character, table in people:
        levels = _find_utterance_levels(character, table, utterances, spots)
        weights = _weigh_levels(UTTERANCE_SHARES[character.role], Counter(levels))
        scores = [s + weights[n] for s, n in zip(scores, levels, strict=True)]
    if any(character.role is AppearanceRole.MENTIONED for character, _ in people):
        lengths = [
            bisect(UTTERANCE_LENGTHS, sum(span.end - span.start for span in q.spans))
            for q in [utterance.quotation for utterance in utterances]
        ]
        weights = _weigh_levels(LENGTH_SHARES[:-1], Counter(lengths))
        scores = [s + weights[n] for s, n in zip(scores, lengths, strict=True)]
    best_of_spots: dict[tuple[Spot, ...], float] = {}
    for score, utterance_spots in zip(scores, spots, strict=True):
        if score > best_of_spots.get(utterance_spots, -math.inf):
            best_of_spots[utterance_spots] = score
    best: dict[Spot, float] = {}
    for utterance_spots, score in best_of_spots.items():
        for spot in utterance_spots:
            best[spot] = max(best.get(spot, -math.inf), score)
    return best


def _find_utterance_levels(
    character: QuestionCharacter,
    table: _ProximityTable,
    utterances: Sequence[DocumentQuotation],
    spots: Sequence[tuple[Spot, ...]],
) -> list[int]:
    """Return the level of each utterance, counted as in `UTTERANCE_SHARES`."""
    own_levels = UTTERANCE_LEVELS[character.role]
    no_level = len(PROXIMITY_LEVELS[character.role])
    # Many utterances are in the same spots.
    level_of_spots = {
        near: len(own_levels) + min(map(table.level_of, near), default=no_level)
        for near in set(spots)
    }
    levels = [level_of_spots[near] for near in spots]
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
        here = reduce(or_, (spots.get(role, 0) for role in level.roles))
        near = reduce(or_, (here << n | here >> n for n in range(level.away + 1)))
        spots_at_levels.append(near & ~earlier)
        earlier |= near
    return spots_at_levels
