"""Counted things, such as "four keys", of which a draft has another number than the
story.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from lrwr.core.attribution.details import (
    are_hedged,
    find_number_places,
    stem_words,
)
from lrwr.core.continuity.statements import find_enclosing_sentence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, Span, stem_word

MIN_MEASURE_WORDS = 3
"""Content words besides the number and the thing that two sentences must share, for
their measures ("two miles") to be of the same thing."""

MAX_ADJECTIVES = 2

_PLURALS = frozenset(
    ("men", "women", "children", "people", "feet", "teeth", "geese", "mice", "oxen")
)
"""Plurals that do not end in "s"."""
_MEASURES = (
    "seconds moments minutes hours days nights mornings evenings weeks months years"
    " centuries times inches feet yards miles leagues acres ounces pounds guineas"
    " shillings crowns pennies francs dollars cents degrees things ways paces people"
    " persons men women gentlemen ladies children boys girls friends families folks"
    " words lines letters pages hundreds thousands others sorts kinds parts pairs"
    " sides hands eyes fingers"
)
"""Measures, and other things of which a story has many that are not the same."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th)$|^(?:hundred|thousand|dozens)$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|to|[–—-])\s*$", re.IGNORECASE)


@cache
def _list_measures() -> frozenset[str]:
    return frozenset(stem_word(word) for word in _MEASURES.split())


@dataclass(frozen=True, slots=True)
class CountedThing:
    """A number of things at `span` of a text, in `sentence`; `thing` is the stem of
    their noun, `words` are number and things as they stand there.
    """

    value: int
    thing: str
    words: str
    span: Span
    sentence: Span

    @property
    def is_measure(self) -> bool:
        """Whether a story has many of these things that are not the same."""
        return self.thing in _list_measures()


@dataclass(frozen=True, slots=True)
class OtherCount:
    """A counted thing of a draft, and that of the story with another number, at
    `other` of `document`.
    """

    own: CountedThing
    document: DocumentId
    other: CountedThing


@dataclass(frozen=True, slots=True)
class CountComparison:
    """The differing counts of a draft, and how many of its counts the story has, too."""

    differing: tuple[OtherCount, ...] = ()
    compared: int = 0


def compare_counts(
    draft: DocumentId, texts: Mapping[DocumentId, str]
) -> CountComparison:
    """Compare the counted things of the document `draft` with those of all others.

    A count differs if the story has the same thing with another number, and nowhere with
    the number of the draft. `texts` are those of the story and its notes, `draft`
    included.
    """
    text = texts[draft]
    own = list(list_counted_things(text))
    things = frozenset(counted.thing for counted in own)
    others = [
        (document, counted)
        for document, other in texts.items()
        if document != draft
        for counted in _find_things(other, things)
    ]
    differing: list[OtherCount] = []
    compared = 0
    for counted in own:
        same = [pair for pair in others if pair[1].thing == counted.thing]
        compared += bool(same)
        other = _find_other(counted, text, same, texts)
        if other is not None:
            differing.append(other)
    return CountComparison(tuple(differing), compared)


def _find_other(
    own: CountedThing,
    text: str,
    others: Iterable[tuple[DocumentId, CountedThing]],
    texts: Mapping[DocumentId, str],
) -> OtherCount | None:
    """Return the count of `others` that most likely is of the same thing; None if one of
    them has the number of `own`, or none is of the same thing.
    """
    sentence = _cut(text, own.sentence)
    stems = stem_words(sentence) - stem_words(own.words)
    least = MIN_MEASURE_WORDS if own.is_measure else 0
    rated = []
    for document, other in others:
        theirs = _cut(texts[document], other.sentence)
        if own.value == other.value or are_hedged(
            [own.value], [other.value], sentence, theirs
        ):
            return None
        shared = len(stems & stem_words(theirs))
        if shared >= least:
            rated.append((shared, OtherCount(own, document, other)))
    best = max(rated, key=lambda pair: pair[0], default=None)
    return best[1] if best else None


def _find_things(text: str, things: Collection[str]) -> Iterator[CountedThing]:
    """Yield the counted things of `text` whose stems are among `things`."""
    if not things:
        return
    stems = "|".join(sorted(map(re.escape, things), key=len, reverse=True))
    end = 0
    for match in re.finditer(rf"\b(?:{stems})", text, re.IGNORECASE):
        if match.start() < end:
            continue
        sentence = find_enclosing_sentence(text, Span(match.start(), match.end()))
        end = sentence.end
        for counted in list_counted_things(text, sentence):
            if counted.thing in things:
                yield counted


def list_counted_things(
    text: str, within: Span | None = None
) -> Iterator[CountedThing]:
    """Yield the counted things of `text`, in text order: a number and a plural noun, with
    adjectives between at most. Ordinals, hyperboles ("a hundred") and alternatives ("two
    or three") are left out.
    """
    within = within or Span(0, len(text))
    for value, place in find_number_places(_cut(text, within)):
        start, after = within.start + place.start, within.start + place.end
        is_alternative = _ALTERNATIVE.search(text, max(0, start - 8), start)
        if _ORDINAL.search(text[start:after]) or is_alternative:
            continue
        noun = _find_noun(text, after, within.end)
        if noun is not None:
            span = Span(start, noun.end())
            sentence = find_enclosing_sentence(text, span)
            shown = " ".join(_cut(text, span).split())
            yield CountedThing(value, stem_word(noun[0]), shown, span, sentence)


def _find_noun(text: str, at: int, end: int) -> re.Match[str] | None:
    """Return the plural noun in `text[at:end]` after a number that ends at `at`."""
    for _ in range(MAX_ADJECTIVES + 1):
        word = WORD_PATTERN.match(text, at + 1, end)
        if word is None or text[at] not in " -\n":
            return None
        folded = word[0].lower()
        if folded in STOP_WORDS:
            return None
        is_plural = folded.endswith("s") and not folded.endswith(("ss", "'s", "’s"))
        if is_plural or folded in _PLURALS:
            return word
        at = word.end()
    return None


def _cut(text: str, span: Span) -> str:
    return text[span.start : span.end]
