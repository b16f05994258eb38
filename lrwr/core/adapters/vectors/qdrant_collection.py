"""One collection on a Qdrant server: its layout, its points and the queries to it.

The server receives no text, and instead of a document's name a hash that cannot be
guessed without the collection's mark, a random text. A point is a chunk's id, its
vector, and the three fields that a search scope filters by: `document`, `kind` and
`end`.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, cast

import numpy as np
from qdrant_client import models

from lrwr.core.adapters.vectors.base import (
    TIE_MARGIN,
    StoredVectors,
    build_scope_filter,
    compute_net_changes,
    includes_all_ties,
)
from lrwr.core.adapters.vectors.qdrant_http import (
    CollectionNotFound,
    QdrantCursor,
    QdrantHttpClient,
    build_qdrant_response_error,
)
from lrwr.core.model.chunks import ChunkId, SearchScope
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_REQUEST_BYTES = 1_000_000
"""Approximate limit of a request or response; a slow line takes seconds for it."""

_LAYOUT = 1
_VECTOR = "text"
_CURSOR = 0
"""Id of the point that stores the cursor; the ids of chunks are UUIDs."""

_NUMBER_BYTES = 14
"""Bytes of one number of a vector as JSON, at most: nine digits, sign, exponent, comma."""

_PAYLOAD_BYTES = 200
"""Bytes of the id and the fields of a point as JSON, at most."""

_FIELDS = (("document", "keyword"), ("kind", "keyword"), ("end", "integer"))


class QdrantCollection:
    """One collection on a Qdrant server. Every method may raise `ServiceUnavailable`.

    `dimensions` is the length of a vector. The server knows documents by hashes that
    are made with a random text, the collection's mark. `page` is the number of points
    that fit into one request.
    """

    def __init__(self, http: QdrantHttpClient, name: str, dimensions: int) -> None:
        self._http = http
        self.name = name
        self._dimensions = dimensions
        self.page = max(
            1, MAX_REQUEST_BYTES // (dimensions * _NUMBER_BYTES + _PAYLOAD_BYTES)
        )

    async def cursor(self) -> QdrantCursor | None:
        """Return how far the collection follows the library's change feed.

        None if it does not exist, or has another layout or vector length.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        if not await self._http.ask(lambda client: client.collection_exists(self.name)):
            return None
        points = await self._http.ask(
            lambda client: client.retrieve(
                self.name, [_CURSOR], with_payload=True, with_vectors=False
            )
        )
        payload = (points[0].payload or {}) if points else {}
        layout = (payload.get("layout"), payload.get("dimensions"))
        if layout != (_LAYOUT, self._dimensions):
            return None
        match payload.get("mark"), payload.get("epoch"), payload.get("seq"):
            case str() as mark, str() as epoch, int() as seq:
                return QdrantCursor(mark, epoch, seq)
        return None

    async def recreate(self, cursor: QdrantCursor) -> None:
        """Delete the collection if it exists, create it empty, and store `cursor` in
        it.

        It has no HNSW graph: every search compares all vectors in scope, so that it
        returns what an exact search returns. Vectors have length 1.0, so the dot
        product is the cosine, and the server need not normalize them again.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        with suppress(CollectionNotFound):
            await self._http.ask(lambda client: client.delete_collection(self.name))
        vector = models.VectorParams(
            size=self._dimensions, distance=models.Distance.DOT
        )
        await self._http.ask(
            lambda client: client.create_collection(
                self.name,
                vectors_config={_VECTOR: vector},
                hnsw_config=models.HnswConfigDiff(m=0),
            )
        )
        for key, kind in _FIELDS:
            await self._create_index(key, models.PayloadSchemaType(kind))
        await self._write((), cursor)

    async def count(self) -> int:
        """Return the number of vectors in the collection.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        vectors = models.Filter(must=[models.HasVectorCondition(has_vector=_VECTOR)])
        counted = await self._http.ask(
            lambda client: client.count(self.name, count_filter=vectors, exact=True)
        )
        return counted.count

    async def apply(self, changes: Sequence[ChunkChange], cursor: QdrantCursor) -> None:
        """Send the net effect of `changes` to the server, deletions first; then store
        `cursor`.

        `changes` are entries of the change feed, oldest first. After an error some of
        them may be stored.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        upserts, deletions = compute_net_changes(changes)
        if deletions:
            selector = models.PointIdsList(points=[str(chunk) for chunk in deletions])
            await self._http.ask(
                lambda client: client.delete(
                    self.name, points_selector=selector, wait=True
                )
            )
        await self._write(upserts, cursor)

    async def candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int, mark: str
    ) -> StoredVectors:
        """Return the vectors of the `limit` chunks in `scope` nearest to `query`, and
        of all that tie with the last, in any order.

        `mark` is the collection's random text, with which documents are hashed.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        scope_filter = build_scope_filter(
            scope, models.Filter, partial(_among, mark), _at_most
        )
        if scope_filter is None:
            return self._as_stored([])
        requested = limit + TIE_MARGIN
        while True:
            points = await self._query(query.tolist(), scope_filter, requested)
            if includes_all_ties([point.score for point in points], requested, limit):
                return self._as_stored(points)
            requested *= 2

    async def vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        """Return the vectors of those `chunks` that are in the collection, in any
        order.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        points: list[models.Record] = []
        for start in range(0, len(chunks), self.page):
            point_ids = [str(chunk) for chunk in chunks[start : start + self.page]]
            points += await self._retrieve(point_ids)
        return self._as_stored(points)

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._http.aclose()

    async def _query(
        self, query: list[float], scope_filter: models.Filter, limit: int
    ) -> list[models.ScoredPoint]:
        response = await self._http.ask(
            lambda client: client.query_points(
                self.name,
                query=query,
                using=_VECTOR,
                query_filter=scope_filter,
                search_params=models.SearchParams(exact=True),
                limit=limit,
                with_payload=False,
                with_vectors=[_VECTOR],
            )
        )
        return response.points

    async def _retrieve(self, point_ids: list[str]) -> list[models.Record]:
        return await self._http.ask(
            lambda client: client.retrieve(
                self.name, point_ids, with_payload=False, with_vectors=[_VECTOR]
            )
        )

    async def _create_index(self, key: str, kind: models.PayloadSchemaType) -> None:
        await self._http.ask(
            lambda client: client.create_payload_index(
                self.name, field_name=key, field_schema=kind, wait=True
            )
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
            fields = {
                "document": _hash_document_id(change.document, cursor.mark),
                "kind": change.kind,
                "end": change.end,
            }
            numbers = _shortest_decimals(change)
            points.append(
                models.PointStruct(
                    id=change.chunk, vector={_VECTOR: numbers}, payload=fields
                )
            )
        await self._http.ask(
            lambda client: client.upsert(self.name, points=points, wait=True)
        )

    def _as_stored(
        self, points: Sequence[models.Record | models.ScoredPoint]
    ) -> StoredVectors:
        vectors = [_vector_of(point) for point in points]
        if any(len(vector) != self._dimensions for vector in vectors):
            raise build_qdrant_response_error("Qdrant")
        rows = np.array(vectors, np.float32)
        return StoredVectors([str(point.id) for point in points], rows)


def _hash_document_id(document: str, mark: str) -> str:
    """Return what the server receives instead of a document's name."""
    return sha256(f"{mark}\0{document}".encode()).hexdigest()[:24]


def _shortest_decimals(change: ChunkChange) -> list[float]:
    """Return the vector in the fewest digits that restore its 32-bit numbers exactly."""
    if change.vector is None:
        return []
    numbers: list[float] = change.vector.astype(str).astype(np.float64).tolist()
    return numbers


def _vector_of(point: models.Record | models.ScoredPoint) -> list[float]:
    """Return the point's vector; empty if it has none."""
    vectors = point.vector
    vector = vectors.get(_VECTOR) if isinstance(vectors, dict) else None
    return cast("list[float]", vector) if isinstance(vector, list) else []


def _among(mark: str, key: str, values: Iterable[str]) -> models.FieldCondition:
    if key == "document":
        values = [_hash_document_id(document, mark) for document in values]
    return models.FieldCondition(key=key, match=models.MatchAny(any=[*values]))


def _at_most(key: str, bound: int) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=models.Range(lte=float(bound)))
