"""Things of which a draft says something else than the story: their number ("four keys"),
the colour or material of their parts ("a stick with a brass collar").
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lrwr.core.attribution.concrete_words import group_looks, list_materials
from lrwr.core.attribution.details import (
    are_hedged,
    find_number_places,
    stem_words,
)
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_asserted_in_context,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, Span, stem_word

MIN_MEASURE_WORDS = 3
"""Content words besides the number and the thing that two sentences must share, for
their measures ("two miles") to be of the same thing."""

MANY_NUMBERS, NEAR_CHARS, AFTER_CHARS = 3, 45, 25
"""So many different numbers of a thing in a story mean different things, unless a word
near both is the same: "three strokes for third bell" and "six strokes on a slate"."""

_TIMES = (
    "seconds moments minutes hours days nights mornings evenings weeks months years"
)
_CLAUSE_MARK = re.compile(r"[,;:—“”()]")

MAX_ADJECTIVES = 2

_PLURALS = frozenset(
    ("men", "women", "children", "people", "feet", "teeth", "geese", "mice", "oxen")
)
"""Plurals that do not end in "s"."""
_MEASURES = (
    f"{_TIMES} centuries times inches feet yards miles leagues acres ounces pounds guineas"
    " shillings crowns pennies francs dollars cents degrees things ways paces people"
    " persons men women gentlemen ladies children boys girls friends families folks"
    " words lines letters pages hundreds thousands others sorts kinds parts pairs"
    " sides hands eyes fingers"
)
"""Measures, and other things of which a story has many that are not the same."""

_ORDINAL = re.compile(r"(?:st|nd|rd|th)$|^(?:hundred|thousand|dozens)$", re.IGNORECASE)
_OF_THEM = re.compile(r"\s+There (?:are|were) (?P<number>[\w-]+) of them\b")
_ALTERNATIVE = re.compile(r"\b(?:or|to|[–—-])\s*$", re.IGNORECASE)


@cache
def _list_times() -> frozenset[str]:
    return frozenset(stem_word(word) for word in _TIMES.split())


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

    @property
    def is_time(self) -> bool:
        """Whether these are units of time, such as years."""
        return self.thing in _list_times()


@dataclass(frozen=True, slots=True)
class OtherCount:
    """A counted thing of a draft, and that of the story with another number, at
    `other` of `document`; `also` is a place where the story seems to give these a third one.
    """

    own: CountedThing
    document: DocumentId
    other: CountedThing
    also: tuple[DocumentId, CountedThing] | None = None


@dataclass(frozen=True, slots=True)
class CountComparison:
    """The differing counts of a draft, and how many of its counts the story has, too."""

    differing: tuple[OtherCount, ...] = ()
    compared: int = 0


def compare_counts(
    draft: DocumentId,
    texts: Mapping[DocumentId, str],
    before: Collection[DocumentId] = (),
) -> CountComparison:
    """Compare the counted things of the document `draft` with those of all others.

    A count differs if the story has the same thing with another number, and nowhere with
    the number of the draft. `texts` are those of the story and its notes, `draft`
    included; what the documents `before` say comes first.
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
        other = _find_other(counted, text, same, texts, before)
        if other is not None:
            differing.append(other)
    return CountComparison(tuple(differing), compared)


def _find_other(
    own: CountedThing,
    text: str,
    others: Sequence[tuple[DocumentId, CountedThing]],
    texts: Mapping[DocumentId, str],
    before: Collection[DocumentId],
) -> OtherCount | None:
    """Return the count of `others` that most likely is of the same thing; None if one of
    them has the number of `own`, or none is of the same thing.
    """
    sentence = _cut(text, own.sentence)
    stems = stem_words(sentence) - stem_words(own.words)
    numbers = {other.value for _, other in others}
    least = MIN_MEASURE_WORDS if own.is_measure else 0
    rated = []
    for document, other in others:
        theirs = _cut(texts[document], other.sentence)
        if own.value == other.value or are_hedged(
            [own.value], [other.value], sentence, theirs
        ):
            return None
        shared = len(stems & stem_words(theirs))
        is_same = (
            len(numbers) < MANY_NUMBERS and not own.is_time
        ) or _share_near_words(own, text, other, texts[document])
        if shared >= least and is_same:
            rating = (bool(shared), document in before, shared)
            rated.append((rating, document, other))
    if not rated:
        return None
    rated.sort(key=lambda row: row[0], reverse=True)
    _, document, best = rated[0]
    also = (
        (place, other)
        for place, other in others
        if other.value != best.value
        and not best.is_time
        and _share_words_after(best, texts[document], other, texts[place])
    )
    return OtherCount(own, document, best, next(also, None))


def _share_near_words(
    own: CountedThing, text: str, other: CountedThing, theirs: str
) -> bool:
    """Return whether a content word stands near both things in their sentences."""
    return bool(
        (_list_near_stems(own, text) & _list_near_stems(other, theirs))
        - stem_words(f"{own.words} {other.words}")
    )


def _share_words_after(
    own: CountedThing, text: str, other: CountedThing, theirs: str
) -> bool:
    """Return whether the same content word follows both things: "rungs in the ladder"."""
    stems = (
        stem_words(whole[at.span.end : min(at.sentence.end, at.span.end + AFTER_CHARS)])
        for at, whole in ((own, text), (other, theirs))
    )
    return not next(stems).isdisjoint(next(stems))


def _list_near_stems(counted: CountedThing, text: str) -> frozenset[str]:
    start = max(counted.sentence.start, counted.span.start - NEAR_CHARS)
    end = min(counted.sentence.end, counted.span.end + NEAR_CHARS)
    # A word that is cut off says nothing.
    start = text.find(" ", start, end) if start > counted.sentence.start else start
    end = text.rfind(" ", start, end) if end < counted.sentence.end else end
    if counted.is_time:
        marks = [m.start() for m in _CLAUSE_MARK.finditer(text, start, end)]
        start = max((at for at in marks if at < counted.span.start), default=start)
        end = min((at for at in marks if at >= counted.span.end), default=end)
    return stem_words(text[start:end])


def _find_things(text: str, things: Collection[str]) -> Iterator[CountedThing]:
    """Yield the counted things of `text` whose stems are among `things`; also those that
    the next sentence counts: "She kept geese. There were nine of them."
    """
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
        yield from _find_counted_after(text, sentence, things)


def _find_counted_after(
    text: str, sentence: Span, things: Collection[str]
) -> Iterator[CountedThing]:
    match = _OF_THEM.match(text, sentence.end)
    numbers = find_number_places(match["number"]) if match else []
    nouns = [
        word
        for word in WORD_PATTERN.findall(_cut(text, sentence))
        if word.islower() and _is_plural(word)
    ]
    if match and len(numbers) == 1 and nouns and stem_word(nouns[0]) in things:
        place = Span(match.start("number"), match.end())
        value, thing = numbers[0][0], stem_word(nouns[0])
        shown = f"{match['number']} {nouns[0]}"
        whole = Span(sentence.start, find_enclosing_sentence(text, place).end)
        yield CountedThing(value, thing, shown, place, whole)


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
        if _is_plural(folded):
            return word
        at = word.end()
    return None


def _is_plural(word: str) -> bool:
    """Return whether a folded word may be a plural noun."""
    is_regular = word.endswith("s") and not word.endswith(("ss", "'s", "’s"))
    return (is_regular and word not in STOP_WORDS) or word in _PLURALS


def _cut(text: str, span: Span) -> str:
    return text[span.start : span.end]


MAX_APART = 60
"""Characters between a thing and its part in a sentence of the story."""

_SIDES = ("left", "right")
_LAST_WORD = re.compile(r"[^\W\d_]+$")


@dataclass(frozen=True, slots=True)
class OtherLook:
    """A colour or material `word` at `span` of a draft, of which the story has
    another one in the sentence at `other` of `document`.
    """

    word: str
    span: Span
    document: DocumentId
    other: Span


def find_other_looks(
    draft: DocumentId,
    texts: Mapping[DocumentId, str],
    before: Collection[DocumentId] = (),
) -> Iterator[OtherLook]:
    """Yield the looks of parts of things in the narration of the document `draft`, such as
    "a stick with a brass collar", of which the story has another one and never the same.

    `texts` are those of the story and its notes, `draft` included; what the documents
    `before` say comes first.
    """
    ordered = sorted(texts, key=lambda document: document not in before)
    others = {document: texts[document] for document in ordered if document != draft}
    yield from _find_other_parts(texts[draft], others)
    yield from _find_other_materials(texts[draft], others)


def is_asserted_up_to(text: str, span: Span) -> bool:
    """Return whether the narration asserts the words at `span`, by what stands before
    them: a comparison after them, as in "as if he meant it", does not make them doubtful.
    """
    start = find_enclosing_paragraph(text, span).start
    return is_asserted_in_context(
        text[start : span.end], Span(span.start - start, span.end - start)
    )


def _find_other_parts(
    text: str, others: Mapping[DocumentId, str]
) -> Iterator[OtherLook]:
    for match in _compile_part().finditer(text):
        whole = match["whole"] or match["owner"] or match["holder"]
        part = match["part"] or match["owned"] or match["held"]
        look = match["look"] or match["of"] or match["had"]
        span = Span(match.start(), match.end())
        if whole in STOP_WORDS or part in STOP_WORDS or part in group_looks():
            continue
        if is_asserted_up_to(text, span):
            places = _iter_part_looks(whole, part, look, others)
            yield from _choose_other(look, span, list(places))


@cache
def _compile_part() -> re.Pattern[str]:
    looks = "|".join(sorted(set(group_looks()) - set(_SIDES)))
    article = r"(?:an?|the|its|his|her|their)"
    return re.compile(
        rf"\b(?P<whole>[a-z]+) (?:with|that had|which had) {article} (?P<look>{looks})"
        rf" (?P<part>[a-z]+)\b"
        rf"|\b(?P<holder>[a-z]+)[.;,] (?:It|it|which) had {article} (?P<had>{looks})"
        rf" (?P<held>[a-z]+)\b"
        rf"|\b(?P<of>{looks}) (?P<owned>[a-z]+) of (?:the|his|her|its) (?P<owner>[a-z]+)\b"
    )


def _iter_part_looks(
    whole: str, part: str, look: str, others: Mapping[DocumentId, str]
) -> Iterator[tuple[DocumentId, Span, str]]:
    """Yield the sentences in which the part of a thing has a look of the same kind as
    `look`, each with its word.
    """
    kinds = group_looks()[look][0]
    # A literal beginning keeps the search of a whole novel fast.
    pattern = re.compile(rf" {re.escape(part)}\b")
    thing = re.compile(rf"\b{re.escape(whole)}\b")
    for document, text in others.items():
        for match in pattern.finditer(text):
            word = _find_word_before(text, match.start())
            if word not in group_looks() or not kinds & group_looks()[word][0]:
                continue
            sentence = find_enclosing_sentence(text, Span(*match.span()))
            start = max(sentence.start, match.start() - MAX_APART)
            end = min(sentence.end, match.end() + MAX_APART)
            if thing.search(text, start, end):
                yield document, sentence, word


def _find_word_before(text: str, end: int) -> str:
    """Return the letters before an offset."""
    match = _LAST_WORD.search(text, max(0, end - 20), end)
    return match[0] if match else ""


def _choose_other(
    look: str, span: Span, places: Sequence[tuple[DocumentId, Span, str]]
) -> Iterator[OtherLook]:
    """Yield the first place with another look, if none has the same one."""
    if places and not any(_means_same(look, word) for _, _, word in places):
        document, sentence, _ = places[0]
        yield OtherLook(look, span, document, sentence)


def _means_same(word: str, other: str) -> bool:
    groups = group_looks()
    return other in groups[word][1] or word in groups[other][1]


def _find_other_materials(
    text: str, others: Mapping[DocumentId, str]
) -> Iterator[OtherLook]:
    """Yield the materials of "the pine post" and "Gull Post, nine feet of pine" where the
    only name with that noun is of another material.
    """
    for match in _compile_named_thing().finditer(text):
        head = (match["noun"] or match["head"]).capitalize()
        look = match["look"] or match["of"]
        span = Span(*match.span())
        if not is_asserted_up_to(text, span):
            continue
        names = [*_iter_names(head, others)]
        if len({name for _, _, name in names}) == 1:
            places = _iter_named_materials(names, others)
            yield from _choose_other(look, span, list(places))


@cache
def _compile_named_thing() -> re.Pattern[str]:
    looks, colours = "|".join(sorted(list_materials())), r"(?:[a-z]+ )?"
    return re.compile(
        rf"\b(?:[Tt]he|[Tt]his|[Tt]hat) {colours}(?P<look>{looks}) (?P<noun>[a-z]{{3,}})\b"
        rf"|(?<![\w’'-])(?:[A-ZÀ-Þ][\w’-]+ )+(?P<head>[A-ZÀ-Þ][a-z]+)\b"
        rf"[^.;:!?“”]{{1,40}}? of {colours}(?P<of>{looks})\b"
    )


def _iter_names(
    head: str, others: Mapping[DocumentId, str]
) -> Iterator[tuple[DocumentId, int, str]]:
    """Yield the names of things that end with a noun: document, end of the name, and its
    last words, as in "Gull Post".
    """
    pattern = re.compile(rf" {re.escape(head)}(?![\w-])")
    for document, text in others.items():
        for match in pattern.finditer(text):
            first = _find_word_before(text, match.start())
            if first[:1].isupper() and first.lower() not in STOP_WORDS:
                yield document, match.end(), f"{first} {head}"


def _iter_named_materials(
    names: Iterable[tuple[DocumentId, int, str]], others: Mapping[DocumentId, str]
) -> Iterator[tuple[DocumentId, Span, str]]:
    """Yield the sentences that say of what a named thing is: "Gull Post was nine feet of
    black oak", also if the next one does with "It was".
    """
    for document, end, _ in names:
        text = others[document]
        match = _compile_material().match(text, end)
        if match is not None:
            place = Span(match.start("word"), match.end("word"))
            yield document, find_enclosing_sentence(text, place), match["word"]


@cache
def _compile_material() -> re.Pattern[str]:
    looks = "|".join(sorted(list_materials()))
    return re.compile(
        rf"[^.!?;“”\n]{{0,60}}(?:\.\s+It was[^.!?;“”]{{0,30}})?"
        rf" of (?:[a-z]+ )?(?P<word>{looks})\b"
    )
