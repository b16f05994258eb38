"""The vectors of a server's reply, if they are what was asked for."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lrwr.core.model.chunks import compute_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UnitVector: TypeAlias = NDArray[np.float32]
    UnitVectors: TypeAlias = list[UnitVector]


class InvalidEmbeddingReply(Exception):
    """A reply that is none. `dimensions` is what it has where that alone is wrong."""

    def __init__(self, dimensions: int | None = None, expected: int = 0) -> None:
        super().__init__("an odd reply")
        self.dimensions = dimensions
        self.expected = expected


def parse_unit_vectors(items: object, texts: int, dimensions: int) -> "UnitVectors":
    """Return one vector of length 1.0 for each text, in order.

    Raises:
        InvalidEmbeddingReply: A vector is missing, twice there, too long, too short, or no number.
    """
    if not isinstance(items, Sequence) or len(items) != texts:
        raise InvalidEmbeddingReply
    rows: dict[int, UnitVector] = {}
    for item in items:
        place = getattr(item, "index", None)
        if not isinstance(place, int) or not 0 <= place < texts or place in rows:
            raise InvalidEmbeddingReply
        rows[place] = _row(getattr(item, "embedding", None), dimensions)
    return [rows[place] for place in range(texts)]


def _row(values: object, dimensions: int) -> "UnitVector":
    if not isinstance(values, list) or not all(_is_number(value) for value in values):
        raise InvalidEmbeddingReply
    if len(values) != dimensions:
        raise (
            InvalidEmbeddingReply(len(values), dimensions)
            if values
            else InvalidEmbeddingReply
        )
    vector = np.array(values, dtype=np.float64)
    largest = float(np.abs(vector).max())
    if not np.isfinite(largest) or largest <= 0:
        raise InvalidEmbeddingReply
    vector /= largest
    return (vector / compute_norm(vector)).astype(np.float32)


def _is_number(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def build_blank_vector(dimensions: int) -> "UnitVector":
    """Return the vector of a text that says nothing; its length is 1.0."""
    return np.full(dimensions, 1 / math.sqrt(dimensions), dtype=np.float32)
