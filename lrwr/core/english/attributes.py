"""What people look like, do for a living, how old they are: as the words say it."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TypeAlias

from lrwr.core.english.claims import (
    SAID,
    certainty_of,
    clause_before,
    is_asked,
    is_real,
    make_fact,
    span_in,
    voices,
    without_twins,
)
from lrwr.core.english.looks import (
    AGE,
    AGE_END,
    BUILD,
    BUILDS,
    EYE,
    HAIR,
    NUMBER,
    NUMBERS,
    OCCUPATION,
    OCCUPATIONS,
    PERSON,
    TRADES,
)
from lrwr.core.english.owners import owner_of
from lrwr.core.english.proper import (
    NAME,
    clean_name,
    is_placed,
    matches,
)
from lrwr.core.english.prose import Prose, Sentence, capitals
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import About, CharacterField, Fact

_IS = r"(?:is|was|had been|has been)"
_STOP = r"(?=[.,;:!)—–]| --|$)"
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
_WHO = rf"(?<![\w'])(?<!\w-)(?P<who>{NAME})"
_DEATH_END = (
    r"(?=[.,;:!]|$| (?:in|at|of|on|when|before|after|from|last|that|there|"
    r"this|by|and|a|two|three|four|five|six|some|many|soon|suddenly|years|"
    r"long)\b)"
)


_ADVERB = r"(?:then |now |already |still |at that time |at this time |just )?"

_THE_TRADE = re.compile(rf"\b[Tt]he (?P<value>{OCCUPATION}), (?P<who>{NAME}){_CLOSED}")
"""In speech the name after it may be the one who is spoken to."""

_THE_LATE = re.compile(rf"\b[Tt]he late (?P<who>{NAME})")
"""A father and a son may be called the same: whose death it is, is only probable."""

Rule: TypeAlias = tuple[str, re.Pattern[str], str, bool]
"""Attribute, pattern, value where the pattern holds none, "named only in passing".

What is named in passing ("if Nell's grey eyes …") stands, whatever is said of it.
"""

_RULES: tuple[Rule, ...] = (
    ("eyes", re.compile(rf"{_WHO}'s (?P<value>{EYE}) eyes\b"), "", True),
    (
        "eyes",
        re.compile(
            rf"{_WHO}'s eyes(?:,? which)? (?:were|are) (?P<value>{EYE})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    ("hair", re.compile(rf"{_WHO}'s (?P<value>{HAIR}) hair\b"), "", True),
    (
        "hair",
        re.compile(
            rf"{_WHO}'s hair(?:,? which)? {_IS} (?P<value>{HAIR})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        re.compile(rf"{_WHO} (?:had|has) (?:\w+ hair and )?(?P<value>{EYE}) eyes\b"),
        "",
        False,
    ),
    (
        "hair",
        re.compile(rf"{_WHO} (?:had|has) (?:\w+ eyes and )?(?P<value>{HAIR}) hair\b"),
        "",
        False,
    ),
    (
        "age",
        re.compile(rf"{_WHO}(?:, who)? (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"),
        "",
        False,
    ),
    (
        "age",
        re.compile(rf"{_WHO},? (?:who was )?aged (?P<value>{NUMBER})\b"),
        "",
        False,
    ),
    (
        "age",
        re.compile(
            rf"{_WHO}(?: {_IS}|,) an? (?:[\w-]+,? )*?(?:{PERSON}) of "
            rf"(?P<value>{AGE})\b{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        re.compile(rf"\b(?P<value>{NUMBER}-year-old) (?P<who>{NAME})(?!['-])"),
        "",
        True,
    ),
    (
        "occupation",
        re.compile(rf"{_WHO}, (?:the|an?) (?P<value>{OCCUPATION}){_CLOSED}"),
        "",
        True,
    ),
    (
        "occupation",
        _THE_TRADE,
        "",
        True,
    ),
    (
        "occupation",
        re.compile(rf"{_WHO}(?:, who)? {_IS} an? (?P<value>{OCCUPATION}){_STOP}"),
        "",
        False,
    ),
    ("life", _THE_LATE, "dead", True),
    (
        "life",
        re.compile(
            rf"{_WHO} (?:(?:had |has )?(?:died|drowned)|(?:is|was|had been) (?:now )?"
            rf"dead(?! (?:tired|set|drunk|asleep|beat|sure|silent|certain|on))){_DEATH_END}"
        ),
        "dead",
        False,
    ),
    (
        "build",
        re.compile(
            rf"{_WHO}(?:, who)? {_IS} {_ADVERB}(?P<value>{BUILD})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "build",
        re.compile(
            rf"{_WHO}(?: {_IS}|,) an? (?P<value>{BUILD})(?:,? [\w-]+){{0,3}}? "
            rf"(?:{PERSON})\b"
        ),
        "",
        False,
    ),
)
_BY_PRONOUN: tuple[Rule, ...] = (
    (
        "eyes",
        re.compile(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "hair",
        re.compile(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{HAIR}) hair\b"),
        "",
        True,
    ),
    (
        "age",
        re.compile(
            rf"^[ \x01]*(?P<who>He|She) (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "build",
        re.compile(
            rf"^[ \x01]*(?P<who>He|She) was (?:an? )?(?P<value>{BUILD})"
            rf"(?:(?:,? [\w-]+){{0,3}}? (?:{PERSON})\b|(?= (?:and|but)\b|[.,;:!—]))"
        ),
        "",
        False,
    ),
    (
        "occupation",
        re.compile(rf"^[ \x01]*(?P<who>He|She) was an? (?P<value>{OCCUPATION}){_STOP}"),
        "",
        False,
    ),
)
_TRIGGERS = MappingProxyType(
    {
        "eyes": frozenset({"eyes"}),
        "hair": frozenset({"hair"}),
        "life": frozenset({"late", "died", "dead", "drowned"}),
        "build": frozenset(BUILDS.split("|")),
        "age": NUMBERS | {"aged", "old", "age"},
        "occupation": frozenset(OCCUPATIONS.split("|")),
    }
)
_GENDER = MappingProxyType({"he": "his", "she": "her", "his": "his", "her": "her"})


def attributes(prose: Prose) -> Iterator[Fact]:
    """Yield eyes, hair, age, build, occupation and death, where one clause says it.

    Verified where the narrator's words name the person; probable where a pronoun
    stands for the name, where somebody says it, and of the late Mr. Somebody.
    """
    trades = frozenset(w for w in prose.plain if w.endswith(TRADES))
    for place, sentence in enumerate(prose.sentences):
        possible = _possible(sentence, trades)
        if not possible:
            continue
        for words, spoken in voices(sentence):
            yield from without_twins(_read(prose, place, words, spoken, possible))


def _possible(sentence: Sentence, trades: frozenset[str]) -> set[str]:
    """Name the attributes that the sentence's words make possible."""
    words = sentence.words
    found = {name for name, triggers in _TRIGGERS.items() if words & triggers}
    if words & trades:
        found.add("occupation")
    return found


def _read(
    prose: Prose, place: int, words: str, spoken: bool, possible: set[str]
) -> Iterator[Fact]:
    sentence = prose.sentences[place]
    starts = sentence.starts if not spoken else capitals(words)
    for rule in _RULES:
        if rule[0] not in possible or (spoken and rule[1] is _THE_TRADE):
            continue
        for found in _found(rule, words, starts):
            who = clean_name(found["who"], prose)
            if who and _holds(rule, found, words):
                sure = certainty_of(spoken, named=rule[1] is not _THE_LATE)
                yield _fact(rule, who, found, sentence, spoken, sure)
    for rule in _BY_PRONOUN if not spoken else ():
        for found in rule[1].finditer(words) if rule[0] in possible else ():
            whose = _GENDER[found["who"].lower()]
            who = owner_of(prose, place, words, found.start("who"), whose)
            if who and _holds(rule, found, words):
                yield _fact(rule, who, found, sentence, spoken, Certainty.PROBABLE)


def _found(rule: Rule, words: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    """Yield a rule's matches; only those that begin with a name are looked for there."""
    pattern = rule[1]
    if pattern.pattern.startswith(_WHO):
        return matches(pattern, words, starts)
    return pattern.finditer(words)


def _holds(rule: Rule, found: re.Match[str], words: str) -> bool:
    if rule[3]:
        return True
    if is_placed(words, found.start("who")):
        return False
    before = clause_before(words, found.start())
    return is_real(before) and not is_asked(words, found.end())


def _fact(
    rule: Rule,
    who: str,
    found: re.Match[str],
    sentence: Sentence,
    spoken: bool,
    certainty: Certainty,
) -> Fact:
    attribute, _, value, _ = rule
    details = (("attribute", attribute),)
    return make_fact(
        About.CHARACTER,
        CharacterField.ATTRIBUTE,
        value or found["value"],
        span_in(sentence, found.start(), found.end()),
        certainty,
        subject=who,
        details=(*details, SAID) if spoken else details,
    )
