"""Reranking with the token states of the local embedding model.

Each token of the question is matched with the most similar token of the passage. The
score is the mean of these cosines, weighted by how rare the token's word is in the
library: ColBERT's MaxSim (Khattab and Zaharia 2020) with inverse document frequency as
the weight. Only the window of three sentences of a passage that shares the most with
the question is scored: whole passages would take ten times as long.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    extract_content_words,
    normalize_word,
    stem_lightly,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.adapters.embed.minilm import MiniLM, TokenizedText

WINDOW_SENTENCES = 3
"""Sentences of a passage that are scored."""

DocumentFrequencyLookup = Callable[
    [Sequence[str]], Awaitable[tuple[Mapping[str, int], int]]
]
"""Returns how many passages contain each word, and the number of passages."""


class LateInteractionReranker:
    """The `Reranker` port on this machine.

    `sentences` splits a text into sentences. `frequencies` returns how many passages
    contain each word, and the number of all passages.
    """

    def __init__(
        self,
        embedder: LocalEmbedder,
        sentences: SentenceSplitter,
        frequencies: DocumentFrequencyLookup,
    ) -> None:
        self._embedder = embedder
        self._sentences = sentences
        self._frequencies = frequencies

    @property
    def name(self) -> str:
        """The reranker's name: `late-interaction/` and the name of the embedding
        space.
        """
        return f"late-interaction/{self._embedder.space}"

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the similarity of each passage to `question`, about 0.0 to 1.0, in the
        order of `passages`.

        Raises:
            ServiceUnavailable: The embedding model cannot be loaded, or failed.
        """
        if not passages:
            return []
        words = list(
            dict.fromkeys(normalize_word(w) for w in WORD_PATTERN.findall(question))
        )
        counts, total = await self._frequencies(words)
        rarity = {word: _rarity(counts.get(word, 0), total) for word in words}
        windows = [self._window(passage, rarity, question) for passage in passages]
        return await asyncio.to_thread(self._scores, question, windows, rarity)

    def _window(self, passage: str, rarity: Mapping[str, float], question: str) -> str:
        """Return the sentences of a passage that share the rarest words with the
        question.
        """
        spans = self._sentences(passage)
        if len(spans) <= WINDOW_SENTENCES:
            return passage
        rarity_by_stem = {
            stem_lightly(w): rarity[w] for w in extract_content_words(question)
        }
        stems = [
            {
                stem_lightly(normalize_word(w))
                for w in WORD_PATTERN.findall(passage[s.start : s.end])
            }
            for s in spans
        ]
        best = max(
            range(len(spans) - WINDOW_SENTENCES + 1),
            key=lambda n: _shared(stems[n : n + WINDOW_SENTENCES], rarity_by_stem),
        )
        return passage[spans[best].start : spans[best + WINDOW_SENTENCES - 1].end]

    def _scores(
        self, question: str, windows: Sequence[str], rarity: Mapping[str, float]
    ) -> list[float]:
        model = self._embedder.loaded()
        question_tokens, *window_tokens = model.tokens([question, *windows])
        weights = _token_weights(model, question, question_tokens, rarity)
        states = model.unit_states(question_tokens)
        best = self._embedder.side_by_side(
            lambda tokens: (states @ model.unit_states(tokens).T).max(axis=1),
            window_tokens,
        )
        return [float(nearest @ weights) for nearest in best]


def _rarity(count: int, total: int) -> float:
    # Inverse document frequency, smoothed so that an unknown word has a finite weight.
    return max(0.0, math.log((total + 1) / (count + 0.5)))


def _shared(window: Sequence[set[str]], rarity_by_stem: Mapping[str, float]) -> float:
    window_stems = set().union(*window)
    return sum(
        weight for stem, weight in rarity_by_stem.items() if stem in window_stems
    )


def _token_weights(
    model: "MiniLM", question: str, tokens: "TokenizedText", rarity: Mapping[str, float]
) -> "NDArray[np.float32]":
    inner = tokens.offsets[1:-1]
    weights = [0.0] * max(1, len(inner))
    for word in WORD_PATTERN.finditer(question):
        for n, (start, end) in enumerate(inner):
            if word.start() <= start and end <= word.end():
                weights[n] = rarity[normalize_word(word.group())]
    return model.normalize_weights(weights)
