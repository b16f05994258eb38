from collections.abc import Iterator, Mapping, Sequence

import pytest

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.rerank.cohere import CohereConnection, CohereReranker
from lrwr.core.adapters.rerank.late_interaction import LateInteractionReranker
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import TextHash
from lrwr.core.ports.models import Reranker
from tests.fakes.cohere_server import KEY, CohereServer

PASSAGES = [
    "Mags opened the ledger. The page was much too neat.",
    "The frog lit the lamp.",
    "Rain fell on the causeway all that night, and nobody came.",
    "",
    "   ",
    "Rain fell. " * 40 + "At dusk the frog lit the lamp. " + "Rain fell. " * 40,
    "word " * 900,
]

HASHES = [TextHash(str(number)) for number in range(len(PASSAGES))]


@pytest.fixture(params=["late interaction", "cohere"], scope="module")
def reranker(request: pytest.FixtureRequest) -> Iterator[Reranker]:
    if request.param == "cohere":
        with CohereServer() as server:
            where = CohereConnection("rerank-v5.0-fast", server.origin, own=True)
            yield CohereReranker(where, lambda: KEY)
        return
    local = LocalEmbedder(None, threads=2)

    async def frequencies(words: Sequence[str]) -> tuple[Mapping[str, int], int]:
        return {word: 900 if word in {"the", "who"} else 3 for word in words}, 1000

    yield LateInteractionReranker(local, find_sentence_spans, frequencies)
    local.close()


async def test_the_passage_that_says_the_same_scores_highest(
    reranker: Reranker,
) -> None:
    for place in (0, 1, 2):
        scores = await reranker.rerank(PASSAGES[place], PASSAGES)
        assert max(range(len(scores)), key=scores.__getitem__) == place


async def test_a_score_does_not_depend_on_the_order_of_the_passages(
    reranker: Reranker,
) -> None:
    question = "Who lit the lamp?"
    scores = await reranker.rerank(question, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert await reranker.rerank(question, PASSAGES[::-1]) == scores[::-1]
    again = [(await reranker.rerank(question, [p]))[0] for p in PASSAGES]
    assert again == scores


async def test_a_sentence_deep_in_a_long_passage_is_seen(reranker: Reranker) -> None:
    scores = await reranker.rerank("Who lit the lamp at dusk?", PASSAGES)
    assert scores[5] > max(scores[0], scores[2], scores[6])


async def test_no_passages_have_no_scores(reranker: Reranker) -> None:
    assert await reranker.rerank("Who lit the lamp?", []) == []


@pytest.mark.parametrize("question", ["", "?!", "who", "the " * 900, "灯は？"])
async def test_any_question_is_scored(reranker: Reranker, question: str) -> None:
    scores = await reranker.rerank(question, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert all(-1.01 <= score <= 1.01 for score in scores)


async def test_the_reranker_has_a_name(reranker: Reranker) -> None:
    assert reranker.name


async def test_ratings_lie_on_the_sentences_in_their_order(reranker: Reranker) -> None:
    ratings = await reranker.rate_sentences("Who lit the lamp?", PASSAGES, HASHES)
    assert len(ratings) == len(PASSAGES)
    for passage, rated in zip(PASSAGES, ratings, strict=True):
        spans = [rating.span for rating in rated]
        assert spans == sorted(spans, key=lambda span: span.start)
        assert all(0 <= span.start < span.end <= len(passage) for span in spans)
    assert await reranker.rate_sentences("Who lit the lamp?", [], []) == []
