"""A Qdrant Edge shard: the one module that knows the native engine.

The engine may raise anything, panics that are no `Exception` among them, and may
read damaged files without a word. Here that becomes one thing, `ShardCorruption`: the
shard holds nothing that the records do not, so it is thrown away and made again.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import UUID

import numpy as np
import qdrant_edge as engine

from lrwr.core.adapters.vectors.base import build_vector_filter, compute_net_changes
from lrwr.core.adapters.vectors.numpy_index import (
    COSINE_TOLERANCE,
    compute_exact_cosines,
    normalize_vector,
)
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGE_ENGINE_VERSION = "0.9.0"
"""The engine's version; a shard that another version wrote is made again."""

_LAYOUT = f"1 qdrant-edge {EDGE_ENGINE_VERSION}"
_VECTOR = "text"
_CURSOR = 0
"""The point that says how far the feed was followed; a chunk's id is a UUID."""

_MORE = 16
"""Points asked for beyond the limit, to see whether others score as well."""


class ShardCorruption(Exception):
    """The shard's files or the engine cannot be trusted any more."""


@dataclass(frozen=True, slots=True)
class EdgeShardCursor:
    """How far a shard has followed the feed `epoch`, and the vectors that it holds."""

    epoch: str
    seq: int
    points: int


class EdgeShard:
    """An open shard, for one thread. Every method may raise `ShardCorruption`."""

    def __init__(
        self, shard: "engine.EdgeShard", cursor: EdgeShardCursor, dimensions: int
    ) -> None:
        self._shard = shard
        self._dimensions = dimensions
        self.cursor = cursor

    @classmethod
    def load(cls, folder: Path, dimensions: int) -> "EdgeShard":
        """Open the shard in `folder` and check that it holds what it says."""
        with _native():
            shard = engine.EdgeShard.load(str(folder))
            try:
                cursor = _cursor_of(shard, dimensions)
            except BaseException:
                shard.close()
                raise
        return cls(shard, cursor, dimensions)

    @classmethod
    def create(cls, folder: Path, dimensions: int, epoch: str) -> "EdgeShard":
        """Make an empty shard in `folder`, which must not hold one."""
        with _native():
            folder.mkdir(parents=True)
            vector = engine.EdgeVectorParams(
                size=dimensions, distance=engine.Distance.Cosine
            )
            shard = engine.EdgeShard.create(
                str(folder), engine.EdgeConfig(vectors={_VECTOR: vector})
            )
            kinds = engine.PayloadSchemaType
            index = engine.UpdateOperation.create_field_index
            shard.update(index("document", kinds.Keyword))
            shard.update(index("end", kinds.Integer))
            shard.update(index("kind", kinds.Keyword))
            edge_shard = cls(shard, EdgeShardCursor(epoch, 0, 0), dimensions)
            edge_shard._write([], edge_shard.cursor)
        return edge_shard

    def apply(self, changes: Sequence[ChunkChange]) -> None:
        """Follow the feed: what is new, what is gone, and the cursor with them."""
        now = compute_net_changes(changes)
        with _native():
            point_ids: list[int | UUID | str] = [change.chunk for change in now.kept]
            point_ids += now.gone
            stored_chunks = {
                str(point.id) for point in self._shard.retrieve(point_ids, False, False)
            }
            if deleted := [chunk for chunk in now.gone if chunk in stored_chunks]:
                self._shard.update(engine.UpdateOperation.delete_points([*deleted]))
            points = self.cursor.points - len(stored_chunks) + len(now.kept)
            self._write(
                now.kept, EdgeShardCursor(self.cursor.epoch, changes[-1].seq, points)
            )

    def nearest(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return the best chunks in scope; exact cosines, ties by chunk id."""
        query = normalize_vector(query)
        with _native():
            bounds = _filter(scope)
            points = self._candidates(query, bounds, limit) if bounds else []
        if not points:
            return []
        vectors = np.array([vector for _, vector in points], np.float32)
        scores = compute_exact_cosines(query, vectors)
        matches = [
            ScoredChunk(ChunkId(chunk), score)
            for (chunk, _), score in zip(points, scores, strict=True)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.chunk))[:limit]

    def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        with _native():
            points = self._shard.retrieve(list(chunks), False, [_VECTOR])
            vector_by_chunk = {str(point.id): _vector_of(point) for point in points}
        if not vector_by_chunk:
            return [0.0] * len(chunks)
        vectors = np.array(list(vector_by_chunk.values()), np.float32)
        scores = compute_exact_cosines(normalize_vector(query), vectors)
        score_of = dict(zip(vector_by_chunk, scores, strict=True))
        return [score_of.get(chunk, 0.0) for chunk in chunks]

    def close(self) -> None:
        """Put everything on disk and let go of the files."""
        with _native():
            try:
                self._shard.flush()
            finally:
                self._shard.close()

    def _candidates(
        self, query: "NDArray[np.float32]", bounds: "engine.Filter", limit: int
    ) -> list[tuple[str, list[float]]]:
        """Return the best points, and all that score as well as the last of them."""
        nearest = engine.Query.Nearest(query.tolist(), using=_VECTOR)
        count = limit + _MORE
        while True:
            points = self._shard.query(
                engine.QueryRequest(
                    count, query=nearest, filter=bounds, with_vector=[_VECTOR]
                )
            )
            if not all(abs(point.score) < 1.01 for point in points):
                raise ShardCorruption("A cosine is not between -1 and 1.")
            if (
                len(points) < count
                or points[-1].score < points[limit - 1].score - COSINE_TOLERANCE
            ):
                return [(str(point.id), _vector_of(point)) for point in points]
            count *= 2

    def _write(self, changes: Sequence[ChunkChange], cursor: EdgeShardCursor) -> None:
        cursor_payload = {
            "layout": _LAYOUT,
            "dimensions": self._dimensions,
            "epoch": cursor.epoch,
            "seq": cursor.seq,
            "points": cursor.points,
        }
        points = [engine.Point(_CURSOR, {}, cursor_payload)]
        for change in changes:
            payload = {
                "document": change.document,
                "end": change.end,
                "kind": change.kind,
            }
            vector = {} if change.vector is None else {_VECTOR: change.vector.tolist()}
            points.append(engine.Point(change.chunk, vector, payload))
        self._shard.update(engine.UpdateOperation.upsert_points(points))
        self.cursor = cursor


@contextmanager
def _native() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SystemExit, ShardCorruption):
        raise
    except BaseException as error:  # a panic in the engine is no Exception
        raise ShardCorruption(str(error)) from error


def _cursor_of(shard: "engine.EdgeShard", dimensions: int) -> EdgeShardCursor:
    points = shard.retrieve([_CURSOR], True, False)
    payload = (points[0].payload or {}) if points else {}
    if (payload.get("layout"), payload.get("dimensions")) != (_LAYOUT, dimensions):
        raise ShardCorruption("The shard was made by another version.")
    cursor = EdgeShardCursor(payload["epoch"], payload["seq"], payload["points"])
    vectors = engine.Filter(must=[engine.HasVectorCondition(_VECTOR)])
    if shard.count(engine.CountRequest(exact=True, filter=vectors)) != cursor.points:
        raise ShardCorruption("The shard has lost vectors, or kept some too many.")
    return cursor


def _filter(scope: SearchScope) -> "engine.Filter | None":
    """Return `scope` as the engine's filter; None when nothing can be in scope."""
    bounds = build_vector_filter(scope)
    if bounds is None:
        return None
    kinds = _among("kind", bounds.kinds)
    if bounds.everywhere:
        return engine.Filter(must=[kinds])
    anywhere: list[engine.Filter] = []
    if bounds.others:
        anywhere.append(engine.Filter(must_not=[_among("document", bounds.bounded)]))
    if bounds.whole:
        anywhere.append(engine.Filter(must=[_among("document", bounds.whole)]))
    for document, until in bounds.bounded.items():
        inside = engine.FieldCondition("end", range=engine.RangeFloat(lte=float(until)))
        anywhere.append(engine.Filter(must=[_among("document", [document]), inside]))
    return engine.Filter(must=[kinds, engine.Filter(should=[*anywhere])])


def _among(key: str, values: Iterable[str]) -> "engine.FieldCondition":
    return engine.FieldCondition(key, match=engine.MatchAny([*values]))


def _vector_of(
    point: "engine.Record | engine.ScoredPoint",
) -> list[float]:
    """Return the point's one vector: the cursor, which has none, is never asked for."""
    return cast("dict[str, list[float]]", point.vector)[_VECTOR]
