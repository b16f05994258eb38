"""Searches questions with known answers and prints their ranking signals.

Arguments: a JSON Lines file of questions, and rankings, comma-separated. Works in the
working directory; prints a line of JSON for each question and ranking. Whatever answers
an unanswerable question is hidden from search: its document, or only the passages.
"""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.data import read_lines
from lrwr.app.container import Workspace, open_workspace
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, ScoredChunk, SearchScope
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.indexes import LexicalIndex, VectorIndex
from lrwr.core.ports.models import Embedder
from lrwr.core.retrieval.confidence import FIRST_PASSAGES
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.core.retrieval.story_search import StorySearch
from lrwr.core.settings.loader import load_settings
from lrwr.pipeline.evaluation.questions import AnswerPlace, has_gold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WAYS = ("again", "off", "words")
"""Looked at again; not looked at again; by words alone."""

DEEP = 60
"""How many more are taken where some are hidden."""

Item = Mapping[str, Any]


@dataclass(slots=True)
class Veil:
    """What search must not find.

    It is every chunk of the document `document`; if that is empty, only `chunks`.
    """

    document: str = ""
    chunks: frozenset[ChunkId] = frozenset()

    def bounded(self, scope: SearchScope, order: StoryOrder) -> SearchScope:
        """Return `scope` limited to all documents of `order` but the hidden one.

        If no document is hidden, `scope` is returned unchanged.
        """
        if not self.document:
            return scope
        return replace(scope, documents=frozenset(order.outlines) - {self.document})

    def shown(
        self, scored_chunks: Sequence[ScoredChunk], limit: int
    ) -> list[ScoredChunk]:
        """Return the first `limit` of `scored_chunks` that are not hidden."""
        return [
            scored_chunk
            for scored_chunk in scored_chunks
            if scored_chunk.chunk not in self.chunks
        ][:limit]


@dataclass(frozen=True, slots=True)
class VeiledWords:
    """A lexical index that does not return what `veil` hides.

    `inner` is the index that it searches, `order` has all documents.
    """

    inner: LexicalIndex
    veil: Veil
    order: StoryOrder

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return the best `limit` unhidden chunks that contain any of `words`."""
        scope = self.veil.bounded(scope, self.order)
        found = await self.inner.search_words(
            words, pipeline=pipeline, scope=scope, limit=limit + DEEP
        )
        return self.veil.shown(found, limit)

    async def search_pairs(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return the best `limit` unhidden chunks with two of `words` close by."""
        scope = self.veil.bounded(scope, self.order)
        pairs = await self.inner.search_pairs(
            words, pipeline=pipeline, scope=scope, limit=limit + DEEP
        )
        return self.veil.shown(pairs, limit)

    async def search_phrases(
        self,
        phrases: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return the best `limit` unhidden chunks with any of `phrases`."""
        scope = self.veil.bounded(scope, self.order)
        found = await self.inner.search_phrases(
            phrases, pipeline=pipeline, scope=scope, limit=limit + DEEP
        )
        return self.veil.shown(found, limit)

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Return the number of chunks with each word, by word, and of all chunks.

        Hidden chunks are counted, too.
        """
        return await self.inner.document_frequencies(words, pipeline=pipeline)


@dataclass(frozen=True, slots=True)
class VeiledVectors:
    """A vector index that does not return what `veil` hides.

    `inner` is the index that it searches, `order` has all documents.
    """

    inner: VectorIndex
    veil: Veil
    order: StoryOrder

    @property
    def remark(self) -> str:
        """A sentence if the wrapped index works with restrictions; else empty."""
        return self.inner.remark

    async def catch_up(self) -> int:
        """Update the wrapped index from the database; return the number of changes."""
        return await self.inner.catch_up()

    async def nearest(
        self, query: "NDArray[np.float32]", *, scope: SearchScope, limit: int
    ) -> list[ScoredChunk]:
        """Return the `limit` unhidden chunks nearest to the vector `query`."""
        scope = self.veil.bounded(scope, self.order)
        scored_chunks = await self.inner.nearest(query, scope=scope, limit=limit + DEEP)
        return self.veil.shown(scored_chunks, limit)

    async def similarities(
        self, query: "NDArray[np.float32]", chunks: Sequence[ChunkId]
    ) -> list[float]:
        """Return the cosine similarity of `query` to each chunk, in order."""
        return await self.inner.similarities(query, chunks)

    async def aclose(self) -> None:
        """Do nothing: the wrapped index is used by others."""


@dataclass(frozen=True, slots=True)
class Library:
    """An open library; `veil` is what search must not find for the present question."""

    workspace: Workspace
    order: StoryOrder
    veil: Veil

    def finder(self, way: str) -> PassageFinder:
        """Return a passage finder for one way of ranking.

        `way` is `again` (with reranker), `off` (without) or `words` (without
        embeddings).
        """
        workspace = self.workspace
        embedder: Embedder | None = (
            None if way == "words" else workspace.embedders.configured
        )
        return PassageFinder(
            store=workspace.passages,
            lexical=VeiledWords(
                workspace.retrieval.lexical_index, self.veil, self.order
            ),
            embedder=embedder,
            vectors=self._vectors,
            reranker=workspace.retrieval.reranker if way == "again" else None,
            candidates=workspace.settings.rerank.candidate_count,
            order_patterns=workspace.settings.manuscript.order,
            story=StorySearch(workspace.stories),
        )

    async def _vectors(self) -> VectorIndex | None:
        opened = await self.workspace.retrieval.vector_index.open()
        return opened and VeiledVectors(opened, self.veil, self.order)

    async def draw(self, item: Item) -> None:
        """Hide what answers the question `item`, if it is to be unanswerable.

        Its field `hide` says what: "document" or "passages"; nothing if it is absent.
        """
        hide, gold = item.get("hide", ""), item["gold"]
        self.veil.document = gold[0][0] if hide == "document" else ""
        chunks: set[ChunkId] = set()
        for document, start, end in gold if hide == "passages" else ():
            held = await self.workspace.passages.chunks_of(
                DocumentId(document), self.workspace.settings.pipeline
            )
            chunks |= {c.id for c in held if c.span.start < end and c.span.end > start}
        self.veil.chunks = frozenset(chunks)


async def _main(items: Sequence[Item], ways: Sequence[str]) -> None:
    settings = load_settings(Path.cwd(), {}, {})
    async with open_workspace(settings) as workspace:
        order = await workspace.finder().story_order()
        library = Library(workspace, order, Veil())
        finders = {way: library.finder(way) for way in ways}
        for item in items:
            await library.draw(item)
            for line in await _told(item, finders, order):
                print(json.dumps(line), flush=True)


async def _told(
    item: Item, finders: Mapping[str, PassageFinder], order: StoryOrder
) -> list[dict[str, Any]]:
    request = SearchRequest(item["question"], Pipeline.AGENTIC, FIRST_PASSAGES)
    if item.get("as_of"):
        request = replace(request, horizon=parse_horizon(item["as_of"], order))
    return [
        line
        for way, finder in finders.items()
        for line in _lines(item, way, await finder.find(request, order))
    ]


def _lines(item: Item, way: str, result: SearchResult) -> Iterator[dict[str, Any]]:
    judged = result.judgement
    if judged is None or judged.signals is None:
        return
    gold = [[AnswerPlace(DocumentId(d), Span(s, e))] for d, s, e in item["gold"]]
    answerable = bool(gold) and not item.get("hide") and item.get("answerable", True)
    chunks = [passage.chunk for passage in result.passages[:FIRST_PASSAGES]]
    every = bool(item.get("every"))
    yield {
        "ranking": judged.ranking,
        "way": way,
        "group": item["group"],
        "kind": item["kind"],
        "signals": asdict(judged.signals),
        "found": answerable and has_gold(chunks, gold, every=every),
        "answerable": answerable,
    }


if __name__ == "__main__":
    asyncio.run(_main(read_lines(Path(sys.argv[1])), sys.argv[2].split(",")))
