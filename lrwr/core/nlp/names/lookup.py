"""Lookup of characters by a typed name, exact or approximate."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.facts import (
    WRITER_KEEPER,
    ElementType,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lexicon import (
    NAME_EPITHETS,
    NON_NAME_WORDS,
    fold_name,
    normalize_name_title,
)

_TOKEN = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*\.?")
_BLANK = re.compile(r"[^\S\n]*\n?[^\S\n]*")
_MAX_NAME_WORDS = 6
"""Maximum words of a name in a question."""
_MIN_MISSPELLED_LETTERS = 4
"""Minimum letters of a word that may match with one wrong letter; twice that for two."""
_MAX_INDEXED_CASTS = 4
"""Casts whose names stay indexed: the whole one, and those known at some horizons."""
_MAX_RESOLVED_NAMES = 10_000
"""Resolved names remembered for each cast."""


def resolve_name(name: str, cast: Cast) -> tuple[str, ...]:
    """Return the names of the characters that a typed `name` may mean, most likely
    first; empty if none.

    Ignores case, full stops and a leading article. Tries in this order: the exact name
    (a shared one gives several characters), words of a longer name, and spelling errors
    of one or two letters.
    """
    return _index_names(cast).resolve(name)


def is_character_name(name: str, cast: Cast) -> bool:
    """Return whether `name` is exactly a name of a character of `cast`, ignoring case
    and a leading article.
    """
    return fold_name(_strip_possessive(name)) in _index_names(cast).people_by_name


def is_misread_place(fact: Fact, cast: Cast) -> bool:
    """Return whether a fact wrongly describes a character as a setting.

    Facts from the author's notes or the user's decisions are never considered wrong.
    """
    return (
        fact.about is FactAbout.WORLD
        and fact.field == WorldField.ELEMENT_TYPE
        and fact.value == ElementType.SETTING
        and fact.keeper != WRITER_KEEPER
        and is_character_name(fact.subject, cast)
    )


def find_names_in_question(
    question: str, cast: Cast
) -> list[tuple[Span, tuple[str, ...]]]:
    """Return pairs of a span of `question` that names characters, and the names of the
    characters it may mean, most likely first.

    Pairs are in text order. Small spelling errors are tolerated. Case is ignored if the
    whole question is in lower case.
    """
    index = _index_names(cast)
    tokens = list(_TOKEN.finditer(question))
    lowercase = question == question.lower()
    matches: list[tuple[Span, tuple[str, ...]]] = []
    at = 0
    while at < len(tokens):
        stretch = _leading_tokens(question, tokens[at : at + _MAX_NAME_WORDS])
        size, people = _longest_match(
            question, stretch, index.people_by_name, lowercase=lowercase
        )
        if not people:
            size, people = _nearest_match(question, stretch, index, lowercase=lowercase)
        if people:
            end = _end_of(tokens[at + size - 1])
            matches.append((Span(tokens[at].start(), end), people))
        at += max(1, size)
    return matches


def _end_of(token: re.Match[str]) -> int:
    bare = _strip_possessive(token[0]).rstrip(".")
    return token.start() + len(bare)


def _leading_tokens(
    question: str, tokens: Sequence[re.Match[str]]
) -> Sequence[re.Match[str]]:
    """Return the leading tokens that one name can cover: no punctuation between them."""
    for size, (token, next_token) in enumerate(pairwise(tokens), start=1):
        apart = not _BLANK.fullmatch(question, token.end(), next_token.start())
        if apart or _ends_a_sentence(token[0]):
            return tokens[:size]
    return tokens


def _ends_a_sentence(word: str) -> bool:
    bare = word.removesuffix(".")
    short = len(bare) == 1 or "." in bare or normalize_name_title(bare)
    return bare != word and not short


def _longest_match(
    question: str,
    tokens: Sequence[re.Match[str]],
    people_by_name: Mapping[str, tuple[str, ...]],
    *,
    lowercase: bool,
) -> tuple[int, tuple[str, ...]]:
    for size in range(len(tokens), 0, -1):
        stretch = question[tokens[0].start() : tokens[size - 1].end()]
        folded = fold_name(_strip_possessive(stretch))
        lead = tokens[0][0].lower()
        starts_well = lead not in ("a", "an") and (lead != "the" or size > 1)
        if (
            folded in people_by_name
            and starts_well
            and _is_used_as_name(stretch, lowercase=lowercase)
        ):
            return size, people_by_name[folded]
    return 1, ()


def _nearest_match(
    question: str,
    tokens: Sequence[re.Match[str]],
    index: "_CastNames",
    *,
    lowercase: bool,
) -> tuple[int, tuple[str, ...]]:
    """Match capitalised words by words of longer names, or with a spelling error."""
    size = 0
    while size < len(tokens) and tokens[size][0][:1].isupper():
        size += 1
    for number in range(size, 0, -1):
        stretch = question[tokens[0].start() : tokens[number - 1].end()]
        folded = fold_name(_strip_possessive(stretch))
        if folded not in NON_NAME_WORDS and (people := index.match_words(folded)):
            return number, people
    first = tokens[0][0]
    if _is_used_as_name(first, lowercase=lowercase) and (lowercase or size):
        return 1, index.match_misspelled(fold_name(_strip_possessive(first)))
    return 1, ()


def _is_used_as_name(stretch: str, *, lowercase: bool) -> bool:
    """Return whether a word is used as a name, not as a common word such as "will"."""
    words = stretch.split()
    if len(words) > 1:
        return True
    word = words[0]
    if lowercase or not word[:1].isupper():
        return lowercase and word.lower() not in NON_NAME_WORDS
    return word.lower() not in ("will", "may")


def _strip_possessive(name: str) -> str:
    return re.sub(r"['’]s?\s*$", "", name.strip(" ?!,;:"))


class _CastNames:
    """The names of one cast, prepared for many lookups.

    `people_by_name` maps each folded name to the characters that have it, most
    mentioned first.
    """

    def __init__(self, cast: Cast) -> None:
        self._characters = cast.characters
        self.people_by_name = _map_names(cast)
        self.resolve = lru_cache(maxsize=_MAX_RESOLVED_NAMES)(self._resolve)

    def _resolve(self, name: str) -> tuple[str, ...]:
        folded = fold_name(_strip_possessive(name))
        if not folded:
            return ()
        if folded in self.people_by_name:
            return self.people_by_name[folded]
        return self.match_words(folded) or self.match_misspelled(folded)

    def match_words(self, folded: str) -> tuple[str, ...]:
        """Return the characters with an alias that has all words of a folded name, or
        of which it has all words; titles and epithets do not count.
        """
        words = _bare_words(folded)
        numbers = {n for word in words for n in self._characters_by_word.get(word, ())}
        return tuple(
            self._characters[n].name
            for n in sorted(numbers)
            if any(words <= others or others <= words for others in self._words[n])
        )

    def match_misspelled(self, folded: str) -> tuple[str, ...]:
        """Return the characters whose names are spelled most like a folded name."""
        if len(folded) < _MIN_MISSPELLED_LETTERS or folded in NON_NAME_WORDS:
            return ()
        max_distance = 1 if len(folded) < 2 * _MIN_MISSPELLED_LETTERS else 2
        lengths = range(len(folded) - max_distance, len(folded) + max_distance + 1)
        near = [
            (bounded_edit_distance(folded, name, max_distance), name)
            for length in lengths
            for name in self._names_by_shape.get((folded[:1], length), ())
        ]
        close = sorted(pair for pair in near if pair[0] <= max_distance)
        best = [name for count, name in close if count == close[0][0]]
        return tuple(dict.fromkeys(_flatten(self.people_by_name[n] for n in best)))

    @cached_property
    def _words(self) -> list[list[frozenset[str]]]:
        """The words of each alias of each character, where there are any."""
        return [
            [words for alias in character.aliases if (words := _bare_words(alias.name))]
            for character in self._characters
        ]

    @cached_property
    def _characters_by_word(self) -> dict[str, set[int]]:
        numbers: dict[str, set[int]] = {}
        for number, aliases in enumerate(self._words):
            for word in frozenset[str]().union(*aliases):
                numbers.setdefault(word, set()).add(number)
        return numbers

    @cached_property
    def _names_by_shape(self) -> dict[tuple[str, int], list[str]]:
        """Folded names by first letter and length."""
        names: dict[tuple[str, int], list[str]] = {}
        for name in self.people_by_name:
            names.setdefault((name[:1], len(name)), []).append(name)
        return names


class CastIdentity:
    """Hashes a cast by its identity: one that is read again has a new index."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast

    def __hash__(self) -> int:
        return id(self.cast)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CastIdentity) and self.cast is other.cast


def _index_names(cast: Cast) -> _CastNames:
    return _index_identified_cast(CastIdentity(cast))


@lru_cache(maxsize=_MAX_INDEXED_CASTS)
def _index_identified_cast(identity: CastIdentity) -> _CastNames:
    return _CastNames(identity.cast)


def _map_names(cast: Cast) -> dict[str, tuple[str, ...]]:
    people_by_name: dict[str, list[str]] = {}
    for character in cast.characters:
        for name in _name_forms(character):
            people_by_name.setdefault(fold_name(name), []).append(character.name)
    for form, people in cast.shared.items():
        people_by_name.setdefault(fold_name(form), []).extend(people)
    return {
        name: tuple(dict.fromkeys(people)) for name, people in people_by_name.items()
    }


def _name_forms(character: Character) -> tuple[str, ...]:
    return character.name, *(alias.name for alias in character.aliases)


def _bare_words(name: str) -> frozenset[str]:
    words = fold_name(name).split()
    return frozenset(
        word
        for word in words
        if not normalize_name_title(word) and word not in NAME_EPITHETS
    )


def _flatten(groups: Iterable[tuple[str, ...]]) -> Iterable[str]:
    return (name for people in groups for name in people)


def bounded_edit_distance(first: str, second: str, most: int) -> int:
    """Return the number of edits between two strings, or `most` + 1 if it is greater
    than `most`.

    Insertions, deletions, substitutions and swaps of adjacent letters cost 1
    (Damerau-Levenshtein distance).
    """
    before: list[int] = []
    last = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        current = [row]
        for column, match in enumerate(second, start=1):
            cost = last[column - 1] + (letter != match)
            cost = min(cost, last[column] + 1, current[column - 1] + 1)
            if _swapped(first, second, row, column):
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > most:
            return most + 1
        before, last = last, current
    return last[-1]


def _swapped(first: str, second: str, row: int, column: int) -> bool:
    if row < 2 or column < 2:
        return False
    return first[row - 1] == second[column - 2] and first[row - 2] == second[column - 1]
