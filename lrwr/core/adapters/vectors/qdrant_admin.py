"""Which collections on a Qdrant server are a library's, and taking them away."""

from contextlib import suppress

from lrwr.core.adapters.vectors.qdrant_http import CollectionNotFound, QdrantHttpClient
from lrwr.core.model.chunks import Pipeline


def is_lrwr_collection(name: str) -> bool:
    """Say whether lrwr gives such names to collections, of whichever library."""
    return any(name.startswith(f"lrwr-{pipeline.value}-") for pipeline in Pipeline)


async def list_lrwr_collections(wire: QdrantHttpClient) -> list[str]:
    """Return the collections on the server that lrwr made, sorted.

    Raises:
        ServiceUnavailable: The server did not answer, or does not let this key see.
    """
    listed = await wire.ask(lambda client: client.get_collections())
    names = (one.name for one in listed.collections)
    return sorted(name for name in names if is_lrwr_collection(name))


async def fetch_collection_mark(wire: QdrantHttpClient, name: str) -> tuple[str, str]:
    """Return the mark that a collection bears, and its library's name; empty: none.

    Raises:
        ServiceUnavailable: The server did not answer.
    """
    with suppress(CollectionNotFound):
        points = await wire.ask(
            lambda client: client.retrieve(
                name, [0], with_payload=True, with_vectors=False
            )
        )
        said = (points[0].payload or {}) if points else {}
        match said.get("mark"), said.get("epoch"):
            case str() as mark, str() as epoch:
                return mark, epoch.rpartition(".")[0]
    return "", ""


async def delete_collection(wire: QdrantHttpClient, name: str) -> bool:
    """Delete a collection; False when it was not there.

    Raises:
        ServiceUnavailable: The server did not do it.
    """
    if not await wire.ask(lambda client: client.collection_exists(name)):
        return False
    with suppress(CollectionNotFound):
        await wire.ask(lambda client: client.delete_collection(name))
    return True
