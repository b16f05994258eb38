"""Patterns for descriptions of people: ages in words, features, hair and trades in
longer clauses than those of `attribute_rules`.
"""

from types import MappingProxyType

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.attribute_rules import (
    AGE,
    AGE_END,
    BUILD,
    CHARACTER_PATTERN,
    EYE,
    HAIR,
    HAIR_END,
    OCCUPATION,
    PERSON_PATTERN,
    AttributeRule,
)

_IS = r"(?:is|was|had been|has been)"
_ADVERBS = r"(?:(?:then|now|already|still|perhaps|at that time|at this time|just) )?"
_ADJECTIVES = r"(?:[a-z][a-z'-]*,? (?:and )?){0,5}?"
_SHAPES_TEXT = (
    "cold light small large deep-set deep-sunk deep-sunken sunken prominent protruding beady "
    "watery close-set almond-shaped bulging squinting heavy-lidded slanting pale bright "
    "colourless"
)
_SHAPES = "|".join(_SHAPES_TEXT.split())
_EYES = rf"(?:{EYE}|(?:(?:{_SHAPES})(?:, | and | ))*(?:{_SHAPES}))"
_HAIR_SHAPES_TEXT = (
    "long short thin thick cropped scanty bushy silky lank matted shaggy sleek glossy crisp "
    "shining woolly tangled close-cropped"
)
_HAIR_SHAPES = "|".join(_HAIR_SHAPES_TEXT.split())
_HAIR = (
    rf"(?:(?:(?:{_HAIR_SHAPES})(?:, | and | ))*{HAIR}|(?:{_HAIR_SHAPES})"
    rf"(?:(?:,| and|, and) (?:{_HAIR_SHAPES}|{HAIR}))*)"
)
_NOSES_TEXT = (
    "Roman aquiline hooked snub turned-up long short sharp broad flat large big red straight "
    "thin beaked pug Grecian bulbous hawk-like crooked broken small pointed coriolanian "
    "flattened prominent"
)
_NOSES = "|".join(_NOSES_TEXT.split())
_NOSE = rf"(?:(?:{_NOSES})(?:, | and | ))*(?:{_NOSES})"
_COMPLEXIONS_TEXT = (
    "fair dark pale sallow ruddy olive swarthy florid sandy brown rosy clear fresh muddy pasty "
    "sunburnt bronzed freckled tanned delicate white black yellow"
)
_COMPLEXIONS = "|".join(_COMPLEXIONS_TEXT.split())
_COMPLEXION = (
    rf"(?:(?:very |rather )?(?:{_COMPLEXIONS})(?:, | and | ))*(?:{_COMPLEXIONS})"
)
_BEARD = rf"(?:(?:(?:{_HAIR_SHAPES}|pointed|full|heavy)(?:, | and | ))*{HAIR}|{_HAIR_SHAPES}|pointed|full|heavy)"
_BEARD_NOUN = r"(?:beard|moustaches?|mustaches?|whiskers)\b"
_END = r"(?= (?:and|but|that|this)\b|[.,;:!—])"
_REST = r"(?:[^.;:!?\"A-Z\x01]|Roman|Grecian){0,120}?"
"""Words of the same clause up to a feature; a name in between may own it."""
_TRADE = (
    rf"(?:(?:good|great|rich|poor|skilful|retired|celebrated|respectable|[a-z]+-[a-z]+) )*"
    rf"{OCCUPATION}(?: by (?:trade|profession|occupation))?"
    r"(?=[.;:!]|, (?:and|but|who|with)\b| (?:and|in|at|of|by|who)\b)"
)
_OWN_TRADE = r"(?P<value>[a-z]+(?:[ -][a-z]+)?) by (?:trade|profession|calling)\b"
_FEATURES: tuple[tuple[str, str], ...] = (
    ("eyes", rf"(?P<value>{_EYES}) eyes\b"),
    ("hair", rf"(?P<value>{_HAIR}) {HAIR_END}"),
    ("nose", rf"(?P<value>{_NOSE}) nose\b"),
    ("complexion", rf"(?P<value>{_COMPLEXION}) (?:complexion|skin)\b"),
    ("beard", rf"(?P<value>{_BEARD}) {_BEARD_NOUN}"),
)
_STATURE = (
    r"(?P<value>of (?:about |rather |a )*(?:the )?(?:middle|medium|low|short|great|tall|small|"
    r"large|average|gigantic) (?:height|stature|size))\b"
)
_CLAUSE = r"(?:^[ \x01]*(?:Now )?|[;,:] (?:and |but |for )?)"
_LOOSE = r"(?:[a-z][a-z-]+,? ){0,2}?"
"""Further adjectives before a feature."""
_A_PERSON = rf"an? {_ADJECTIVES}(?:{PERSON_PATTERN})\b"
_LIKE = r"(?P<value>like (?:[a-z]+ ){0,2}[a-z]+)" + _END
_NAMED_LEADS = (
    (rf"{CHARACTER_PATTERN}(?:,? {_IS}|,) {_A_PERSON}{_REST}\b", False),
    (rf"{CHARACTER_PATTERN}, an? [a-z -]{{3,40}},? with {_REST}\b", False),
    (rf"{CHARACTER_PATTERN} (?:had|has) (?:a |an )?{_LOOSE}", False),
    (rf"{CHARACTER_PATTERN}'s {_LOOSE}", True),
    (rf"{CHARACTER_PATTERN} of (?:the )?{_LOOSE}", True),
)
"""What may precede a feature of a named person, and whether it is presupposed."""
_PRONOUN_LEADS = (
    (rf"\b(?P<who>[Hh]is|[Hh]er) (?:own )?{_LOOSE}", True),
    (rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) (?:had|has) (?:a |an )?{_LOOSE}", False),
    (rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) {_IS} {_A_PERSON}{_REST}\b", False),
)
"""The same for "he" and "her"."""

DESCRIPTIONS_BY_NAME: tuple[AttributeRule, ...] = (
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, (?:his|her|their) [a-z ]{{3,20}})?, (?:then |aged )?"
            rf"(?P<value>{AGE}) years? (?:of age|old)\b"
        ),
        "",
        True,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN},? aged (?P<value>{AGE})\b(?! (?:months|weeks|days|hours))"
        ),
        "",
        True,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?: {_IS} {_ADVERBS}|, ){_A_PERSON},? (?:of |aged )?"
            rf"(?P<value>{AGE})(?: years?)?{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN} {_IS} {_ADVERBS}(?P<value>in (?:his|her) [a-z-]+(?:th|st|nd|rd) year)\b"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            r"\b[Bb]eing (?:now |then |just )?(?P<value>in (?:his|her) [a-z-]+(?:th|st|nd|rd) year), "
            rf"{CHARACTER_PATTERN}"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s eyes (?:were|are) (?P<value>{_EYES}){_END}"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(rf"{CHARACTER_PATTERN}'s hair {_IS} (?P<value>{_HAIR}){_END}"),
        "",
        False,
    ),
    ("hair", LazyPattern(rf"{CHARACTER_PATTERN} (?:had|has) hair {_LIKE}"), "", False),
    (
        "occupation",
        LazyPattern(rf"{CHARACTER_PATTERN} {_IS} an? {_OWN_TRADE}"),
        "",
        False,
    ),
    ("build", LazyPattern(rf"{CHARACTER_PATTERN} {_IS} {_STATURE}"), "", False),
    *(
        (attribute, LazyPattern(lead + feature), "", is_presupposed)
        for attribute, feature in _FEATURES
        for lead, is_presupposed in _NAMED_LEADS
    ),
)
"""Further rules for clauses with a name; see `attribute_rules.RULES_BY_NAME`."""

DESCRIPTIONS_BY_PRONOUN: tuple[AttributeRule, ...] = (
    (
        "age",
        LazyPattern(
            rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) (?:seemed|looked|appeared)(?: to be)? "
            rf"(?P<value>(?:about|some) {AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) {_IS} {_ADVERBS}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) {_IS} {_STATURE}"),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{_CLAUSE}(?P<who>[Hh]e|[Ss]he) {_IS} {_ADVERBS}"
            rf"{_A_PERSON},? (?:of |aged )?(?P<value>{AGE})(?: years?)?{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) {_IS} {_ADVERBS}(?P<value>in (?:his|her) [a-z-]+(?:th|st|nd|rd) year)\b"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"\b(?P<who>[Hh]is|[Hh]er) eyes (?:were|are) (?P<value>{EYE}){_END}"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(rf"\b(?P<who>[Hh]is|[Hh]er) hair {_IS} (?P<value>{_HAIR}){_END}"),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) {_IS} an? (?P<value>{BUILD})(?:,? [a-z'-]+){{0,4}}? (?:{PERSON_PATTERN})\b"
        ),
        "",
        False,
    ),
    (
        "occupation",
        LazyPattern(rf"^[ \x01]*(?P<who>He|She) {_IS} an? (?P<value>{_TRADE})"),
        "",
        False,
    ),
    (
        "occupation",
        LazyPattern(rf"^[ \x01]*(?P<who>He|She) {_IS} an? {_OWN_TRADE}"),
        "",
        False,
    ),
    *(
        (attribute, LazyPattern(lead + feature), "", is_presupposed)
        for attribute, feature in _FEATURES
        for lead, is_presupposed in _PRONOUN_LEADS
    ),
)
"""Further rules for clauses with a pronoun; see `attribute_rules.RULES_BY_PRONOUN`."""

DESCRIPTION_TRIGGERS = MappingProxyType(
    {
        "nose": frozenset({"nose"}),
        "complexion": frozenset({"complexion", "skin"}),
        "beard": frozenset(
            {"beard", "moustache", "moustaches", "mustache", "mustaches", "whiskers"}
        ),
        "age": frozenset({"year", "years"}),
        "build": frozenset({"height", "stature", "size"}),
        "occupation": frozenset({"trade", "profession", "calling"}),
    }
)
"""Words of a sentence without which no rule for an attribute can match."""
