"""Counts who appears in each chunk of a document, and in which role."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Mention, Quotation
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.presence import (
    find_narrator_words,
    find_present_characters,
)
from lrwr.core.ports.story_stores import AppearanceRole, ChunkSpan

RoleCounts = Mapping[ChunkId, Mapping[tuple[str, AppearanceRole], int]]
"""For each chunk, how often each character appears in each role."""


@dataclass(frozen=True, slots=True)
class ChunkAppearances:
    """Who appears in each chunk: `roles` counts by character and role; `names` are the
    characters whom the narration names, or who speak or are spoken to.
    """

    roles: RoleCounts
    names: Mapping[ChunkId, Collection[str]]


def count_appearances(
    text: str,
    places: Sequence[ChunkSpan],
    scenes: Sequence[Sequence[Span]],
    mentions: Sequence[Mention],
    quotations: Sequence[Quotation],
    *,
    narrator: str = "",
) -> ChunkAppearances:
    """Count the appearances in each of `places`, chunks of `text` that do not overlap.

    A character has the role `PRESENT` only in scenes in which they are in the flesh:
    once for each mention in narration, or once in a chunk in which they only speak, hear
    or narrate. Other mentions count as `MENTIONED`.
    """
    present = find_present_characters(
        text, scenes, mentions, quotations, narrator=narrator
    )
    counter = _AppearanceCounter(places, scenes, present)
    quoted = sorted(span for quotation in quotations for span in quotation.spans)
    starts = [span.start for span in quoted]
    for mention in mentions:
        at = bisect_right(starts, mention.span.start) - 1
        is_quoted = at >= 0 and quoted[at].end >= mention.span.end
        counter.add_mention(mention, is_quoted=is_quoted)
    for quotation in quotations:
        for span in quotation.spans:
            counter.add_part(quotation.speaker, AppearanceRole.SPEAKS, span)
            counter.add_part(quotation.addressee, AppearanceRole.HEARS, span)
    if narrator:
        for span in find_narrator_words(text, quotations):
            counter.add_presence(narrator, span)
    return counter.finish()


class _AppearanceCounter:
    def __init__(
        self,
        places: Sequence[ChunkSpan],
        scenes: Sequence[Sequence[Span]],
        present: Sequence[frozenset[str]],
    ) -> None:
        self._places = sorted(places, key=lambda place: place.span.start)
        self._starts = [place.span.start for place in self._places]
        self._scene_starts = [scene[0].start for scene in scenes if scene]
        self._present = [
            names for scene, names in zip(scenes, present, strict=True) if scene
        ]
        self._roles: dict[ChunkId, Counter[tuple[str, AppearanceRole]]] = {}
        self._names: dict[ChunkId, set[str]] = {}
        self._present_silently: set[tuple[ChunkId, str]] = set()

    def add_mention(self, mention: Mention, *, is_quoted: bool) -> None:
        """Count a mention, in dialogue if `is_quoted`."""
        is_there = not is_quoted and self._is_present(mention.who, mention.span)
        role = AppearanceRole.PRESENT if is_there else AppearanceRole.MENTIONED
        for chunk in self._chunks(mention.span):
            self._roles.setdefault(chunk, Counter())[mention.who, role] += 1
            if not is_quoted:
                self._names.setdefault(chunk, set()).add(mention.who)

    def add_part(self, name: str, role: AppearanceRole, span: Span) -> None:
        """Count a part in a dialogue; nothing if `name` is empty."""
        if not name:
            return
        for chunk in self._chunks(span):
            self._roles.setdefault(chunk, Counter())[name, role] += 1
            self._names.setdefault(chunk, set()).add(name)
        self.add_presence(name, span)

    def add_presence(self, name: str, span: Span) -> None:
        """Note that the text at `span` shows a character who may be present."""
        if self._is_present(name, span):
            self._present_silently.update((chunk, name) for chunk in self._chunks(span))

    def finish(self) -> ChunkAppearances:
        """Return all counts."""
        for chunk, name in self._present_silently:
            roles = self._roles.setdefault(chunk, Counter())
            roles[name, AppearanceRole.PRESENT] = max(
                1, roles[name, AppearanceRole.PRESENT]
            )
        return ChunkAppearances(self._roles, self._names)

    def _is_present(self, name: str, span: Span) -> bool:
        scene = bisect_right(self._scene_starts, span.start) - 1
        return scene >= 0 and name in self._present[scene]

    def _chunks(self, span: Span) -> Iterator[ChunkId]:
        at = bisect_right(self._starts, span.start) - 1
        while 0 <= at < len(self._places) and self._starts[at] < span.end:
            if self._places[at].span.end > span.start:
                yield self._places[at].chunk
            at += 1
