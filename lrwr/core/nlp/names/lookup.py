"""Lookup of characters by a typed name, exact or approximate."""

import re
from collections.abc import Iterable, Sequence
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


def resolve_name(name: str, cast: Cast) -> tuple[str, ...]:
    """Return the names of the characters that a typed `name` may mean, most likely
    first; empty if none.

    Ignores case, full stops and a leading article. Tries in this order: the exact name
    (a shared one gives several characters), words of a longer name, and spelling errors
    of one or two letters.
    """
    folded = fold_name(_strip_possessive(name))
    if not folded:
        return ()
    people_by_name = _index_names(cast)
    if folded in people_by_name:
        return people_by_name[folded]
    return _match_words(folded, cast) or _match_misspelled(folded, people_by_name)


def is_character_name(name: str, cast: Cast) -> bool:
    """Return whether `name` is exactly a name of a character of `cast`, ignoring case
    and a leading article.
    """
    folded = fold_name(_strip_possessive(name))
    owned = (form for character in cast.characters for form in _name_forms(character))
    return any(fold_name(form) == folded for form in (*cast.shared, *owned))


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
    people_by_name = _index_names(cast)
    tokens = list(_TOKEN.finditer(question))
    lowercase = question == question.lower()
    matches: list[tuple[Span, tuple[str, ...]]] = []
    at = 0
    while at < len(tokens):
        stretch = _leading_tokens(question, tokens[at : at + _MAX_NAME_WORDS])
        size, people = _longest_match(
            question, stretch, people_by_name, lowercase=lowercase
        )
        if not people:
            size, people = _nearest_match(question, stretch, cast, lowercase=lowercase)
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
    people_by_name: dict[str, tuple[str, ...]],
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
    question: str, tokens: Sequence[re.Match[str]], cast: Cast, *, lowercase: bool
) -> tuple[int, tuple[str, ...]]:
    """Match capitalised words by words of longer names, or with a spelling error."""
    size = 0
    while size < len(tokens) and tokens[size][0][:1].isupper():
        size += 1
    for number in range(size, 0, -1):
        stretch = question[tokens[0].start() : tokens[number - 1].end()]
        folded = fold_name(_strip_possessive(stretch))
        if folded not in NON_NAME_WORDS and (people := _match_words(folded, cast)):
            return number, people
    first = tokens[0][0]
    if _is_used_as_name(first, lowercase=lowercase) and (lowercase or size):
        return 1, _match_misspelled(
            fold_name(_strip_possessive(first)), _index_names(cast)
        )
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


def _index_names(cast: Cast) -> dict[str, tuple[str, ...]]:
    """Map each folded name to the characters that have it, most mentioned first."""
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


def _match_words(folded: str, cast: Cast) -> tuple[str, ...]:
    words = _bare_words(folded)
    if not words:
        return ()
    return tuple(
        character.name
        for character in cast.characters
        if any(_overlap(words, _bare_words(alias.name)) for alias in character.aliases)
    )


def _overlap(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether all words of one name are among those of the other."""
    return bool(second) and (first <= second or second <= first)


def _bare_words(name: str) -> frozenset[str]:
    words = fold_name(name).split()
    return frozenset(
        word
        for word in words
        if not normalize_name_title(word) and word not in NAME_EPITHETS
    )


def _match_misspelled(
    folded: str, people_by_name: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    if len(folded) < _MIN_MISSPELLED_LETTERS or folded in NON_NAME_WORDS:
        return ()
    max_distance = 1 if len(folded) < 2 * _MIN_MISSPELLED_LETTERS else 2
    near = [
        (bounded_edit_distance(folded, name, max_distance), name)
        for name in people_by_name
        if name[:1] == folded[:1] and abs(len(name) - len(folded)) <= max_distance
    ]
    close = sorted(pair for pair in near if pair[0] <= max_distance)
    best = [name for count, name in close if count == close[0][0]]
    return tuple(dict.fromkeys(_flatten(people_by_name[name] for name in best)))


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
