"""Passage search: hybrid retrieval, scores for characters and content types, reranking."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    ChunkKind,
    Passage,
    SearchScope,
    describe_missing_vectors,
    has_other_vectors,
)
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.nlp.names.lookup import suggest_misspelled_names
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
from lrwr.core.retrieval.people import ScopedCast
from lrwr.core.retrieval.presence import (
    QuestionPresence,
    SearchedText,
    find_question_words,
    needs_lookup,
)
from lrwr.core.retrieval.proximity import score_chunks_by_people
from lrwr.core.retrieval.proximity_levels import TOPIC_PEOPLE_WEIGHT
from lrwr.core.retrieval.query_words import (
    extract_quoted_phrases,
    extract_search_words,
)
from lrwr.core.retrieval.retrievers import (
    RETRIEVER_POOL_SIZE,
    HybridRetriever,
    HybridScores,
    VectorIndexOpener,
    WordWeights,
    add_phrase_bonus,
    choose_pool_size,
    fuse_weighted_scores,
    rank_chunks,
    rerank_chunks,
    scale_min_max,
    select_rerank_candidates,
)
from lrwr.core.retrieval.search_model import PassageSort, SearchRequest, SearchResult
from lrwr.core.retrieval.story import (
    StoryOrder,
    StoryOrderBuilder,
    build_passage,
    build_search_scope,
)
from lrwr.core.retrieval.story_matches import (
    find_chapter_chunks,
    list_passages,
    select_allowed_chunks,
    sort_by_story,
)
from lrwr.core.retrieval.story_search import (
    StorySearch,
    join_notes,
    read_best_chunks,
)


@dataclass(slots=True)
class _SearchContext:
    """State of one running search.

    `visible_cast` are the characters known at the horizon. `story` is None if the
    search uses no story data. `counts` maps each content word of the question to the
    number of chunks that contain it, of `total`. `remarks` grows during the search;
    `hybrid` and `reranker_scores` are set when the retrievers and the reranker have
    run, `by_words_only` if the embedding model cannot be used.
    """

    request: SearchRequest
    order: StoryOrder
    scope: SearchScope
    story: StorySearch | None = None
    visible_cast: ScopedCast = field(default_factory=lambda: ScopedCast(Cast(), {}))
    remarks: list[str] = field(default_factory=list)
    hybrid: HybridScores = field(default_factory=HybridScores)
    counts: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    reranker_scores: Mapping[ChunkId, float] = field(default_factory=dict)
    by_words_only: bool = False

    def leave_out_meaning(self, reason: str) -> None:
        """Record that only words are searched; `reason` is a complete sentence."""
        self.by_words_only = True
        self.remarks.append(f"Searched by words only. {reason}")


class PassageFinder:
    """Searches the passages of one library. Read-only; searches may run concurrently.

    Without `embedder` only lexical search runs. `vectors` opens the vector index on
    first use. The best `candidates` passages are reranked; without `reranker` none are.
    `order_patterns` is the setting `[manuscript] order`. `canon` reads the user's
    decisions, for each story order. `story` provides the story data of pipeline b, None
    without it. `calibrations` turn signals into a confidence. `dense_factors` maps
    embedding spaces to factors of the weight of embeddings.
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
        dense_factors: Mapping[str, float] | None = None,
    ) -> None:
        self._store, self._lexical = store, lexical
        self._hybrid = HybridRetriever(lexical, embedder, vectors, dense_factors or {})
        self._reranker, self._candidates = reranker, candidates
        self._calibrations = calibrations
        self._canon, self._story = canon, story
        self._orders = StoryOrderBuilder(order_patterns)

    async def story_order(self) -> StoryOrder:
        """Return the library's documents in story order, with the user's decisions
        applied.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        canon = await asyncio.to_thread(self._canon)
        return self._orders.build(await self._store.outlines(), canon)

    async def find(
        self, request: SearchRequest, order: StoryOrder | None = None
    ) -> SearchResult:
        """Search for `request` and return the best passages.

        Pass `order`, from `story_order`, if you search often: otherwise it is read
        again each time. A retriever or reranker that does not answer is skipped, with a
        remark.

        Raises:
            NotFound: A filter names an unknown character.
            SettingsProblem: The canon file is invalid; only without `order`.
            StoreProblem: The library cannot be read.
        """
        context = await self._build_context(request, order or await self.story_order())
        conditions = await _find_conditions(context, self._store)
        if request.exact or not request.question:
            return await list_passages(
                request, conditions, context.order, context.scope, self._store
            )
        allowed = await select_allowed_chunks(conditions, context.scope, self._store)
        presence = await _find_presence(context, allowed, self._lexical, self._store)
        scores, is_people_ranking = await self._score_chunks(context, allowed)
        scores = {**dict.fromkeys(presence.phrases or (), 0.0), **scores}
        # Rerankers compare words and meaning. Passages that answer who-says-what
        # questions do not contain the names, so reranking hurts them (decision 011).
        text, notes = await self._rank_passages(
            context, scores, presence, rerank=request.rerank and not is_people_ranking
        )
        ranked = sorted((*text, *notes), key=lambda passage: -passage.score)
        passages = join_notes(text, notes, request.limit)
        if request.sort is PassageSort.STORY:
            passages = sort_by_story(passages, context.order)
        judgement = self._assess(
            context, ranked, scores, is_people_ranking=is_people_ranking
        )
        if judgement and presence.missing_phrases:
            judgement = replace(judgement, confidence=None, low=True)
        return SearchResult(
            passages=tuple(passages),
            unknown=presence.unknown,
            similar_names=suggest_misspelled_names(
                presence.unknown, request.question, context.visible_cast.cast
            ),
            missing_phrases=presence.missing_phrases,
            notes_phrases=presence.notes_phrases,
            phrases=presence.phrases,
            elsewhere=presence.elsewhere,
            found_elsewhere=presence.found_elsewhere,
            remarks=tuple(context.remarks),
            facts=await _find_facts(context),
            judgement=judgement,
            confidence=judgement.confidence if judgement else None,
            low_confidence=judgement.low if judgement else None,
            by_words_only=context.by_words_only,
        )

    async def _rank_passages(
        self,
        context: _SearchContext,
        scores: Mapping[ChunkId, float],
        presence: QuestionPresence,
        *,
        rerank: bool,
    ) -> tuple[list[Passage], list[Passage]]:
        """Return the best passages of the story and those of notes, best first.

        The candidates are reranked if `rerank` and a reranker is set. Passages with the
        question's quoted phrases come first.
        """
        phrases = presence.phrases or {}
        boosted = add_phrase_bonus(scores, phrases)
        text, notes = await read_best_chunks(
            [scored.chunk for scored in rank_chunks(boosted)],
            context.order,
            context.scope,
            self._store,
            size=max(context.request.limit, self._candidates),
        )
        final = {chunk.id: scores[chunk.id] for chunk in (*text, *notes)}
        if self._reranker and rerank and len(final) > 1:
            candidates = select_rerank_candidates(
                text, notes, boosted, self._candidates
            )
            final = await _rerank(context, candidates, final, self._reranker)
        by_id = {chunk.id: chunk for chunk in (*text, *notes)}
        text_ids = {chunk.id for chunk in text}
        passages = [
            build_passage(by_id[scored.chunk], context.order, scored.score)
            for scored in rank_chunks(add_phrase_bonus(final, phrases))
        ]
        return (
            [passage for passage in passages if passage.chunk.id in text_ids],
            [passage for passage in passages if passage.chunk.id not in text_ids],
        )

    async def _build_context(
        self, request: SearchRequest, order: StoryOrder
    ) -> _SearchContext:
        kinds = {ChunkKind.PROSE, *([ChunkKind.NOTE] if request.notes else [])}
        scope = build_search_scope(
            order, types=request.types, horizon=request.horizon, kinds=kinds
        )
        context = _SearchContext(request, order, scope)
        context.counts, context.total = await self._lexical.document_frequencies(
            extract_search_words(request.question), pipeline=request.pipeline
        )
        if self._story is not None and request.pipeline is Pipeline.AGENTIC:
            context.story = self._story
            context.visible_cast = await self._story.read_visible_cast(
                _build_read_scope(request, order)
            )
        return context

    async def _score_chunks(
        self, context: _SearchContext, allowed: frozenset[ChunkId] | None
    ) -> tuple[dict[ChunkId, float], bool]:
        """Return the score of each chunk, and whether people decide the ranking."""
        scores = await self._score_hybrid(context, allowed)
        people: Mapping[ChunkId, float] = {}
        has_topic = False
        if context.story is not None and context.request.names:
            people, has_topic = await _score_by_people(
                context, context.story, scores, self._lexical, self._store
            )
        if context.story is not None and context.request.boosts:
            boosts = await context.story.compute_boosts(
                context.request.question, scores
            )
            scores |= {chunk: scores[chunk] * boost for chunk, boost in boosts.items()}
        weight = 1.0
        if has_topic:
            weight, people = TOPIC_PEOPLE_WEIGHT, scale_min_max(people)
        scores = fuse_weighted_scores([(1.0, scores), (weight, people)])
        if allowed is not None:
            scores = {chunk: s for chunk, s in scores.items() if chunk in allowed}
        return scores, bool(people) and not has_topic

    async def _score_hybrid(
        self, context: _SearchContext, allowed: Collection[ChunkId] | None
    ) -> dict[ChunkId, float]:
        request = context.request
        hybrid = HybridScores()
        if request.lexical:
            hybrid = await self._hybrid.score_by_words(
                request.question,
                pipeline=request.pipeline,
                scope=context.scope,
                limit=choose_pool_size(context.order, allowed),
            )
        if request.dense:
            others = {*hybrid.fused(), *(allowed or ())}
            meaning = await self._score_by_embedding(context, others)
            hybrid = replace(hybrid, meaning=meaning)
        context.hybrid = hybrid
        if not (request.lexical and hybrid.meaning):
            return hybrid.fused()
        weights = WordWeights.of(list(context.counts), context.counts, context.total)
        return await self._hybrid.fuse_by_coverage(
            hybrid, weights, self._store, request.pipeline, self._candidates
        )

    async def _score_by_embedding(
        self, context: _SearchContext, others: Collection[ChunkId]
    ) -> dict[ChunkId, float]:
        try:
            if not await self._has_vectors(context):
                return {}
            scores = await self._hybrid.score_by_embedding(
                context.request.question,
                scope=context.scope,
                others=others,
            )
        except ServiceUnavailable as error:
            context.leave_out_meaning(error.full_text)
            return {}
        if remark := await self._hybrid.describe_index_problem():
            context.remarks.append(remark)
        return scores

    async def _has_vectors(self, context: _SearchContext) -> bool:
        """Return whether meaning can be compared; add a remark if passages lack a vector.

        If some passages have a vector of another embedding model, none are compared:
        only those embedded again would be found by their meaning.
        """
        embedder = self._hybrid.embedder
        if embedder is None:
            return False
        counts = await self._store.counts(context.request.pipeline)
        spaces, space = counts.spaces, await asyncio.to_thread(lambda: embedder.space)
        missing = describe_missing_vectors(counts.chunks, spaces, space)
        if missing and (has_other_vectors(spaces, space) or not spaces.get(space)):
            context.leave_out_meaning(missing)
            return False
        if missing:
            context.remarks.append(missing)
        return True

    def _assess(
        self,
        context: _SearchContext,
        ranked: Sequence[Passage],
        scores: Mapping[ChunkId, float],
        *,
        is_people_ranking: bool,
    ) -> SearchConfidence | None:
        request, embedder = context.request, self._hybrid.embedder
        if not (request.lexical and request.dense) or request.is_filtered:
            return None
        if context.by_words_only:
            return None
        ranking = build_ranking_id(
            reranker=self._reranker.name
            if self._reranker and context.reranker_scores
            else "",
            is_people_ranking=is_people_ranking,
            space=embedder.space if embedder and context.hybrid.meaning else "",
        )
        calibration = self._calibrations.get((ranking, request.pipeline))
        ranking_inputs = RankingInputs(
            question=request.question,
            first=[passage.chunk for passage in ranked[:FIRST_PASSAGES]],
            last_scores=context.reranker_scores or scores,
            first_scores=scores,
            hybrid=context.hybrid,
            counts=context.counts,
            total=context.total,
        )
        return assess_search_confidence(ranking_inputs, ranking, calibration)


async def _score_by_people(
    context: _SearchContext,
    story: StorySearch,
    scores: Mapping[ChunkId, float],
    lexical: LexicalIndex,
    store: PassageStore,
) -> tuple[dict[ChunkId, float], bool]:
    """Score chunks by the people in a question about who says what; return also
    whether the question has a topic besides them.
    """

    chunks_by_word: dict[str, list[Chunk]] = {}

    async def find_chunks_with_word(word: str) -> list[Chunk]:
        if word not in chunks_by_word:
            words = await lexical.search_words(
                [word],
                pipeline=context.request.pipeline,
                scope=context.scope,
                limit=RETRIEVER_POOL_SIZE,
            )
            ids = [scored.chunk for scored in words]
            chunks_by_word[word] = await store.chunks(ids)
        return chunks_by_word[word]

    speech_question = await story.analyze_speech_question(
        context.request.question, context.visible_cast, find_chunks_with_word
    )
    if not speech_question.people:
        return {}, False
    counts = await store.counts(context.request.pipeline)
    chunks = await store.chunks(sorted(scores))
    people = score_chunks_by_people(
        speech_question,
        context.scope,
        context.order,
        chunks,
        total=counts.chunks,
    )
    return people, speech_question.has_topic


async def _find_presence(
    context: _SearchContext,
    allowed: frozenset[ChunkId] | None,
    lexical: LexicalIndex,
    store: PassageStore,
) -> QuestionPresence:
    request, scope, counts = context.request, context.scope, context.counts
    phrases = extract_quoted_phrases(request.question) if request.lexical else []
    missing = tuple(word for word in counts if not counts[word])
    is_filtered = allowed is not None or scope.documents is not None
    if not phrases and not is_filtered and not needs_lookup(counts):
        return QuestionPresence(missing)
    visible = build_search_scope(
        context.order, types=(), horizon=request.horizon, kinds=scope.kinds
    )
    text = SearchedText(
        lexical, store, context.order, request.pipeline, scope, visible, allowed
    )
    return await find_question_words(phrases, counts, text)


async def _find_conditions(
    context: _SearchContext, store: PassageStore
) -> list[frozenset[ChunkId]] | None:
    """Return for each filter the chunks that pass it; None without filters."""
    request = context.request
    conditions: list[frozenset[ChunkId]] = []
    if context.story is not None and request.filters:
        conditions += await context.story.find_filtered_chunks(
            request.filters, context.visible_cast
        )
    if request.chapters is not None:
        conditions.append(await find_chapter_chunks(request, context.order, store))
    return conditions or None


async def _find_facts(context: _SearchContext) -> tuple[DocumentFact, ...]:
    """Return the facts that match; none if only some chapters are searched."""
    request = context.request
    if context.story is None or request.chapters is not None:
        return ()
    return await context.story.search_facts(request.question, context.scope)


def _build_read_scope(request: SearchRequest, order: StoryOrder) -> SearchScope | None:
    """Return the scope of the story text before the horizon; None without a horizon."""
    if request.horizon is None:
        return None
    kinds = (ChunkKind.PROSE,)
    return build_search_scope(order, types=(), horizon=request.horizon, kinds=kinds)


async def _rerank(
    context: _SearchContext,
    candidates: Sequence[Chunk],
    scores: Mapping[ChunkId, float],
    reranker: Reranker,
) -> dict[ChunkId, float]:
    """Return new scores in which all `candidates` precede the other chunks; `scores`
    with a remark if the reranker fails.
    """
    try:
        final, context.reranker_scores = await rerank_chunks(
            context.request.question, candidates, scores, reranker
        )
    except ServiceUnavailable as error:
        context.remarks.append(f"Results were not reranked. {error.full_text}")
        return dict(scores)
    return final
