"""Weaving one document: who says what in it, and who is in each of its chunks. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.english.mentions import find_mentions
from lrwr.core.english.speakers import attribute
from lrwr.core.model.cast import Cast, Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.cast_store import Place, Woven
from lrwr.core.ports.story_store import Role

Counts = Mapping[ChunkId, Mapping[tuple[str, Role], int]]
"""How often each character appears in each role, chunk by chunk."""

IN_IT = (Role.SPEAKS, Role.HEARS, Role.PRESENT)
"""Roles of those by whose names a chunk is found too."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """The stretches of a document's own words, scene by scene."""

    parts: tuple[tuple[Span, ...], ...]

    @property
    def spans(self) -> list[Span]:
        """All stretches, in order."""
        return [part for scene in self.parts for part in scene]


@dataclass(frozen=True, slots=True)
class Threads:
    """What was found in one document."""

    quotations: tuple[Quotation, ...]
    mentions: tuple[Mention, ...]
    appearances: Counts
    names: Mapping[ChunkId, str]

    def woven(self, document: DocumentId, content: str, revision: str) -> Woven:
        """Return it with the name of what it was made from."""
        return Woven(
            document,
            content,
            revision,
            self.quotations,
            self.mentions,
            self.appearances,
            self.names,
        )


def weave(
    text: str,
    scenes: Scenes,
    places: Sequence[Place],
    cast: Cast,
    *,
    narrator: str = "",
) -> Threads:
    """Find who is named, who speaks, and who is where.

    `places` are the document's chunks in order; they do not overlap.
    """
    mentions = find_mentions(text, scenes.spans, cast)
    quotations = attribute(text, scenes.parts, cast, mentions, narrator=narrator)
    appearances = _appearances(places, mentions, quotations)
    return Threads(
        tuple(quotations), tuple(mentions), appearances, _names(appearances, cast)
    )


def _appearances(
    places: Sequence[Place],
    mentions: Sequence[Mention],
    quotations: Sequence[Quotation],
) -> Counts:
    ordered = sorted(places, key=lambda place: place.span.start)
    starts = [place.span.start for place in ordered]
    found: dict[ChunkId, Counter[tuple[str, Role]]] = {}
    for who, role, span in _roles(mentions, quotations):
        at = bisect_right(starts, span.start) - 1
        while 0 <= at < len(ordered) and ordered[at].span.start < span.end:
            if ordered[at].span.end > span.start:
                found.setdefault(ordered[at].chunk, Counter())[who, role] += 1
            at += 1
    return found


def _roles(
    mentions: Sequence[Mention], quotations: Sequence[Quotation]
) -> Iterator[tuple[str, Role, Span]]:
    said = sorted(span for quotation in quotations for span in quotation.spans)
    starts = [span.start for span in said]
    for mention in mentions:
        at = bisect_right(starts, mention.span.start) - 1
        quoted = at >= 0 and said[at].end >= mention.span.end
        yield mention.who, Role.MENTIONED if quoted else Role.PRESENT, mention.span
    for quotation in quotations:
        for span in quotation.spans:
            if quotation.speaker:
                yield quotation.speaker, Role.SPEAKS, span
            if quotation.addressee:
                yield quotation.addressee, Role.HEARS, span


def _names(appearances: Counts, cast: Cast) -> dict[ChunkId, str]:
    """Write out who is in each chunk, by every form of their names, once each."""
    forms = {
        one.name: [one.name, *sorted(alias.name for alias in one.aliases)]
        for one in cast.characters
    }
    named = {}
    for chunk, counts in appearances.items():
        people = sorted({who for who, role in counts if role in IN_IT})
        words = dict.fromkeys(
            word
            for who in people
            for form in forms.get(who, {who: None})
            for word in form.split()
        )
        named[chunk] = " ".join(words)
    return named
