"""Weaving one document: who says what in it, and who is in each of its chunks. Pure."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from lrwr.core.model.cast import Cast, Character, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import attribute_quotations
from lrwr.core.nlp.names.mentions import find_mentions
from lrwr.core.ports.story_stores import AppearanceRole, AttributionResult, ChunkSpan

RoleCounts = Mapping[ChunkId, Mapping[tuple[str, AppearanceRole], int]]
"""How often each character appears in each role, chunk by chunk."""
IN_IT = (AppearanceRole.SPEAKS, AppearanceRole.HEARS, AppearanceRole.PRESENT)
"""Roles of those by whose names a chunk is found too."""


@dataclass(frozen=True, slots=True)
class SceneSpans:
    """The stretches of a document's own words, scene by scene."""

    parts: tuple[tuple[Span, ...], ...]

    @property
    def spans(self) -> list[Span]:
        """All stretches, in order."""
        return [part for scene in self.parts for part in scene]


@dataclass(frozen=True, slots=True)
class DocumentAttribution:
    """What was found in one document."""

    quotations: tuple[Quotation, ...]
    mentions: tuple[Mention, ...]
    appearances: RoleCounts
    names: Mapping[ChunkId, str]

    def woven(
        self, document: DocumentId, content: str, revision: str
    ) -> AttributionResult:
        """Return it with the name of what it was made from."""
        return AttributionResult(
            document,
            content,
            revision,
            self.quotations,
            self.mentions,
            self.appearances,
            self.names,
        )


def attribute_document(
    text: str,
    scenes: SceneSpans,
    places: Sequence[ChunkSpan],
    cast: Cast,
    *,
    narrator: str = "",
) -> DocumentAttribution:
    """Find who is named, who speaks, and who is where.

    `places` are the document's chunks in order; they do not overlap.
    """
    mentions = find_mentions(text, scenes.spans, cast)
    quotations = attribute_quotations(
        text, scenes.parts, cast, mentions, narrator=narrator
    )
    appearances = _appearances(places, mentions, quotations)
    return DocumentAttribution(
        tuple(quotations), tuple(mentions), appearances, _names(appearances, cast)
    )


def _appearances(
    places: Sequence[ChunkSpan],
    mentions: Sequence[Mention],
    quotations: Sequence[Quotation],
) -> RoleCounts:
    ordered = sorted(places, key=lambda place: place.span.start)
    starts = [place.span.start for place in ordered]
    counts_by_chunk: dict[ChunkId, Counter[tuple[str, AppearanceRole]]] = {}
    for name, role, span in _roles(mentions, quotations):
        at = bisect_right(starts, span.start) - 1
        while 0 <= at < len(ordered) and ordered[at].span.start < span.end:
            if ordered[at].span.end > span.start:
                counts_by_chunk.setdefault(ordered[at].chunk, Counter())[
                    name, role
                ] += 1
            at += 1
    return counts_by_chunk


def _roles(
    mentions: Sequence[Mention], quotations: Sequence[Quotation]
) -> Iterator[tuple[str, AppearanceRole, Span]]:
    quoted_spans = sorted(span for quotation in quotations for span in quotation.spans)
    starts = [span.start for span in quoted_spans]
    for mention in mentions:
        at = bisect_right(starts, mention.span.start) - 1
        quoted = at >= 0 and quoted_spans[at].end >= mention.span.end
        yield (
            mention.who,
            AppearanceRole.MENTIONED if quoted else AppearanceRole.PRESENT,
            mention.span,
        )
    for quotation in quotations:
        for span in quotation.spans:
            if quotation.speaker:
                yield quotation.speaker, AppearanceRole.SPEAKS, span
            if quotation.addressee:
                yield quotation.addressee, AppearanceRole.HEARS, span


def _names(appearances: RoleCounts, cast: Cast) -> dict[ChunkId, str]:
    """Return every form of the names of the people in each chunk, each word once."""
    forms = {
        character.name: [
            character.name,
            *sorted(alias.name for alias in character.aliases),
        ]
        for character in cast.characters
    }
    named = {}
    for chunk, counts in appearances.items():
        people = sorted({person for person, role in counts if role in IN_IT})
        words = dict.fromkeys(
            word
            for person in people
            for form in forms.get(person, {person: None})
            for word in form.split()
        )
        named[chunk] = " ".join(words)
    return named


REMEMBERED = 4_096
"""Texts of which a process remembers the words: a watch weaves after each save, and
then all texts but one are what they were."""
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"the", "a", "an"})
_Form = tuple[frozenset[str], str]
"""The words that a form of a name needs, and whose or what it is."""


class CastLookup:
    """A cast, to be asked for those whom one text may name."""

    def __init__(self, cast: Cast) -> None:
        self._people = {character.name: character for character in cast.characters}
        self._shared = cast.shared
        self._owned = _by_last_word(
            (alias.name, character.name)
            for character in cast.characters
            for alias in character.aliases
        )
        self._several = _by_last_word((form, form) for form in cast.shared)
        self._told = {character.name: _told(character) for character in cast.characters}

    def of(self, text: str, narrator: str) -> Cast:
        """Return all whom `text` may name, and its narrator, ordered by name.

        A few whom it does not name may be among them. What is found in the text with
        them is what is found with the whole cast.
        """
        words = _words(text)
        names = sorted({*_fitting(self._owned, words), narrator} & self._people.keys())
        forms = sorted(_fitting(self._several, words))
        return Cast(
            tuple(self._people[name] for name in names),
            {form: self._shared[form] for form in forms},
        )

    def revision(self, rules: str, content: str, narrator: str, own: Cast) -> str:
        """Name what is made of a text by `rules`, with its `own` people."""
        people = tuple(self._told[character.name] for character in own.characters)
        shared = tuple((form, *names) for form, names in own.shared.items())
        return _revision(rules, content, narrator, people, shared)


def _by_last_word(forms: Iterable[tuple[str, str]]) -> dict[str, list[_Form]]:
    forms_by_word: dict[str, list[_Form]] = {}
    for form, whose in forms:
        words = _WORD.findall(_folded(form))
        if len(words) > 1 and words[0] in _ARTICLES:
            words = words[1:]
        last = words[-1] if words else ""
        forms_by_word.setdefault(last, []).append((frozenset(words), whose))
    return forms_by_word


def _fitting(forms: dict[str, list[_Form]], words: frozenset[str]) -> set[str]:
    return {
        whose
        for last in words.intersection(forms)
        for needed, whose in forms[last]
        if needed <= words
    }


@lru_cache(maxsize=REMEMBERED)
def _words(text: str) -> frozenset[str]:
    """Return a text's words without capitals; "" stands for a name without letters."""
    once = " ".join(set(_folded(text).split()))
    return frozenset({"", *_WORD.findall(once)})


def _folded(text: str) -> str:
    """Make letters alike that patterns take for each other."""
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


@lru_cache(maxsize=REMEMBERED)
def _revision(
    rules: str,
    content: str,
    narrator: str,
    people: tuple[tuple[str, ...], ...],
    shared: tuple[tuple[str, ...], ...],
) -> str:
    parts = [rules, content, narrator, people, shared]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _told(character: Character) -> tuple[str, ...]:
    forms = sorted(
        f"{alias.name}\n{alias.certainty.value}" for alias in character.aliases
    )
    return (character.name, character.gender.value, *forms)
