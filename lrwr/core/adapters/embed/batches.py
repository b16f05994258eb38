"""Which texts go to an embedding server together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_EMBEDDED_TEXT_BYTES = 8_000
"""Bytes of a text that are sent: a token has at least one, and OpenAI's models take
8,192 tokens."""


@dataclass(frozen=True, slots=True)
class EmbeddingBatchLimit:
    """What one request may hold: tokens as they are counted here, and texts.

    Half of what OpenAI takes: its own tokens are somewhat more.
    """

    tokens: int = 100_000
    texts: int = 512


def plan_embedding_batches(
    counts: Sequence[int], budget: EmbeddingBatchLimit
) -> list[list[int]]:
    """Return the places of texts that go together, each once, the shortest first.

    `counts` are their tokens. A batch that is over the budget has one text.
    """
    parts: list[list[int]] = []
    held = 0
    for place in sorted(range(len(counts)), key=lambda n: (counts[n], n)):
        count = max(1, counts[place])
        full = not parts or len(parts[-1]) >= budget.texts
        if full or held + count > budget.tokens:
            parts.append([])
            held = 0
        parts[-1].append(place)
        held += count
    return parts


def truncate_for_embedding(text: str) -> str:
    """Return a text that no model finds too long: its beginning, if need be."""
    encoded = text.encode("utf-8", errors="replace")
    if len(encoded) <= MAX_EMBEDDED_TEXT_BYTES:
        return encoded.decode("utf-8")
    return encoded[:MAX_EMBEDDED_TEXT_BYTES].decode("utf-8", errors="ignore")


def build_blank_vector(dimensions: int) -> "NDArray[np.float32]":
    """Return the vector of a text that says nothing; its length is 1.0."""
    import numpy as np

    return np.full(dimensions, 1 / math.sqrt(dimensions), dtype=np.float32)
