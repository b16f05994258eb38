"""What all vector indexes share: the change feed, exact scores, filters and fallback.

The change feed is the library's numbered list of added and deleted chunks.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope, compute_norm
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.stores import ChunkChange

if TYPE_CHECKING:
    from numpy.typing import NDArray

COSINE_TOLERANCE = 1e-5
"""The largest error of a cosine computed in 32 bits, with a margin."""

HALF_TOLERANCE = 2e-3
"""The largest difference of two cosines of vectors and a query of 16-bit numbers from
the exact one: 11 bits are significant, in each of the two.
"""

TIE_MARGIN = 16
"""Points requested beyond the limit, to see whether more points tie with the last."""

Result = TypeVar("Result")
EngineFilter = TypeVar("EngineFilter")


def normalize_vector(vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return `vector` scaled to length 1.0; a vector of length 0.0 is unchanged."""
    norm = compute_norm(vector)
    return np.asarray(vector / norm if norm else vector, np.float32)


def compute_exact_cosines(
    query: "NDArray[np.float32]", vectors: "NDArray[np.float32]"
) -> list[float]:
    """Return the cosine of `query` with each row of `vectors`, from -1.0 to 1.0, in row
    order.

    `query` and the rows have length 1.0. Equal rows get equal cosines: each row is
    summed by itself in 64 bits, which a fast matrix product does not guarantee.
    """
    products = vectors.astype(np.float64) * query.astype(np.float64)
    cosines: list[float] = np.clip(products.sum(axis=1), -1.0, 1.0).tolist()
    return cosines


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Ids of chunks and their vectors: row n of `rows` belongs to the n-th of
    `chunks`.
    """

    chunks: Sequence[str]
    rows: "NDArray[np.float32]"

    def scores(self, query: "NDArray[np.float32]") -> list[float]:
        """Return the exact cosine of `query`, of length 1.0, with each vector, in row
        order.
        """
        return compute_exact_cosines(query, self.rows) if self.chunks else []


@dataclass(frozen=True, slots=True)
class EdgeShardCursor:
    """How far a shard (a local vector index) follows the library's change feed.

    `epoch` is the name of the feed, `seq` the number of the last change applied, and
    `points` the number of vectors in the shard.
    """

    epoch: str
    seq: int
    points: int

    def follows(self, epoch: str, seq: int) -> bool:
        """Return whether all changes of the feed `epoch` up to `seq` are applied."""
        return (self.epoch, self.seq) == (epoch, seq)


class FeedVectorIndex(ABC):
    """Base of `VectorIndex` ports over one store of vectors that follows the change
    feed.

    `feed` lists the library's added and deleted chunks; those of `pipeline` with
    vectors in the embedding space `space` are stored. A subclass says how its store
    applies changes and returns vectors. Scores are computed here, in 64 bits, so that
    every store returns the same results. `limit` is the number of changes applied at
    once.
    """

    def __init__(
        self, feed: SqliteChangeFeed, pipeline: Pipeline, space: str, *, limit: int
    ) -> None:
        self._feed = feed
        self._pipeline = pipeline
        self._space = space
        self._limit = limit
        self._busy = asyncio.Lock()

    @property
    def remark(self) -> str:
        """Always empty, since this index answers completely or raises."""
        return ""

    async def catch_up(self) -> int:
        """Apply the changes of the feed since the last call, and return their number.

        Raises:
            StoreProblem: The library cannot be read.
        """
        async with self._busy:
            return await self._follow(await self._feed.epoch())

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks in `scope` with their cosine to `query`, best
        first.

        Cosines are -1.0 to 1.0. Chunks with equal cosines are ordered by id. Only
        changes that `catch_up` has applied are seen.
        """
        if limit < 1:
            return []
        query = normalize_vector(query)
        candidates = await self._candidates(query, scope, limit)
        matches = [
            ScoredChunk(ChunkId(chunk), score)
            for chunk, score in zip(
                candidates.chunks, candidates.scores(query), strict=True
            )
        ]
        return sorted(matches, key=lambda match: (-match.score, match.chunk))[:limit]

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of `query` to each chunk, in the order of `chunks`.

        Cosines are -1.0 to 1.0; 0.0 for a chunk without a vector.
        """
        stored = await self._vectors_of(list(dict.fromkeys(chunks)))
        scores = stored.scores(normalize_vector(query))
        score_by_chunk = dict(zip(stored.chunks, scores, strict=True))
        return [score_by_chunk.get(chunk, 0.0) for chunk in chunks]

    async def _follow(self, epoch: str) -> int:
        return await self._apply_feed(await self._resume(epoch))

    async def _apply_feed(self, after: int) -> int:
        """Apply every change after the sequence number `after`; return their number."""
        applied = 0
        while page := await self._feed.changes(
            self._pipeline, self._space, after=after, limit=self._limit
        ):
            await self._apply(page)
            after = page[-1].seq
            applied += len(page)
        return applied

    @abstractmethod
    async def _resume(self, epoch: str) -> int:
        """Empty a store of another epoch; return the last change that was applied."""

    @abstractmethod
    async def _apply(self, page: Sequence[ChunkChange]) -> None:
        """Apply changes, oldest first, and remember the last one."""

    @abstractmethod
    async def _candidates(
        self, query: "NDArray[np.float32]", scope: SearchScope, limit: int
    ) -> StoredVectors:
        """Return every chunk in `scope` that may be among the best `limit`."""

    @abstractmethod
    async def _vectors_of(self, chunks: Sequence[ChunkId]) -> StoredVectors:
        """Return the vectors of those `chunks` that have one."""


class FallbackVectorIndex(ABC):
    """Base of `VectorIndex` ports over a store that may fail; then `fallback`
    answers.
    """

    def __init__(self, fallback: VectorIndex) -> None:
        self._fallback = fallback

    async def catch_up(self) -> int:
        """Apply the changes of the library since the last call, and return their
        number.

        Raises:
            StoreProblem: The library cannot be read.
        """
        return await self._ask(lambda index: index.catch_up())

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks in `scope` with their cosine to `query`, best
        first.

        Cosines are -1.0 to 1.0. Chunks with equal cosines are ordered by id.
        """
        return await self._ask(
            lambda index: index.nearest(query, scope=scope, limit=limit)
        )

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine of `query` to each chunk, in the order of `chunks`.

        Cosines are -1.0 to 1.0; 0.0 for a chunk without a vector.
        """
        return await self._ask(lambda index: index.similarities(query, chunks))

    @abstractmethod
    async def _ask(self, ask: Callable[[VectorIndex], Awaitable[Result]]) -> Result:
        """Return the answer of the store, or of `fallback` where the store fails."""


def compute_net_changes(
    changes: Sequence[ChunkChange],
) -> tuple[list[ChunkChange], list[ChunkId]]:
    """Return the last change of each chunk if it has a vector to store, and the ids of
    the chunks to delete.

    `changes` are ordered oldest first. A chunk whose last change has no vector is to be
    deleted; it need not be in the index.
    """
    last = {change.chunk: change for change in changes}
    upserts = [change for change in last.values() if change.vector is not None]
    deletions = [chunk for chunk, change in last.items() if change.vector is None]
    return upserts, deletions


def includes_all_ties(
    scores: Sequence[float],
    requested: int,
    limit: int,
    tolerance: float = COSINE_TOLERANCE,
) -> bool:
    """Return whether an engine's results include all that tie with the result at rank
    `limit`.

    `scores` are those of the engine, best first, that differ from the exact ones by
    less than `tolerance`; `limit` counts from 1. `requested` is how many results the
    engine was asked for; if False is returned, ask for more.
    """
    if len(scores) < requested:
        return True
    return scores[-1] < scores[limit - 1] - tolerance


def build_scope_filter(
    scope: SearchScope,
    make_filter: Callable[..., EngineFilter],
    among: Callable[[str, Iterable[str]], object],
    at_most: Callable[[str, int], object],
) -> EngineFilter | None:
    """Return `scope` as a filter of a Qdrant engine; None if no chunk can be in scope.

    `make_filter` takes `must`, `should` and `must_not`. `among` builds the condition
    that a field has one of some values, `at_most` that a number is not above a limit.
    The fields are `document`, `kind`, and `end`, the offset at which the chunk ends.
    """
    documents = scope.documents
    until: Mapping[str, int] = {
        document: end
        for document, end in scope.until.items()
        if documents is None or document in documents
    }
    unbounded = () if documents is None else sorted(documents - scope.until.keys())
    if not scope.kinds or not (documents is None or unbounded or until):
        return None
    kinds = among("kind", sorted(kind.value for kind in scope.kinds))
    if documents is None and not until:
        return make_filter(must=[kinds])
    allowed = [
        make_filter(must=[among("document", [document]), at_most("end", end)])
        for document, end in until.items()
    ]
    if documents is None:
        allowed.append(make_filter(must_not=[among("document", until)]))
    if unbounded:
        allowed.append(make_filter(must=[among("document", unbounded)]))
    return make_filter(must=[kinds, make_filter(should=allowed)])


def build_shard_name(pipeline: Pipeline, space: str) -> str:
    """Return the name of the folder with the vectors of a pipeline and embedding space.

    Its lock is the file `NAME.lock`. Two embedding spaces never share a name.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", space)
    if plain != space or len(plain) > 80:
        plain = f"{plain[:80]}-{sha256(space.encode()).hexdigest()[:12]}"
    return f"{pipeline.value}-{plain}"
