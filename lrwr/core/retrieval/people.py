"""Whom a question is about, what they do in it, and which passages have them so.

A passage is never shut out because somebody is missing from it: tags are incomplete,
and a filter on all names lost 25 of 60 gold passages where a boost lost none. English
rules.
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
_CLAUSE = re.compile(
    r"\b(?:when|whenever|while|until|after|before|once|because|since|if|unless|though"
    r"|although|as)\b",
    re.IGNORECASE,
)
"""Words that begin what a question only says in passing: "… after Nell spoke"."""
_OWNS = re.compile(r"['’]s?\b")
_BEFORE = {
    AppearanceRole.HEARS: re.compile(
        r"\b(?:to|with|against)\s*(?:the\s+)?$", re.IGNORECASE
    ),
    AppearanceRole.MENTIONED: re.compile(
        r"\b(?:about|of|on|concerning|regarding|over)\s*(?:the\s+)?$", re.IGNORECASE
    ),
    AppearanceRole.SPEAKS: re.compile(r"\bby\s*(?:the\s+)?$", re.IGNORECASE),
}
_HEARD = re.compile(
    r"\b(?:tell|tells|told|ask|asks|asked|answer|answers|answered|promise|promises"
    r"|promised)\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(
    r"(?<=\w\s)[A-Z][^\W_]+(?:['’-][^\W_]+)*\.?"
    r"(?:\s(?:(?:[oO]f|[iI]n|[tT]he)\s){0,2}[A-Z][^\W_]+(?:['’-][^\W_]+)*)*"
)
_FIRST = re.compile(r"\bfirst\b", re.IGNORECASE)
_LAST = re.compile(r"\blast\b", re.IGNORECASE)
PRESENT_ROLES = frozenset(
    {AppearanceRole.SPEAKS, AppearanceRole.HEARS, AppearanceRole.PRESENT}
)
"""What somebody may be to a passage who is there, and not merely spoken of."""
_ANY = frozenset(AppearanceRole)
_SPEAKS, _HEARS = frozenset({AppearanceRole.SPEAKS}), frozenset({AppearanceRole.HEARS})
_PRESENT, _MENTIONED = (
    frozenset({AppearanceRole.PRESENT}),
    frozenset({AppearanceRole.MENTIONED}),
)
_TALKS = _SPEAKS | _HEARS


@dataclass(frozen=True, slots=True)
class ProximityLevel:
    """How near a passage is to somebody: in one of `roles`, at most `away` passages
    from here. `share` of the passages that answer are at this level and at none
    before it.
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
"""Where the passages that answer a question stand to whom it names, by what they do
in it. Counted on 625 questions about the dialogue of 12 novels; see decision 011."""
FIRST_OF_KIND_LEVELS: Mapping[AppearanceRole, int] = {
    AppearanceRole.SPEAKS: 1,
    AppearanceRole.HEARS: 7,
    AppearanceRole.MENTIONED: 5,
}
"""Before which level a passage may be the first of its kind."""
UTTERANCE_BONUS = 1.5
"""What it adds to a passage's score that one utterance of a speaker in it is told to
whom the question names as the hearer, and as much again that it names whom the
question is about."""
_Spot = tuple[DocumentId, int]
"""A passage by its document and its ordinal."""


@dataclass(frozen=True, slots=True)
class QuestionCharacter:
    """A character whom a question names: likely people, and what they do in it."""

    span: Span
    people: tuple[str, ...]
    role: AppearanceRole


def resolve_question_names(
    question: str, cast: Cast
) -> list[tuple[Span, tuple[str, ...]]]:
    """Return whom `question` names and where, in order; several where it is open."""
    return _joined(question, find_names_in_question(question, cast))


def asks_about_saying(question: str) -> bool:
    """Say whether somebody's saying something is what `question` asks about.

    "What does Nell say?" does, "What happened after Nell spoke?" does not.
    """
    match = _SAYING.search(question)
    if match is None:
        return False
    passing = _CLAUSE.search(question, 1)
    return passing is None or match.start() < passing.start()


def find_question_characters(question: str, cast: Cast) -> list[QuestionCharacter]:
    """Return whom `question` names, in order, and what each does in it.

    Nobody where it is not about saying something. Nell's aunt is not Nell.
    """
    if not asks_about_saying(question):
        return []
    return [
        QuestionCharacter(span, people, infer_question_role(question, span.start))
        for span, people in resolve_question_names(question, cast)
        if not _OWNS.match(question, span.end)
    ]


def find_unknown_question_names(
    question: str, question_characters: Sequence[QuestionCharacter]
) -> list[tuple[str, AppearanceRole]]:
    """Return the names in `question` that nobody in the cast bears, by their last word.

    Each with what such a one does in it; none in a question that is not about saying.
    """
    if not asks_about_saying(question):
        return []
    character_spans = [
        question_character.span for question_character in question_characters
    ]
    return [
        (name[0].split()[-1], infer_question_role(question, name.start()))
        for name in _CAPITALISED.finditer(question)
        if not any(
            s.start < name.end() and name.start() < s.end for s in character_spans
        )
        and not _OWNS.match(question, name.end())
    ]


def _joined(
    question: str, named_spans: Sequence[tuple[Span, tuple[str, ...]]]
) -> list[tuple[Span, tuple[str, ...]]]:
    """Join adjacent names to one name of the people that both may mean."""
    joined: list[tuple[Span, tuple[str, ...]]] = []
    for span, people in named_spans:
        if joined and not question[joined[-1][0].end : span.start].strip():
            before, others = joined.pop()
            both = tuple(person for person in people if person in others)
            span, people = Span(before.start, span.end), both or others or people
        joined.append((span, people))
    return joined


class CharacterProximity:
    """Where the people of one question are, chunk by chunk; what is in scope counts.

    `total` is the number of chunks that there are, `said` what those say who may speak
    in the question. A chunk's score is the logarithm of how much likelier it is to
    answer than any chunk, by who is in it and near it (naive Bayes): somebody who is
    everywhere says little, who is rare says much. On top of that comes UTTERANCE.
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
        self._near = [
            _near(question_character, visible_appearances, max(1, total))
            for question_character in question_characters
        ]
        self._uttered = _uttered(
            question_characters, document_quotations, visible_appearances
        )

    def score(self, spot: _Spot) -> float:
        """Return a chunk's score; 0.0 says as much as knowing nothing."""
        people = (
            proximity_table.weights[proximity_table.levels.get(spot, -1)]
            for proximity_table in self._near
        )
        return sum(people) + self._uttered.get(spot, 0.0)

    def is_plain(self, spot: _Spot) -> bool:
        """Say whether everybody plainly does in a chunk what the question asks."""
        return all(
            0 <= proximity_table.levels.get(spot, -1) < proximity_table.plain
            for proximity_table in self._near
        )


@dataclass(frozen=True, slots=True)
class _ProximityTable:
    """At which level each spot is to one who is asked for; the others are at none.

    `weights` has a score for each level, and last that of none. Spots below `plain`
    may be the first of their kind.
    """

    levels: Mapping[_Spot, int]
    weights: tuple[float, ...]
    plain: int


def asks_first(question: str) -> bool:
    """Say whether a question asks for the first of several."""
    return _FIRST.search(question) is not None


def asks_last(question: str) -> bool:
    """Say whether a question asks for the last of several."""
    return _LAST.search(question) is not None


def infer_question_role(question: str, start: int) -> AppearanceRole:
    """Return what somebody does who is named at `start` of a question about saying."""
    before = question[:start]
    for role, words in _BEFORE.items():
        if words.search(before):
            return role
    return AppearanceRole.HEARS if _HEARD.search(before) else AppearanceRole.SPEAKS


def _near(
    question_character: QuestionCharacter, appearances: Sequence[Appearance], total: int
) -> _ProximityTable:
    own_appearances = [
        appearance
        for appearance in appearances
        if appearance.character in question_character.people
    ]
    levels: dict[_Spot, int] = {}
    for number, level in enumerate(PROXIMITY_LEVELS[question_character.role]):
        for spot in _around(own_appearances, level):
            levels.setdefault(spot, number)
    shares = [level.share for level in PROXIMITY_LEVELS[question_character.role]]
    shares.append(1 - sum(shares))
    counts = Counter(levels.values())
    counts[len(shares) - 1] = max(0, total - len(levels))
    weights = tuple(
        math.log(share * (total + len(shares)) / (counts[number] + 1))
        for number, share in enumerate(shares)
    )
    return _ProximityTable(
        levels, weights, FIRST_OF_KIND_LEVELS[question_character.role]
    )


def _uttered(
    question_characters: Sequence[QuestionCharacter],
    document_quotations: Sequence[DocumentQuotation],
    appearances: Sequence[Appearance],
) -> dict[_Spot, float]:
    """Score the spots of the utterances that fit the question as a whole."""
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


def _around(
    appearances: Sequence[Appearance], level: ProximityLevel
) -> Iterator[_Spot]:
    for appearance in appearances:
        if appearance.role in level.roles:
            first = max(0, appearance.ordinal - level.away)
            for ordinal in range(first, appearance.ordinal + level.away + 1):
                yield appearance.document, ordinal


@dataclass(frozen=True, slots=True)
class ScopedCast:
    """The cast by the names that have been seen, and who is meant in the whole cast."""

    cast: Cast
    meant: Mapping[str, tuple[str, ...]]

    def called(self, name: str) -> tuple[str, ...]:
        """Return the names in the whole cast of those whom `name` may mean.

        Raises:
            NotFound: Nobody is called so, or nobody who has been named yet.
        """
        people = self.meaning(resolve_name(name, self.cast))
        if people:
            return people
        raise NotFound(
            f"Nobody in the story is called {name}",
            hint="See who is there with `lrwr characters`.",
        )

    def meaning(self, people: Iterable[str]) -> tuple[str, ...]:
        """Return the names in the whole cast of the `people` of this cast."""
        return tuple(name for person in people for name in self.meant[person])


def build_unscoped_cast(cast: Cast) -> ScopedCast:
    """Return the whole cast, by every name."""
    return ScopedCast(
        cast, {character.name: (character.name,) for character in cast.characters}
    )


def build_scoped_cast(
    cast: Cast, rows: Iterable[FirstMention], scope: SearchScope
) -> ScopedCast:
    """Return the characters named in `scope`, by the forms of their names there."""
    forms: dict[str, set[str]] = {}
    for row in rows:
        if is_within_scope(row.document, row.span, scope):
            forms.setdefault(row.character, set()).add(row.alias)
    whole_cast_names: dict[str, tuple[str, ...]] = {}
    people = []
    for character in cast.characters:
        if character.name in forms:
            scoped_character = _by_forms(character, forms[character.name])
            whole_cast_names[scoped_character.name] = (
                *whole_cast_names.get(scoped_character.name, ()),
                character.name,
            )
            people.append(scoped_character)
    return ScopedCast(Cast(tuple(people)), whole_cast_names)


def _by_forms(character: Character, forms: Collection[str]) -> Character:
    aliases = tuple(alias for alias in character.aliases if alias.name in forms)
    if character.name in forms or not aliases:
        return replace(character, aliases=aliases)
    return replace(character, name=aliases[0].name, aliases=aliases)
