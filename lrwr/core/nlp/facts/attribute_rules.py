"""How English words people's looks, ages, trades, births and deaths: a rule each."""

from types import MappingProxyType
from typing import TypeAlias

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
    NUMBERS,
    OCCUPATION,
    OCCUPATIONS,
    PERSON,
)
from lrwr.core.nlp.names.patterns import NAME
from lrwr.core.nlp.text.lazy_regex import Expression

_IS = r"(?:is|was|had been|has been)"
_STOP = r"(?=[.,;:!)—–]| --|$)"
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
WHO = rf"(?<![\w'])(?<!\w-)(?P<who>{NAME})"
_DEATH_END = (
    r"(?=[.,;:!]|$| (?:in|at|of|on|when|before|after|from|last|that|there|"
    r"this|by|and|a|two|three|four|five|six|some|many|soon|suddenly|years|"
    r"long)\b)"
)


_ADVERB = r"(?:then |now |already |still |at that time |at this time |just )?"

THE_TRADE = Expression(rf"\b[Tt]he (?P<value>{OCCUPATION}), (?P<who>{NAME}){_CLOSED}")
"""In speech the name after it may be the one who is spoken to."""

THE_LATE = Expression(rf"\b[Tt]he late (?P<who>{NAME})")
"""A father and a son may be called the same: whose death it is, is only probable."""

Rule: TypeAlias = tuple[str, Expression, str, bool]
"""Attribute, pattern, value where the pattern holds none, "named only in passing".

What is named in passing ("if Nell's grey eyes …") stands, whatever is said of it.
"""

RULES_BY_NAME: tuple[Rule, ...] = (
    ("eyes", Expression(rf"{WHO}'s (?P<value>{EYE}) eyes\b"), "", True),
    (
        "eyes",
        Expression(
            rf"{WHO}'s eyes(?:,? which)? (?:were|are) (?P<value>{EYE})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    ("hair", Expression(rf"{WHO}'s (?P<value>{HAIR}) {HAIR_END}"), "", True),
    (
        "hair",
        Expression(
            rf"{WHO}'s hair(?:,? which)? {_IS} (?P<value>{HAIR})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        Expression(rf"{WHO} (?:had|has) (?:\w+ hair and )?(?P<value>{EYE}) eyes\b"),
        "",
        False,
    ),
    (
        "hair",
        Expression(
            rf"{WHO} (?:had|has) (?:\w+ eyes and )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "eyes",
        Expression(rf"{WHO}'s eyes, (?P<value>{EYE})(?=,| as\b| and\b)"),
        "",
        True,
    ),
    (
        "eyes",
        Expression(
            rf"{WHO}'s eyes (?:were|are) (?:of )?(?:an?|the) (?:\w+ )?(?P<value>{EYE})"
            r"(?= (?:and|but|that|as|of)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        Expression(
            rf"^[ \x01]*(?P<who>{NAME}), with (?:his |her |their )?(?P<value>{EYE}) eyes\b"
        ),
        "",
        True,
    ),
    (
        "eyes",
        Expression(
            rf"{WHO}, whose eyes (?:were|are) (?P<value>{EYE})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "eyes",
        Expression(rf"\bthe (?P<value>{EYE}) eyes of (?P<who>{NAME})(?!['-])"),
        "",
        True,
    ),
    (
        "hair",
        Expression(rf"{WHO}'s hair, (?P<value>{HAIR})(?=,| as\b| and\b)"),
        "",
        True,
    ),
    ("hair", Expression(rf"{WHO}'s (?P<value>{HAIR}) (?:{LOCKS})\b"), "", True),
    (
        "hair",
        Expression(
            rf"^[ \x01]*(?P<who>{NAME}), with (?:his |her |their )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        True,
    ),
    (
        "hair",
        Expression(
            rf"{WHO}, whose hair (?:was|is) (?P<value>{HAIR})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "hair",
        Expression(
            rf"{WHO} (?:had|has) (?:a (?:head|shock|mop|mass) of )(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "hair",
        Expression(rf"\bthe (?P<value>{HAIR}) hair of (?P<who>{NAME})(?!['-])"),
        "",
        True,
    ),
    (
        "life",
        Expression(
            rf"{WHO} (?:is|was) (?:still |yet |very much )?alive(?=[.,;:!]| and\b)"
        ),
        "alive",
        False,
    ),
    (
        "born",
        Expression(rf"{WHO} (?:was|had been) born (?:on |in )?(?P<value>{BIRTH})"),
        "",
        False,
    ),
    (
        "age",
        Expression(rf"{WHO}(?:, who)? (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"),
        "",
        False,
    ),
    (
        "age",
        Expression(rf"{WHO},? (?:who was )?aged (?P<value>{NUMBER})\b"),
        "",
        False,
    ),
    (
        "age",
        Expression(
            rf"{WHO}(?: {_IS}|,) an? (?:[\w-]+,? )*?(?:{PERSON}) of "
            rf"(?P<value>{AGE})\b{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        Expression(rf"\b(?P<value>{NUMBER}-year-old) (?P<who>{NAME})(?!['-])"),
        "",
        True,
    ),
    (
        "occupation",
        Expression(rf"{WHO}, (?:the|an?) (?P<value>{OCCUPATION}){_CLOSED}"),
        "",
        True,
    ),
    (
        "occupation",
        THE_TRADE,
        "",
        True,
    ),
    (
        "occupation",
        Expression(rf"{WHO}(?:, who)? {_IS} an? (?P<value>{OCCUPATION}){_STOP}"),
        "",
        False,
    ),
    ("life", THE_LATE, "dead", True),
    (
        "life",
        Expression(
            rf"{WHO} (?:(?:had |has )?(?:died|drowned)|(?:is|was|had been) (?:now )?"
            rf"dead(?! (?:tired|set|drunk|asleep|beat|sure|silent|certain|on))){_DEATH_END}"
        ),
        "dead",
        False,
    ),
    (
        "build",
        Expression(
            rf"{WHO}(?:, who)? {_IS} {_ADVERB}(?P<value>{BUILD})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "build",
        Expression(
            rf"{WHO}(?: {_IS}|,) an? (?P<value>{BUILD})(?:,? [\w-]+){{0,3}}? "
            rf"(?:{PERSON})\b"
        ),
        "",
        False,
    ),
)
BY_PRONOUN: tuple[Rule, ...] = (
    (
        "eyes",
        Expression(rf"\bwith (?P<who>those) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "eyes",
        Expression(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "hair",
        Expression(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{HAIR}) {HAIR_END}"),
        "",
        True,
    ),
    (
        "age",
        Expression(
            rf"^[ \x01]*(?P<who>He|She) (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "build",
        Expression(
            rf"^[ \x01]*(?P<who>He|She) was (?:an? )?(?P<value>{BUILD})"
            rf"(?:(?:,? [\w-]+){{0,3}}? (?:{PERSON})\b|(?= (?:and|but)\b|[.,;:!—]))"
        ),
        "",
        False,
    ),
    (
        "occupation",
        Expression(rf"^[ \x01]*(?P<who>He|She) was an? (?P<value>{OCCUPATION}){_STOP}"),
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
        "age": NUMBERS | {"aged", "old", "age"},
        "occupation": frozenset(OCCUPATIONS.split("|")),
    }
)
