"""A Qdrant in memory that outlives who asks it, as a server does.

It is the client's own double of a server. It warns that it needs no payload indexes
and always searches exactly: that is known, and no warning here.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from qdrant_client import AsyncQdrantClient


class LastingClient(AsyncQdrantClient):
    """A client over memory that stays open."""

    async def create_payload_index(self, *args: Any, **how: Any) -> Any:
        """Make an index."""
        with known_differences():
            return await super().create_payload_index(*args, **how)

    async def query_points(self, *args: Any, **how: Any) -> Any:
        """Search."""
        with known_differences():
            return await super().query_points(*args, **how)

    async def close(self, grpc_grace: float | None = None, **_: Any) -> None:
        """Stay."""


@contextmanager
def known_differences() -> Iterator[None]:
    """Let what memory does otherwise than a server pass without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Payload indexes have no effect")
        warnings.filterwarnings("ignore", "Local mode performs exact")
        yield


@cache
def lasting_client(folder: Path) -> AsyncQdrantClient:
    """Return the Qdrant of a test's folder."""
    return LastingClient(":memory:")
