"""One ranking out of several. Pure arithmetic, the same in every world.

Scores are brought to 0..1 by dividing by the best, floor 0, and added with weights.
This beat reciprocal rank fusion on FairytaleQA with the shipped embedder (hit@5 .84
against .74), because the lexical score knows how much better its first is than its
second, and ranks forget it.
"""

from collections.abc import Mapping, Sequence

from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.search import ScoredChunk


def scale_by_maximum(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Scale scores so that the best is 1.0 and 0 or less is 0.0."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: max(0.0, score) / best for chunk, score in scores.items()}


def scale_min_max(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Scale scores so that the best is 1.0 and the worst 0.0; all 0.0 when equal."""
    low = min(scores.values(), default=0.0)
    width = max(scores.values(), default=0.0) - low
    if width <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: (score - low) / width for chunk, score in scores.items()}


def fuse_weighted_scores(
    parts: Sequence[tuple[float, Mapping[ChunkId, float]]],
) -> dict[ChunkId, float]:
    """Add scores chunk by chunk, each list times its weight; absent counts 0."""
    total: dict[ChunkId, float] = {}
    for weight, scores in parts:
        for chunk, score in scores.items():
            total[chunk] = total.get(chunk, 0.0) + weight * score
    return total


def rank_chunks(scores: Mapping[ChunkId, float]) -> list[ScoredChunk]:
    """Return chunks best first; equal scores by id, so that runs agree."""
    pairs = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ScoredChunk(chunk, score) for chunk, score in pairs]
