"""Recipes: how a document becomes knowledge. One signature, chosen by one setting."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.chunks import Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import Document
from lrwr.core.model.events import Embedded, Working
from lrwr.core.model.jobs import Stage
from lrwr.core.ports.embedder import Embedder
from lrwr.pipeline.stages.embed import embed_missing
from lrwr.pipeline.stages.recursive import CountTokens, split_recursively

Report = Callable[[Working | Embedded], Awaitable[None]]
"""Called when a stage begins and when chunks were embedded."""

KnownVectors = Callable[[str, set[TextHash]], Awaitable[set[TextHash]]]
"""Which texts are embedded in a space already."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a recipe may use; `embedder` is None where search goes by words alone."""

    count: CountTokens
    embedder: Embedder | None
    known: KnownVectors


class Recipe(Protocol):
    """Turns one document into knowledge. Writes nothing."""

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection that the knowledge belongs to."""
        ...

    def name(self, embedder: Embedder | None) -> str:
        """Name everything that the knowledge depends on besides the document."""
        ...

    async def draft(self, document: Document, tools: Tools) -> Knowledge:
        """Return the knowledge without new vectors: what costs nothing to know."""
        ...

    async def complete(
        self, knowledge: Knowledge, tools: Tools, report: Report
    ) -> Knowledge:
        """Return the knowledge with every vector that was missing.

        Raises:
            ServiceUnavailable: A model did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class NaiveRecipe:
    """Pipeline A: split by size, embed, nothing more; no model is asked anything."""

    size: int
    overlap: int

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection."""
        return Pipeline.NAIVE

    def name(self, embedder: Embedder | None) -> str:
        """Name splitter, sizes and embedding space."""
        space = embedder.space if embedder else "words-only"
        return f"recursive-2/{self.size}/{self.overlap}/{space}"

    async def draft(self, document: Document, tools: Tools) -> Knowledge:
        """Split the document."""
        chunks = await asyncio.to_thread(
            split_recursively,
            document,
            tools.count,
            size=self.size,
            overlap=self.overlap,
        )
        space = tools.embedder.space if tools.embedder else ""
        return Knowledge(document, self.pipeline, chunks, space, {})

    async def complete(
        self, knowledge: Knowledge, tools: Tools, report: Report
    ) -> Knowledge:
        """Embed the chunks whose text was never embedded."""
        if tools.embedder is None:
            return knowledge
        texts = {chunk.text_hash for chunk in knowledge.chunks}
        known = await tools.known(knowledge.space, texts)
        await report(Working(knowledge.document.id, Stage.EMBED))
        vectors = {}
        slices = embed_missing(knowledge.chunks, known, tools.embedder)
        async with aclosing(slices) as open_:
            async for part in open_:
                vectors.update(part)
                await report(Embedded(len(part)))
        return Knowledge(
            knowledge.document,
            knowledge.pipeline,
            knowledge.chunks,
            knowledge.space,
            vectors,
        )
