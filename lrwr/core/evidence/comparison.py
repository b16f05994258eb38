"""Compares a statement with a passage: how close it is, and which details differ."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import product

from lrwr.core.attribution.concrete_words import find_changed_words, is_colour
from lrwr.core.attribution.details import (
    FIRST_YEAR,
    LAST_YEAR,
    are_hedged,
    find_missing_negation,
    find_number_places,
    has_negation,
    loses_negation,
    stem_words,
)
from lrwr.core.attribution.names import (
    are_adjacent,
    find_missing_names,
    fold_words,
    is_name_word,
    strip_names,
)
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    SentenceSplitter,
    Span,
    normalize_word,
    stem_word,
)
from lrwr.core.nlp.names.lexicon import NAME_TITLES

MIN_NEAR_WORDS = 5
MIN_NEAR_SHARE = 0.7
"""Words of a statement, and their share, that must stand in a sentence in this order for
the statement to repeat it."""

MIN_CLOSE_SHARE = 0.5
"""Share of the content words of a statement that neighbouring sentences must have for
their details to be compared."""

MAX_CHANGED_WORDS = 8
"""Words in a row of which a changed detail may be part; more is another text."""

WINDOW_SENTENCES = 2
WIDER_COST = 1.5
"""Words that a second sentence must add for it to belong to the closest part."""

MIN_SWAPPED_STEMS = 3
MIN_SWAPPED_SHARE = 0.75
"""Content words besides names that a statement and a sentence must share, and their share
of the statement, for two names in one place to be swapped."""

_MANNER = re.compile(r"\bwithout\b[^,;.]*")
"""How something is done, which a statement may leave out."""

_DATE = "year of a date"
_DECADE = re.compile(r"['’]?s\b")
_SCALE = re.compile(r"\b(?:hundred|thousand)\b", re.IGNORECASE)

COMPARED_WINDOWS = 4
"""Windows of a passage that are compared word by word, those with most words in common."""


class DetailKind(StrEnum):
    """What kind of detail a statement gives otherwise than the text."""

    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    WORD = "word"
    QUOTATION = "quotation"
    CHAPTER = "chapter"


@dataclass(frozen=True, slots=True)
class DetailDifference:
    """A detail that a statement gives otherwise than the text.

    `stated` are the words of the statement, `found` those of the text; either may be
    empty, as where a negation is missing.
    """

    kind: DetailKind
    stated: str
    found: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The part of a text that is closest to a statement.

    `span` is the sentence or the sentences, in the compared text. `share` is the share
    of the content words of the statement that they have, `near` that of all its words
    which stand there in the same order; both from 0.0 to 1.0.
    """

    span: Span
    share: float
    near: float
    differences: tuple[DetailDifference, ...] = ()

    @property
    def is_near(self) -> bool:
        """Whether the statement repeats the text nearly word for word."""
        return self.near >= MIN_NEAR_SHARE

    @property
    def strength(self) -> float:
        """How close statement and text are, from 0.0 to 1.0, or to 2.0 if the statement
        repeats the text.
        """
        return 1.0 + self.near if self.is_near else self.share


def compare_with_text(
    statement: str,
    text: str,
    split: SentenceSplitter,
    cast: Sequence[Collection[str]] = (),
    around: str = "",
    with_details: bool = True,
) -> Comparison | None:
    """Return the sentences of `text` that are closest to `statement`; None if `text` has
    no sentence.

    `cast` has for each character all forms of its name. `around` is more of the text,
    in which names may stand. Without `with_details`, differences are not looked for,
    which takes most of the time.
    """
    stems = stem_words(statement)
    sentences = [s for s in split(text) if not text.startswith("#", s.start)]
    shared = [stems & stem_words(text[s.start : s.end]) for s in sentences]
    windows = sorted(_iter_windows(sentences, shared))
    compared = [
        Comparison(
            span,
            count / len(stems) if stems else 0.0,
            _measure_order(statement, text[span.start : span.end]),
        )
        for _, span, count in windows[:COMPARED_WINDOWS]
    ]
    if not compared:
        return None
    single = {*sentences}
    near = max(compared, key=lambda c: (c.is_near and c.span in single, c.near))
    best = near if near.is_near else compared[0]
    if not with_details:
        return best
    found = text[best.span.start : best.span.end]
    if best.is_near:
        differences = tuple(_compare_words(statement, found, cast))
    elif best.share >= MIN_CLOSE_SHARE:
        parts = [found[span.start : span.end] for span in split(found)]
        differences = tuple(
            _compare_details(statement, found, parts, cast, f"{text}\n{around}")
        )
    else:
        differences = ()
    return Comparison(best.span, best.share, best.near, differences)


def _iter_windows(
    sentences: Sequence[Span], shared: Sequence[frozenset[str]]
) -> Iterator[tuple[float, Span, int]]:
    """Yield the spans of neighbouring sentences, each after its cost and with the number
    of words that it shares with a statement; `shared` has those of each sentence.

    The cost is lower the more words are shared, and higher for more sentences.
    """
    for size in range(1, WINDOW_SENTENCES + 1):
        for at in range(len(sentences) - size + 1):
            span = Span(sentences[at].start, sentences[at + size - 1].end)
            count = len(frozenset().union(*shared[at : at + size]))
            yield (size - 1) * WIDER_COST - count, span, count


def _fold(text: str) -> list[str]:
    return [normalize_word(word) for word in WORD_PATTERN.findall(text)]


def _measure_order(statement: str, found: str) -> float:
    """Return the share of the words of a statement that stand in `found` in the same
    order; 0.0 if there are too few of them, or too few in any order to be near.
    """
    words, others = _fold(statement), _fold(found)
    # Counting is much faster than matching, and most passages are not near.
    common = (Counter(words) & Counter(others)).total()
    if len(words) < MIN_NEAR_WORDS or common < MIN_NEAR_SHARE * len(words):
        return 0.0
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(words)


@dataclass(frozen=True, slots=True)
class _Change:
    """Words that differ between a statement and the text that it repeats.

    `names` are those of both sides, `numbers` the numbers of both sides with their words,
    extended to whole names and numbers.
    """

    stated: str
    found: str
    names: tuple[str, str]
    numbers: tuple[list[tuple[int, str]], list[tuple[int, str]]]

    @property
    def compared_numbers(
        self,
    ) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
        """The numbers of both sides; none if only one side has words and they are no
        part of a number.
        """
        words = self.stated or self.found
        numbers = self.numbers[0 if self.stated else 1]
        is_divided = any(number not in words for _, number in numbers)
        return self.numbers if is_divided or (self.stated and self.found) else ([], [])


def _iter_changes(
    statement: str, found: str, known: Collection[str]
) -> Iterator[_Change]:
    """Yield the differing parts of two texts with nearly the same words, except what
    stands in `found` before the first or after the last common word.

    `known` are the normalized words of the names of the cast.
    """
    own = list(WORD_PATTERN.finditer(statement))
    other = list(WORD_PATTERN.finditer(found))
    matcher = SequenceMatcher(
        None,
        [normalize_word(word[0]) for word in own],
        [normalize_word(word[0]) for word in other],
        autojunk=False,
    )
    for name, start, end, from_, to in matcher.get_opcodes():
        is_edge = start == end and start in (0, len(own))
        if name != "equal" and not is_edge:
            yield _Change(
                _cut(statement, own[start:end]),
                _cut(found, other[from_:to]),
                (
                    _cut_name(statement, own, Span(start, end), known),
                    _cut_name(found, other, Span(from_, to), known),
                ),
                (
                    _cut_numbers(statement, own, Span(start, end)),
                    _cut_numbers(found, other, Span(from_, to)),
                ),
            )


def _cut(text: str, words: Sequence[re.Match[str]]) -> str:
    return text[words[0].start() : words[-1].end()] if words else ""


def _cut_numbers(
    text: str, words: Sequence[re.Match[str]], part: Span
) -> list[tuple[int, str]]:
    """Return the numbers in the `part` of `words`, and one that it divides: "five-and" is
    a part of "five-and-twenty". An empty part has the number of the word before or after
    it.
    """
    numbers = find_number_places(text)
    inside = (
        words[part.start : part.end] or words[max(0, part.start - 1) : part.end + 1]
    )
    start, end = (inside[0].start(), inside[-1].end()) if inside else (0, 0)
    return [
        (value, text[span.start : span.end])
        for value, span in numbers
        if span.start < end and start < span.end
    ]


def _cut_name(
    text: str, words: Sequence[re.Match[str]], part: Span, known: Collection[str]
) -> str:
    """Return the first name in the `part` of `words`, with its words around the part;
    empty without a name.
    """
    is_name = [is_name_word(text, word, known) for word in words]
    for at in range(len(words) - 2, -1, -1):
        is_title = (
            normalize_word(words[at][0]) in NAME_TITLES and words[at][0][0].isupper()
        )
        is_name[at] |= is_title and is_name[at + 1]
    first = next((at for at in range(part.start, part.end) if is_name[at]), None)
    if first is None:
        return ""
    last = first
    while (
        first > 0
        and is_name[first - 1]
        and are_adjacent(text, *words[first - 1 : first + 1])
    ):
        first -= 1
    while (
        last + 1 < len(words)
        and is_name[last + 1]
        and are_adjacent(text, *words[last : last + 2])
    ):
        last += 1
    return _cut(text, words[first : last + 1])


def _compare_words(
    statement: str, found: str, cast: Sequence[Collection[str]]
) -> Iterator[DetailDifference]:
    """Yield the details that differ between a statement and the text that it repeats."""
    known = frozenset(w for forms in cast for form in forms for w in fold_words(form))
    for change in _iter_changes(statement, found, known):
        stated, there = change.stated, change.found
        if max(len(_fold(stated)), len(_fold(there))) > MAX_CHANGED_WORDS:
            continue
        own, theirs = change.compared_numbers
        if _may_agree(own, theirs, statement, found):
            continue
        if own and theirs and [n for n, _ in own] != [n for n, _ in theirs]:
            yield DetailDifference(
                DetailKind.NUMBER,
                ", ".join(words for _, words in own),
                ", ".join(words for _, words in theirs),
            )
        elif has_negation(stated) != has_negation(
            there if stated else _MANNER.sub("", there)
        ):
            yield DetailDifference(DetailKind.NEGATION, stated, there)
        elif _are_different_names(*change.names, cast):
            yield DetailDifference(DetailKind.NAME, *change.names)
        else:
            for word in find_changed_words(stated, [found], found):
                yield DetailDifference(DetailKind.WORD, word, there)
    changed = find_changed_words(statement, [found], "")
    yield from (DetailDifference(DetailKind.WORD, word, "") for word in changed)


def _may_agree(
    own: Sequence[tuple[int, str]],
    theirs: Sequence[tuple[int, str]],
    statement: str,
    source: str,
) -> bool:
    """Return whether the numbers of two texts can be the same, or count other things."""
    values, others = [n for n, _ in own], [n for n, _ in theirs]
    is_other = _opens_list(own, statement) != _opens_list(theirs, source)
    return is_other or are_hedged(values, others, statement, source)


def _opens_list(numbers: Sequence[tuple[int, str]], text: str) -> bool:
    """Return whether one of `numbers` counts what is listed after it: "four: a girl …"."""
    words = "|".join(re.escape(words) for _, words in numbers)
    return bool(words) and re.search(rf"\b(?:{words})\s*[:—–]", text) is not None


def _are_different_names(
    stated: str, found: str, cast: Sequence[Collection[str]]
) -> bool:
    """Return whether two names, if there are two, cannot mean the same character."""
    if not stated or not found or fold_words(stated) == fold_words(found):
        return False
    own, theirs = _find_characters(stated, cast), _find_characters(found, cast)
    if own and theirs:
        return own.isdisjoint(theirs)
    words, others = {*fold_words(stated)}, {*fold_words(found)}
    return not (words - NAME_TITLES <= others or others - NAME_TITLES <= words)


def _find_characters(name: str, cast: Sequence[Collection[str]]) -> frozenset[int]:
    """Return the indexes of the characters of `cast` with exactly this name."""
    words = fold_words(name)
    return frozenset(
        at
        for at, forms in enumerate(cast)
        if any(fold_words(form) == words for form in forms)
    )


def _compare_details(
    statement: str,
    found: str,
    sentences: Sequence[str],
    cast: Sequence[Collection[str]],
    around: str,
) -> Iterator[DetailDifference]:
    """Yield the details that differ between a statement and sentences on the same
    matter, for each that has another detail of its kind instead.
    """
    known = {(value, counted) for value, _, counted in list_counted(around)}
    others = list_counted(found)
    for value, words, counted in list_counted(statement):
        rivals = [(v, w) for v, w, c in others if c and c == counted and v != value]
        if any(are_hedged([value], [v], statement, found) for v, _ in rivals):
            continue
        if (value, counted) not in known and rivals:
            yield DetailDifference(DetailKind.NUMBER, words, rivals[0][1])
    yield from _compare_names(statement, found, sentences, cast, around)
    negation = find_missing_negation(statement, sentences)
    if negation:
        yield DetailDifference(DetailKind.NEGATION, negation[0], "")
    elif loses_negation(strip_names(statement, cast), sentences):
        yield DetailDifference(DetailKind.NEGATION, "", "not")
    changed = find_changed_words(statement, sentences, around)
    # `find_attribute_differences` compares colours.
    yield from (
        DetailDifference(DetailKind.WORD, word, "")
        for word in changed
        if not is_colour(word)
    )


def _compare_names(
    statement: str,
    closest: str,
    sentences: Sequence[str],
    cast: Sequence[Collection[str]],
    around: str,
) -> Iterator[DetailDifference]:
    """Yield the names in a statement that the text around does not have, with those that
    sentences with most of its other words have instead; if it has all, swapped names.
    """
    absent = find_missing_names(statement, around, cast)
    missing = [name for name in absent if name.forms]
    if not missing:
        yield from _find_swapped_names(statement, sentences, cast)
    elif _shares_most_words(statement, closest, cast):
        names = find_missing_names(closest, statement, cast)
        there = (name for name in names if name.forms)
        for name, other in zip(missing, there, strict=False):
            yield DetailDifference(DetailKind.NAME, name.text, other.text)


def _find_swapped_names(
    statement: str, sentences: Sequence[str], cast: Sequence[Collection[str]]
) -> Iterator[DetailDifference]:
    """Yield the names in a statement in whose place a sentence with most of its other
    words has another name: the same content word follows both.
    """
    for sentence in sentences:
        if not _shares_most_words(statement, sentence, cast):
            continue
        missing = find_missing_names(statement, sentence, cast)
        there = find_missing_names(sentence, statement, cast)
        for name, other in product(missing, there):
            following = _find_word_after(statement, name.text)
            is_same = following & _find_word_after(sentence, other.text)
            if name.forms and other.forms and is_same:
                yield DetailDifference(DetailKind.NAME, name.text, other.text)


def _shares_most_words(
    statement: str, sentence: str, cast: Sequence[Collection[str]]
) -> bool:
    """Return whether a sentence has most content words of a statement besides names."""
    stems = stem_words(strip_names(statement, cast))
    shared = stems & stem_words(strip_names(sentence, cast))
    return len(shared) >= max(MIN_SWAPPED_STEMS, MIN_SWAPPED_SHARE * len(stems))


def _find_word_after(text: str, name: str) -> frozenset[str]:
    """Return the stem of the word after a name; empty for a function word."""
    _, _, rest = text.partition(name)
    return stem_words(" ".join(WORD_PATTERN.findall(rest)[:1]))


def list_counted(text: str) -> list[tuple[int, str, str]]:
    """Return the numbers in `text` with their words and the stem of what is counted: the
    next word, `_DATE` for a year such as "1806" or "eighteen six", "" for a decade or
    if nothing is counted.
    """
    counted = []
    for value, span in find_number_places(text):
        words = text[span.start : span.end]
        following = WORD_PATTERN.match(text, span.end + 1)
        noun = following[0] if following else ""
        noun = "" if normalize_word(noun) in STOP_WORDS else stem_word(noun)
        is_plain = not (noun and _SCALE.search(words)) and "," not in words
        if is_plain and FIRST_YEAR <= value <= LAST_YEAR:
            noun = "" if _DECADE.match(text, span.end) else _DATE
        counted.append((value, words, noun))
    return counted
