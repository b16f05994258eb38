"""Builds the vector index on the configured Qdrant server."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.vectors.collection import QdrantCollection
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.adapters.vectors.qdrant import (
    QdrantCollectionIndex,
    QdrantVectorIndex,
    UnavailableQdrantIndex,
    build_collection_name,
)
from lrwr.core.adapters.vectors.qdrant_http import (
    QDRANT_URL,
    QdrantConnection,
    QdrantHttpClient,
)
from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.ports.record_store import ChangeFeed
from lrwr.core.settings.addresses import is_loopback_host, parse_host, resolve_address
from lrwr.core.settings.keys import find_key
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.core.ports.vector_index import VectorIndex

QDRANT_KEY_VARIABLE = "QDRANT_API_KEY"


def build_library_key(root: Path, library: str) -> str:
    """Return what tells a library from a copy of it in another folder."""
    return f"{root}\0{library}"


def build_qdrant_connection(
    settings: Settings, env: Mapping[str, str]
) -> QdrantConnection | None:
    """Return how the server is asked, None where lrwr keeps vectors itself.

    A key that is there turns nothing on, and a server need not want one.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
        ServiceUnavailable: The keyring is locked.
    """
    if settings.vectors.keeper != "qdrant":
        return None
    key = find_key(QDRANT_KEY_VARIABLE, env) or ""
    address = resolve_address(settings, "vectors.url", QDRANT_URL, secret=bool(key))
    own = is_loopback_host(parse_host(address))
    return QdrantConnection(address, key, float(settings.vectors.timeout), own)


def create_qdrant_index(
    settings: Settings,
    env: Mapping[str, str],
    index: Path,
    feed: ChangeFeed,
    *,
    library: str,
    space: str,
    dimensions: int,
    refused: LrwrError | None,
    noting: EgressLogger,
) -> "VectorIndex":
    """Return the index that the server keeps; nothing is sent or opened yet.

    `library` tells libraries apart; what is known of its collection is in the folder
    `index`. `refused` says why the server may not be asked: this machine compares then.
    What leaves it is noted with `noting`.

    Raises:
        SettingsProblem: The address is none, or leads where it must not.
    """
    pipeline = settings.pipeline
    scan = NumpyVectorIndex(feed, pipeline=pipeline, space=space, dimensions=dimensions)
    try:
        connection = build_qdrant_connection(settings, env)
    except ServiceUnavailable as error:
        return UnavailableQdrantIndex(error, scan)
    if refused is not None or connection is None:
        return UnavailableQdrantIndex(refused or LrwrError("It is off"), scan)
    wire = QdrantHttpClient(connection, noting=None if connection.own else noting)
    name = build_collection_name(library, pipeline, space)
    collection = QdrantCollection(wire, name, dimensions)
    followed = QdrantCollectionIndex(
        collection, index, feed, pipeline=pipeline, space=space
    )
    return QdrantVectorIndex(followed, instead=scan, now=wire.clock.now)
