"""Finding passages: by words and by meaning, fused, then looked at once more."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    ChunkKind,
    Passage,
    Pipeline,
    SearchScope,
)
from lrwr.core.model.documents import DocumentType, Horizon
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.text import extract_content_words
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.models import Embedder, Reranker
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.confidence import (
    FIRST_PASSAGES,
    SHIPPED_CALIBRATIONS,
    CalibrationTable,
    RankingInputs,
    SearchConfidence,
    assess_search_confidence,
    build_ranking_id,
)
from lrwr.core.retrieval.people import ScopedCast, build_unscoped_cast
from lrwr.core.retrieval.retrievers import (
    RETRIEVER_POOL_SIZE,
    HybridRetriever,
    HybridScores,
    VectorIndexOpener,
    fuse_weighted_scores,
    rank_chunks,
    scale_min_max,
)
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_passage,
    build_search_scope,
    build_story_order,
    is_within_scope,
)
from lrwr.core.retrieval.story_search import (
    SearchFilters,
    StorySearch,
    score_chunks_by_people,
)

FILTERED_POOL_SIZE = 100_000
"""Chunks taken where the writer's own filters will leave few of them."""

RERANK_WEIGHT = 0.6
"""The share of the reranker's word in the order of its candidates; the rest is what
they came with."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for, and how.

    `types` empty means every type of document. `notes` lets the author's comments be
    found too. `names` lets the people of the question count, `boosts` what kind of
    passage it asks for; both only in pipeline b, and neither shuts anything out.
    """

    question: str
    pipeline: Pipeline
    limit: int
    lexical: bool = True
    dense: bool = True
    rerank: bool = True
    types: frozenset[DocumentType] = frozenset()
    horizon: Horizon | None = None
    notes: bool = False
    filters: SearchFilters = field(default_factory=SearchFilters)
    names: bool = True
    boosts: bool = True


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages, best first, and what the writer should know about the search.

    `unknown` are words of the question that no passage in the search's bounds holds.
    `remarks` are sentences on what was left out or did not work. `facts` are what is
    known of the story besides, best first, within the same bounds.

    `judgement` says how far the first of them can be trusted to hold the answer; None
    where a search went one way alone or among what filters left.
    """

    passages: tuple[Passage, ...]
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    facts: tuple[DocumentFact, ...] = ()
    judgement: SearchConfidence | None = None

    @property
    def confidence(self) -> float | None:
        """How likely the first passages are to hold the answer, 0.0 to 1.0.

        None where it was not evaluated.
        """
        return self.judgement.confidence if self.judgement else None

    @property
    def low_confidence(self) -> bool | None:
        """Whether that is too little; None where it was not evaluated."""
        return self.judgement.low if self.judgement else None


@dataclass(slots=True)
class _SearchContext:
    """One search under way: `seen` are the people known where it ends.

    `story` is None where nobody is asked for. `remarks` grow on the way; `ways` and
    `closer` are what the ways of searching and the reranker gave, once they did.
    """

    request: SearchRequest
    order: StoryOrder
    scope: SearchScope
    story: StorySearch | None = None
    seen: ScopedCast = field(default_factory=lambda: build_unscoped_cast(Cast()))
    remarks: list[str] = field(default_factory=list)
    ways: HybridScores = field(default_factory=lambda: HybridScores({}, {}, {}))
    closer: Mapping[ChunkId, float] = field(default_factory=dict)


class PassageFinder:
    """Searches one library. Reads only; several searches may run at once.

    `embedder` is None where search goes by words alone. `vectors` opens the index, at
    the first search that needs it; it returns None when nothing is embedded.
    `order_patterns` is the setting `[manuscript] order`. `canon` reads the writer's
    decisions, anew for each story order; none by default. `story` knows who is in
    pipeline b's passages; None where only pipeline a is searched. `calibrations` say
    what is known of how far a search can be trusted.
    """

    def __init__(
        self,
        *,
        store: PassageStore,
        lexical: LexicalIndex,
        embedder: Embedder | None,
        vectors: VectorIndexOpener,
        reranker: Reranker | None,
        candidates: int,
        order_patterns: Sequence[str],
        canon: Callable[[], Canon] = Canon,
        story: StorySearch | None = None,
        calibrations: CalibrationTable = SHIPPED_CALIBRATIONS,
    ) -> None:
        self._store, self._lexical = store, lexical
        self._ways = HybridRetriever(lexical, embedder, vectors)
        self._reranker, self._candidates = reranker, candidates
        self._calibrations, self._patterns = calibrations, order_patterns
        self._canon, self._story = canon, story

    async def story_order(self) -> StoryOrder:
        """Return the library's documents in story order, as the writer decided it.

        Raises:
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        return build_story_order(await self._store.outlines(), self._patterns, canon)

    async def find(
        self, request: SearchRequest, order: StoryOrder | None = None
    ) -> SearchResult:
        """Return the passages that fit best.

        `order` saves reading it again when many questions are asked at once. A part
        of the search that does not answer is left out, and a remark says so.

        Raises:
            StoreProblem: The library cannot be read.
        """
        context = await self._quest(request, order or await self.story_order())
        scores, of_people = await self._scores(context)
        best = rank_chunks(scores)[: max(request.limit, self._candidates)]
        stored = await self._store.chunks([scored.chunk for scored in best])
        outlines = context.order.outlines
        chunks = [chunk for chunk in stored if chunk.document in outlines]  # none newer
        final = {chunk.id: scores[chunk.id] for chunk in chunks}
        if request.rerank and not of_people and len(chunks) > 1:
            final = await self._reranked(context, chunks, final)
        by_id = {chunk.id: chunk for chunk in chunks}
        passages = [
            build_passage(by_id[scored.chunk], context.order, scored.score)
            for scored in rank_chunks(final)
        ]
        counts, total = await self._lexical.document_frequencies(
            extract_content_words(request.question), pipeline=request.pipeline
        )
        return SearchResult(
            passages=tuple(passages[: request.limit]),
            unknown=await self._ways.unknown(
                counts, pipeline=request.pipeline, scope=context.scope
            ),
            remarks=tuple(context.remarks),
            facts=await self._facts(context),
            judgement=self._judged(
                context,
                RankingInputs(
                    question=request.question,
                    first=[passage.chunk for passage in passages[:FIRST_PASSAGES]],
                    last_scores=context.closer or scores,
                    first_scores=scores,
                    ways=context.ways,
                    counts=counts,
                    total=total,
                ),
                of_people=of_people,
            ),
        )

    async def _quest(self, request: SearchRequest, order: StoryOrder) -> _SearchContext:
        kinds = {ChunkKind.PROSE, *([ChunkKind.NOTE] if request.notes else [])}
        scope = build_search_scope(
            order, types=request.types, horizon=request.horizon, kinds=kinds
        )
        context = _SearchContext(request, order, scope)
        if self._story is not None and request.pipeline is Pipeline.AGENTIC:
            context.story = self._story
            context.seen = await self._story.seen(_told(request, order))
        return context

    async def _scores(
        self, context: _SearchContext
    ) -> tuple[dict[ChunkId, float], bool]:
        """Return the chunks' scores, and whether they are by the people asked for."""
        allowed = await self._allowed(context)
        scores = await self._first_scores(context, allowed)
        people: Mapping[ChunkId, float] = {}
        if context.story is not None and context.request.names:
            people = await self._people(context, context.story, scores)
        if context.story is not None and context.request.boosts:
            boosts = await context.story.boosts(context.request.question, scores)
            scores |= {chunk: scores[chunk] * boost for chunk, boost in boosts.items()}
        scores = fuse_weighted_scores([(1.0, scores), (1.0, people)])
        if allowed is not None:
            scores = {chunk: s for chunk, s in scores.items() if chunk in allowed}
        return scores, bool(people)

    async def _allowed(self, context: _SearchContext) -> frozenset[ChunkId] | None:
        """Return the chunks in scope that pass the filters; None without filters."""
        if context.story is None or not context.request.filters:
            return None
        chunk_ids = await context.story.allowed(context.request.filters, context.seen)
        scope = context.scope
        return frozenset(
            chunk.id
            for chunk in await self._store.chunks(sorted(chunk_ids))
            if chunk.kind in scope.kinds
            and is_within_scope(chunk.document, chunk.span, scope)
        )

    async def _people(
        self,
        context: _SearchContext,
        story: StorySearch,
        scores: Mapping[ChunkId, float],
    ) -> dict[ChunkId, float]:
        """Score chunks by the people of a question about who says what."""

        async def holding(word: str) -> list[Chunk]:
            words = await self._lexical.search_words(
                [word],
                pipeline=context.request.pipeline,
                scope=context.scope,
                limit=RETRIEVER_POOL_SIZE,
            )
            return await self._store.chunks([scored.chunk for scored in words])

        speech_question = await story.asked(
            context.request.question, context.seen, holding
        )
        if not speech_question.people:
            return {}
        counts = await self._store.counts(context.request.pipeline)
        chunks = await self._store.chunks(sorted(scores))
        return score_chunks_by_people(
            speech_question,
            context.scope,
            context.order,
            chunks,
            total=counts.chunks,
        )

    async def _facts(self, context: _SearchContext) -> tuple[DocumentFact, ...]:
        if context.story is None:
            return ()
        question, names = context.request.question, context.request.names
        return await context.story.facts(question, context.scope, names=names)

    async def _first_scores(
        self, context: _SearchContext, allowed: Collection[ChunkId] | None
    ) -> dict[ChunkId, float]:
        request = context.request
        words: dict[ChunkId, float] = {}
        pairs: dict[ChunkId, float] = {}
        meaning: dict[ChunkId, float] = {}
        if request.lexical:
            words, pairs = await self._ways.by_words(
                extract_content_words(request.question),
                pipeline=request.pipeline,
                scope=context.scope,
                limit=RETRIEVER_POOL_SIZE if allowed is None else FILTERED_POOL_SIZE,
            )
        if request.dense:
            others = {*words, *(allowed or ())}
            meaning = await self._by_meaning(context, others)
        context.ways = HybridScores(words, pairs, meaning)
        return context.ways.fused()

    async def _by_meaning(
        self, context: _SearchContext, others: Collection[ChunkId]
    ) -> dict[ChunkId, float]:
        try:
            scores = await self._ways.by_meaning(
                context.request.question,
                scope=context.scope,
                others=others,
            )
        except ServiceUnavailable as error:
            context.remarks.append(f"Searched by words alone. {error.full_text}")
            return {}
        if remark := await self._ways.remark():
            context.remarks.append(remark)
        return scores

    async def _reranked(
        self,
        context: _SearchContext,
        chunks: Sequence[Chunk],
        scores: Mapping[ChunkId, float],
    ) -> dict[ChunkId, float]:
        """Put the candidates in a new order, ahead of what was not looked at."""
        if self._reranker is None:
            return dict(scores)
        candidates = chunks[: self._candidates]
        try:
            texts = [chunk.text for chunk in candidates]
            closer = await self._reranker.rerank(context.request.question, texts)
        except ServiceUnavailable as error:
            context.remarks.append(f"Not looked at a second time. {error.full_text}")
            return dict(scores)
        ids = [chunk.id for chunk in candidates]
        context.closer = dict(zip(ids, closer, strict=True))
        blended = fuse_weighted_scores(
            [
                (RERANK_WEIGHT, scale_min_max(context.closer)),
                (1 - RERANK_WEIGHT, scale_min_max({id_: scores[id_] for id_ in ids})),
            ]
        )
        return dict(scores) | {id_: 1.0 + score for id_, score in blended.items()}

    def _judged(
        self,
        context: _SearchContext,
        ranking_inputs: RankingInputs,
        *,
        of_people: bool,
    ) -> SearchConfidence | None:
        request, embedder = context.request, self._ways.embedder
        if not (request.lexical and request.dense) or request.filters:
            return None
        ranking = build_ranking_id(
            reranker=self._reranker.name if self._reranker and context.closer else "",
            of_people=of_people,
            space=embedder.space if embedder and context.ways.meaning else "",
        )
        calibration = self._calibrations.get((ranking, request.pipeline))
        return assess_search_confidence(ranking_inputs, ranking, calibration)


def _told(request: SearchRequest, order: StoryOrder) -> SearchScope | None:
    """Return the story as far as one has read; None for all of it."""
    if request.horizon is None:
        return None
    kinds = (ChunkKind.PROSE,)
    return build_search_scope(order, types=(), horizon=request.horizon, kinds=kinds)
