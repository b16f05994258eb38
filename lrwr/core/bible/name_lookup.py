"""Finds characters and world elements by name, and recognizes names in questions.

Only names in the given bible are used, so nothing after its horizon is revealed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from lrwr.core.bible.profiles import extract_visible_cast
from lrwr.core.bible.values import Bible, CharacterProfile, WorldElement
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    Span,
    normalize_word,
    normalize_words,
)
from lrwr.core.model.turns import NameMatch
from lrwr.core.nlp.names import lookup
from lrwr.core.nlp.names.lexicon import (
    NAME_TITLES,
    TITLE_ABBREVIATIONS,
    fold_name,
    is_non_name,
)
from lrwr.core.nlp.names.lookup import strip_possessive

EXACT_NAME_CONFIDENCE = 0.95
"""Confidence of an exact name. Below 1.0 because some names are common words, too."""

NEAR_NAME_CONFIDENCE = 0.75
"""Confidence of a partial, misspelled or shared name: usually right."""

UNKNOWN_NAME_CONFIDENCE = 0.6
"""Confidence of a capitalised word that is not in the bible: probably a name, maybe a
title or emphasis. Just high enough to be searched for."""

MATCH_CONFIDENCE: Mapping[NameMatch, float] = MappingProxyType(
    {
        NameMatch.EXACT: 1.0,
        NameMatch.ALIAS: 0.9,
        NameMatch.SUBSTRING: 0.7,
        NameMatch.FUZZY: 0.5,
    }
)
"""How surely words that match a name in this way mean the same."""

_ARTICLES = frozenset({"the", "a", "an"})
_SHORTEST = 4
"""Minimum letters of a name that may match with one wrong letter; twice that for two."""

_MAX_REMEMBERED_NAMES = 50_000
"""Names of world elements whose form for comparison is remembered."""

_BACK = 40
"""Characters before a word that are searched for the end of a sentence."""

_PARTICLES = frozenset({"of", "the", "in", "and", "de", "von", "van", "la"})
_OPENERS = frozenset(
    {
        "compare", "contrast", "describe", "explain", "find", "give", "imagine", "list",
        "name", "quote", "recap", "remind", "show", "summarise", "summarize",
        "suppose", "tell",
    }
)  # fmt: skip
"""Verbs that start a request and are capitalised only for that reason."""

_SPEAKER = frozenset({"i", "i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d"})
_PAUSE = re.compile(
    rf"[?!;:,\n]|\b(?!(?:{'|'.join(sorted(TITLE_ABBREVIATIONS))})\.)\w+\.\s",
    re.IGNORECASE,
)
"""Punctuation that never occurs inside a name."""


class NamedEntityKind(StrEnum):
    """What a name in a question refers to: a character, a world element, or something
    that is not in the bible (`STRANGER`).
    """

    PERSON = "PERSON"
    THING = "THING"
    STRANGER = "STRANGER"


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name at `span` of a question.

    `name` is the full name in the bible; if several entries share it or none has it,
    the words of the question. `elements` are the world elements that it may mean, empty
    for none. `confidence`, 0.0 to 1.0, says how surely the words are meant as this
    name; it is one of the constants of this module.
    """

    span: Span
    kind: NamedEntityKind
    name: str
    confidence: float
    elements: tuple[WorldElement, ...] = ()


def match_people(name: str, bible: Bible) -> tuple[CharacterProfile, ...]:
    """Return all characters of `bible` that `name` may mean, in the bible's order.

    Those with exactly this name or alias; only if there are none, those with a similar
    one, such as a part of the name or a misspelling. Empty if there are none either.
    """
    exact = match_people_exactly(name, bible)
    if exact:
        return exact
    matched_names = lookup.resolve_name(name, extract_visible_cast(bible))
    return tuple(
        character for character in bible.characters if character.name in matched_names
    )


def match_people_exactly(name: str, bible: Bible) -> tuple[CharacterProfile, ...]:
    """Return every character of `bible` with the name or alias `name`, ignoring case
    and a leading article.
    """
    folded_name = fold_name(strip_possessive(name))
    if not folded_name:
        return ()
    # Names are indexed; those that only claims give are not.
    people = lookup.match_written_name(name, extract_visible_cast(bible))
    return tuple(
        character
        for character in bible.characters
        if (character.name in people or character.also_called)
        and folded_name in {fold_name(form) for form in _all_names(character)}
    )


def match_elements(name: str, bible: Bible) -> tuple[WorldElement, ...]:
    """Return all world elements of `bible` that `name` may mean, in the bible's order.

    Those with exactly this name; if there are none, those whose name has all words of
    `name` or the other way round; if there are none, those with a similar spelling.
    """
    element_name = normalize_element_name(name)
    if not element_name:
        return ()
    return (
        match_elements_exactly(name, bible)
        or tuple(
            element
            for element in bible.world
            if _shares_words(element_name, normalize_element_name(element.name))
        )
        or tuple(
            element
            for element in bible.world
            if _is_misspelling(element_name, normalize_element_name(element.name))
        )
    )


def match_elements_exactly(name: str, bible: Bible) -> tuple[WorldElement, ...]:
    """Return every world element of `bible` called `name`, ignoring case, a leading
    article and plural.
    """
    element_name = normalize_element_name(name)
    return tuple(
        element
        for element in bible.world
        if element_name and normalize_element_name(element.name) == element_name
    )


@dataclass(frozen=True, slots=True)
class EntityMatches:
    """The characters and world elements that `name`, from a question, may mean.

    `forms` are all their names; only `name` if there are none.
    """

    name: str
    people: tuple[CharacterProfile, ...]
    elements: tuple[WorldElement, ...]
    forms: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the characters in the bible."""
        return frozenset(person.name for person in self.people)

    def select_form(self, person: CharacterProfile) -> str:
        """Return the name of `person` that is most like the name in the question."""
        return min(_all_names(person), key=lambda form: -self.rate(form)[1])

    def rate(self, text: str) -> tuple[NameMatch, float]:
        """Return how the words `text` match the name in the question, and how surely
        they mean the same, from 0.0 to 1.0.

        Another name of a character or element that the question names exactly is an
        alias. A name that several characters or elements share is less sure.
        """
        key = normalize_element_name(self.name)
        keys = {normalize_element_name(form) for form in self.forms}
        match = NameMatch.FUZZY
        if normalize_element_name(text) == key:
            match = NameMatch.EXACT
        elif key in keys:
            match = NameMatch.ALIAS
        elif any(_shares_words(key, other) for other in keys):
            match = NameMatch.SUBSTRING
        shared = len(self.people) or len(self.elements) or 1
        return match, round(MATCH_CONFIDENCE[match] / shared, 2)


def match_entity(name: str, bible: Bible) -> EntityMatches:
    """Return what `name` may mean; similar names count only if there is no exact match."""
    people, elements = (
        match_people_exactly(name, bible),
        match_elements_exactly(name, bible),
    )
    if not people and not elements:
        people, elements = match_people(name, bible), match_elements(name, bible)
    forms = dict.fromkeys(person.name for person in people)
    forms |= dict.fromkeys(form.name for person in people for form in person.aliases)
    forms |= dict.fromkeys(element.name for element in elements)
    return EntityMatches(name, people, elements, tuple(forms) or (name,))


@lru_cache(maxsize=_MAX_REMEMBERED_NAMES)
def normalize_element_name(name: str) -> str:
    """Return the name of a world element in a form for comparison: "The Tide Rules'"
    gives "tide rule".

    In lower case, without a leading article, punctuation and possessive endings; the
    last word is singular.
    """
    words = normalize_words(name)
    if len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    if words:
        words.append(_singular(words.pop()))
    return " ".join(words)


def recognize_named_entities(text: str, bible: Bible) -> tuple[NamedEntity, ...]:
    """Return the names in `text`, in text order; of overlapping ones the longest.

    A name shared by a character and a world element gives one entity with both.
    Capitalized words that are not in `bible` are included as strangers.
    """
    people, elements = (
        list(_find_people(text, bible)),
        list(_find_elements(text, bible)),
    )
    entities = [person for person in people if not _is_covered(person.span, elements)]
    entities_by_span = {entity.span: entity for entity in entities}
    for element in elements:
        if element.span in entities_by_span:
            same_entity = entities_by_span[element.span]
            entities.remove(same_entity)
            entities.append(_merge_entities(same_entity, element))
        elif not _is_covered(element.span, people):
            entities.append(element)
    entities += _find_unknown_names(text, [entity.span for entity in entities])
    return tuple(sorted(entities, key=lambda entity: entity.span))


def collect_bible_names(bible: Bible) -> frozenset[str]:
    """Return all names and aliases of characters, and the names of world elements, as
    spelled in the bible.
    """
    people = (name for character in bible.characters for name in _all_names(character))
    return frozenset(people) | {element.name for element in bible.world}


def list_forms_of_known(whole: Bible, known_names: Collection[str]) -> frozenset[str]:
    """Return the forms of the characters of `whole` that share a word, other than a
    title, with a form of the same character in `known_names`.

    "Miss Lydia Bennet" tells nothing new of "Lydia". A form without such a word may:
    that two names are those of one character.
    """
    forms: set[str] = set()
    for character in whole.characters:
        names = frozenset(_all_names(character))
        known_words = {
            word for name in names & set(known_names) for word in _list_own_words(name)
        }
        forms |= {name for name in names if known_words & _list_own_words(name)}
    return frozenset(forms)


def _list_own_words(name: str) -> set[str]:
    return set(normalize_words(name)) - NAME_TITLES


def list_cast_forms(bible: Bible) -> tuple[tuple[str, ...], ...]:
    """Return for each character all forms of its name, the display name first."""
    return tuple(
        (profile.name, *(form.name for form in profile.aliases))
        for profile in bible.characters
    )


def list_narrators(bible: Bible) -> tuple[tuple[str, ...], ...]:
    """Return the forms of the characters who tell the story, as `list_cast_forms`."""
    narrators = tuple(p for p in bible.characters if p.narrator)
    return list_cast_forms(replace(bible, characters=narrators))


def _all_names(character_profile: CharacterProfile) -> Iterator[str]:
    yield character_profile.name
    yield from (form.name for form in character_profile.aliases)
    yield from (claim.value for claim in character_profile.also_called)


def _singular(word: str) -> str:
    is_unchanged = len(word) < _SHORTEST or word.endswith(("ss", "us", "is"))
    return word if is_unchanged else word.removesuffix("s")


def _shares_words(name: str, other: str) -> bool:
    """Return whether all words of one name are among those of the other."""
    words, others = set(name.split()), set(other.split())
    return bool(others) and (words <= others or others <= words)


def _is_misspelling(word: str, name: str) -> bool:
    allowed = 1 if len(word) < 2 * _SHORTEST else 2
    if len(word) < _SHORTEST or word[:1] != name[:1]:
        return False
    return lookup.bounded_edit_distance(word, name, allowed) <= allowed


def _is_covered(span: Span, others: Sequence[NamedEntity]) -> bool:
    """Return whether a longer name contains this span."""
    return any(other.span.holds(span) and other.span != span for other in others)


def _merge_entities(person: NamedEntity, element: NamedEntity) -> NamedEntity:
    confidence = max(person.confidence, element.confidence)
    return NamedEntity(
        person.span, NamedEntityKind.PERSON, person.name, confidence, element.elements
    )


def _find_people(text: str, bible: Bible) -> Iterator[NamedEntity]:
    cast = extract_visible_cast(bible)
    for span, people in lookup.find_names_in_question(
        _lowercase_sentence_starts(text), cast
    ):
        words = text[span.start : span.end]
        exact = len(people) == 1 and lookup.is_character_name(words, cast)
        name = people[0] if len(people) == 1 else words
        yield NamedEntity(
            span,
            NamedEntityKind.PERSON,
            name,
            EXACT_NAME_CONFIDENCE if exact else NEAR_NAME_CONFIDENCE,
        )


def _lowercase_sentence_starts(text: str) -> str:
    """Return `text` with sentence-initial common words in lower case.

    If no other capital is left, `text` is returned unchanged: in a question without
    capitals every word may be a name.
    """
    letters = list(text)
    for word in WORD_PATTERN.finditer(text):
        common = _is_common(word[0]) and word[0].lower() not in NAME_TITLES
        if word[0][0].isupper() and common and _starts_sentence(text, word.start()):
            letters[word.start()] = word[0][0].lower()
    low = "".join(letters)
    return text if low == low.lower() else low


def _find_elements(text: str, bible: Bible) -> Iterator[NamedEntity]:
    """Yield the world elements in `text`; the longest name at each position counts."""
    keys: dict[str, list[WorldElement]] = {}
    for element in bible.world:
        key = normalize_element_name(element.name)
        if key and key not in STOP_WORDS:
            keys.setdefault(key, []).append(element)
    longest = max((len(key.split()) for key in keys), default=0)
    words, at = list(WORD_PATTERN.finditer(text)), 0
    while at < len(words):
        size, span = _longest(text, words[at : at + longest], keys)
        if span is not None:
            elements = keys[normalize_element_name(text[span.start : span.end])]
            yield NamedEntity(
                span,
                NamedEntityKind.THING,
                elements[0].name,
                EXACT_NAME_CONFIDENCE,
                tuple(elements),
            )
        at += size


def _longest(
    text: str, words: Sequence[re.Match[str]], keys: Collection[str]
) -> tuple[int, Span | None]:
    """Return the number of words and the span of the longest element name that starts
    with the first of `words`.
    """
    if not words or words[0][0].lower() in _ARTICLES:
        return 1, None
    for size in range(len(words), 0, -1):
        span = _name_span(words[0], words[size - 1])
        stretch = text[span.start : span.end]
        if normalize_element_name(stretch) in keys and not _PAUSE.search(stretch):
            return size, span
    return 1, None


def _name_span(first: re.Match[str], last: re.Match[str]) -> Span:
    """Return the span of a name, without a final "'s"."""
    return Span(first.start(), last.start() + len(strip_possessive(last[0])))


def _find_unknown_names(text: str, spans: Sequence[Span]) -> Iterator[NamedEntity]:
    """Yield capitalised names outside of `spans`.

    At a sentence start, a word counts only in a possessive or with another capitalised
    word.
    """
    if text.isupper():
        return
    for run in _capitalised_runs(text, spans):
        span = _name_span(run[0], run[-1])
        owns = span.end < run[-1].end()
        common = all(_is_common(word[0]) for word in run)
        if not common and (
            len(run) > 1 or owns or not _starts_sentence(text, span.start)
        ):
            yield NamedEntity(
                span,
                NamedEntityKind.STRANGER,
                text[span.start : span.end],
                UNKNOWN_NAME_CONFIDENCE,
            )


def _capitalised_runs(
    text: str, spans: Sequence[Span]
) -> Iterator[list[re.Match[str]]]:
    """Yield runs of adjacent capitalised words, with particles between them."""
    covered = {at for span in spans for at in range(span.start, span.end)}
    run: list[re.Match[str]] = []
    small: list[re.Match[str]] = []
    for word in WORD_PATTERN.finditer(text):
        before = (small or run or [word])[-1]
        beside = not text[before.end() : word.start()].strip(" .")
        is_uncovered = word.start() not in covered
        if run and is_uncovered and beside and word[0] in _PARTICLES:
            small.append(word)
            continue
        capital = is_uncovered and _may_be_name(text, word)
        if run and not (capital and beside):
            yield run
            run, small = [], []
        if capital:
            run += [*small, word]
            small = []
    if run:
        yield run


def _may_be_name(text: str, word: re.Match[str]) -> bool:
    if not word[0][0].isupper() or word[0].lower() in _SPEAKER:
        return False
    return not (_is_common(word[0]) and _starts_sentence(text, word.start()))


def _starts_sentence(text: str, start: int) -> bool:
    """Return whether a sentence begins at `start`; an abbreviated title ends none."""
    before = text[max(0, start - _BACK) : start].rstrip(" \n\"'“‘(")
    if not before or before[-1] in "!?":
        return True
    return (
        before[-1] == "." and before.split()[-1][:-1].lower() not in TITLE_ABBREVIATIONS
    )


def _is_common(word: str) -> bool:
    normalized_word = normalize_word(word)
    return (
        is_non_name(word)
        or normalized_word in STOP_WORDS
        or normalized_word in _OPENERS
    )
