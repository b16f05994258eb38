"""Recipes: how a document becomes knowledge. One signature, chosen by one setting."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lrwr.core.model.chunks import Chunk, Knowledge, Pipeline, TextHash
from lrwr.core.model.documents import Document
from lrwr.core.model.jobs import ChunksEmbedded, JobStage, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import Embedder
from lrwr.pipeline.stages.recursive_splitter import split_recursively
from lrwr.pipeline.stages.windows import CountTokens, embed_missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ReportProgress = Callable[[StageStarted | ChunksEmbedded], Awaitable[None]]
"""Called when a stage begins and when chunks were embedded."""

KnownVectors = Callable[[str, set[TextHash]], Awaitable[set[TextHash]]]
"""Which texts are embedded in a space already."""


@dataclass(frozen=True, slots=True)
class RecipeTools:
    """What a recipe may use; `embedder` is None where search goes by words alone."""

    count: CountTokens
    embedder: Embedder | None
    known: KnownVectors

    @property
    def space(self) -> str:
        """Name the embedding space; empty without an embedder."""
        return self.embedder.space if self.embedder else ""


class Recipe(Protocol):
    """Turns one document into knowledge. Writes nothing of the document."""

    @property
    def pipeline(self) -> Pipeline:
        """Name the collection that the knowledge belongs to."""
        ...

    @property
    def model(self) -> str:
        """Name the language model that is asked; empty where none is."""
        ...

    def name(self, embedder: Embedder | None) -> str:
        """Name everything that the knowledge depends on besides the document."""
        ...

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Return what costs nothing to know: no vectors, and no model is asked."""
        ...

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return what a language model would be asked for a draft's document."""
        ...

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Return the knowledge with every vector that was missing.

        Raises:
            ServiceUnavailable: The embedder did not answer.
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

    @property
    def model(self) -> str:
        """Name nobody."""
        return ""

    def name(self, embedder: Embedder | None) -> str:
        """Name splitter, sizes and embedding space."""
        space = embedder.space if embedder else "words-only"
        return f"recursive-2/{self.size}/{self.overlap}/{space}"

    async def draft(self, document: Document, tools: RecipeTools) -> Knowledge:
        """Split the document."""
        chunks = await asyncio.to_thread(
            split_recursively,
            document,
            tools.count,
            size=self.size,
            overlap=self.overlap,
        )
        return Knowledge(document, self.pipeline, chunks, tools.space, {})

    async def estimate(self, knowledge: Knowledge) -> Usage:
        """Return nothing: no model is asked."""
        del knowledge
        return Usage()

    async def learn(
        self, document: Document, tools: RecipeTools, report: ReportProgress
    ) -> Knowledge:
        """Split the document, and embed the chunks whose text was never embedded."""
        drafted = await self.draft(document, tools)
        vectors = await embed_chunks(document, drafted.chunks, tools, report)
        return Knowledge(
            document, self.pipeline, drafted.chunks, drafted.space, vectors
        )


async def embed_chunks(
    document: Document,
    chunks: Sequence[Chunk],
    tools: RecipeTools,
    report: ReportProgress,
) -> "dict[TextHash, NDArray[np.float32]]":
    """Return the vectors of the chunks whose text has no stored vector.

    Raises:
        ServiceUnavailable: The embedder did not answer.
    """
    if tools.embedder is None:
        return {}
    texts = {chunk.text_hash for chunk in chunks}
    stored_hashes = await tools.known(tools.space, texts)
    await report(StageStarted(document.id, JobStage.EMBED))
    vectors: dict[TextHash, NDArray[np.float32]] = {}
    async with aclosing(embed_missing(chunks, stored_hashes, tools.embedder)) as slices:
        async for part in slices:
            vectors.update(part)
            await report(ChunksEmbedded(len(part)))
    return vectors
