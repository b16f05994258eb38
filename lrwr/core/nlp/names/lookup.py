"""Whom a word means that a writer types: exactly, or nearly."""

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
_MOST_WORDS = 6
_SHORTEST = 4
"""The fewest letters of a word that is matched with a slip in it."""


def resolve_name(name: str, cast: Cast) -> tuple[str, ...]:
    """Return the names of the characters that `name` may mean, likeliest first.

    Case, full stops and a leading article never matter. A name that somebody bears
    means them; one that several share means each of them; else words of a longer
    name count, and then a slip or two of the keyboard.
    """
    folded = fold_name(_unpossessive(name))
    if not folded:
        return ()
    people_by_name = _known(cast)
    if folded in people_by_name:
        return people_by_name[folded]
    return _by_words(folded, cast) or _by_slip(folded, people_by_name)


def is_character_name(name: str, cast: Cast) -> bool:
    """Say whether somebody is called exactly so, but for case and an article."""
    folded = fold_name(_unpossessive(name))
    owned = (form for character in cast.characters for form in _forms(character))
    return any(fold_name(form) == folded for form in (*cast.shared, *owned))


def is_misread_place(fact: Fact, cast: Cast) -> bool:
    """Say whether a fact takes a person for a place; the writer is always believed."""
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
    """Find the characters that `question` names, in order; case does not matter."""
    people_by_name = _known(cast)
    tokens = list(_TOKEN.finditer(question))
    lowercase = question == question.lower()
    matches: list[tuple[Span, tuple[str, ...]]] = []
    at = 0
    while at < len(tokens):
        stretch = _one_stretch(question, tokens[at : at + _MOST_WORDS])
        size, people = _longest(question, stretch, people_by_name, lowercase=lowercase)
        if not people:
            size, people = _nearest(question, stretch, cast, lowercase=lowercase)
        if people:
            end = _end_of(tokens[at + size - 1])
            matches.append((Span(tokens[at].start(), end), people))
        at += max(1, size)
    return matches


def _end_of(token: re.Match[str]) -> int:
    bare = _unpossessive(token[0]).rstrip(".")
    return token.start() + len(bare)


def _one_stretch(
    question: str, tokens: Sequence[re.Match[str]]
) -> Sequence[re.Match[str]]:
    """Return the first words, as far as one name can reach: no mark parts them."""
    for size, (token, next_token) in enumerate(pairwise(tokens), start=1):
        apart = not _BLANK.fullmatch(question, token.end(), next_token.start())
        if apart or _ends_a_sentence(token[0]):
            return tokens[:size]
    return tokens


def _ends_a_sentence(word: str) -> bool:
    bare = word.removesuffix(".")
    short = len(bare) == 1 or "." in bare or normalize_name_title(bare)
    return bare != word and not short


def _longest(
    question: str,
    tokens: Sequence[re.Match[str]],
    people_by_name: dict[str, tuple[str, ...]],
    *,
    lowercase: bool,
) -> tuple[int, tuple[str, ...]]:
    for size in range(len(tokens), 0, -1):
        stretch = question[tokens[0].start() : tokens[size - 1].end()]
        folded = fold_name(_unpossessive(stretch))
        lead = tokens[0][0].lower()
        starts_well = lead not in ("a", "an") and (lead != "the" or size > 1)
        if (
            folded in people_by_name
            and starts_well
            and _is_meant(stretch, lowercase=lowercase)
        ):
            return size, people_by_name[folded]
    return 1, ()


def _nearest(
    question: str, tokens: Sequence[re.Match[str]], cast: Cast, *, lowercase: bool
) -> tuple[int, tuple[str, ...]]:
    """Match capitalised words by the words of longer names, or with a slip."""
    size = 0
    while size < len(tokens) and tokens[size][0][:1].isupper():
        size += 1
    for number in range(size, 0, -1):
        stretch = question[tokens[0].start() : tokens[number - 1].end()]
        folded = fold_name(_unpossessive(stretch))
        if folded not in NON_NAME_WORDS and (people := _by_words(folded, cast)):
            return number, people
    first = tokens[0][0]
    if _is_meant(first, lowercase=lowercase) and (lowercase or size):
        return 1, _by_slip(fold_name(_unpossessive(first)), _known(cast))
    return 1, ()


def _is_meant(stretch: str, *, lowercase: bool) -> bool:
    """Say whether a stretch is no common word that happens to be a name, too."""
    words = stretch.split()
    if len(words) > 1:
        return True
    word = words[0]
    if lowercase or not word[:1].isupper():
        return lowercase and word.lower() not in NON_NAME_WORDS
    return word.lower() not in ("will", "may")


def _unpossessive(name: str) -> str:
    return re.sub(r"['’]s?\s*$", "", name.strip(" ?!,;:"))


def _known(cast: Cast) -> dict[str, tuple[str, ...]]:
    """Return whom each plain name means, the most mentioned first."""
    people_by_name: dict[str, list[str]] = {}
    for character in cast.characters:
        for name in _forms(character):
            people_by_name.setdefault(fold_name(name), []).append(character.name)
    for form, people in cast.shared.items():
        people_by_name.setdefault(fold_name(form), []).extend(people)
    return {
        name: tuple(dict.fromkeys(people)) for name, people in people_by_name.items()
    }


def _forms(character: Character) -> tuple[str, ...]:
    return character.name, *(alias.name for alias in character.aliases)


def _by_words(folded: str, cast: Cast) -> tuple[str, ...]:
    words = _bare_words(folded)
    if not words:
        return ()
    return tuple(
        character.name
        for character in cast.characters
        if any(_overlap(words, _bare_words(alias.name)) for alias in character.aliases)
    )


def _overlap(first: frozenset[str], second: frozenset[str]) -> bool:
    """Say whether all words of one name are among those of the other."""
    return bool(second) and (first <= second or second <= first)


def _bare_words(name: str) -> frozenset[str]:
    words = fold_name(name).split()
    return frozenset(
        word
        for word in words
        if not normalize_name_title(word) and word not in NAME_EPITHETS
    )


def _by_slip(
    folded: str, people_by_name: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    if len(folded) < _SHORTEST or folded in NON_NAME_WORDS:
        return ()
    max_distance = 1 if len(folded) < 2 * _SHORTEST else 2
    near = [
        (bounded_edit_distance(folded, name, max_distance), name)
        for name in people_by_name
        if name[:1] == folded[:1] and abs(len(name) - len(folded)) <= max_distance
    ]
    close = sorted(pair for pair in near if pair[0] <= max_distance)
    best = [name for count, name in close if count == close[0][0]]
    return tuple(dict.fromkeys(_all(people_by_name[name] for name in best)))


def _all(groups: Iterable[tuple[str, ...]]) -> Iterable[str]:
    return (name for people in groups for name in people)


def bounded_edit_distance(first: str, second: str, most: int) -> int:
    """Count the letters to change, add, drop or swap; `most + 1` stands for more."""
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
