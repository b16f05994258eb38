"""Which keeper of the vector index port suits a library."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.egress_log import Noting
from lrwr.core.adapters.vectors.collection import Collection
from lrwr.core.adapters.vectors.numpy_index import VectorScan
from lrwr.core.adapters.vectors.qdrant import (
    FollowedCollection,
    QdrantIndex,
    UnaskedQdrant,
    collection_name,
)
from lrwr.core.adapters.vectors.qdrant_http import QDRANT, Connection, Wire
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.record_store import ChangeFeed
from lrwr.core.settings.addresses import address_in, host_of, is_here
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.core.ports.vector_index import VectorIndex

EDGE_FROM = 6_000
"""Chunks from which opening the shard costs less than reading every vector."""


async def open_vectors(
    index: Path,
    feed: ChangeFeed,
    *,
    pipeline: Pipeline,
    space: str,
    dimensions: int,
    chunks: int,
) -> "VectorIndex":
    """Open the index that is cheapest for a library of so many embedded `chunks`.

    `index` is the folder for the shards of large libraries.
    """
    if chunks >= EDGE_FROM:
        from lrwr.core.adapters.vectors.edge import open_edge

        edge = await open_edge(
            index, feed, pipeline=pipeline, space=space, dimensions=dimensions
        )
        if edge is not None:
            return edge
    return VectorScan(feed, pipeline=pipeline, space=space, dimensions=dimensions)


KEY = "QDRANT_API_KEY"


def told_apart(root: Path, library: str) -> str:
    """Return what tells a library from a copy of it in another folder."""
    return f"{root}\0{library}"


def connection_of(settings: Settings, env: Mapping[str, str]) -> Connection | None:
    """Return how the server is asked, None where lrwr keeps vectors itself.

    A key that is there turns nothing on, and a server need not want one.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.vectors.keeper != "qdrant":
        return None
    key = find_key(KEY, env) or ""
    address = address_in(settings, "vectors.url", QDRANT, secret=bool(key))
    own = is_here(host_of(address))
    return Connection(address, key, float(settings.vectors.timeout), own)


def open_qdrant(
    settings: Settings,
    env: Mapping[str, str],
    index: Path,
    feed: ChangeFeed,
    *,
    library: str,
    space: str,
    dimensions: int,
    refused: LrwrError | None,
    noting: Noting,
) -> "VectorIndex":
    """Return the index that the server keeps; nothing is sent or opened yet.

    `library` tells libraries apart; what is known of its collection is in the folder
    `index`. `refused` says why the server may not be asked: this machine compares then.
    What leaves it is noted with `noting`.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
    """
    pipeline = settings.pipeline
    scan = VectorScan(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    try:
        connection = connection_of(settings, env)
    except ServiceUnavailable as error:
        return UnaskedQdrant(error, scan)
    if refused is not None or connection is None:
        return UnaskedQdrant(refused or LrwrError("It is off"), scan)
    wire = Wire(connection, noting=None if connection.own else noting)
    name = collection_name(library, pipeline, space)
    collection = Collection(wire, name, dimensions)
    followed = FollowedCollection(
        collection, index, feed, pipeline=pipeline, space=space
    )
    return QdrantIndex(followed, instead=scan, now=wire.clock.now)
