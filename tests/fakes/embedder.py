"""An embedder without a model: it keeps the port, and remembers what it was asked."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import WORD_PATTERN
from lrwr.core.ports.models import EmbeddingRole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lrwr.core.model.chunks import Vectors

DIMENSIONS = 32


def count_words(texts: Sequence[str]) -> list[int]:
    """Count words and marks, a stand-in for tokens."""
    return [len(_tokens(text)) for text in texts]


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    for word in text.split():
        tokens += [word[at : at + 6] for at in range(0, len(word), 6)]
    return tokens


class WordEmbedder:
    """Texts that share words are near.

    `patience` is how many more calls are answered before it fails; None means all.
    """

    def __init__(self, space: str = "words-32", *, patience: int | None = None) -> None:
        self._space = space
        self.patience = patience
        self.asked: list[str] = []

    @property
    def space(self) -> str:
        """Name the embedding space."""
        return self._space

    @property
    def token_states(self) -> None:
        """None: it has no tokens."""

    @property
    def dimensions(self) -> int:
        """Return the length of a vector."""
        return DIMENSIONS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words and marks."""
        return count_words(texts)

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Add up a vector for each word."""
        if self.patience is not None:
            self.patience -= 1
            if self.patience < 0:
                raise ServiceUnavailable("The model is away.", hint="Wake it up.")
        self.asked += texts
        rows = [_vector(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), DIMENSIONS)


def _vector(text: str) -> "NDArray[np.float32]":
    words = [word.lower() for word in WORD_PATTERN.findall(text)] or [""]
    total = np.sum([_of_word(word) for word in words], axis=0)
    return np.asarray(total / np.linalg.norm(total), np.float32)


@cache
def _of_word(word: str) -> "NDArray[np.float64]":
    seed = int.from_bytes(sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=DIMENSIONS)
