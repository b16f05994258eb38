"""Search in one library: indexes, embedding models, reranker and passage finder."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.egress import ExternalAccess
from lrwr.core.adapters.embed.local import Embedders
from lrwr.core.adapters.embed.profile import SHIPPED_SPACE
from lrwr.core.adapters.rerank.late_interaction import LateInteractionReranker
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex
from lrwr.core.adapters.storage.sqlite.passage_store import (
    SqliteChangeFeed,
    SqliteTokenStates,
)
from lrwr.core.canon.model import Canon
from lrwr.core.model.choices import Pipeline
from lrwr.core.retrieval.confidence import (
    SHIPPED_CALIBRATIONS,
    CalibrationTable,
    get_calibration_path,
    index_calibrations,
    load_calibrations,
    load_embedding_weights,
)
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story_search import StorySearch

if TYPE_CHECKING:
    from lrwr.app.ranker import PricedRanker
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.ports.indexes import LexicalIndex, VectorIndex
    from lrwr.core.ports.models import Embedder, Reranker
    from lrwr.core.ports.stores import AnalysisStore, PassageStore
    from lrwr.core.ports.story_stores import StoryStore

EDGE_MIN_CHUNKS = 6_000
"""From this many chunks, opening a shard is faster than reading every vector."""


@dataclass(frozen=True, slots=True)
class IndexedRecords:
    """The stored data that a search reads: text, facts and decisions.

    `load_canon` reads the user's decisions from their file at each call. `open_replies`
    opens the cache of language models' replies; None if no language model may rerank.
    """

    database: "SqliteDatabase"
    passages: "PassageStore"
    stories: "StoryStore"
    load_canon: Callable[[], Canon]
    open_replies: "Callable[[], AnalysisStore] | None" = None


class LazyVectorIndex:
    """The vector index of one pipeline, opened on first use and closed by `stack`.

    `stays_open`, to be set before the first use, says whether the files of a large
    library's index stay open between searches. A process that searches once takes less
    memory without them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        passages: "PassageStore",
        embedder: "Embedder | None",
        egress: ExternalAccess,
        stack: AsyncExitStack,
    ) -> None:
        self._pipeline = pipeline
        self._passages = passages
        self._embedder = embedder
        self._egress = egress
        self._stack = stack
        self.stays_open = True
        self._opening = asyncio.Lock()
        self._index: VectorIndex | None = None

    async def open(self) -> "VectorIndex | None":
        """Open the index at the first call, and return it at every call.

        None if embeddings are off or the pipeline has no vectors yet.

        Raises:
            SettingsProblem: The address of the Qdrant server is not allowed.
        """
        async with self._opening:
            if self._index is None and self._embedder is not None:
                self._index = await self._open(self._embedder)
                if self._index is not None:
                    self._stack.push_async_callback(self._index.aclose)
            return self._index

    async def _open(self, embedder: "Embedder") -> "VectorIndex | None":
        counts = await self._passages.counts(self._pipeline)
        embedded = counts.spaces.get(embedder.space, 0)
        if not embedded:
            return None
        egress = self._egress
        settings, library = egress.settings, egress.library
        feed = SqliteChangeFeed(egress.database)
        if settings.vectors.keeper != "qdrant":
            return await open_local_vector_index(
                library.index_dir,
                feed,
                pipeline=self._pipeline,
                space=embedder.space,
                dimensions=embedder.dimensions,
                chunks=embedded,
                stays_open=self.stays_open,
            )
        from lrwr.core.adapters.vectors import qdrant, qdrant_http

        return qdrant.create_qdrant_index(
            replace(settings, pipeline=self._pipeline),
            os.environ,
            library.index_dir,
            feed,
            library=qdrant_http.build_library_key(library.root, await feed.library()),
            space=embedder.space,
            dimensions=embedder.dimensions,
            refused=egress.consent_refusal("qdrant"),
            request_logger=egress.request_logger,
        )


async def open_local_vector_index(
    index: Path,
    feed: SqliteChangeFeed,
    *,
    pipeline: Pipeline,
    space: str,
    dimensions: int,
    chunks: int,
    stays_open: bool = True,
) -> "VectorIndex":
    """Open the fastest index on this machine for `chunks` embedded chunks.

    `index` is the folder for the files of a large library's index (Qdrant Edge). While
    another process holds these, this one searches in memory, as for a small library.
    `feed` lists changed vectors; `space` names the embedding model of the vectors,
    which have `dimensions` numbers each. Unless the files of Qdrant Edge `stays_open`,
    they are closed after each search.
    """
    if chunks >= EDGE_MIN_CHUNKS:
        from lrwr.core.adapters.vectors.edge import open_edge_index

        edge = await open_edge_index(
            index,
            feed,
            pipeline=pipeline,
            space=space,
            dimensions=dimensions,
            stays_open=stays_open,
        )
        if edge is not None:
            return edge
    from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex

    return NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)


class RetrievalComponents:
    """What search in one library uses, built on first use and closed by `stack`.

    `say` receives a notice if the calibration file cannot be used.
    """

    def __init__(
        self,
        records: IndexedRecords,
        embedders: Embedders,
        egress: ExternalAccess,
        stack: AsyncExitStack,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = egress.settings
        self.records = records
        self.embedders = embedders
        self._egress = egress
        self._stack = stack
        self._say = say
        self.ranker: PricedRanker | None = None

    def finder(
        self,
        *,
        may_ask: bool = False,
        dense_factors: Mapping[str, float] | None = None,
    ) -> PassageFinder:
        """Return the service that finds passages of the configured pipeline.

        With `may_ask`, the language model reranks if `rerank.model` says so; `ranker`
        is set then. `dense_factors` maps embedding spaces to factors of the weight of
        embeddings; None are those of the library.

        Raises:
            SettingsProblem: `model.prices` is invalid; only with `may_ask`.
        """
        replies = self.records.open_replies
        create: Callable[..., PassageFinder] = PassageFinder
        if may_ask and replies is not None and self.settings.rerank.model == "model":
            from lrwr.app.ranker import ModelRankedFinder, PricedRanker

            if self.ranker is None:
                self.ranker = PricedRanker(self._egress, replies())
            create = partial(ModelRankedFinder, self.ranker)
        return create(
            store=self.records.passages,
            lexical=self.lexical_index,
            embedder=self.embedders.configured,
            vectors=self.vector_index.open,
            reranker=self.reranker,
            candidates=self.settings.rerank.candidate_count,
            order_patterns=self.settings.manuscript.order,
            canon=self.records.load_canon,
            story=StorySearch(self.records.stories),
            calibrations=self.calibrations(),
            dense_factors=(
                self.dense_factors() if dense_factors is None else dense_factors
            ),
        )

    def find_other_space(self) -> str:
        """Return the embedding space of the configured model; empty for the built-in
        model and without embeddings.

        Raises:
            ServiceUnavailable: The embedding model cannot be loaded.
        """
        embedder = self.embedders.configured
        if embedder is None or embedder.space == SHIPPED_SPACE:
            return ""
        return embedder.space

    def dense_factors(self) -> dict[str, float]:
        """Return the fitted factors of the weight of embeddings, by embedding space."""
        path = get_calibration_path(self._egress.library)
        return {weight.space: weight.factor for weight in load_embedding_weights(path)}

    def calibrations(self) -> CalibrationTable:
        """Return the calibrations, which turn search scores into confidences.

        Keys are pairs of a ranking's id and a pipeline. The library's own calibrations
        replace those that were shipped with lrwr.
        """
        fitted, problem = load_calibrations(get_calibration_path(self._egress.library))
        if problem and self._say is not None:
            self._say(problem)
        return {**SHIPPED_CALIBRATIONS, **index_calibrations(fitted)}

    @cached_property
    def lexical_index(self) -> "LexicalIndex":
        """The full-text index, which ranks passages by the words of a question."""
        return SqliteLexicalIndex(self.records.database)

    @cached_property
    def vector_index(self) -> LazyVectorIndex:
        """The vector index of the configured pipeline."""
        return self.open_vector_index(self.settings.pipeline)

    def open_vector_index(self, pipeline: Pipeline) -> LazyVectorIndex:
        """Return the vector index of `pipeline`, which opens on first use."""
        return LazyVectorIndex(
            pipeline,
            self.records.passages,
            self.embedders.configured,
            self._egress,
            self._stack,
        )

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The configured reranker, at Cohere or on this machine.

        None if it is off, or needs embeddings that are off.
        """
        return self._egress.hosted_reranker() or self.local_reranker

    @cached_property
    def local_reranker(self) -> "Reranker | None":
        """The reranker on this machine, which also ranks sentences that answers quote.

        None if reranking or embeddings are off.
        """
        return self.create_local_reranker(self.settings.pipeline)

    def create_local_reranker(self, pipeline: Pipeline) -> "Reranker | None":
        """Return a reranker on this machine, with the word frequencies of `pipeline`.

        None if reranking or embeddings are off.
        """
        settings = self.settings
        if settings.rerank.model == "off" or settings.embedding.model == "off":
            return None
        frequencies = partial(
            self.lexical_index.document_frequencies, pipeline=pipeline
        )
        return LateInteractionReranker(
            self.embedders.local,
            find_sentence_spans,
            frequencies,
            SqliteTokenStates(self.records.database).read
            if self.embedders.has_token_states
            else None,
        )
