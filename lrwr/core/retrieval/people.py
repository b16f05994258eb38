"""Recognizes the characters in a question about who says what, and scores passages by
them.

The rules are for English. Characters only add to a passage's score and never exclude
it: the recorded appearances are incomplete, and a filter that required all names lost
25 of 60 correct passages where added scores lost none.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lookup import find_names_in_question, resolve_name
from lrwr.core.ports.story_stores import (
    Appearance,
    AppearanceRole,
    DocumentQuotation,
    FirstMention,
)
from lrwr.core.retrieval.story import is_within_scope

_SAYING = re.compile(
    r"\b(?:say|says|said|saying|tell|tells|told|telling|ask|asks|asked|asking|speak"
    r"|speaks|spoke|talk|talks|talked|reply|replies|replied|answer|answers|answered"
    r"|promise|promises|promised|explain|explains|explained|words)\b",
    re.IGNORECASE,
)
_SUBORDINATE_CLAUSE = re.compile(
    r"\b(?:when|whenever|while|until|after|before|once|because|since|if|unless|though"
    r"|although|as)\b",
    re.IGNORECASE,
)
"""Words that begin a clause which the question mentions only in passing."""

_POSSESSIVE = re.compile(r"['’]s?\b")
_ROLE_BEFORE_NAME = {
    AppearanceRole.HEARS: re.compile(
        r"\b(?:to|with|against)\s*(?:the\s+)?$", re.IGNORECASE
    ),
    AppearanceRole.MENTIONED: re.compile(
        r"\b(?:about|of|on|concerning|regarding|over)\s*(?:the\s+)?$", re.IGNORECASE
    ),
    AppearanceRole.SPEAKS: re.compile(r"\bby\s*(?:the\s+)?$", re.IGNORECASE),
}
_HEARER_BEFORE_NAME = re.compile(
    r"\b(?:tell|tells|told|ask|asks|asked|answer|answers|answered|promise|promises"
    r"|promised)\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_CAPITALIZED_NAME = re.compile(
    r"(?<=\w\s)[A-Z][^\W_]+(?:['’-][^\W_]+)*\.?"
    r"(?:\s(?:(?:[oO]f|[iI]n|[tT]he)\s){0,2}[A-Z][^\W_]+(?:['’-][^\W_]+)*)*"
)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_LAST = re.compile(r"\blast\b", re.IGNORECASE)
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

_Spot = tuple[DocumentId, int]
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


@dataclass(frozen=True, slots=True)
class QuestionCharacter:
    """A name in a question, at `span`.

    `people` are the names of the characters that it may mean. `role` is their role in
    the question: who speaks, hears, or is talked about.
    """

    span: Span
    people: tuple[str, ...]
    role: AppearanceRole


def resolve_question_names(
    question: str, cast: Cast
) -> list[tuple[Span, tuple[str, ...]]]:
    """Return the spans of names in `question`, in text order, each with the names of
    the characters of `cast` that it may mean.
    """
    return _join_adjacent_names(question, find_names_in_question(question, cast))


def asks_about_saying(question: str) -> bool:
    """Return whether `question` asks for something that somebody says.

    "What does Nell say?" does; "What happened after Nell spoke?" does not.
    """
    match = _SAYING.search(question)
    if match is None:
        return False
    passing = _SUBORDINATE_CLAUSE.search(question, 1)
    return passing is None or match.start() < passing.start()


def find_question_characters(question: str, cast: Cast) -> list[QuestionCharacter]:
    """Return the names in a question about who says what, in the order of the question,
    each with the characters of `cast` that it may mean and their role.

    Empty for other questions. Possessives are skipped: "Nell's aunt" is not Nell.
    """
    if not asks_about_saying(question):
        return []
    return [
        QuestionCharacter(span, people, infer_question_role(question, span.start))
        for span, people in resolve_question_names(question, cast)
        if not _POSSESSIVE.match(question, span.end)
    ]


def find_unknown_question_names(
    question: str, question_characters: Sequence[QuestionCharacter]
) -> list[tuple[str, AppearanceRole]]:
    """Return the capitalized names in a question about who says what that are not among
    `question_characters`, in the order of the question.

    Each is given by its last word, with the role that the question gives it. Empty for
    other questions.
    """
    if not asks_about_saying(question):
        return []
    character_spans = [
        question_character.span for question_character in question_characters
    ]
    return [
        (name[0].split()[-1], infer_question_role(question, name.start()))
        for name in _CAPITALIZED_NAME.finditer(question)
        if not any(
            s.start < name.end() and name.start() < s.end for s in character_spans
        )
        and not _POSSESSIVE.match(question, name.end())
    ]


def _join_adjacent_names(
    question: str, named_spans: Sequence[tuple[Span, tuple[str, ...]]]
) -> list[tuple[Span, tuple[str, ...]]]:
    """Merge adjacent names into one that means the characters both may mean."""
    joined: list[tuple[Span, tuple[str, ...]]] = []
    for span, people in named_spans:
        if joined and not question[joined[-1][0].end : span.start].strip():
            before, others = joined.pop()
            both = tuple(person for person in people if person in others)
            span, people = Span(before.start, span.end), both or others or people
        joined.append((span, people))
    return joined


class CharacterProximity:
    """Scores chunks by the characters of a question that appear in or near them.

    The score of a chunk is a naive Bayes log-likelihood ratio: the logarithm of how
    much likelier a chunk at its proximity level is to contain the answer than any
    chunk. So a character who appears everywhere adds little, a rare one a lot.
    `UTTERANCE_BONUS` is added for matching utterances. Only appearances within `scope`
    count. `total` is the number of chunks in the library; `document_quotations` are
    those of the possible speakers.
    """

    def __init__(
        self,
        question_characters: Sequence[QuestionCharacter],
        appearances: Sequence[Appearance],
        document_quotations: Sequence[DocumentQuotation],
        scope: SearchScope,
        *,
        total: int,
    ) -> None:
        visible_appearances = [
            appearance
            for appearance in appearances
            if is_within_scope(appearance.document, appearance.span, scope)
        ]
        self.chunks = {
            (appearance.document, appearance.ordinal): appearance.chunk
            for appearance in visible_appearances
        }
        self._build_proximity_table = [
            _build_proximity_table(
                question_character, visible_appearances, max(1, total)
            )
            for question_character in question_characters
        ]
        self._score_utterances = _score_utterances(
            question_characters, document_quotations, visible_appearances
        )

    def score(self, spot: _Spot) -> float:
        """Return the score of the chunk with this document and ordinal; 0.0 is neutral.

        Positive if it is likelier to contain the answer than other chunks, else
        negative.
        """
        people = (
            proximity_table.weights[proximity_table.levels.get(spot, -1)]
            for proximity_table in self._build_proximity_table
        )
        return sum(people) + self._score_utterances.get(spot, 0.0)

    def is_plain(self, spot: _Spot) -> bool:
        """Return whether every character clearly has the role of the question in the
        chunk with this document and ordinal.

        Only such chunks count as the first or last of a kind.
        """
        return all(
            0 <= proximity_table.levels.get(spot, -1) < proximity_table.plain
            for proximity_table in self._build_proximity_table
        )


@dataclass(frozen=True, slots=True)
class _ProximityTable:
    """The proximity level of each spot to one character of the question.

    Spots that are missing are at no level. `weights` has one score for each level and a
    last one for no level. Levels below `plain` count as plainly having the role.
    """

    levels: Mapping[_Spot, int]
    weights: tuple[float, ...]
    plain: int


def asks_first(question: str) -> bool:
    """Return whether `question` contains "first", so that the earliest passage is
    meant.
    """
    return _FIRST.search(question) is not None


def asks_last(question: str) -> bool:
    """Return whether `question` contains "last", so that the latest passage is meant."""
    return _LAST.search(question) is not None


def infer_question_role(question: str, start: int) -> AppearanceRole:
    """Return the role of the character whose name begins at offset `start` of
    `question`.

    The words before the name decide: after "to" or "told" they hear, after "about" they
    are mentioned, else they speak.
    """
    before = question[:start]
    for role, words in _ROLE_BEFORE_NAME.items():
        if words.search(before):
            return role
    return (
        AppearanceRole.HEARS
        if _HEARER_BEFORE_NAME.search(before)
        else AppearanceRole.SPEAKS
    )


def _build_proximity_table(
    question_character: QuestionCharacter, appearances: Sequence[Appearance], total: int
) -> _ProximityTable:
    own_appearances = [
        appearance
        for appearance in appearances
        if appearance.character in question_character.people
    ]
    levels: dict[_Spot, int] = {}
    for number, level in enumerate(PROXIMITY_LEVELS[question_character.role]):
        for spot in _iter_spots_at_level(own_appearances, level):
            levels.setdefault(spot, number)
    shares = [level.share for level in PROXIMITY_LEVELS[question_character.role]]
    shares.append(1 - sum(shares))
    counts = Counter(levels.values())
    counts[len(shares) - 1] = max(0, total - len(levels))
    # Log-likelihood ratio of each level: its share among answering passages, divided
    # by its share among all chunks with add-one (Laplace) smoothing.
    weights = tuple(
        math.log(share * (total + len(shares)) / (counts[number] + 1))
        for number, share in enumerate(shares)
    )
    return _ProximityTable(
        levels, weights, FIRST_OF_KIND_LEVELS[question_character.role]
    )


def _score_utterances(
    question_characters: Sequence[QuestionCharacter],
    document_quotations: Sequence[DocumentQuotation],
    appearances: Sequence[Appearance],
) -> dict[_Spot, float]:
    """Score the spots of utterances whose hearer or topic matches the question."""
    people_by_role = {
        role: {
            person
            for question_character in question_characters
            if question_character.role is role
            for person in question_character.people
        }
        for role in (
            AppearanceRole.SPEAKS,
            AppearanceRole.HEARS,
            AppearanceRole.MENTIONED,
        )
    }
    speaking: dict[DocumentId, dict[int, Span]] = {}
    for appearance in appearances:
        if (
            appearance.role is AppearanceRole.SPEAKS
            and appearance.character in people_by_role[AppearanceRole.SPEAKS]
        ):
            speaking.setdefault(appearance.document, {})[appearance.ordinal] = (
                appearance.span
            )
    scores: dict[_Spot, float] = {}
    for document, quotation in (
        (document_quotation.document, document_quotation.quotation)
        for document_quotation in document_quotations
    ):
        fits = int(quotation.addressee in people_by_role[AppearanceRole.HEARS])
        fits += not people_by_role[AppearanceRole.MENTIONED].isdisjoint(
            quotation.mentions
        )
        quotation_span = Span(quotation.spans[0].start, quotation.spans[-1].end)
        for ordinal, span in speaking.get(document, {}).items() if fits else ():
            if quotation_span.start < span.end and span.start < quotation_span.end:
                spot = document, ordinal
                scores[spot] = max(scores.get(spot, 0.0), UTTERANCE_BONUS * fits)
    return scores


def _iter_spots_at_level(
    appearances: Sequence[Appearance], level: ProximityLevel
) -> Iterator[_Spot]:
    for appearance in appearances:
        if appearance.role in level.roles:
            first = max(0, appearance.ordinal - level.away)
            for ordinal in range(first, appearance.ordinal + level.away + 1):
                yield appearance.document, ordinal


@dataclass(frozen=True, slots=True)
class ScopedCast:
    """The characters known at a point of the story.

    `cast` has only names that occur by then. `whole_cast_names` maps each character's
    name in `cast` to the name of the same character in the whole cast; to several names
    if the story has not yet told these characters apart.
    """

    cast: Cast
    whole_cast_names: Mapping[str, tuple[str, ...]]

    def resolve(self, name: str) -> tuple[str, ...]:
        """Return the names in the whole cast of the characters that `name` may mean.

        Raises:
            NotFound: No character known at this point is called that.
        """
        people = self.to_whole_cast_names(resolve_name(name, self.cast))
        if people:
            return people
        raise NotFound(
            f"No character is called {name}",
            hint="List the characters with `lrwr characters`.",
        )

    def to_whole_cast_names(self, people: Iterable[str]) -> tuple[str, ...]:
        """Translate names of characters in `cast` into their names in the whole cast.

        Raises:
            KeyError: A name is not that of a character in `cast`.
        """
        return tuple(
            name for person in people for name in self.whole_cast_names[person]
        )


def build_unscoped_cast(cast: Cast) -> ScopedCast:
    """Return `cast` unchanged as the cast known at the end of the story."""
    return ScopedCast(
        cast, {character.name: (character.name,) for character in cast.characters}
    )


def build_scoped_cast(
    cast: Cast, rows: Iterable[FirstMention], scope: SearchScope
) -> ScopedCast:
    """Return the characters of `cast` that are named within `scope`, with the aliases
    that occur there.

    `rows` are the first mentions of all aliases in each document. A character whose
    name does not occur is called by the first alias that does.
    """
    forms: dict[str, set[str]] = {}
    for row in rows:
        if is_within_scope(row.document, row.span, scope):
            forms.setdefault(row.character, set()).add(row.alias)
    whole_cast_names: dict[str, tuple[str, ...]] = {}
    people = []
    for character in cast.characters:
        if character.name in forms:
            scoped_character = _restrict_aliases(character, forms[character.name])
            whole_cast_names[scoped_character.name] = (
                *whole_cast_names.get(scoped_character.name, ()),
                character.name,
            )
            people.append(scoped_character)
    return ScopedCast(Cast(tuple(people)), whole_cast_names)


def _restrict_aliases(character: Character, forms: Collection[str]) -> Character:
    aliases = tuple(alias for alias in character.aliases if alias.name in forms)
    if character.name in forms or not aliases:
        return replace(character, aliases=aliases)
    return replace(character, name=aliases[0].name, aliases=aliases)
