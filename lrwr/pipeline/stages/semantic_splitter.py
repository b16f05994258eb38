"""Pipeline B's splitter: chunks end where the text turns to something else.

First `plan_cuts` says which seams are worth a look; their distances come from outside,
since embedding costs more than everything here. Then `choose_cuts` chooses, for every home,
the ends that together cost least: a far seam is a good end, the end of a paragraph
better than one within, and a chunk should have its size. What is far from an edit is
weighed as before, so that the chunks there stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Document
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.pipeline.stages.units import (
    ChunkRegion,
    ChunkUnit,
    Seam,
    SeamKey,
    UnitBond,
    build_seam,
    find_chunk_regions,
    group_into_units,
    split_regions_into_sentences,
)
from lrwr.pipeline.stages.windows import CountTokens, SizedSpan

USUAL = 0.55
"""The distance of an ordinary seam, and of one that was not looked at."""

COSTS = {
    UnitBond.NONE: 0.0,
    UnitBond.PARAGRAPH: 0.0,
    UnitBond.REPLY: 0.1,
    UnitBond.SENTENCE: 0.25,
    UnitBond.EXCHANGE: 1.0,
}
"""What a chunk's end costs besides its seam, in units of distance."""

TOO_SMALL = 2.0
"""What a chunk of nothing would cost; one of the least size costs nothing."""

UNEVEN = 0.3
"""What a chunk costs that is twice as long as it should be, or empty."""


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in tokens: what a chunk has at least and at most, and its overlap.

    `most` is never exceeded. Less than `least` has a chunk that is all of its scene,
    and now and then one beside an exchange or a long paragraph that stays whole.
    """

    least: int = 80
    most: int = 250
    overlap: int = 60
    overlap_sentences: int = 2


@dataclass(frozen=True, slots=True)
class RegionPlan:
    """A home in sentences and units; `seams` has one entry for each unit.

    It stands before the unit, and is None where no distance is asked for.
    """

    home: ChunkRegion
    sentences: tuple[SizedSpan, ...]
    units: tuple[ChunkUnit, ...]
    seams: tuple[Seam | None, ...]


@dataclass(frozen=True, slots=True)
class CutPlan:
    """A document made ready to be cut."""

    homes: tuple[RegionPlan, ...]
    limits: ChunkLimits

    @property
    def seams(self) -> tuple[Seam, ...]:
        """The seams whose distances `choose_cuts` asks for, in reading order."""
        return tuple(s for plan in self.homes for s in plan.seams if s is not None)


@dataclass(frozen=True, slots=True)
class ChunkCut:
    """A chunk's place: `span` is its text, `tokens` are those of the text.

    `lead` is the end of the chunk before, repeated for the reader's sake: it ends
    where `span` begins, but for white space. None where there is none, or it would be
    too long.
    """

    span: Span
    chapter: int
    scene: int
    kind: ChunkKind
    tokens: int
    lead: Span | None


def plan_cuts(
    document: Document,
    split: SentenceSplitter,
    count: CountTokens,
    limits: ChunkLimits,
) -> CutPlan:
    """Take a document apart into what may become chunks."""
    homes = list(find_chunk_regions(document))
    text = document.text
    regions = split_regions_into_sentences(text, homes, split, count, limits.most)
    plans = [
        _plan(text, home, sentences, limits)
        for home, sentences in zip(homes, regions, strict=True)
        if sentences
    ]
    return CutPlan(tuple(plans), limits)


def _plan(
    text: str, home: ChunkRegion, sentences: Sequence[SizedSpan], limits: ChunkLimits
) -> RegionPlan:
    units = group_into_units(text, sentences, limits.least, limits.most)
    texts = [text[s.span.start : s.span.end] for s in sentences]
    needs_distance = _asked(units, limits)
    seams = tuple(
        build_seam(texts, unit.first) if is_needed else None
        for unit, is_needed in zip(units, needs_distance, strict=True)
    )
    return RegionPlan(home, tuple(sentences), units, seams)


def _asked(units: Sequence[ChunkUnit], limits: ChunkLimits) -> list[bool]:
    """Return for each unit whether a seam distance can matter: a chunk may end before it."""
    if sum(unit.weight for unit in units) <= limits.most:
        return [False] * len(units)
    needs_distance = [
        unit.bond not in (UnitBond.NONE, UnitBond.EXCHANGE) for unit in units
    ]
    starts = [n for n, unit in enumerate(units) if unit.bond is not UnitBond.EXCHANGE]
    for start, end in pairwise([*starts, len(units)]):
        if sum(unit.weight for unit in units[start:end]) > limits.most:
            needs_distance[start + 1 : end] = [True] * (end - start - 1)
    return needs_distance


def choose_cuts(
    plan: CutPlan, distances: Mapping[SeamKey, float]
) -> tuple[ChunkCut, ...]:
    """Choose the chunks, in reading order, notes last.

    Every word of every home is in exactly one chunk, and no chunk has more tokens
    than allowed. A distance that is not given counts as usual: so a document can be
    cut without any embedding, by its paragraphs and sizes.
    """
    return tuple(c for home in plan.homes for c in _cut(home, plan.limits, distances))


def _cut(
    plan: RegionPlan, limits: ChunkLimits, distances: Mapping[SeamKey, float]
) -> Iterator[ChunkCut]:
    costs = [
        COSTS[unit.bond] + USUAL - (distances.get(seam.key, USUAL) if seam else USUAL)
        for unit, seam in zip(plan.units, plan.seams, strict=True)
    ]
    starts = [n for n, unit in enumerate(plan.units) if unit.bond is UnitBond.NONE]
    for start, end in pairwise([*starts, len(plan.units)]):
        chunks = _cheapest(plan.units[start:end], costs[start:end], limits)
        for before, units in pairwise([(), *chunks]):
            yield _made(plan, before, units, limits)


def _cheapest(
    units: Sequence[ChunkUnit], costs: Sequence[float], limits: ChunkLimits
) -> list[tuple[ChunkUnit, ...]]:
    """Group units into chunks so that the sum of all costs is least."""
    totals = [0, *accumulate(unit.weight for unit in units)]
    if totals[-1] <= limits.most:
        return [tuple(units)]
    best, begins = [0.0], [0]
    for end in range(1, len(units) + 1):
        ended = costs[end] if end < len(units) else 0.0
        choices = [
            (best[start] + _unfit(totals[end] - totals[start], limits) + ended, start)
            for start in _starts(totals, end, limits.most)
        ]
        cheapest, begin = min(choices)
        best.append(cheapest)
        begins.append(begin)
    return _groups(units, begins)


def _starts(totals: Sequence[int], end: int, most: int) -> Iterator[int]:
    """Yield where a chunk may begin that ends before unit `end`, the last first."""
    yield end - 1
    start = end - 2
    while start >= 0 and totals[end] - totals[start] <= most:
        yield start
        start -= 1


def _unfit(weight: int, limits: ChunkLimits) -> float:
    middle = (limits.least + limits.most) / 2
    uneven = UNEVEN * ((weight - middle) / middle) ** 2
    return uneven + TOO_SMALL * max(0.0, 1 - weight / limits.least)


def _groups(
    units: Sequence[ChunkUnit], begins: Sequence[int]
) -> list[tuple[ChunkUnit, ...]]:
    groups, end = [], len(units)
    while end:
        groups.append(tuple(units[begins[end] : end]))
        end = begins[end]
    return groups[::-1]


def _made(
    plan: RegionPlan,
    before: Sequence[ChunkUnit],
    units: Sequence[ChunkUnit],
    limits: ChunkLimits,
) -> ChunkCut:
    sentences, home = plan.sentences, plan.home
    first, last = sentences[units[0].first], sentences[units[-1].end - 1]
    repeatable = sentences[before[0].first : before[-1].end] if before else ()
    return ChunkCut(
        span=Span(first.span.start, last.span.end),
        chapter=home.chapter,
        scene=home.scene,
        kind=home.kind,
        tokens=sum(unit.tokens for unit in units),
        lead=_lead(repeatable, limits),
    )


def _lead(before: Sequence[SizedSpan], limits: ChunkLimits) -> Span | None:
    """Return the last sentences of the chunk before, as many as the overlap takes."""
    for number in range(min(limits.overlap_sentences, len(before)), 0, -1):
        last = before[-number:]
        if sum(piece.tokens for piece in last) <= limits.overlap:
            return Span(last[0].span.start, last[-1].span.end)
    return None
