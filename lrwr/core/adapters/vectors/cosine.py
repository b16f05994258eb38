"""Cosines that do not depend on where a vector is kept."""

from typing import TYPE_CHECKING

from lrwr.core.model.products import length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLACK = 1e-5
"""How far a fast cosine, in 32 bits, may be from the exact one."""


def unit(vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return `vector` with length 1.0; a vector of length 0.0 stays as it is."""
    import numpy as np

    far = length(vector)
    return np.asarray(vector / far if far else vector, np.float32)


def exact_cosines(
    query: "NDArray[np.float32]", vectors: "NDArray[np.float32]"
) -> list[float]:
    """Return the cosine of `query`, of length 1.0, with each row of `vectors`.

    Equal rows get equal cosines: each row is summed by itself, in 64 bits. A fast
    matrix product does not promise that.
    """
    import numpy as np

    products = vectors.astype(np.float64) * query.astype(np.float64)
    cosines: list[float] = np.clip(products.sum(axis=1), -1.0, 1.0).tolist()
    return cosines
