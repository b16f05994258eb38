"""Selects the vector index of a library that stores its vectors on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed
from lrwr.core.model.chunks import Pipeline

if TYPE_CHECKING:
    from lrwr.core.ports.indexes import VectorIndex

EDGE_MIN_CHUNKS = 6_000
"""Chunks from which opening the shard costs less than reading every vector."""


async def open_local_vector_index(
    index: Path,
    feed: SqliteChangeFeed,
    *,
    pipeline: Pipeline,
    space: str,
    dimensions: int,
    chunks: int,
) -> "VectorIndex":
    """Open the index that is cheapest for a library of so many embedded `chunks`.

    `index` is the folder for the shards of large libraries.
    """
    if chunks >= EDGE_MIN_CHUNKS:
        from lrwr.core.adapters.vectors.edge import open_edge_index

        edge = await open_edge_index(
            index, feed, pipeline=pipeline, space=space, dimensions=dimensions
        )
        if edge is not None:
            return edge
    from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex

    return NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
