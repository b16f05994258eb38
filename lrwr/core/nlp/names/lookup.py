"""Lookup of characters by a typed name, exact or approximate."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import pairwise

from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.facts import (
    WRITER_KEEPER,
    ElementType,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import WORD_PATTERN, Span, normalize_word
from lrwr.core.nlp.names.lexicon import (
    NON_NAME_WORDS,
    fold_name,
    infer_title_gender,
    is_given_name,
    is_non_name,
    normalize_name_title,
    split_bare_words,
)
from lrwr.core.nlp.names.name_form import NameParts, list_name_forms

_TOKEN = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*\.?")
_SENTENCE_START = re.compile(r"(?:^|[.?!…:;\n])[\s\"'“‘(]*\Z")
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
    of one or two letters. A name of several words that nobody has whole means whom it
    agrees with in one part and contradicts in none; never somebody with another first
    name or surname.
    """
    return _index_names(cast).resolve(name)


def match_written_name(name: str, cast: Cast) -> tuple[str, ...]:
    """Return what `resolve_name` does, without those whose name is spelled otherwise."""
    return _index_names(cast).match(name)


def suggest_names(name: str, cast: Cast) -> list[str]:
    """Return at most two names of characters that are spelled like `name`, which nobody
    has; the likeliest first.
    """
    people: dict[str, str] = {}
    for character in reversed(cast.characters):
        for form in list_name_forms(character):
            for part in (form.casefold(), *split_bare_words(form)):
                people[part] = character.name
    close = get_close_matches(name.casefold(), list(people), n=4, cutoff=0.6)
    found = [*resolve_name(name, cast), *(people[match] for match in close)]
    return list(dict.fromkeys(found))[:2]


def suggest_misspelled_names(
    words: Iterable[str], question: str, cast: Cast
) -> tuple[str, ...]:
    """Return the characters whose names are spelled like one of `words`, at most two
    for each.

    `words` are words of `question` in lower case; only those that it capitalizes count.
    """
    capitalized = {
        normalize_word(word)
        for word in WORD_PATTERN.findall(question)
        if word[0].isupper()
    }
    found: list[str] = []
    for word in words:
        if len(word) >= _MIN_MISSPELLED_LETTERS and word in capitalized:
            people = _index_names(cast).person_by_part
            close = get_close_matches(word, people, n=2, cutoff=0.8)
            found += [people[match] for match in close]
    return tuple(dict.fromkeys(found))


def is_character_name(name: str, cast: Cast) -> bool:
    """Return whether `name` is exactly a name of a character of `cast`, ignoring case
    and a leading article.
    """
    return fold_name(strip_possessive(name)) in _index_names(cast).people_by_name


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
    whole question is in lower case. A full name is never resolved by one of its parts:
    it is left out if it means nobody.
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
        whole = _count_full_name_tokens(stretch, index, question, lowercase=lowercase)
        if whole > size and len(_join_words(stretch[:size])) < 2:
            full_name = question[tokens[at].start() : _end_of(stretch[whole - 1])]
            size, people = whole, index.resolve(full_name)
        elif not people:
            size, people = _nearest_match(question, stretch, index, lowercase=lowercase)
        if people:
            end = _end_of(tokens[at + size - 1])
            matches.append((Span(tokens[at].start(), end), people))
        at += max(1, size)
    return matches


def _end_of(token: re.Match[str]) -> int:
    bare = strip_possessive(token[0]).rstrip(".")
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
        folded = fold_name(strip_possessive(stretch))
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
        folded = fold_name(strip_possessive(stretch))
        if folded not in NON_NAME_WORDS and (
            people := index.match_words(split_bare_words(folded))
        ):
            return number, people
    first = tokens[0][0]
    if _is_used_as_name(first, lowercase=lowercase) and (lowercase or size):
        return 1, index.match_misspelled(fold_name(strip_possessive(first)))
    return 1, ()


def _count_full_name_tokens(
    tokens: Sequence[re.Match[str]],
    index: "_CastNames",
    question: str,
    *,
    lowercase: bool,
) -> int:
    """Return the number of leading tokens that are one full name; 0 if they are none.

    A full name has two words or more besides titles. The first word of a sentence may
    be capitalised for another reason: it must be known as a name.
    """
    size = 0
    starts_sentence = _SENTENCE_START.search(question, 0, tokens[0].start())
    for token in tokens:
        word = strip_possessive(token[0])
        is_title = bool(normalize_name_title(word))
        is_known = is_title or index.has_word(word) or is_given_name(word)
        may_be_name = token[0][:1].isupper() and (
            not is_non_name(word) or (word == "Of" and size > 0)
        )
        needs_evidence = lowercase or (starts_sentence and size == 0)
        if not (is_known if needs_evidence else may_be_name):
            break
        before = _join_words(tokens[:size])
        if before and (is_title or index.begins_other_name(before, word)):
            break
        size += 1
        if word != token[0]:
            break
    return size if len(_join_words(tokens[:size])) > 1 else 0


def _join_words(tokens: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """Return the folded words of a name without titles and epithets, in text order."""
    return split_bare_words(" ".join(strip_possessive(token[0]) for token in tokens))


def _is_used_as_name(stretch: str, *, lowercase: bool) -> bool:
    """Return whether a word is used as a name, not as a common word such as "will"."""
    words = stretch.split()
    if len(words) > 1:
        return True
    word = words[0]
    if lowercase or not word[:1].isupper():
        return lowercase and word.lower() not in NON_NAME_WORDS
    return word.lower() not in ("will", "may")


def strip_possessive(name: str) -> str:
    """Return `name` without a possessive ending and the punctuation around it."""
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
        folded = fold_name(strip_possessive(name))
        if not folded or folded in self.people_by_name or " of " in folded:
            misspelled = self.match_misspelled(folded) if " of " in folded else ()
            return self.match(name) or misspelled
        words = split_bare_words(folded)
        return (
            self.match_words(words)
            or self._match_misspelled_full_name(folded, words)
            or self._match_compatible(words)
        )

    def match(self, name: str) -> tuple[str, ...]:
        """Return the characters that have `name`, or agree with it, letter by letter.

        "Mrs. Vale" that nobody is called is never a man of that surname.
        """
        folded = fold_name(strip_possessive(name))
        if folded in self.people_by_name:
            return self.people_by_name[folded]
        if " of " in folded:
            # "The King of Hearts" may be "the King", never the Queen of Hearts.
            return self.people_by_name.get(folded.partition(" of ")[0], ())
        words = split_bare_words(folded)
        people = self.match_words(words) or self._match_compatible(words)
        gender = infer_title_gender(normalize_name_title(folded.partition(" ")[0]))
        excluded = {Gender.MALE, Gender.FEMALE} - {gender}
        if len(excluded) > 1:
            return people
        genders = {character.name: character.gender for character in self._characters}
        return tuple(name for name in people if genders[name] not in excluded)

    def has_word(self, word: str) -> bool:
        """Return whether a word, in any case, is part of the name of a character."""
        return fold_name(word) in self._characters_by_word

    def begins_other_name(self, before: Sequence[str], word: str) -> bool:
        """Return whether the words `before` name a character, and `word` after them
        another one, as in "Is Nell Corin's niece?"; a surname does not.
        """
        folded = fold_name(word)
        return (
            " ".join(before) in self.people_by_name
            and folded in self.people_by_name
            and folded not in self._surnames
        )

    def match_words(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the characters with an alias that has all of the folded `words` of a
        name, else those whose aliases together have them all.
        """
        if not words:
            return ()
        by_word = self._characters_by_word
        numbers = sorted(set.intersection(*({*by_word.get(w, ())} for w in words)))
        in_one_alias = [
            n
            for n in numbers
            if any(all(w in own for w in words) for own in self._words[n])
        ]
        return tuple(self._characters[n].name for n in in_one_alias or numbers)

    def _match_misspelled_full_name(
        self, folded: str, words: Sequence[str]
    ) -> tuple[str, ...]:
        """Return what `match_misspelled` does, without the characters whose first name is
        another one: "Jane Vale" is no misspelled "June Vale".
        """
        people = self.match_misspelled(folded)
        if len(words) < 2 or not is_given_name(words[0]):
            return people
        return tuple(
            character.name
            for character in self._characters
            if character.name in people
            and NameParts.of(character).has_first_name(words[:1])
        )

    def _match_compatible(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the characters that agree with one part of a full name and contradict
        none, at most one for each part.

        That is the only one with the last word as surname, and the only one called by
        the first name alone. If the former is a man, the latter is left out: a woman
        with this surname may be called by her first name, a man has no other surname.
        """
        numbers = {n for word in words for n in self._characters_by_word.get(word, ())}
        parts = {n: NameParts.of(self._characters[n]) for n in sorted(numbers)}
        fitting = [
            n
            for n, part in parts.items()
            if any(all(w in words for w in own) for own in self._words[n])
            and part.may_be_called(words)
        ]
        family = [n for n in fitting if words[-1] in parts[n].surnames]
        others = [n for n in fitting if n not in family]
        if len(family) == 1 and parts[family[0]].gender is Gender.MALE:
            others = []
        single = [group[0] for group in (others, family) if len(group) == 1]
        return tuple(self._characters[n].name for n in sorted(single))

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
    def person_by_part(self) -> Mapping[str, str]:
        """The most mentioned character with each word of a name, in lower case."""
        return {
            part.lower(): character.name
            for character in reversed(self._characters)
            for form in list_name_forms(character)
            for part in split_bare_words(form)
        }

    @cached_property
    def _surnames(self) -> frozenset[str]:
        """The surnames of all characters."""
        own = [NameParts.of(character).surnames for character in self._characters]
        return frozenset[str]().union(*own)

    @cached_property
    def _words(self) -> list[list[tuple[str, ...]]]:
        """The words of each alias of each character, where there are any."""
        return [
            [*filter(None, (split_bare_words(alias.name) for alias in person.aliases))]
            for person in self._characters
        ]

    @cached_property
    def _characters_by_word(self) -> dict[str, list[int]]:
        # Lists and tuples: sets take several times as much memory.
        numbers: dict[str, list[int]] = {}
        for number, aliases in enumerate(self._words):
            for word in frozenset[str]().union(*aliases):
                numbers.setdefault(word, []).append(number)
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
        for name in list_name_forms(character):
            people_by_name.setdefault(fold_name(name), []).append(character.name)
    for form, people in cast.shared.items():
        people_by_name.setdefault(fold_name(form), []).extend(people)
    return {
        name: tuple(dict.fromkeys(people)) for name, people in people_by_name.items()
    }


def _flatten(groups: Iterable[tuple[str, ...]]) -> Iterable[str]:
    return (name for people in groups for name in people)


def bounded_edit_distance(first: str, second: str, most: int) -> int:
    """Return the number of edits between two strings, or `most` + 1 if it is greater
    than `most`.

    Insertions, deletions, substitutions and swaps of adjacent letters cost 1
    (Damerau-Levenshtein distance). The time grows with 4 to the power of `most`.
    """
    if not most:
        return int(first != second)
    if abs(len(first) - len(second)) > most:
        return most + 1
    shared = 0
    while first[shared : shared + 1] == second[shared : shared + 1] != "":
        shared += 1
    first, second = first[shared:], second[shared:]
    if not first or not second:
        return len(first) + len(second)
    # The first letters differ, so that one of the four edits is made here.
    rests = [(first[1:], second), (first, second[1:]), (first[1:], second[1:])]
    if first[:2] == second[1::-1]:
        rests.append((first[2:], second[2:]))
    return 1 + min(bounded_edit_distance(*rest, most - 1) for rest in rests)
