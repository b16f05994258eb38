"""What words are about: nouns that are rare in a text, told by what stands around.

Nothing here knows what a noun is. A lower-case word that follows an article or a
possessive, and before a word or a point that ends what belongs to it, mostly is one;
and what is one in one place, is one after an adjective or a preposition too.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lrwr.core.model.query_terms import STOP_WORDS
from lrwr.core.model.text import Span
from lrwr.pipeline.evaluation.question_generation.lexicon import BODY, VAGUE
from lrwr.pipeline.evaluation.question_generation.source_material import (
    Material,
    stem_of,
)

RARE = 9
"""How often a word may stand in the whole text to tell one place from others."""

_ENDED_TEXT = (
    "in on at to from with by and or but is was were are had has have if who when"
    " before after as than because into upon over under behind again till until for"
    " i you he she it they we"
)
_ENDED = "|".join(_ENDED_TEXT.split())
AFTER = rf"(?=[.,;:!?—”\"’')]|\s(?:{_ENDED})\b)(?![’'][a-z])"
"""What ends a noun and what belongs to it."""

_DET = r"(?i:the|an?|my|your|his|our|their)"
_PLAIN = re.compile(rf"\b{_DET} (?P<noun>[a-z]{{4,}}){AFTER}")
_NOUN = re.compile(
    rf"\b(?P<det>{_DET}|(?i:with|without|for|about|from|no|some|any|more|two|three"
    r"|four|five|six|these|those|this)) "
    rf"(?:(?P<kind>[a-z]+(?:-[a-z]+)?) )?(?P<noun>[a-z]{{4,}}){AFTER}"
)
_PREDICATE = re.compile(
    r"(?:\b(?:is|was|be|are|were|been|being|like|as|mere|merely|such|becomes?|became"
    r"|called|than|of|simply|only)(?: (?:not|even|merely|simply|only|just|but|perhaps))*|,) $",
    re.IGNORECASE,
)
"""What stands before words that say what something is, or is like."""

_BACK = 24
"""Characters before a noun that are looked at."""

_NO_NOUN = (
    "ly",
    "ing",
    "ous",
    "ful",
    "ible",
    "able",
    "est",
    "ive",
    "ish",
    "less",
    "ed",
)
_ABSTRACT = ("ism", "ness", "ity", "ics", "ence", "ance", "thy", "dom", "ship")


@dataclass(frozen=True, slots=True)
class Topic:
    """A noun in a text, its stem, and where it stands.

    `said` is how a question says it; `owner` "my" or "your" where that is who has it.
    """

    said: str
    noun: str
    stem: str
    span: Span
    owner: str = ""


def nouns_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems of words that stand as nouns somewhere, alone after an article."""
    return frozenset(
        stem_of(found["noun"]) for text in texts for found in _PLAIN.finditer(text)
    )


def topics_in(
    text: str, span: Span, material: Material, rare: int = RARE
) -> Iterator[Topic]:
    """Yield nouns that stand at most `rare` times, and rare names, each stem once."""
    seen: set[str] = set()
    for found in _NOUN.finditer(text, span.start, span.end):
        stem = stem_of(found["noun"])
        before = text[max(span.start, found.start() - _BACK) : found.start()]
        if stem in seen or (found["kind"] or "") in VAGUE or _PREDICATE.search(before):
            continue
        if not is_telling(found["noun"], material, rare):
            continue
        seen.add(stem)
        det = found["det"].lower()
        owner = det if det in ("my", "your") else ""
        said, place = _said(found["noun"], det), Span(*found.span("noun"))
        yield Topic(said, found["noun"], stem, place, owner)
    for name in material.rare_names:
        at = text.find(name, span.start, span.end)
        if at >= 0 and not _within(text, at, len(name)):
            place = Span(at, at + len(name))
            yield Topic(name, name, name.casefold(), place)


def is_telling(noun: str, material: Material, rare: int) -> bool:
    """Say whether a word is rare enough, and stands for a thing somewhere."""
    stem = stem_of(noun)
    told = stem in material.nouns and may_be_noun(noun)
    return told and material.stems[stem] <= rare


def may_be_noun(noun: str) -> bool:
    """Say whether a word, where a noun may stand, is one that names something."""
    return noun not in VAGUE | BODY | STOP_WORDS and not noun.endswith(_NO_NOUN)


def is_plural(noun: str) -> bool:
    """Say whether a noun looks like several."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _said(noun: str, determiner: str) -> str:
    if determiner in ("a", "an"):
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return noun if noun.endswith(_ABSTRACT) else f"the {noun}"


def _within(text: str, at: int, length: int) -> bool:
    """Say whether what stands there is a part of a longer word."""
    before, after = text[max(0, at - 1) : at], text[at + length : at + length + 1]
    return before.isalnum() or after.isalnum()
