"""Reranking with the token states of the local embedding model.

Each token of the question is matched with the most similar token of the passage. The
score is the mean of these cosines, weighted by how rare the token's word is in the
library: ColBERT's MaxSim (Khattab and Zaharia 2020) with inverse document frequency as
the weight.

Passages of the library have stored token states, so that all can be compared without
running the model on them. To their MaxSim is added what the window of three sentences that fits best
contributes: the share of the question's words, or their meaning if the passages lack
them. The model then reads the best windows of the first few. Of other texts only the
window that shares the most words with the question is run through the model and scored:
whole passages would take ten times as long.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.model.chunks import TextHash
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    extract_content_words,
    normalize_word,
    normalize_words,
    stem_lightly,
)
from lrwr.core.ports.models import SentenceRating

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lrwr.core.adapters.embed.minilm import MiniLM, TokenizedText
    from lrwr.core.adapters.embed.token_states import PassageComparison

WINDOW_SENTENCES = 3
"""Sentences of a passage that are scored."""

COVERAGE_WEIGHT, MEANING_WEIGHT = 0.6, 0.7
"""Weights, beside MaxSim, of the share of the question's words in the best window, and
of the cosine similarity of the best window (decision 031)."""

FULL_COVERAGE, LOW_COVERAGE = 0.6, 0.35
"""Shares of the question's words in the best window of all passages. From the first on,
only the words count, up to the second, only the meaning, and a mixture between."""

READ_PASSAGES = 6
"""Passages of which the model reads the best window, after all were scored from stored
states."""

READ_WEIGHT = 0.7
"""Share of the model's score for these passages; the rest is that from stored states."""

ORDER_WEIGHT, ORDER_DECAY = 0.4, 4.0
"""Weight of the order before reranking in the choice of the passages that are read, and
the place at which half of it is left."""

STATES_SCALE = 0.7
"""Factor that gives scores from stored states the spread of those from the model, for
which confidences are calibrated."""

DocumentFrequencyLookup = Callable[
    [Sequence[str]], Awaitable[tuple[Mapping[str, int], int]]
]
"""Returns how many passages contain each word, and the number of passages."""


StoredStatesReader = Callable[
    [str, Sequence[TextHash]], Awaitable[Mapping[TextHash, bytes]]
]
"""Returns the encoded token states of texts in an embedding space, if any are stored."""


class LateInteractionReranker:
    """The `Reranker` port on this machine.

    `sentences` splits a text into sentences. `frequencies` returns how many passages
    contain each word, and the number of all passages. `read_states` reads stored token
    states; without it, or if one passage has none, the model reads every passage.
    """

    def __init__(
        self,
        embedder: LocalEmbedder,
        sentences: SentenceSplitter,
        frequencies: DocumentFrequencyLookup,
        read_states: StoredStatesReader | None = None,
    ) -> None:
        self._embedder = embedder
        self._sentences = sentences
        self._frequencies = frequencies
        self._read_states = read_states

    @property
    def name(self) -> str:
        """The reranker's name: `late-interaction/` and the name of the embedding
        space.
        """
        return f"late-interaction/{self._embedder.space}"

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        """Return the similarity of each passage to `question`, about 0.0 to 1.0, in the
        order of `passages`, which are best first. `stored` are the hashes of their embedded texts, whose
        stored token states are used.

        Raises:
            ServiceUnavailable: The embedding model cannot be loaded, or failed.
            StoreProblem: The stored states cannot be read.
        """
        if not passages:
            return []
        rarity = await self._weigh_words(question)
        if self._read_states is not None and len(stored) == len(passages):
            contents = await self._read_states(self._embedder.space, stored)
            if all(text_hash in contents for text_hash in stored):
                states = [contents[text_hash] for text_hash in stored]
                return await asyncio.to_thread(
                    self._score_stored, question, passages, states, rarity
                )
        windows = [self._window(passage, rarity, question) for passage in passages]
        return await asyncio.to_thread(self._read_windows, question, windows, rarity)

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Return how similar each sentence of each passage is to `question` (MaxSim), in
        the order of `passages` and of their text. A passage without stored token states
        has no ratings.

        Raises:
            ServiceUnavailable: The embedding model cannot be loaded, or failed.
            StoreProblem: The stored states cannot be read.
        """
        contents: Mapping[TextHash, bytes] = {}
        if passages and self._read_states is not None:
            contents = await self._read_states(self._embedder.space, stored)
        if not contents:
            return [[] for _ in passages]
        rarity = await self._weigh_words(question)
        return await asyncio.to_thread(
            self._rate_stored,
            question,
            [contents.get(hash_) for hash_ in stored],
            rarity,
        )

    def _rate_stored(
        self,
        question: str,
        contents: Sequence[bytes | None],
        rarity: Mapping[str, float],
    ) -> list[list[SentenceRating]]:
        model = self._embedder.loaded()
        states, weights = self._encode_question(question, rarity)
        return [
            model.rate_stored(states, weights, content) if content is not None else []
            for content in contents
        ]

    async def _weigh_words(self, question: str) -> Mapping[str, float]:
        """Return the rarity of each word of `question` in the library."""
        words = list(dict.fromkeys(normalize_words(question)))
        counts, total = await self._frequencies(words)
        return {word: _rarity(counts.get(word, 0), total) for word in words}

    def _window(self, passage: str, rarity: Mapping[str, float], question: str) -> str:
        """Return the sentences of a passage that share the rarest words with the
        question.
        """
        spans = self._sentences(passage)
        if len(spans) <= WINDOW_SENTENCES:
            return passage
        rarity_by_stem = _weigh_stems(question, rarity)
        stems = [_find_stems(passage[s.start : s.end]) for s in spans]
        best = max(
            range(len(spans) - WINDOW_SENTENCES + 1),
            key=lambda n: _shared(stems[n : n + WINDOW_SENTENCES], rarity_by_stem),
        )
        return passage[spans[best].start : spans[best + WINDOW_SENTENCES - 1].end]

    def _score_stored(
        self,
        question: str,
        passages: Sequence[str],
        contents: Sequence[bytes],
        rarity: Mapping[str, float],
    ) -> list[float]:
        model = self._embedder.loaded()
        states, weights = self._encode_question(question, rarity)
        comparisons = model.compare_stored(states, weights, contents, WINDOW_SENTENCES)
        rarity_by_stem = _weigh_stems(question, rarity)
        coverages = [
            _cover_best_window(passage, comparison.ends, rarity_by_stem)
            for passage, comparison in zip(passages, comparisons, strict=True)
        ]
        lacking = (FULL_COVERAGE - max(coverages)) / (FULL_COVERAGE - LOW_COVERAGE)
        meaning_weight = MEANING_WEIGHT * min(1.0, max(0.0, lacking))
        coverage_weight = COVERAGE_WEIGHT * min(1.0, max(0.0, 1 - lacking))
        scores = [
            STATES_SCALE
            * (
                comparison.nearest
                + coverage_weight * coverage
                + meaning_weight * comparison.meaning
            )
            for comparison, coverage in zip(comparisons, coverages, strict=True)
        ]
        chosen = _choose_passages_to_read(scores)
        cut = {n: _cut_best_window(passages[n], comparisons[n]) for n in chosen}
        windows = {n: window for n, window in cut.items() if window}
        read = self._score_windows(states, weights, list(windows.values()))
        return _blend_read_scores(scores, dict(zip(windows, read, strict=True)))

    def _read_windows(
        self, question: str, windows: Sequence[str], rarity: Mapping[str, float]
    ) -> list[float]:
        states, weights = self._encode_question(question, rarity)
        return self._score_windows(states, weights, windows)

    def _encode_question(
        self, question: str, rarity: Mapping[str, float]
    ) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
        """Return the states of the question's tokens, and the weight of each token."""
        model = self._embedder.loaded()
        (tokens,) = model.tokens([question])
        weights = _token_weights(model, question, tokens, rarity)
        return model.unit_states(tokens), weights

    def _score_windows(
        self,
        states: "NDArray[np.float32]",
        weights: "NDArray[np.float32]",
        windows: Sequence[str],
    ) -> list[float]:
        """Return the MaxSim of each window, which the model reads, with the question of
        these token `states`.
        """
        model = self._embedder.loaded()
        best = self._embedder.side_by_side(
            lambda tokens: (states @ model.unit_states(tokens).T).max(axis=1),
            model.tokens(windows),
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


def _weigh_stems(question: str, rarity: Mapping[str, float]) -> dict[str, float]:
    return {stem_lightly(w): rarity[w] for w in extract_content_words(question)}


def _find_stems(text: str) -> set[str]:
    return {_stem(word) for word in WORD_PATTERN.findall(text)}


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return stem_lightly(normalize_word(word))


def _cover_best_window(
    passage: str, ends: Sequence[int], rarity_by_stem: Mapping[str, float]
) -> float:
    """Return the greatest share of the question's weight, 0.0 to 1.0, in
    `WINDOW_SENTENCES` sentences of a passage; `ends` are the ends of its sentences.
    """
    total = sum(rarity_by_stem.values())
    if not ends or total <= 0:
        return 0.0
    edges = [0, *ends[:-1], len(passage)]
    stems = [
        _find_stems(passage[start:end]) & rarity_by_stem.keys()
        for start, end in pairwise(edges)
    ]
    shared = (
        _shared(stems[n : n + WINDOW_SENTENCES], rarity_by_stem)
        for n in range(max(1, len(stems) - WINDOW_SENTENCES + 1))
    )
    return max(shared) / total


def _choose_passages_to_read(scores: Sequence[float]) -> list[int]:
    """Return the indices of the passages that the model reads, best first: those with
    the best blend of `scores` and the order in which they came.
    """
    low, high = min(scores), max(scores)
    blended = [
        (1 - ORDER_WEIGHT) * (score - low) / max(high - low, 1e-9)
        + ORDER_WEIGHT * ORDER_DECAY / (ORDER_DECAY + n)
        for n, score in enumerate(scores)
    ]
    return sorted(range(len(scores)), key=lambda n: -blended[n])[:READ_PASSAGES]


def _cut_best_window(passage: str, comparison: "PassageComparison") -> str:
    ends = comparison.ends
    last = comparison.window + WINDOW_SENTENCES
    start = ends[comparison.window - 1] if comparison.window else 0
    return passage[start : ends[last - 1] if last < len(ends) else None].strip()


def _blend_read_scores(
    scores: Sequence[float], read: Mapping[int, float]
) -> list[float]:
    """Return `scores` with those of the passages in `read` mixed with the model's.

    The model's scores are moved to the mean of the others for the same passages, so
    that passages which it did not read keep their places beside them.
    """
    offset = sum(scores[n] - score for n, score in read.items()) / max(1, len(read))
    return [
        (1 - READ_WEIGHT) * score + READ_WEIGHT * (read[n] + offset)
        if n in read
        else score
        for n, score in enumerate(scores)
    ]


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
