"""Finding passages by their words."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.search import ScoredChunk, SearchScope


class LexicalIndex(Protocol):
    """Words to passages, ranked by BM25; always as fresh as the records."""

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks that hold any of `words`, best first.

        Words match by their stem, whatever their case and accents. Scores are BM25,
        0 or more; equal scores are ordered by chunk id.
        """
        ...

    async def search_pairs(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Return at most `limit` chunks where two of `words` stand close together.

        Best first: a pair counts as a term of its own, the more the rarer it is.
        Close means within a sentence or so; the order of the two does not matter.
        """
        ...

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Return in how many chunks each word occurs, and how many chunks there are."""
        ...
