"""Lexical and dense retrievers, fusion of their scores, weights of a question's words,
and excerpts.
"""

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId, ScoredChunk, SearchScope
from lrwr.core.model.text import (
    SentenceSplitter,
    contains_stem,
    stem_lightly,
)
from lrwr.core.ports.indexes import LexicalIndex, VectorIndex
from lrwr.core.ports.models import Embedder, Reranker
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.query_words import (
    expand_query,
    extract_adjacent_words,
    extract_quoted_phrases,
    extract_search_words,
    find_substitutes,
    hide_names,
)
from lrwr.core.retrieval.story import StoryOrder

RETRIEVER_POOL_SIZE = 100
"""Chunks taken from each retriever before fusion."""

LEXICAL_WEIGHT = 0.6
PAIRS_WEIGHT = 0.2
PHRASES_WEIGHT = 0.25
DENSE_WEIGHT = 0.2
"""Weights of the retrievers in the fused score, measured in decisions 003 and 030.

The share of embeddings is small because whole chunks embed worse than short windows.
"""

RERANK_WEIGHT = 0.6
"""Share of the reranker's score in the order of its candidates; the rest is the hybrid
score. Measured in decision 003."""

MAX_RERANKED_NOTES_SHARE = 0.25
"""Share of the reranked passages that may be notes."""

QUOTED_WEIGHT = 1.0
"""Weight of the words that a question puts in quotation marks: a passage that contains
them outranks passages that match otherwise."""

PHRASE_BONUS = 100.0
"""Score of a quoted phrase in a passage: more than all other scores together, so that
passages without the phrase never precede those with it."""

NEIGHBOUR_WEIGHT = 0.15
"""Share of an adjacent passage's score that a passage gets: a question often takes its
words from around the answer (decision 030)."""

RELATED_WEIGHT = 0.5
"""Weight of a related word ("wed" for "married") beside a word of the question itself."""

FULL_COVERAGE, LOW_COVERAGE = 0.85, 0.45
LOW_COVERAGE_DENSE_WEIGHT = 1.3
"""The weight of embeddings grows as the best passages lack words of the question.

At `FULL_COVERAGE` of the question's word weight or more it is `DENSE_WEIGHT`, at
`LOW_COVERAGE` or less `LOW_COVERAGE_DENSE_WEIGHT`, and linear between. Questions in the
words of the text have a coverage of about 0.9, a writer's paraphrases of about 0.6
(decision 030).
"""

VectorIndexOpener = Callable[[], Awaitable[VectorIndex | None]]
"""Opens the vector index, the same one on every call; None if nothing is embedded."""

FILTERED_POOL_SIZE = 100_000
"""Chunks taken from each retriever if filters are set, which may leave few of them."""

NOTES_POOL_SIZE = 300
"""Chunks taken from each retriever if the library has notes. A name in a question may
fill the first `RETRIEVER_POOL_SIZE` with notes about that character."""


def scale_by_maximum(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Divide `scores` by the best one; negative scores become 0.0.

    All are 0.0 if none is positive.
    """
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: max(0.0, score) / best for chunk, score in scores.items()}


def scale_min_max(scores: Mapping[ChunkId, float]) -> dict[ChunkId, float]:
    """Scale scores linearly from 0.0 (worst) to 1.0 (best).

    All are 0.0 if they are equal.
    """
    low = min(scores.values(), default=0.0)
    width = max(scores.values(), default=0.0) - low
    if width <= 0:
        return dict.fromkeys(scores, 0.0)
    return {chunk: (score - low) / width for chunk, score in scores.items()}


def fuse_weighted_scores(
    parts: Sequence[tuple[float, Mapping[ChunkId, float]]],
) -> dict[ChunkId, float]:
    """Return for each chunk the weighted sum of its scores in all `parts`.

    A part is a weight and a score for each chunk; a missing score counts as 0.0.
    """
    total: dict[ChunkId, float] = {}
    for weight, scores in parts:
        for chunk, score in scores.items():
            total[chunk] = total.get(chunk, 0.0) + weight * score
    return total


def select_rerank_candidates(
    text: Sequence[Chunk],
    notes: Sequence[Chunk],
    scores: Mapping[ChunkId, float],
    count: int,
) -> list[Chunk]:
    """Return the `count` chunks to rerank: text, and the notes among the best of both,
    of which at most `MAX_RERANKED_NOTES_SHARE` are notes.
    """
    best = sorted((*text, *notes), key=lambda chunk: (-scores[chunk.id], chunk.id))
    best_notes = [chunk for chunk in best[:count] if chunk in notes]
    kept_notes = best_notes[: int(count * MAX_RERANKED_NOTES_SHARE)]
    return [*text[: count - len(kept_notes)], *kept_notes]


async def rerank_chunks(
    question: str,
    candidates: Sequence[Chunk],
    scores: Mapping[ChunkId, float],
    reranker: Reranker,
) -> tuple[dict[ChunkId, float], Mapping[ChunkId, float]]:
    """Return new scores in which all `candidates` precede the other chunks of `scores`,
    and the reranker's own scores.

    Raises:
        ServiceUnavailable: The reranker did not answer.
    """
    values = await reranker.rerank(
        question,
        [chunk.text for chunk in candidates],
        [chunk.text_hash for chunk in candidates],
    )
    ids = [chunk.id for chunk in candidates]
    reranker_scores = dict(zip(ids, values, strict=True))
    blended = fuse_weighted_scores(
        [
            (RERANK_WEIGHT, scale_min_max(reranker_scores)),
            (1 - RERANK_WEIGHT, scale_min_max({id_: scores[id_] for id_ in ids})),
        ]
    )
    # Blended scores are 0.0 to 1.0. Adding 1.0 ranks all reranked candidates above
    # the other chunks, whose lower hybrid scores do not reach 1.0.
    final = dict(scores) | {id_: 1.0 + score for id_, score in blended.items()}
    return final, reranker_scores


def rank_chunks(scores: Mapping[ChunkId, float]) -> list[ScoredChunk]:
    """Sort chunks by descending score; ties by id, so that results are reproducible."""
    pairs = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ScoredChunk(chunk, score) for chunk, score in pairs]


@dataclass(frozen=True, slots=True)
class HybridScores:
    """The scores of chunks from each retriever, before scaling.

    `words` are BM25 scores of single words, related words included; `pairs` of pairs of
    nearby words; `phrases` of two adjacent words of the question; `quoted` of words
    that the question puts in quotation marks. `meaning` are cosine similarities of
    embeddings, -1.0 to 1.0. A mapping is empty if its retriever did not run.
    """

    words: Mapping[ChunkId, float] = field(default_factory=dict)
    pairs: Mapping[ChunkId, float] = field(default_factory=dict)
    phrases: Mapping[ChunkId, float] = field(default_factory=dict)
    quoted: Mapping[ChunkId, float] = field(default_factory=dict)
    meaning: Mapping[ChunkId, float] = field(default_factory=dict)

    def fused(self, dense_weight: float = DENSE_WEIGHT) -> dict[ChunkId, float]:
        """Return for each chunk the weighted sum of its scaled scores, 0.0 or more.

        `dense_weight` is the weight of the embeddings.
        """
        return fuse_weighted_scores(
            [
                (LEXICAL_WEIGHT, scale_by_maximum(self.words)),
                (PAIRS_WEIGHT, scale_by_maximum(self.pairs)),
                (PHRASES_WEIGHT, scale_by_maximum(self.phrases)),
                (QUOTED_WEIGHT, scale_by_maximum(self.quoted)),
                (dense_weight, scale_by_maximum(self.meaning)),
            ]
        )


def choose_pool_size(order: StoryOrder, allowed: Collection[ChunkId] | None) -> int:
    """Return the number of chunks to take from each retriever by words."""
    if allowed is not None:
        return FILTERED_POOL_SIZE
    has_notes = len(order.outlines) > len(order.story)
    return NOTES_POOL_SIZE if has_notes else RETRIEVER_POOL_SIZE


def add_phrase_bonus(
    scores: Mapping[ChunkId, float], phrases: Mapping[ChunkId, int]
) -> dict[ChunkId, float]:
    """Return `scores` plus `PHRASE_BONUS` for each quoted phrase in a chunk.

    `phrases` is the number of different phrases in each chunk that has one.
    """
    return {c: score + PHRASE_BONUS * phrases.get(c, 0) for c, score in scores.items()}


def add_neighbour_scores(
    scores: Mapping[ChunkId, float], chunks: Sequence[Chunk]
) -> dict[ChunkId, float]:
    """Return `scores` in which each of `chunks` has `NEIGHBOUR_WEIGHT` of the score of
    the better of its neighbours added.

    Neighbours are the chunks before and after it in its document, if among `chunks`.
    """
    by_position = {(c.document, c.ordinal): scores.get(c.id, 0.0) for c in chunks}
    added = {
        chunk.id: NEIGHBOUR_WEIGHT
        * max(
            by_position.get((chunk.document, chunk.ordinal + step), 0.0)
            for step in (-1, 1)
        )
        for chunk in chunks
    }
    return fuse_weighted_scores([(1.0, scores), (1.0, added)])


@dataclass(frozen=True, slots=True)
class EmbeddingWeight:
    """How much the embeddings of one model count in search, fitted on questions.

    `factor` multiplies the default weights, which were fitted for the built-in model.
    `space` names the embedding space, `questions` is the number of answerable questions
    it was fitted on. `default_mrr` and `mrr` are the mean reciprocal ranks of the answers
    with the default weights and with factors fitted on other questions.
    """

    space: str
    factor: float
    questions: int
    default_mrr: float
    mrr: float


def compute_dense_weight(coverage: float, factor: float = 1.0) -> float:
    """Return the weight of embeddings for a question of which the best passage covers
    `coverage`, the share of its word weight, 0.0 to 1.0.

    `factor` is that of the embedding model, 1.0 for the built-in one.
    """
    lacking = (FULL_COVERAGE - coverage) / (FULL_COVERAGE - LOW_COVERAGE)
    share = min(1.0, max(0.0, lacking))
    weight = DENSE_WEIGHT + share * (LOW_COVERAGE_DENSE_WEIGHT - DENSE_WEIGHT)
    return factor * weight


@dataclass(frozen=True, slots=True)
class HybridRetriever:
    """Scores the chunks of one library by words and by embedding. Read-only.

    `vectors` opens the vector index. If `embedder` is None, only words count.
    `dense_factors` maps embedding spaces to factors of the weight of embeddings.
    """

    lexical: LexicalIndex
    embedder: Embedder | None
    vectors: VectorIndexOpener
    dense_factors: Mapping[str, float] = field(default_factory=dict)

    @property
    def dense_factor(self) -> float:
        """The factor of the weight of embeddings; 1.0 if none was fitted."""
        if not self.dense_factors or self.embedder is None:
            return 1.0
        return self.dense_factors.get(self.embedder.space, 1.0)

    async def score_by_words(
        self,
        question: str,
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> HybridScores:
        """Return the scores of chunks for the words of `question`; `meaning` is empty.

        Each mapping has the `limit` best chunks of `pipeline` within `scope` at most. A
        pair is two of the words within about a sentence of each other, in either order.

        Raises:
            StoreProblem: The library cannot be read.
        """
        words = extract_search_words(question)
        searches = (
            (self.lexical.search_words, words),
            (self.lexical.search_words, expand_query(question)),
            (self.lexical.search_pairs, words),
            (self.lexical.search_phrases, extract_adjacent_words(question)),
            (self.lexical.search_phrases, extract_quoted_phrases(question)),
        )
        single, related, pairs, phrases, quoted = [
            {
                scored.chunk: scored.score
                for scored in await search(
                    terms, pipeline=pipeline, scope=scope, limit=limit
                )
            }
            for search, terms in searches
        ]
        merged = fuse_weighted_scores([(1.0, single), (RELATED_WEIGHT, related)])
        return HybridScores(merged, pairs, phrases, quoted)

    async def score_by_embedding(
        self, question: str, *, scope: SearchScope, others: Collection[ChunkId]
    ) -> dict[ChunkId, float]:
        """Return the cosine similarity to `question` of the `RETRIEVER_POOL_SIZE`
        nearest chunks within `scope`, and of all chunks in `others`.

        Names in the question are hidden, because search by words finds them better.
        Empty without an embedding model or vector index.

        Raises:
            ServiceUnavailable: The embedding model did not answer or cannot be loaded.
            StoreProblem: The library cannot be read.
        """
        vectors = await self.vectors() if self.embedder is not None else None
        if vectors is None or self.embedder is None:
            return {}
        query = (await self.embedder.embed([hide_names(question)], "query"))[0]
        await vectors.catch_up()
        scored_chunks = await vectors.nearest(
            query, scope=scope, limit=RETRIEVER_POOL_SIZE
        )
        scores = {scored.chunk: scored.score for scored in scored_chunks}
        rest = sorted(set(others) - scores.keys())
        values = await vectors.similarities(query, rest)
        return scores | dict(zip(rest, values, strict=True))

    async def fuse_by_coverage(
        self,
        hybrid: HybridScores,
        words: "WordWeights",
        store: PassageStore,
        pipeline: Pipeline,
        candidates: int,
    ) -> dict[ChunkId, float]:
        """Return the fused scores, in which embeddings weigh more if the best passages
        lack `words` of the question, and passages of pipeline b gain by their
        neighbours.

        `candidates` is the number of best passages whose words are compared.

        Raises:
            StoreProblem: The library cannot be read.
        """
        least = compute_dense_weight(1.0, self.dense_factor)
        best = rank_chunks(hybrid.fused(least))[:RETRIEVER_POOL_SIZE]
        chunks = await store.chunks([scored.chunk for scored in best])
        covered = (words.coverage(chunk.text) for chunk in chunks[:candidates])
        coverage = max(covered, default=0.0)
        scores = hybrid.fused(compute_dense_weight(coverage, self.dense_factor))
        if pipeline is Pipeline.NAIVE:
            return scores
        return add_neighbour_scores(scores, chunks)

    async def describe_index_problem(self) -> str:
        """Return a sentence that says what is wrong with the vector index; empty if
        nothing is, or if it is not used.
        """
        vectors = await self.vectors() if self.embedder is not None else None
        return vectors.remark if vectors is not None else ""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The words of a question with weights that add up to 1.0; a rare word weighs more.

    The weight of a word is its inverse document frequency, scaled. Words that occur
    nowhere weigh as much as the rarest possible one.
    """

    weights: Mapping[str, float]

    @classmethod
    def of(
        cls, words: Sequence[str], counts: Mapping[str, int], total: int
    ) -> "WordWeights":
        """Return weights for `words` that add up to 1.0: the rarer a word, the heavier.

        A weight is the word's smoothed inverse document frequency, scaled. `counts`
        maps words to the number of chunks that contain them, of `total` in all; a
        missing word occurs in none and gets the largest weight.
        """
        # Smoothed inverse document frequency: 0.5 keeps words that occur nowhere
        # finite, and 1 keeps the weight of words that occur everywhere positive.
        raw = {w: math.log(1 + total / (counts.get(w, 0) + 0.5)) for w in words}
        total_weight = sum(raw.values()) or 1.0
        return cls({word: value / total_weight for word, value in raw.items()})

    def coverage(self, text: str) -> float:
        """Return the total weight, 0.0 to 1.0, of the words that `text` contains in any
        inflected form.
        """
        lowered = text.lower()
        covered_weights = (
            weight
            for word, weight in self.weights.items()
            if contains_stem(text, lowered, stem_lightly(word))
        )
        return min(1.0, sum(covered_weights))

    def coverage_by_related(self, text: str) -> float:
        """Return the total weight, 0.0 to 1.0, of the words that `text` contains, or a
        related word of: "lodge" by "lodgings".
        """
        lowered = text.lower()
        covered_weights = (
            weight
            for word, weight in self.weights.items()
            if contains_stem(text, lowered, stem_lightly(word))
            or find_substitutes(word, [text])
        )
        return min(1.0, sum(covered_weights))


def select_excerpt(
    text: str, words: WordWeights, sentences: SentenceSplitter, *, limit: int
) -> tuple[int, int]:
    """Return the start and end offset of the consecutive sentences of `text` that cover
    most weight of `words`.

    The excerpt has at most `limit` characters, unless its only sentence is longer. A
    text that fits is returned as a whole. Of equally good excerpts the earliest is
    returned.
    """
    spans = sentences(text)
    if len(text) <= limit or not spans:
        return 0, len(text)
    best, best_cover = (spans[0].start, spans[0].end), -1.0
    for first in range(len(spans)):
        last = first
        while last + 1 < len(spans) and (
            spans[last + 1].end - spans[first].start <= limit
        ):
            last += 1
        start, end = spans[first].start, spans[last].end
        cover = words.coverage(text[start:end])
        # The tolerance makes sums that differ only by rounding count as equal, so that
        # the earliest excerpt wins.
        if cover > best_cover + 1e-9:
            best, best_cover = (start, end), cover
        if last == len(spans) - 1:
            break
    return best
