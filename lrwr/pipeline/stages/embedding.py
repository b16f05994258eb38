"""Embedding what is not embedded yet."""

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import TYPE_CHECKING

from lrwr.core.model.chunks import Chunk, TextHash
from lrwr.core.ports.embedder import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLICE = 16
"""Chunks embedded between two signs of life."""


async def embed_missing(
    chunks: Sequence[Chunk], known: Collection[TextHash], embedder: Embedder
) -> "AsyncGenerator[dict[TextHash, NDArray[np.float32]]]":
    """Yield the vectors of chunks whose text is not `known`, a slice at a time.

    Each text is embedded once, however often it occurs; neighbours in a slice are of
    like length.

    Raises:
        ServiceUnavailable: The embedder did not answer.
    """
    missing = {c.text_hash: c for c in chunks if c.text_hash not in known}
    todo = sorted(missing.values(), key=lambda chunk: chunk.tokens)
    for start in range(0, len(todo), SLICE):
        part = todo[start : start + SLICE]
        vectors = await embedder.embed([chunk.embedded for chunk in part])
        yield {c.text_hash: v for c, v in zip(part, vectors, strict=True)}
