"""Whom and what of the bible a name means, and which names a question holds.

Only the bible is looked at, so nothing that comes after its horizon is ever named.
English rules.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.bible.service import extract_visible_cast
from lrwr.core.bible.values import Bible, CharacterProfile, WorldElement
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, Span, normalize_word
from lrwr.core.nlp.names import lookup
from lrwr.core.nlp.names.lexicon import (
    NAME_TITLES,
    TITLE_ABBREVIATIONS,
    fold_name,
    is_non_name,
)

EXACT_NAME_CONFIDENCE = 0.95
"""The question has a name as the bible has it. Not 1.0: some names are words, too."""

NEAR_NAME_CONFIDENCE = 0.75
"""A part of a name, a slip of the keyboard, or a name that several share: as a rule
it is meant, now and then somebody else is."""

UNKNOWN_NAME_CONFIDENCE = 0.6
"""A capitalised word that the bible does not hold: a name in most cases, but maybe a
title or an emphasis. Just enough to be looked for."""

_ARTICLES = frozenset({"the", "a", "an"})
_SHORTEST = 4
"""The fewest letters of a name that is matched with a slip in it."""

_BACK = 40
"""Characters before a word that are looked at for the end of a sentence."""

_PARTICLES = frozenset({"of", "the", "in", "and", "de", "von", "van", "la"})
_OPENERS = frozenset(
    {
        "compare", "contrast", "describe", "explain", "find", "give", "imagine", "list",
        "name", "quote", "recap", "remind", "show", "summarise", "summarize",
        "suppose", "tell",
    }
)  # fmt: skip
"""Verbs that open a request and are capitalised for no other reason."""

_SPEAKER = frozenset({"i", "i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d"})
_PAUSE = re.compile(
    rf"[?!;:,\n]|\b(?!(?:{'|'.join(sorted(TITLE_ABBREVIATIONS))})\.)\w+\.\s",
    re.IGNORECASE,
)
"""What never stands inside of a name."""


class NamedEntityKind(StrEnum):
    """What a name in a question names."""

    PERSON = "PERSON"
    THING = "THING"
    STRANGER = "STRANGER"


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name in a question: where, what it is, and the name it goes by.

    A name of a bible is given as the bible has it, save one that several people share.
    `elements` are the things of the world that it names.
    """

    span: Span
    kind: NamedEntityKind
    name: str
    confidence: float
    elements: tuple[WorldElement, ...] = ()


def match_people(name: str, bible: Bible) -> tuple[CharacterProfile, ...]:
    """Return everybody whom `name` may mean: by a form, else in part or by a slip."""
    exact = match_people_exactly(name, bible)
    if exact:
        return exact
    matched_names = lookup.resolve_name(name, extract_visible_cast(bible))
    return tuple(
        character for character in bible.characters if character.name in matched_names
    )


def match_people_exactly(name: str, bible: Bible) -> tuple[CharacterProfile, ...]:
    """Return every character called `name`, ignoring case and an article."""
    folded_name = fold_name(_bare(name))
    return tuple(
        character
        for character in bible.characters
        if folded_name
        and folded_name in {fold_name(form) for form in _all_names(character)}
    )


def match_elements(name: str, bible: Bible) -> tuple[WorldElement, ...]:
    """Return every thing that `name` may mean: by name, else in part or by a slip."""
    element_name = normalize_element_name(name)
    if not element_name:
        return ()
    return (
        match_elements_exactly(name, bible)
        or tuple(
            element
            for element in bible.world
            if _shares(element_name, normalize_element_name(element.name))
        )
        or tuple(
            element
            for element in bible.world
            if _slipped(element_name, normalize_element_name(element.name))
        )
    )


def match_elements_exactly(name: str, bible: Bible) -> tuple[WorldElement, ...]:
    """Return every thing called `name`, but for case, an article and a plural."""
    element_name = normalize_element_name(name)
    return tuple(
        element
        for element in bible.world
        if element_name and normalize_element_name(element.name) == element_name
    )


def normalize_element_name(name: str) -> str:
    """Return a thing's name as it is compared: tide rule for The Tide Rules'."""
    words = [normalize_word(word) for word in WORD_PATTERN.findall(name)]
    if len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    if words:
        words.append(_singular(words.pop()))
    return " ".join(words)


def recognize_named_entities(text: str, bible: Bible) -> tuple[NamedEntity, ...]:
    """Return the names that `text` holds, in order; of two in one place the longer.

    Somebody and something of one name are one, a person with elements.
    """
    people, elements = list(_people_in(text, bible)), list(_things_in(text, bible))
    entities = [person for person in people if not _covered(person.span, elements)]
    entities_by_span = {entity.span: entity for entity in entities}
    for element in elements:
        if element.span in entities_by_span:
            same_entity = entities_by_span[element.span]
            entities.remove(same_entity)
            entities.append(_both(same_entity, element))
        elif not _covered(element.span, people):
            entities.append(element)
    entities += _strangers_in(text, [entity.span for entity in entities])
    return tuple(sorted(entities, key=lambda entity: entity.span))


def collect_bible_names(bible: Bible) -> frozenset[str]:
    """Return every form of every name, of characters and of things."""
    people = (name for character in bible.characters for name in _all_names(character))
    return frozenset(people) | {element.name for element in bible.world}


def _all_names(character_profile: CharacterProfile) -> Iterator[str]:
    yield character_profile.name
    yield from (form.name for form in character_profile.aliases)
    yield from (claim.value for claim in character_profile.also_called)


def _bare(name: str) -> str:
    return re.sub(r"['’]s?\s*$", "", name.strip(" ?!,;:"))


def _singular(word: str) -> str:
    is_unchanged = len(word) < _SHORTEST or word.endswith(("ss", "us", "is"))
    return word if is_unchanged else word.removesuffix("s")


def _shares(name: str, other: str) -> bool:
    """Say whether all words of one name are among those of the other."""
    words, others = set(name.split()), set(other.split())
    return bool(others) and (words <= others or others <= words)


def _slipped(word: str, name: str) -> bool:
    allowed = 1 if len(word) < 2 * _SHORTEST else 2
    if len(word) < _SHORTEST or word[:1] != name[:1]:
        return False
    return lookup.bounded_edit_distance(word, name, allowed) <= allowed


def _covered(span: Span, others: Sequence[NamedEntity]) -> bool:
    """Say whether a longer name holds this one."""
    return any(other.span.holds(span) and other.span != span for other in others)


def _both(person: NamedEntity, element: NamedEntity) -> NamedEntity:
    confidence = max(person.confidence, element.confidence)
    return NamedEntity(
        person.span, NamedEntityKind.PERSON, person.name, confidence, element.elements
    )


def _people_in(text: str, bible: Bible) -> Iterator[NamedEntity]:
    cast = extract_visible_cast(bible)
    for span, people in lookup.find_names_in_question(_opened_low(text), cast):
        words = text[span.start : span.end]
        exact = len(people) == 1 and lookup.is_character_name(words, cast)
        name = people[0] if len(people) == 1 else words
        yield NamedEntity(
            span,
            NamedEntityKind.PERSON,
            name,
            EXACT_NAME_CONFIDENCE if exact else NEAR_NAME_CONFIDENCE,
        )


def _opened_low(text: str) -> str:
    """Return `text` without the capitals that open sentences: "did Nell" of "Did Nell".

    Where there is no other capital it stays as it is: whoever writes none at all may
    mean a name by any word.
    """
    letters = list(text)
    for word in WORD_PATTERN.finditer(text):
        common = _is_common(word[0]) and word[0].lower() not in NAME_TITLES
        if word[0][0].isupper() and common and _opens(text, word.start()):
            letters[word.start()] = word[0][0].lower()
    low = "".join(letters)
    return text if low == low.lower() else low


def _things_in(text: str, bible: Bible) -> Iterator[NamedEntity]:
    """Yield the things of the world; the longest name at each place counts."""
    keys: dict[str, list[WorldElement]] = {}
    for element in bible.world:
        key = normalize_element_name(element.name)
        if key and key not in STOP_WORDS:
            keys.setdefault(key, []).append(element)
    words, at = list(WORD_PATTERN.finditer(text)), 0
    while at < len(words):
        size, span = _longest(text, words[at:], keys)
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
    """Return how many words the longest name takes that begins here, and where."""
    if words[0][0].lower() in _ARTICLES:
        return 1, None
    most = max((len(key.split()) for key in keys), default=0)
    for size in range(min(most, len(words)), 0, -1):
        span = _between(words[0], words[size - 1])
        stretch = text[span.start : span.end]
        if normalize_element_name(stretch) in keys and not _PAUSE.search(stretch):
            return size, span
    return 1, None


def _between(first: re.Match[str], last: re.Match[str]) -> Span:
    """Return the span of a name, without the `'s` after it."""
    return Span(first.start(), last.start() + len(_bare(last[0])))


def _strangers_in(text: str, spans: Sequence[Span]) -> Iterator[NamedEntity]:
    """Yield capitalised names that lie outside of `spans`.

    A word that opens a sentence is one only if it owns something or has company.
    """
    if text.isupper():
        return
    for run in _runs(text, spans):
        span = _between(run[0], run[-1])
        owns = span.end < run[-1].end()
        common = all(_is_common(word[0]) for word in run)
        if not common and (len(run) > 1 or owns or not _opens(text, span.start)):
            yield NamedEntity(
                span,
                NamedEntityKind.STRANGER,
                text[span.start : span.end],
                UNKNOWN_NAME_CONFIDENCE,
            )


def _runs(text: str, spans: Sequence[Span]) -> Iterator[list[re.Match[str]]]:
    """Yield runs of adjacent capitalised words, with small words between them."""
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
    return not (_is_common(word[0]) and _opens(text, word.start()))


def _opens(text: str, start: int) -> bool:
    """Say whether a sentence begins at `start`; what follows a title is inside one."""
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
