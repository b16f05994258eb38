"""Recognizes the characters in a question, and those known at a point of the story.

The rules are for English.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.chunks import SearchScope
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lookup import (
    find_names_in_question,
    match_written_name,
    suggest_names,
)
from lrwr.core.ports.story_stores import AppearanceRole, FirstMention
from lrwr.core.retrieval.story import is_within_scope

_SAYING = re.compile(
    r"\b(?:say|says|said|saying|tell|tells|told|telling|ask|asks|asked|asking|speak"
    r"|speaks|spoke|talk|talks|talked|reply|replies|replied|answer|answers|answered"
    r"|promise|promises|promised|explain|explains|explained|words)\b",
    re.IGNORECASE,
)
AUTHOR_PHRASE = re.compile(
    r"\b(?:do|did|have|had)\s+I\s+(?:actually\s+|really\s+|already\s+)?(?:say|said"
    r"|tell|told|mention(?:ed)?|state[d]?|describe[d]?|introduce[d]?|give|given|make|made"
    r"|show|shown|put|call|called|name[d]?)\b(?:\s+that\b)?",
    re.IGNORECASE,
)
"""Where the author speaks of what they wrote ("what do I say Nell looks like"), which is
not about saying in the story."""

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

    "What does Nell say?" does; "What happened after Nell spoke?" and "What do I say Nell
    looks like?" do not.
    """
    question = AUTHOR_PHRASE.sub(" ", question)
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


def find_people_in_role(question: str, role: AppearanceRole, cast: Cast) -> set[str]:
    """Return the characters of `cast` with `role` in a question about who says what."""
    return {
        person
        for character in find_question_characters(question, cast)
        if character.role is role
        for person in character.people
    }


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
        people = self.to_whole_cast_names(match_written_name(name, self.cast))
        if people:
            return people
        nearest = suggest_names(name, self.cast)
        raise NotFound(
            f"No character is called {name}",
            hint=f"Did you mean {' or '.join(nearest)}?"
            if nearest
            else "List the characters with `lrwr characters`.",
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
