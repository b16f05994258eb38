"""Runs the `lrwr` command line with an embedding model that costs next to nothing.

The vector of a text is the sum of random vectors of its words, so that texts with the
same words are near each other. Arguments are those of `lrwr`.
"""

import re
import sys
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lrwr.cli.main import run
from lrwr.core.adapters.embed.local import LocalEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
WORDS = 8_192
"""Random vectors; words with the same number share one."""

_WORD = re.compile(r"\w+")


def use_free_embedder() -> None:
    """Replace the local embedding model in this process."""
    import numpy as np

    dice = np.random.default_rng(1)
    table = dice.standard_normal((WORDS, DIMENSIONS)).astype(np.float32)

    def embed(self: LocalEmbedder, texts: Sequence[str]) -> "NDArray[np.float32]":
        del self
        rows = []
        for text in texts:
            words = _WORD.findall(text.lower()) or [""]
            total = table[[zlib.crc32(word.encode()) % WORDS for word in words]].sum(0)
            rows.append(total / np.linalg.norm(total))
        return np.array(rows, np.float32)

    LocalEmbedder._embed = embed  # type: ignore[method-assign]
    # Without states of tokens, which only the model can compute.
    LocalEmbedder.token_states = property(lambda _: None)  # type: ignore[assignment]


def main() -> None:
    use_free_embedder()
    sys.argv[0] = "lrwr"
    run()


if __name__ == "__main__":
    main()
