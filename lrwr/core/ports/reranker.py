"""A second, closer look at candidates."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Reads question and passage together."""

    @property
    def name(self) -> str:
        """Name the reranker; thresholds are kept for each name."""
        ...

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, in the same order; higher is better.

        Scores compare within one call only.

        Raises:
            ServiceUnavailable: The model could not be loaded or did not answer.
        """
        ...
