"""Reranking by the token states that ingestion stores with passages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.rerank.late_interaction import (
    READ_PASSAGES,
    LateInteractionReranker,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import TextHash
from tests.fakes.records import a_chunk

TEXTS = [
    "Mags opened the ledger. The page was much too neat. She shut it again.",
    "At dusk the frog lit the lamp. It smoked. Nobody came over the stones.",
    "Rain fell on the causeway all that night. The bells were silent until dawn.",
    "",
]
CHUNKS = [a_chunk(text) for text in TEXTS]
HASHES = [chunk.text_hash for chunk in CHUNKS]
QUESTION = "Who lit the lamp at dusk?"


class Stored:
    """The stored states by text hash."""

    def __init__(self, states: Mapping[TextHash, bytes]) -> None:
        self.states = states

    async def read(
        self, space: str, texts: Sequence[TextHash]
    ) -> Mapping[TextHash, bytes]:
        """Return what is stored of `texts`."""
        del space
        return {text: self.states[text] for text in texts if text in self.states}


async def frequencies(words: Sequence[str]) -> tuple[Mapping[str, int], int]:
    """Every word is rare but a few."""
    return {word: 900 if word in {"the", "who"} else 3 for word in words}, 1000


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    local = LocalEmbedder(None, threads=2)
    yield local
    local.close()


async def states_of(embedder: LocalEmbedder) -> dict[TextHash, bytes]:
    _, states = await embedder.embed_with_states(CHUNKS)
    return dict(zip(HASHES, states, strict=True))


async def rerank(
    embedder: LocalEmbedder, states: Mapping[TextHash, bytes], question: str = QUESTION
) -> list[float]:
    reranker = LateInteractionReranker(
        embedder, find_sentence_spans, frequencies, Stored(states).read
    )
    return await reranker.rerank(question, TEXTS, HASHES)


async def test_vectors_are_those_of_embedding_alone(embedder: LocalEmbedder) -> None:
    vectors, _ = await embedder.embed_with_states(CHUNKS)
    assert (vectors == await embedder.embed(TEXTS)).all()


async def test_the_passage_with_the_answer_scores_highest(
    embedder: LocalEmbedder,
) -> None:
    states = await states_of(embedder)
    scores = await rerank(embedder, states)
    assert max(range(4), key=scores.__getitem__) == 1
    assert scores[3] == 0.0
    meant = await rerank(embedder, states, "Who kept an account book?")
    assert max(range(4), key=meant.__getitem__) == 0


async def test_the_stored_states_are_used(embedder: LocalEmbedder) -> None:
    states = await states_of(embedder)
    swapped = dict(zip(HASHES, [states[h] for h in HASHES[::-1]], strict=True))
    question = "In the evening a small animal set light to it."
    right = await rerank(embedder, states, question)
    wrong = await rerank(embedder, swapped, question)
    assert right != wrong


async def test_the_model_reads_only_the_best_windows_of_the_first_few(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = await states_of(embedder)
    windows: list[int] = []
    side_by_side = embedder.side_by_side

    def count(work: Any, texts: Any) -> Any:
        windows.append(len(texts))
        return side_by_side(work, texts)

    monkeypatch.setattr(embedder, "side_by_side", count)
    reranker = LateInteractionReranker(
        embedder, find_sentence_spans, frequencies, Stored(states).read
    )
    scores = await reranker.rerank(QUESTION, TEXTS[:2] * 20, HASHES[:2] * 20)
    assert windows == [READ_PASSAGES]
    assert len(scores) == 40
    # A long passage is read where its answer is, and ranked above one without it.
    assert max(range(40), key=scores.__getitem__) % 2 == 1


async def test_without_the_states_of_one_passage_the_model_reads_all(
    embedder: LocalEmbedder,
) -> None:
    states = await states_of(embedder)
    del states[HASHES[2]]
    by_model = LateInteractionReranker(embedder, find_sentence_spans, frequencies)
    assert await rerank(embedder, states) == await by_model.rerank(QUESTION, TEXTS)


@pytest.mark.parametrize("question", ["", "?!", "who", "the " * 900, "灯は？"])
async def test_any_question_is_scored(embedder: LocalEmbedder, question: str) -> None:
    scores = await rerank(embedder, await states_of(embedder), question)
    assert len(scores) == len(TEXTS)
    assert all(-1.0 <= score <= 1.7 for score in scores)


async def test_the_sentence_with_the_answer_is_rated_highest(
    embedder: LocalEmbedder,
) -> None:
    states = await states_of(embedder)
    del states[HASHES[2]]
    reranker = LateInteractionReranker(
        embedder, find_sentence_spans, frequencies, Stored(states).read
    )
    ratings = await reranker.rate_sentences(QUESTION, TEXTS, HASHES)
    assert [len(rated) for rated in ratings] == [3, 3, 0, 0]
    best = max(ratings[1], key=lambda rating: rating.score).span
    assert TEXTS[1][best.start : best.end].strip() == "At dusk the frog lit the lamp."
