"""Every keeper of the vector index port, opened over one library."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

from lrwr.core.adapters.vectors.edge import open_edge_index
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.qdrant import QdrantCollectionIndex, QdrantVectorIndex
from lrwr.core.adapters.vectors.qdrant_collection import QdrantCollection
from lrwr.core.adapters.vectors.qdrant_http import QdrantConnection, QdrantHttpClient
from lrwr.core.model.choices import Pipeline
from lrwr.core.ports.indexes import VectorIndex
from tests.fakes.libraries import Library
from tests.fakes.qdrant_memory import lasting_client
from tests.fakes.qdrant_server import lasting_server
from tests.fakes.records import DIMENSIONS, SPACE

ABOUT = (Pipeline.NAIVE, SPACE, DIMENSIONS)


@asynccontextmanager
async def opened(
    kind: str, library: Library, folder: Path
) -> AsyncIterator[VectorIndex]:
    """Open an index that must answer by itself, without what stands in for it.

    `kind` is scan, edge, qdrant (the client's own double) or server (over HTTP).
    """
    pipeline, space, dimensions = ABOUT
    scan = NumpyVectorIndex(
        library.feed, pipeline=pipeline, space=space, dimensions=dimensions
    )
    if kind == "scan":
        async with aclosing(scan):
            yield scan
    elif kind == "edge":
        edge = await open_edge_index(
            folder / "index",
            library.feed,
            pipeline=pipeline,
            space=space,
            dimensions=dimensions,
        )
        assert edge is not None
        async with aclosing(edge):
            yield edge
        assert not edge.uses_fallback
    else:
        wire = QdrantHttpClient(
            QdrantConnection(), connect=partial(lasting_client, folder)
        )
        if kind == "server":
            wire = QdrantHttpClient(QdrantConnection(lasting_server(folder).url))
        async with aclosing(over_qdrant(wire, folder, library, scan)) as qdrant:
            yield qdrant
            assert qdrant.remark == ""


def over_qdrant(
    wire: QdrantHttpClient, folder: Path, library: Library, scan: NumpyVectorIndex
) -> QdrantVectorIndex:
    """An index over what `wire` leads to, which outlives it."""
    pipeline, space, dimensions = ABOUT
    collection = QdrantCollection(wire, "lrwr-test", dimensions)
    followed = QdrantCollectionIndex(
        collection, folder / "index", library.feed, pipeline=pipeline, space=space
    )
    return QdrantVectorIndex(followed, fallback=scan, now=lambda: 0.0)
