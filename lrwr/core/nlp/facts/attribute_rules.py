"""How English words people's looks, ages, trades, births and deaths: a rule each."""

from types import MappingProxyType
from typing import TypeAlias

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.appearance_words import (
    AGE,
    AGE_END,
    BIRTH,
    BUILD,
    BUILDS,
    EYE,
    HAIR,
    HAIR_END,
    LOCKS,
    NUMBER,
    NUMBER_WORDS,
    OCCUPATION,
    OCCUPATIONS,
    PERSON_PATTERN,
)
from lrwr.core.nlp.names.patterns import NAME_PATTERN

_IS = r"(?:is|was|had been|has been)"
_STOP = r"(?=[.,;:!)—–]| --|$)"
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
CHARACTER_PATTERN = rf"(?<![\w'])(?<!\w-)(?P<who>{NAME_PATTERN})"
_DEATH_END = (
    r"(?=[.,;:!]|$| (?:in|at|of|on|when|before|after|from|last|that|there|"
    r"this|by|and|a|two|three|four|five|six|some|many|soon|suddenly|years|"
    r"long)\b)"
)


_ADVERB = r"(?:then |now |already |still |at that time |at this time |just )?"

TRADE_APPOSITION = LazyPattern(
    rf"\b[Tt]he (?P<value>{OCCUPATION}), (?P<who>{NAME_PATTERN}){_CLOSED}"
)
"""In speech the name after it may be the one who is spoken to."""

DECEASED_PATTERN = LazyPattern(rf"\b[Tt]he late (?P<who>{NAME_PATTERN})")
"""A father and a son may be called the same: whose death it is, is only probable."""

AttributeRule: TypeAlias = tuple[str, LazyPattern, str, bool]
"""Attribute, pattern, value where the pattern holds none, "named only in passing".

What is named in passing ("if Nell's grey eyes …") stands, whatever is said of it.
"""

RULES_BY_NAME: tuple[AttributeRule, ...] = (
    ("eyes", LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{EYE}) eyes\b"), "", True),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s eyes(?:,? which)? (?:were|are) (?P<value>{EYE})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{HAIR}) {HAIR_END}"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s hair(?:,? which)? {_IS} (?P<value>{HAIR})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:\w+ hair and )?(?P<value>{EYE}) eyes\b"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:\w+ eyes and )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(rf"{CHARACTER_PATTERN}'s eyes, (?P<value>{EYE})(?=,| as\b| and\b)"),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s eyes (?:were|are) (?:of )?(?:an?|the) (?:\w+ )?(?P<value>{EYE})"
            r"(?= (?:and|but|that|as|of)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"^[ \x01]*(?P<who>{NAME_PATTERN}), with (?:his |her |their )?(?P<value>{EYE}) eyes\b"
        ),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, whose eyes (?:were|are) (?P<value>{EYE})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(rf"\bthe (?P<value>{EYE}) eyes of (?P<who>{NAME_PATTERN})(?!['-])"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s hair, (?P<value>{HAIR})(?=,| as\b| and\b)"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{HAIR}) (?:{LOCKS})\b"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"^[ \x01]*(?P<who>{NAME_PATTERN}), with (?:his |her |their )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, whose hair (?:was|is) (?P<value>{HAIR})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:a (?:head|shock|mop|mass) of )(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(
            rf"\bthe (?P<value>{HAIR}) hair of (?P<who>{NAME_PATTERN})(?!['-])"
        ),
        "",
        True,
    ),
    (
        "life",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:is|was) (?:still |yet |very much )?alive(?=[.,;:!]| and\b)"
        ),
        "alive",
        False,
    ),
    (
        "born",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:was|had been) born (?:on |in )?(?P<value>{BIRTH})"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(rf"{CHARACTER_PATTERN},? (?:who was )?aged (?P<value>{NUMBER})\b"),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?: {_IS}|,) an? (?:[\w-]+,? )*?(?:{PERSON_PATTERN}) of "
            rf"(?P<value>{AGE})\b{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(rf"\b(?P<value>{NUMBER}-year-old) (?P<who>{NAME_PATTERN})(?!['-])"),
        "",
        True,
    ),
    (
        "occupation",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, (?:the|an?) (?P<value>{OCCUPATION}){_CLOSED}"
        ),
        "",
        True,
    ),
    (
        "occupation",
        TRADE_APPOSITION,
        "",
        True,
    ),
    (
        "occupation",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? {_IS} an? (?P<value>{OCCUPATION}){_STOP}"
        ),
        "",
        False,
    ),
    ("life", DECEASED_PATTERN, "dead", True),
    (
        "life",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:(?:had |has )?(?:died|drowned)|(?:is|was|had been) (?:now )?"
            rf"dead(?! (?:tired|set|drunk|asleep|beat|sure|silent|certain|on))){_DEATH_END}"
        ),
        "dead",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? {_IS} {_ADVERB}(?P<value>{BUILD})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?: {_IS}|,) an? (?P<value>{BUILD})(?:,? [\w-]+){{0,3}}? "
            rf"(?:{PERSON_PATTERN})\b"
        ),
        "",
        False,
    ),
)
RULES_BY_PRONOUN: tuple[AttributeRule, ...] = (
    (
        "eyes",
        LazyPattern(rf"\bwith (?P<who>those) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{HAIR}) {HAIR_END}"),
        "",
        True,
    ),
    (
        "age",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) was (?:an? )?(?P<value>{BUILD})"
            rf"(?:(?:,? [\w-]+){{0,3}}? (?:{PERSON_PATTERN})\b|(?= (?:and|but)\b|[.,;:!—]))"
        ),
        "",
        False,
    ),
    (
        "occupation",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) was an? (?P<value>{OCCUPATION}){_STOP}"
        ),
        "",
        False,
    ),
)
TRIGGERS = MappingProxyType(
    {
        "eyes": frozenset({"eyes"}),
        "hair": frozenset({"hair"}) | frozenset(LOCKS.split("|")),
        "born": frozenset({"born"}),
        "life": frozenset({"late", "died", "dead", "drowned", "alive"}),
        "build": frozenset(BUILDS.split("|")),
        "age": NUMBER_WORDS | {"aged", "old", "age"},
        "occupation": frozenset(OCCUPATIONS.split("|")),
    }
)
