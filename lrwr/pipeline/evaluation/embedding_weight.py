"""Fits how much the embeddings of a model count in search, on the user's questions.

The default weights were fitted for the built-in embedding model. Other models have
other similarities, so that each gets its own factor.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.retrievers import EmbeddingWeight
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.pipeline.evaluation.questions import EvalQuestion, has_gold
from lrwr.pipeline.evaluation.search_measures import locate_gold

FACTORS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Factors of the default weights that are tried."""

LEAST_ANSWERABLE = 20
"""Minimum of answerable questions; fewer say too little about the weight."""

DEPTH = 20
"""Passages among which an answer is looked for."""

_FOLDS = 5


def choose_embedding_weight(
    space: str, ranks: Mapping[float, Sequence[float]]
) -> EmbeddingWeight | None:
    """Return the weight for the embedding `space` that ranks the answers best.

    `ranks` maps each factor to the reciprocal rank of the answer to every question, in
    one order; it includes the factor 1.0. Another factor is chosen only if factors
    fitted on four fifths of the questions rank the answers to the remaining fifth better
    than the default by more than a standard error. None if there are too few questions.
    """
    default = ranks[1.0]
    if len(default) < LEAST_ANSWERABLE:
        return None
    held_out = [0.0] * len(default)
    for fold in range(_FOLDS):
        training = [n for n in range(len(default)) if n % _FOLDS != fold]
        factor = _best_factor(ranks, training)
        for n in range(fold, len(default), _FOLDS):
            held_out[n] = ranks[factor][n]
    gains = [new - old for new, old in zip(held_out, default, strict=True)]
    error = pstdev(gains) / math.sqrt(len(gains))
    factor = _best_factor(ranks, range(len(default)))
    return EmbeddingWeight(
        space=space,
        factor=factor if fmean(gains) > error else 1.0,
        questions=len(default),
        default_mrr=fmean(default),
        mrr=fmean(held_out),
    )


def _best_factor(
    ranks: Mapping[float, Sequence[float]], questions: Sequence[int]
) -> float:
    """Return the factor with the best mean rank; of equals the one nearest to 1.0."""
    return max(
        ranks,
        key=lambda factor: (
            round(fmean(ranks[factor][n] for n in questions), 9),
            -abs(factor - 1.0),
        ),
    )


@dataclass(frozen=True, slots=True)
class RankCollector:
    """Searches one library with different weights of embeddings.

    `finders` maps each factor to a finder that uses it.
    """

    finders: Mapping[float, PassageFinder]
    store: PassageStore
    pipeline: Pipeline
    order: StoryOrder

    async def collect(
        self, questions: Sequence[EvalQuestion], advance: Callable[[int], None]
    ) -> dict[float, list[float]]:
        """Return the reciprocal rank of the answer to each question, by factor.

        It is 0.0 if the first `DEPTH` passages do not hold the answer. Passages are not
        reranked. Unanswerable questions, and those whose gold quote is gone, are left
        out. `advance` is called with 1 after each question.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ranks: dict[float, list[float]] = {factor: [] for factor in self.finders}
        for question in questions:
            try:
                found = await self._search(question) if question.answerable else {}
            except NotFound:
                found = {}
            for factor, rank in found.items():
                ranks[factor].append(rank)
            advance(1)
        return ranks

    async def _search(self, question: EvalQuestion) -> dict[float, float]:
        gold = [await locate_gold(self.store, self.order, g) for g in question.gold]
        request = SearchRequest(question.text, self.pipeline, DEPTH, rerank=False)
        if question.as_of:
            horizon = parse_horizon(question.as_of, self.order)
            request = replace(request, horizon=horizon)
        ranks = {}
        for factor, finder in self.finders.items():
            result = await finder.find(request, self.order)
            chunks = [passage.chunk for passage in result.passages]
            ranks[factor] = next(
                (
                    1 / count
                    for count in range(1, len(chunks) + 1)
                    if has_gold(chunks[:count], gold, every=question.every)
                ),
                0.0,
            )
        return ranks
