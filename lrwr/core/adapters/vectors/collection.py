"""A collection on a Qdrant server: what is kept in it, and how it is asked.

Nothing of the manuscript is: no text, and of a document's name only a hash that nobody
can guess without this library's `mark`. A point is a chunk's id, its vector, and three
facts that a scope asks about.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from qdrant_client import models

from lrwr.core.adapters.vectors.base import build_vector_filter, compute_net_changes
from lrwr.core.adapters.vectors.numpy_index import (
    COSINE_TOLERANCE,
    compute_exact_cosines,
    normalize_vector,
)
from lrwr.core.adapters.vectors.qdrant_http import (
    CollectionNotFound,
    QdrantCursor,
    QdrantHttpClient,
    build_qdrant_response_error,
)
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_REQUEST_BYTES = 1_000_000
"""Bytes of a request or an answer, about: a slow line takes some seconds for them."""

_LAYOUT = 1
_VECTOR = "text"
_CURSOR = 0
"""The point that says how far the feed was followed; a chunk's id is a UUID."""

_NUMBER = 14
"""Bytes of one number of a vector as JSON, at most: nine digits and what goes along."""

_FACTS = 200
"""Bytes of all else that is said of a point."""

_MORE = 16
"""Points asked for beyond the limit, to see whether others score as well."""

_INDEXED = (("document", "keyword"), ("kind", "keyword"), ("end", "integer"))

Point = TypeVar("Point", "models.Record", "models.ScoredPoint")


class QdrantCollection:
    """One collection. Every method may raise `ServiceUnavailable`.

    Documents are named to it by hashes, made with the `mark` that each call is given.
    """

    def __init__(self, wire: QdrantHttpClient, name: str, dimensions: int) -> None:
        self._wire = wire
        self.name = name
        self._dimensions = dimensions
        self.page = max(1, MAX_REQUEST_BYTES // (dimensions * _NUMBER + _FACTS))

    async def cursor(self) -> QdrantCursor | None:
        """Return how far it has come; None where it is not there, or made otherwise."""
        if not await self._wire.ask(lambda client: client.collection_exists(self.name)):
            return None
        points = await self._wire.ask(
            lambda client: client.retrieve(
                self.name, [_CURSOR], with_payload=True, with_vectors=False
            )
        )
        payload = (points[0].payload or {}) if points else {}
        if (payload.get("layout"), payload.get("dimensions")) != (
            _LAYOUT,
            self._dimensions,
        ):
            return None
        match payload.get("mark"), payload.get("epoch"), payload.get("seq"):
            case str() as mark, str() as epoch, int() as seq:
                return QdrantCursor(mark, epoch, seq)
        return None

    async def make(self, cursor: QdrantCursor) -> None:
        """Make it anew and empty, whatever was there.

        No graph is built: every search compares with all vectors in scope, so that it
        finds what the records hold. Vectors are of length 1.0 and kept as they are.
        """
        await self.forget()
        vector = models.VectorParams(
            size=self._dimensions, distance=models.Distance.DOT
        )
        graph = models.HnswConfigDiff(m=0)
        await self._wire.ask(
            lambda client: client.create_collection(
                self.name, vectors_config={_VECTOR: vector}, hnsw_config=graph
            )
        )
        for key, kind in _INDEXED:
            await self._index(key, models.PayloadSchemaType(kind))
        await self._write((), cursor)

    async def forget(self) -> None:
        """Delete it, with all that is in it. Doing it twice is the same as once."""
        with suppress(CollectionNotFound):
            await self._wire.ask(lambda client: client.delete_collection(self.name))

    async def count(self) -> int:
        """Return how many vectors it holds."""
        vectors = models.Filter(must=[models.HasVectorCondition(has_vector=_VECTOR)])
        counted = await self._wire.ask(
            lambda client: client.count(self.name, count_filter=vectors, exact=True)
        )
        return counted.count

    async def apply(self, changes: Sequence[ChunkChange], cursor: QdrantCursor) -> None:
        """Follow the feed: what is gone, then what is new, and `cursor` with that."""
        now = compute_net_changes(changes)
        if now.gone:
            await self._delete([str(chunk) for chunk in now.gone])
        await self._write(now.kept, cursor)

    async def nearest(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int, mark: str
    ) -> list[ScoredChunk]:
        """Return the best chunks in scope; exact cosines, ties by chunk id."""
        query = normalize_vector(query)
        bounds = _filter(scope, mark)
        if bounds is None:
            return []
        points = await self._candidates(query, bounds, limit)
        matches = [
            ScoredChunk(ChunkId(id_), score)
            for id_, score in self._scored(query, points)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.chunk))[:limit]

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of each chunk, in order; 0.0 where it has no vector."""
        query = normalize_vector(query)
        score_of: dict[str, float] = {}
        chunk_ids = list(dict.fromkeys(str(chunk) for chunk in chunks))
        for start in range(0, len(chunk_ids), self.page):
            some = await self._retrieved(chunk_ids[start : start + self.page])
            score_of |= dict(self._scored(query, some))
        return [score_of.get(chunk, 0.0) for chunk in chunks]

    async def aclose(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._wire.aclose()

    async def _candidates(
        self, query: "NDArray[np.float32]", bounds: models.Filter, limit: int
    ) -> list[models.ScoredPoint]:
        """Return the best points, and all that score as well as the last of them."""
        count = limit + _MORE
        while True:
            scored_points = await self._queried(query.tolist(), bounds, count)
            if (
                len(scored_points) < count
                or scored_points[-1].score
                < scored_points[limit - 1].score - COSINE_TOLERANCE
            ):
                return scored_points
            count *= 2

    async def _queried(
        self, query: list[float], bounds: models.Filter, limit: int
    ) -> list[models.ScoredPoint]:
        answer = await self._wire.ask(
            lambda client: client.query_points(
                self.name,
                query=query,
                using=_VECTOR,
                query_filter=bounds,
                search_params=models.SearchParams(exact=True),
                limit=limit,
                with_payload=False,
                with_vectors=[_VECTOR],
            )
        )
        return answer.points

    async def _retrieved(self, point_ids: list[str]) -> list[models.Record]:
        return await self._wire.ask(
            lambda client: client.retrieve(
                self.name, point_ids, with_payload=False, with_vectors=[_VECTOR]
            )
        )

    async def _index(self, key: str, kind: models.PayloadSchemaType) -> None:
        await self._wire.ask(
            lambda client: client.create_payload_index(
                self.name, field_name=key, field_schema=kind, wait=True
            )
        )

    async def _delete(self, point_ids: list[models.ExtendedPointId]) -> None:
        selector = models.PointIdsList(points=point_ids)
        await self._wire.ask(
            lambda client: client.delete(self.name, points_selector=selector, wait=True)
        )

    async def _write(
        self, changes: Sequence[ChunkChange], cursor: QdrantCursor
    ) -> None:
        payload = {
            "layout": _LAYOUT,
            "dimensions": self._dimensions,
            "mark": cursor.mark,
            "epoch": cursor.epoch,
            "seq": cursor.seq,
        }
        points = [models.PointStruct(id=_CURSOR, vector={}, payload=payload)]
        for change in changes:
            facts = {
                "document": hash_document_id(change.document, cursor.mark),
                "kind": change.kind,
                "end": change.end,
            }
            points.append(
                models.PointStruct(
                    id=change.chunk, vector={_VECTOR: _numbers(change)}, payload=facts
                )
            )
        await self._wire.ask(
            lambda client: client.upsert(self.name, points=points, wait=True)
        )

    def _scored(
        self, query: "NDArray[np.float32]", points: Sequence[Point]
    ) -> list[tuple[str, float]]:
        if not points:
            return []
        vectors = [_vector_of(point) for point in points]
        if any(len(vector) != self._dimensions for vector in vectors):
            raise build_qdrant_response_error("Qdrant")
        scores = compute_exact_cosines(query, np.array(vectors, np.float32))
        return [(str(p.id), score) for p, score in zip(points, scores, strict=True)]


def hash_document_id(document: DocumentId, mark: str) -> str:
    """Return what a server is told instead of a document's name."""
    return sha256(f"{mark}\0{document}".encode()).hexdigest()[:24]


def _numbers(change: ChunkChange) -> list[float]:
    """Return a vector in as few digits as give its very bits again."""
    if change.vector is None:
        return []
    numbers: list[float] = change.vector.astype(str).astype(np.float64).tolist()
    return numbers


def _vector_of(point: models.Record | models.ScoredPoint) -> list[float]:
    """Return the point's one vector; empty where it has none."""
    vectors = point.vector
    vector = vectors.get(_VECTOR) if isinstance(vectors, dict) else None
    return cast("list[float]", vector) if isinstance(vector, list) else []


def _filter(scope: SearchScope, mark: str) -> models.Filter | None:
    """Return `scope` as the server's filter; None when nothing can be in scope."""
    bounds = build_vector_filter(scope)
    if bounds is None:
        return None
    kinds = _among("kind", bounds.kinds)
    if bounds.everywhere:
        return models.Filter(must=[kinds])

    def named(documents: Iterable[DocumentId]) -> models.FieldCondition:
        return _among(
            "document", [hash_document_id(document, mark) for document in documents]
        )

    anywhere: list[models.Condition] = []
    if bounds.others:
        anywhere.append(models.Filter(must_not=[named(bounds.bounded)]))
    if bounds.whole:
        anywhere.append(named(bounds.whole))
    for document, until in bounds.bounded.items():
        inside = models.FieldCondition(key="end", range=models.Range(lte=float(until)))
        anywhere.append(models.Filter(must=[named([document]), inside]))
    return models.Filter(must=[kinds, models.Filter(should=anywhere)])


def _among(key: str, values: Iterable[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=[*values]))
