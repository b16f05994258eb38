"""Texts into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Vectors


class Embedder(Protocol):
    """Nearness of meaning as nearness of vectors."""

    @property
    def space(self) -> str:
        """Name the embedding space; vectors of two spaces are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, in the same order.

        Markers that the model adds at the ends are not counted.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one vector for each text, in the same order, of length 1.0.

        The vector of a text does not depend on the texts beside it.

        Raises:
            ServiceUnavailable: The model could not be loaded or did not answer.
        """
        ...
