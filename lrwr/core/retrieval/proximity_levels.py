"""How near the answers of questions about who says what are to the question's characters.

Levels of nearness, and the share of the answering passages and utterances at each.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.ports.story_stores import AppearanceRole

PEOPLE_WEIGHT = 0.4
EARLINESS_WEIGHT = 6.0
"""Weights of the people in a question about who says what, relative to the hybrid
score, and of story position if it asks for the first or last passage. Position
outweighs everything else, because only plain matches get it. See decision 011."""

TOPIC_PEOPLE_WEIGHT = 0.2
"""Weight of the people in a question about who says what that also has a topic ("… about
the fog"). They then only assist its words, and the reranker applies (decision 030)."""

UTTERANCE_BONUS = 1.5
"""Score added to a passage that contains an utterance of the question's speaker to its
hearer; added again if the utterance mentions the question's topic."""

UTTERANCE_WEIGHT = 0.75
"""Weight of a passage's best utterance relative to the passage itself (decision 030)."""

CONVERSATION_BONUS = 2.0
CONVERSATION_REACH = 8
"""Score added to a passage if both the question's speaker and its hearer speak at most so
many passages before or after it: attribution often errs in a single utterance, rarely in
who takes part in a conversation."""

COMPANY_BONUS = 1.5
"""Score added to a passage if every character of a question about two or more appears in
it or in one beside it, in any role."""

NAMED_SPEAKER_WEIGHT = 1.125
"""Weight of the share of the words of the speaker's name, as the question has it, that a
passage contains, and again of the greatest share in it and the passages beside it. Who is
called so is certain even where the name belongs to several characters."""

PRESENT_ROLES = frozenset(
    {AppearanceRole.SPEAKS, AppearanceRole.HEARS, AppearanceRole.PRESENT}
)
"""Roles of a character who is present, not merely mentioned."""

ANY_ROLE = frozenset(AppearanceRole)
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
        ProximityLevel(ANY_ROLE, 4, 0.01),
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
        ProximityLevel(ANY_ROLE, 1, 0.11),
        ProximityLevel(ANY_ROLE, 2, 0.06),
        ProximityLevel(ANY_ROLE, 4, 0.05),
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


def weigh_levels(shares: Sequence[float], counts: Mapping[int, int]) -> list[float]:
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
