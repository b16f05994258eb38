"""Products of vectors that come out the same wherever they are taken.

A library for matrices adds in the order that its processor likes best, and which it
takes depends on the machine and on variables of the shell: the last bit of a sum does,
too. What is kept, or compared with what is kept, is summed here.
"""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dot_product(one: "NDArray[Any]", two: "NDArray[Any]") -> float:
    """Return the dot product of two vectors of one length, summed in 64 bits."""
    return float((one.astype("f8") * two.astype("f8")).sum())


def compute_norm(vector: "NDArray[Any]") -> float:
    """Return how long a vector is (its Euclidean norm), summed in 64 bits."""
    return math.sqrt(dot_product(vector, vector))
