"""Values of attributes (colours, numbers, ages, dates) and counts of parts, compared by
what they mean.

Loaded with every answer, so it depends on little and compiles patterns on first use.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.profiles import normalize_value
from lrwr.core.continuity.statements import (
    Statement,
    StatementSource,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, Certainty
from lrwr.core.model.text import LazyPattern, Span, stem_lightly
from lrwr.core.nlp.facts.attribute_rules import NUMBER, TEENS, TENS, UNITS
from lrwr.core.nlp.text.prose import find_quoted_spans

_PARENTS = frozenset({"father", "mother"})
UNIQUE_KINSHIP_CLASSES = _PARENTS
"""Relations of which everybody has exactly one."""
_CLASSES = MappingProxyType(
    {
        "father": "parent", "mother": "parent", "parent": "parent",
        "son": "child", "daughter": "child", "child": "child",
        "brother": "sibling", "sister": "sibling", "twin": "sibling",
        "husband": "spouse", "wife": "spouse", "spouse": "spouse",
        "uncle": "elder", "aunt": "elder", "nephew": "younger", "niece": "younger",
        "grandmother": "grandparent", "grandfather": "grandparent",
        "grandpa": "grandparent", "grandma": "grandparent",
        "grandson": "grandchild", "granddaughter": "grandchild",
        "grandchild": "grandchild", "cousin": "cousin",
    }
)  # fmt: skip
_INVERSE_CLASSES = MappingProxyType(
    {
        "parent": "child", "child": "parent", "sibling": "sibling",
        "spouse": "spouse", "elder": "younger", "younger": "elder",
        "grandparent": "grandchild", "grandchild": "grandparent", "cousin": "cousin",
    }
)  # fmt: skip
_COMPATIBLE_CLASSES = (
    frozenset({"cousin", "spouse"}),
    frozenset({"cousin", "elder"}),
    frozenset({"cousin", "younger"}),
)


def classify_kinship(kind: str) -> str:
    """Return the class of a kinship noun: "mother" gives "parent".

    Empty for other nouns.
    """
    return _CLASSES.get(kind, "")


def invert_kinship(kind: str) -> str:
    """Return the class of the reverse kinship: "mother" gives "child".

    Empty for other nouns.
    """
    return _INVERSE_CLASSES.get(classify_kinship(kind), "")


def excludes_kinship(kinship: str, other: str) -> bool:
    """Return whether one person cannot have both kinships to another, such as "parent"
    and "sibling".

    Both are classes as `classify_kinship` returns them; false if one is empty.
    """
    return (
        bool(kinship and other and kinship != other)
        and {kinship, other} not in _COMPATIBLE_CLASSES
    )


QUANTITY_ATTRIBUTE = "number"


def find_quantity_statements(horizon_view: HorizonView) -> list[Statement]:
    """Return the statements about how many fixed parts a thing has, in story order,
    notes first.

    In "the tower has forty steps" `about` is "tower". Dialogue and sentences about a
    change are left out.
    """
    statements = [
        statement
        for document in horizon_view.texts
        for statement in _document_statements(document, horizon_view)
    ]
    return sorted(statements, key=lambda statement: statement.rank)


def _document_statements(
    document: DocumentId, horizon_view: HorizonView
) -> Iterator[Statement]:
    text = horizon_view.texts[document].text
    hits = find_counts(text)
    if not hits or not horizon_view.is_document_visible(document):
        return
    is_story = horizon_view.is_story(document)
    quoted = list(find_quoted_spans(text)) if is_story else []
    for hit in hits:
        span = Span(*hit.span())
        if any(span.overlaps(q) for q in quoted):
            continue
        if not is_asserted_in_context(text, span) or mentions_change(text, span):
            continue
        yield _build_statement(document, hit, horizon_view)


def _build_statement(
    document: DocumentId, match: re.Match[str], horizon_view: HorizonView
) -> Statement:
    is_story, span = horizon_view.is_story(document), Span(*match.span())
    enclosing_sentence = find_enclosing_sentence(
        horizon_view.texts[document].text, span
    )
    noun, place = stem_lightly(match["noun"]), match["place"]
    return Statement(
        about=f"{place.partition(' of ')[0].casefold()}",
        attribute=f"{QUANTITY_ATTRIBUTE} of {noun}s",
        value=match["number"],
        source=StatementSource.TEXT if is_story else StatementSource.NOTE,
        certain=parse_value_number(match["number"]) is not None,
        rank=horizon_view.sort_key(document, span.start),
        evidence=horizon_view.evidence(
            document,
            (enclosing_sentence,),
            RULES_KEEPER if is_story else WRITER_KEEPER,
            Certainty.VERIFIED if is_story else Certainty.CONFIRMED,
        ),
        span=span,
    )


_ANY_DARK = "black brown"
_HAIR = MappingProxyType(
    {
        "black": "black", "raven": "black", "jet": "black", "ebony": "black",
        "sable": "black", "dark": _ANY_DARK, "brown": "brown", "brunette": _ANY_DARK,
        "chestnut": "brown red", "auburn": "brown red", "red": "red",
        "ginger": "red fair", "copper": "red brown", "coppery": "red brown",
        "fair": "fair", "blond": "fair", "blonde": "fair", "golden": "fair",
        "gold": "fair", "yellow": "fair", "flaxen": "fair white", "straw": "fair",
        "sandy": "fair red brown", "tawny": "fair red brown", "amber": "fair brown red",
        "mousy": "brown fair", "honey": "fair brown", "white": "white grey",
        "silver": "white grey", "grey": "grey white", "gray": "grey white",
        "grizzled": "grey white", "hoary": "grey white", "iron": "grey",
    }
)  # fmt: skip
_EYES = MappingProxyType(
    {
        "black": _ANY_DARK, "dark": "black brown", "brown": _ANY_DARK,
        "hazel": "brown green", "amber": "brown", "golden": "brown", "blue": "blue",
        "violet": "violet blue", "grey": "grey", "gray": "grey", "green": "green",
        "chestnut": "brown", "sea": "green blue grey", "turquoise": "blue green",
    }
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
# A comparison after the colour: "black as coal"
_TAIL = re.compile(r"\b(?:like|as|than|for)\b.*", re.S)
_UNSURE = LazyPattern(
    r"\b(?:not?|never|perhaps|maybe|or|unknown|open|once|later|after|before|when|then|"
    r"until|dyed?|wig|tbd)\b|\?"
)


@lru_cache(maxsize=10_000)
def classify_hues(attribute: str, value: str) -> frozenset[str]:
    """Return all basic colours, such as "brown" or "fair", that `value` may mean.

    Empty if it names none or is doubtful ("perhaps blue"). `attribute` is "eyes" or
    "hair": "dark" means something else for each.
    """
    words = _TAIL.sub("", value.casefold())
    if _UNSURE.search(words):
        return frozenset()
    hues_by_word = _EYES if attribute == "eyes" else _HAIR
    hues: set[str] = set()
    plain = _WORD.findall(words)
    if attribute == "eyes" and plain == ["dark"]:
        return frozenset()  # "dark" eyes may be dark blue or dark grey
    for word in plain:
        if word != "dark" or plain == ["dark"]:
            hues.update(hues_by_word.get(word, "").split())
    return frozenset(hues | _shade_hues(attribute, plain, hues))


def _shade_hues(attribute: str, words: list[str], hues: set[str]) -> set[str]:
    """Return further colours that a shade may mean: "light brown" may be fair."""
    if attribute != "hair":
        return set()
    if "brown" in hues and not {"light", "pale", "bright"}.isdisjoint(words):
        return {"fair"}
    if "dark" in words and hues & {"brown", "red", "fair"}:
        return {"brown", "black"} if "brown" in hues else {"brown"}
    return set()


COLOUR_ATTRIBUTES = frozenset({"eyes", "hair"})
PARSED_ATTRIBUTES = COLOUR_ATTRIBUTES | {"born"}
"""Attributes of a character whose values `are_values_incompatible` parses."""
VALUE_CACHE_SIZE = 10_000
"""Cached values; each value is compared with many others."""
_ONES: Mapping[str, int] = MappingProxyType(
    dict(
        zip([*UNITS, *TEENS, *TENS], [*range(1, 20), *range(20, 100, 10)], strict=True)
    )
)
_ABOUT = LazyPattern(r"\b(?:about|around|some|roughly|perhaps|near|or so)\b")
_UNDER = LazyPattern(r"\b(?:nearly|almost|not quite|under|barely)\b")
_OVER = LazyPattern(r"\b(?:past|over|above|more than|turned)\b")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december",
)  # fmt: skip
_ORDINALS_TEXT = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
    "nineteenth twentieth"
)
_ORDINALS = tuple(_ORDINALS_TEXT.split())


def parse_value_number(value: str) -> int | None:
    """Return the only number in `value`, in digits or in words up to 99.

    If there are digits, words are ignored. None if there is none or more than one.
    """
    words = value.casefold().replace("-", " ").split()
    digits = re.findall(r"\d+", value)
    if digits:
        return int(digits[0]) if len(digits) == 1 else None
    numbers = [_ONES[word] for word in words if word in _ONES]
    if len(numbers) == 2 and (min(numbers) < 10) and max(numbers) >= 20:
        return sum(numbers)
    return numbers[0] if len(numbers) == 1 else None


def parse_age_range(value: str) -> tuple[int, int] | None:
    """Return the lowest and highest age in years that `value` may mean, both inclusive.

    "40" gives (40, 40), "about 40" (37, 43). None if `value` does not contain exactly
    one number.
    """
    age, words = parse_value_number(value), value.casefold()
    if age is None:
        return None
    # Tolerances in years: "about 40" is 37 to 43, "nearly 40" 38 to 40, "over 40" 40 to
    # 49.
    if _ABOUT.search(words):
        return age - 3, age + 3
    if _UNDER.search(words):
        return age - 2, age
    return (age, age + 9) if _OVER.search(words) else (age, age)


def do_ages_differ(value: str, other: str) -> bool:
    """Return whether two values cannot mean the same age; false if one is no age."""
    ages, other_ages = parse_age_range(value), parse_age_range(other)
    if ages is None or other_ages is None:
        return False
    return ages[1] < other_ages[0] or other_ages[1] < ages[0]


def parse_date_parts(value: str) -> dict[str, int]:
    """Return those of the parts "weekday", "month", "day" and "year" that `value` has.

    Weekday (Monday is 0) and month (January is 0) count from 0, day and year are as
    written. Empty if `value` is no date.
    """
    words = re.findall(r"[a-z]+|\d+", value.casefold())
    date_parts: dict[str, int] = {}
    for word in words:
        if word in _DAYS:
            date_parts["weekday"] = _DAYS.index(word)
        elif word in _MONTHS:
            date_parts["month"] = _MONTHS.index(word)
        elif word.isdigit():
            date_parts["day" if len(word) < 3 else "year"] = int(word)
    if "day" not in date_parts and (spelled := _spelled_day(words)):
        date_parts["day"] = spelled
    return date_parts


def _spelled_day(words: list[str]) -> int:
    text = " ".join(words)
    for tens, more in (("twenty ", 20), ("thirty ", 30), ("", 0)):
        for day, word in enumerate(_ORDINALS, start=1):
            if re.search(rf"\b{tens}{word}\b", text):
                return more + day
    return 30 if "thirtieth" in words else 0


def are_values_incompatible(attribute: str, value: str, other: str) -> bool:
    """Return whether two values of `attribute` exclude each other.

    Colours ("eyes", "hair"), dates ("born") and numbers ("number") are parsed; false if
    one cannot be. Values of other attributes exclude each other if their words differ.
    """
    if attribute in COLOUR_ATTRIBUTES:
        hues, other_hues = (
            classify_hues(attribute, value),
            classify_hues(attribute, other),
        )
        return bool(hues and other_hues) and hues.isdisjoint(other_hues)
    if attribute == "born":
        first, second = parse_date_parts(value), parse_date_parts(other)
        return any(first[key] != second[key] for key in first.keys() & second.keys())
    if attribute == "number":
        number, other_number = parse_value_number(value), parse_value_number(other)
        return None not in (number, other_number) and number != other_number
    return normalize_value(value) != normalize_value(other)


@lru_cache(maxsize=VALUE_CACHE_SIZE)
def normalize_value_meaning(attribute: str, value: str) -> str:
    """Return a string that is equal for all wordings of the same value of `attribute`.

    Colours, dates, ages and numbers are parsed; otherwise the normalized words count.
    """
    if attribute in COLOUR_ATTRIBUTES:
        return " ".join(sorted(classify_hues(attribute, value))) or normalize_value(
            value
        )
    if attribute == "born" and (date_parts := parse_date_parts(value)):
        return " ".join(f"{k}={v}" for k, v in sorted(date_parts.items()))
    if (
        attribute in ("age", "number")
        and (number := parse_value_number(value)) is not None
    ):
        return str(number)
    return normalize_value(value)


COUNT_CACHE_SIZE = 4_096
"""Cached texts. Watch checks all texts after each save, and most are unchanged."""
_COUNTED_PARTS = (
    "rungs|steps|stairs|windows|doors|floors|storeys|stories|rooms|towers|gates|arches|"
    "pillars|columns|bells|strings|masts|decks|panes|turrets|spires|chimneys|spokes|"
    "shelves|drawers|strands|links|rivets"
)
"""Parts whose number does not change while a building or object exists."""
_PLACE = r"(?:the|its|his|her) (?P<place>[a-z][\w-]*(?: of (?:the )?[A-Z][\w-]*(?: [A-Z][\w-]*)*)?)"
# "there were forty steps in the tower", "the forty steps of the tower", "the tower had
# forty steps"
_COUNTS = (
    LazyPattern(
        rf"\b[Tt]here (?:were|are) (?P<number>{NUMBER}) (?:[a-z]+ )?(?P<noun>{_COUNTED_PARTS}) "
        rf"(?:in|on|of|to) {_PLACE}",
    ),
    LazyPattern(
        rf"\b(?:[Tt]he|[Aa]ll(?: the)?) (?P<number>{NUMBER}) (?P<noun>{_COUNTED_PARTS}) (?:in|of|to|on) {_PLACE}",
    ),
    LazyPattern(
        rf"\b[Tt]he (?P<place>[a-z][\w-]*)(?: (?:to|of|in|at) [A-Z][\w -]*?)? "
        rf"(?:had|has) (?P<number>{NUMBER}) (?:[a-z]+ )?(?P<noun>{_COUNTED_PARTS})\b",
    ),
)


@lru_cache(maxsize=COUNT_CACHE_SIZE)
def find_counts(text: str) -> tuple[re.Match[str], ...]:
    """Return the statements of `text` about how many fixed parts a thing has, in order.

    The groups of a match are "number", "noun" (the parts) and "place" (the thing).
    """
    matches = (match for pattern in _COUNTS for match in pattern.finditer(text))
    return tuple(sorted(matches, key=lambda match: match.start()))
