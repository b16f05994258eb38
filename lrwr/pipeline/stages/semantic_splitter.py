"""Splitter of pipeline b: chunks end where the topic changes.

`plan_cuts` selects the possible boundaries (seams); the caller computes their
distances, which measure how much the topic changes there. `choose_cuts` then picks the
boundaries with the least total cost: a large distance lowers the cost, a boundary
inside a paragraph or dialogue and an unsuitable chunk size raise it. An edit does not
affect chunks of other regions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from lrwr.core.model.documents import Document
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.pipeline.stages.units import (
    DECIMALS,
    ChunkCut,
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
"""Typical distance of a seam; used for seams without a measured distance."""

COSTS = {
    UnitBond.NONE: 0.0,
    UnitBond.PARAGRAPH: 0.0,
    UnitBond.REPLY: 0.1,
    UnitBond.SENTENCE: 0.25,
    UnitBond.EXCHANGE: 1.0,
}
"""Cost of a boundary by the kind of break, in units of distance."""

TOO_SMALL = 2.0
"""Cost of an empty chunk; falls linearly to 0 at the minimum size."""

UNEVEN = 0.3
"""Cost of a chunk of twice the target size or of size 0; grows quadratically."""


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Limits of chunk sizes and of the overlap, in tokens.

    `most` is a hard limit. A chunk is smaller than `least` if its scene is, and
    sometimes beside dialogue or a paragraph that is not split. A chunk repeats at most
    `overlap_sentences` sentences with at most `overlap` tokens of the previous one.
    """

    least: int = 80
    most: int = 250
    overlap: int = 60
    overlap_sentences: int = 2


@dataclass(frozen=True, slots=True)
class RegionPlan:
    """A region of text that chunks do not cross, split into sentences and units.

    A unit is a range of sentences that must stay in one chunk. `seams[i]` is the
    possible boundary before `units[i]`; None if no distance is needed there.
    """

    region: ChunkRegion
    sentences: tuple[SizedSpan, ...]
    units: tuple[ChunkUnit, ...]
    seams: tuple[Seam | None, ...]


@dataclass(frozen=True, slots=True)
class CutPlan:
    """All regions of a document, split into sentences and units: the input of
    `choose_cuts`.
    """

    regions: tuple[RegionPlan, ...]
    limits: ChunkLimits

    @property
    def seams(self) -> tuple[Seam, ...]:
        """The possible boundaries whose distances `choose_cuts` uses, in text order."""
        return tuple(s for plan in self.regions for s in plan.seams if s is not None)


def scale_sketch_distance(distance: float) -> float:
    """Return the distance of a seam on the scale of embeddings, given that of sketches.

    A seam is a possible chunk boundary. The scaled distances have the mean and the
    deviation of those of embeddings, measured on novels and tales (decision 031).
    """
    scaled = 0.53 + 1.2 * (distance - 0.29)
    return round(min(2.0, max(0.0, scaled)), DECIMALS)


def plan_cuts(
    document: Document,
    split: SentenceSplitter,
    count: CountTokens,
    limits: ChunkLimits,
) -> CutPlan:
    """Split a document into units (text that must stay in one chunk) and select the
    possible chunk boundaries.

    `split` splits a text into the spans of its sentences; `count` returns the numbers
    of tokens of texts.
    """
    regions = list(find_chunk_regions(document))
    text = document.text
    sentence_lists = split_regions_into_sentences(
        text, regions, split, count, limits.most
    )
    plans = [
        _plan_region(text, region, sentences, limits)
        for region, sentences in zip(regions, sentence_lists, strict=True)
        if sentences
    ]
    return CutPlan(tuple(plans), limits)


def _plan_region(
    text: str, region: ChunkRegion, sentences: Sequence[SizedSpan], limits: ChunkLimits
) -> RegionPlan:
    units = group_into_units(text, sentences, limits.least, limits.most)
    texts = [text[s.span.start : s.span.end] for s in sentences]
    needs_distance = _needs_distance(units, limits)
    seams = tuple(
        build_seam(texts, unit.first) if is_needed else None
        for unit, is_needed in zip(units, needs_distance, strict=True)
    )
    return RegionPlan(region, tuple(sentences), units, seams)


def _needs_distance(units: Sequence[ChunkUnit], limits: ChunkLimits) -> list[bool]:
    """Return for each unit whether a chunk may end before it, so that a distance is
    needed.
    """
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
    """Return the chunks with the least total cost, in text order, authors' comments
    last.

    `distances` maps the keys of possible boundaries (seams) to cosine distances. Each
    word of every region is in exactly one chunk, and no chunk exceeds the maximum size.
    A seam missing in `distances` counts as `USUAL`, so an empty mapping splits by
    paragraphs and sizes alone.
    """
    return tuple(
        c
        for region in plan.regions
        for c in _cut_region(region, plan.limits, distances)
    )


def _cut_region(
    plan: RegionPlan, limits: ChunkLimits, distances: Mapping[SeamKey, float]
) -> Iterator[ChunkCut]:
    # A boundary at a larger distance than usual is cheaper than one at a smaller.
    costs = [
        COSTS[unit.bond] + USUAL - (distances.get(seam.key, USUAL) if seam else USUAL)
        for unit, seam in zip(plan.units, plan.seams, strict=True)
    ]
    starts = [n for n, unit in enumerate(plan.units) if unit.bond is UnitBond.NONE]
    for start, end in pairwise([*starts, len(plan.units)]):
        chunks = _choose_groups(plan.units[start:end], costs[start:end], limits)
        for before, units in pairwise([(), *chunks]):
            yield _build_cut(plan, before, units, limits)


def _choose_groups(
    units: Sequence[ChunkUnit], costs: Sequence[float], limits: ChunkLimits
) -> list[tuple[ChunkUnit, ...]]:
    """Group units into chunks of least total cost, by dynamic programming over their
    ends.
    """
    totals = [0, *accumulate(unit.weight for unit in units)]
    if totals[-1] <= limits.most:
        return [tuple(units)]
    # best[n] is the least cost of the first n units; begins[n] is the start of the
    # last chunk in that solution.
    best, begins = [0.0], [0]
    for end in range(1, len(units) + 1):
        end_cost = costs[end] if end < len(units) else 0.0
        choices = [
            (
                best[start]
                + _size_cost(totals[end] - totals[start], limits)
                + end_cost,
                start,
            )
            for start in _possible_starts(totals, end, limits.most)
        ]
        cheapest, begin = min(choices)
        best.append(cheapest)
        begins.append(begin)
    return _collect_groups(units, begins)


def _possible_starts(totals: Sequence[int], end: int, most: int) -> Iterator[int]:
    """Yield the possible first units of a chunk that ends before unit `end`, last
    first.
    """
    yield end - 1
    start = end - 2
    while start >= 0 and totals[end] - totals[start] <= most:
        yield start
        start -= 1


def _size_cost(weight: int, limits: ChunkLimits) -> float:
    middle = (limits.least + limits.most) / 2
    uneven = UNEVEN * ((weight - middle) / middle) ** 2
    return uneven + TOO_SMALL * max(0.0, 1 - weight / limits.least)


def _collect_groups(
    units: Sequence[ChunkUnit], begins: Sequence[int]
) -> list[tuple[ChunkUnit, ...]]:
    groups, end = [], len(units)
    while end:
        groups.append(tuple(units[begins[end] : end]))
        end = begins[end]
    return groups[::-1]


def _build_cut(
    plan: RegionPlan,
    before: Sequence[ChunkUnit],
    units: Sequence[ChunkUnit],
    limits: ChunkLimits,
) -> ChunkCut:
    sentences, region = plan.sentences, plan.region
    first, last = sentences[units[0].first], sentences[units[-1].end - 1]
    repeatable = sentences[before[0].first : before[-1].end] if before else ()
    return ChunkCut(
        span=Span(first.span.start, last.span.end),
        chapter=region.chapter,
        scene=region.scene,
        kind=region.kind,
        tokens=sum(unit.tokens for unit in units),
        lead=_lead(repeatable, limits),
    )


def _lead(before: Sequence[SizedSpan], limits: ChunkLimits) -> Span | None:
    """Return the last sentences of the previous chunk, as many as the overlap allows."""
    for number in range(min(limits.overlap_sentences, len(before)), 0, -1):
        last = before[-number:]
        if sum(piece.tokens for piece in last) <= limits.overlap:
            return Span(last[0].span.start, last[-1].span.end)
    return None
