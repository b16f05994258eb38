"""Evaluation over one library: what searches it, the arms, and who answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lrwr.app import factories
from lrwr.app.egress import ModelAccess
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.settings.places import CANON_FILE_NAME

if TYPE_CHECKING:
    from lrwr.app.container import Services
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.sqlite.fts_index import Bm25Weights
    from lrwr.core.adapters.vectors.lock import FileLock
    from lrwr.core.bible.service import BibleService
    from lrwr.core.canon.service import CanonService
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.ports.answerer import Answerer, GroundedAnswer
    from lrwr.core.ports.embedder import Embedder
    from lrwr.core.ports.lexical_index import LexicalIndex
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.reranker import Reranker
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.ports.vector_index import VectorIndex
    from lrwr.core.retrieval.service import PassageFinder
    from lrwr.core.settings.library import Library
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.evaluation.fingerprint import LibraryFingerprint
    from lrwr.pipeline.evaluation.outcomes import Arm
    from lrwr.pipeline.evaluation.question_generation.source_material import (
        SourceMaterial,
    )
    from lrwr.pipeline.evaluation.variants import IndexedLibrary, SearchVariant

LIMIT = 100
"""Passages that an arm gives at most, where the budgets do not want more."""

SMALL = 20
"""Tokens that a passage has at least, as a rule: so many are enough for any budget."""


@dataclass(frozen=True, slots=True)
class ArmSet:
    """Arms over one library.

    `library` tells its state from any other. `models` are named by what they do.
    `remarks` say in sentences which arms are not there or are not what they are called.
    """

    arms: "tuple[Arm, ...]"
    shelf: "IndexedLibrary"
    library: str
    models: Mapping[str, str]
    remarks: tuple[str, ...]


class EvalFinderFactory:
    """What searches one library in any way that there is, with one model for all."""

    def __init__(
        self, services: "Services", database: "SqliteDatabase", local: "LocalEmbedder"
    ) -> None:
        from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex

        self.services = services
        self.settings = services.settings
        self.database = database
        self.local = local
        self.lexical: LexicalIndex = SqliteLexicalIndex(database)
        self._opened: dict[Pipeline, VectorIndex | None] = {}
        self._opening = asyncio.Lock()

    @cached_property
    def embedder(self) -> "Embedder | None":
        """Who searches by meaning; None where that is turned off."""
        if self.settings.embedding.model == "off":
            return None
        return self.services.outward.embedder(self.local.count_tokens) or self.local

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The second look: one and the same for every step, with b's word counts."""
        settings = replace(self.settings, pipeline=Pipeline.AGENTIC)
        near = factories.create_local_reranker(settings, self.local, self.lexical)
        return self.services.outward.reranker() or near

    def finder(self, step: "SearchVariant") -> "PassageFinder":
        """Return what searches as `step` says."""
        from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex
        from lrwr.core.canon.file import CanonFile
        from lrwr.core.retrieval.service import PassageFinder
        from lrwr.core.retrieval.story_search import StorySearch

        services = self.services
        return PassageFinder(
            store=services.passages,
            lexical=SqliteLexicalIndex(self.database, get_column_weights(step)),
            embedder=self.embedder,
            vectors=partial(self._vectors, step.pipeline),
            reranker=self.reranker if step.rerank else None,
            candidates=self.settings.rerank.looked_at,
            order_patterns=self.settings.manuscript.order,
            canon=CanonFile(services.library.root / CANON_FILE_NAME).load,
            story=StorySearch(services.stories) if step.knows_story else None,
            calibrations=services.calibrations(),
        )

    async def aclose(self) -> None:
        """Close the indexes that were opened."""
        for index in self._opened.values():
            if index is not None:
                await index.aclose()
        self._opened.clear()

    async def _vectors(self, pipeline: Pipeline) -> "VectorIndex | None":
        async with self._opening:
            if self.embedder is not None and pipeline not in self._opened:
                lent = self.services
                self._opened[pipeline] = await factories.open_configured_vectors(
                    replace(self.settings, pipeline=pipeline),
                    lent.passages,
                    self.embedder,
                    lent.outward,
                )
            return self._opened.get(pipeline)


@asynccontextmanager
async def open_eval_finders(services: "Services") -> AsyncIterator[EvalFinderFactory]:
    """Lend out what searches the library of `services`, and close it.

    Raises:
        NotFound: Nothing has been ingested here.
    """
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase

    services.require_library()
    async with AsyncExitStack() as stack:
        database = SqliteDatabase(services.library.database)
        stack.push_async_callback(database.aclose)
        local = factories.create_local_embedder(services.settings, services.library)
        stack.callback(local.close)
        workshop = EvalFinderFactory(services, database, local)
        stack.push_async_callback(workshop.aclose)
        yield workshop


@asynccontextmanager
async def open_arms(
    services: "Services",
    steps: "Sequence[SearchVariant]",
    budgets: Sequence[int],
    *,
    whole: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> AsyncIterator[ArmSet]:
    """Lend out an arm for each of `steps` that is possible here, in their order.

    If `whole`, the whole text is one more where it fits the largest of `budgets`.

    Raises:
        NotFound: A pipeline that is needed has read nothing.
        LrwrError: The pipelines have read different states of the manuscript.
        StoreProblem: The library cannot be read.
    """
    async with open_eval_finders(services) as workshop:
        yield await _opened(workshop, steps, budgets, whole=whole, clock=clock)


async def _opened(
    workshop: EvalFinderFactory,
    steps: "Sequence[SearchVariant]",
    budgets: Sequence[int],
    *,
    whole: bool,
    clock: Callable[[], float],
) -> ArmSet:
    from lrwr.pipeline.evaluation.tokens import choose_token_counter
    from lrwr.pipeline.evaluation.variants import (
        IndexedLibrary,
        SearchArm,
        select_possible_variants,
    )

    passages, embedder = workshop.services.passages, workshop.embedder
    made = await _ingredients(workshop, steps, max(LIMIT, max(budgets) // SMALL))
    fit, remarks = select_possible_variants(
        steps, embeds=embedder is not None, reranks=workshop.reranker is not None
    )
    count, estimated = choose_token_counter(workshop.local.count_tokens)
    order = await workshop.finder(steps[0]).story_order()
    shelf = IndexedLibrary(passages, order, count, clock)
    arms: list[Arm] = []
    for step in fit:
        recipe = made.recipe(step, get_column_weights(step)[step.pipeline])
        arms.append(SearchArm(step, workshop.finder(step), shelf, made.limit, recipe))
    if whole:
        text, problem = await _whole(shelf, made, max(budgets))
        arms += text
        remarks += problem
    models = {"meaning": made.embedder, "the second look": made.reranker}
    return ArmSet(tuple(arms), shelf, made.library(), models, remarks + estimated)


async def _whole(
    shelf: "IndexedLibrary", made: "LibraryFingerprint", most: int
) -> "tuple[list[Arm], tuple[str, ...]]":
    """Return the arm of the whole text if it fits, else say what it would take."""
    from lrwr.pipeline.evaluation.variants import WholeTextArm

    recipe = made.recipe_of_passages(Pipeline.AGENTIC)
    if not recipe:
        return [], ()
    arm = WholeTextArm(shelf, recipe)
    tokens = await arm.tokens()
    if tokens <= most:
        return [arm], ()
    return [], (
        f"“{arm.name}” is left out: it is {tokens:,} tokens, and the largest budget is"
        f" {most:,}.",
    )


async def _ingredients(
    workshop: EvalFinderFactory, steps: "Sequence[SearchVariant]", limit: int
) -> "LibraryFingerprint":
    from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteKnowledgeStore
    from lrwr.pipeline.evaluation.fingerprint import (
        LibraryFingerprint,
        check_pipelines_comparable,
    )

    services, settings = workshop.services, workshop.settings
    store = SqliteKnowledgeStore(workshop.database, now=time.time)
    needed = dict.fromkeys(step.pipeline for step in steps)
    seen = {pipeline: await store.seen(pipeline) for pipeline in needed}
    check_pipelines_comparable(seen)
    knows = any(step.knows_story for step in steps)
    canon = services.library.root / CANON_FILE_NAME
    reranker = workshop.reranker
    return LibraryFingerprint(
        seen=seen,
        facts=await services.stories.facts() if knows else [],
        embedder=workshop.embedder.space if workshop.embedder else "",
        reranker=reranker.name if reranker else "",
        candidates=settings.rerank.looked_at,
        limit=limit,
        patterns=settings.manuscript.order,
        canon=await asyncio.to_thread(canon.read_bytes) if canon.is_file() else b"",
    )


@asynccontextmanager
async def open_answerer(
    services: "Services",
    pipeline: Pipeline,
    *,
    model: bool = True,
    asking: bool = True,
    now: Callable[[], float] = time.time,
    clock: Callable[[], float] = time.perf_counter,
) -> "AsyncIterator[Answerer]":
    """Lend out who answers as `lrwr ask` does, over one pipeline's passages.

    Its conversations are kept in memory, and gone with it. The web is not asked.
    Without `model` the text speaks for itself, whatever is set; unless `asking`, the
    model is only named.

    Raises:
        NotFound: Nothing has been ingested here.
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans
    from lrwr.core.adapters.storage.memory.thread_store import MemoryThreadStore
    from lrwr.core.chat.extractive.sentence_ranking import PassageSource as Quoting
    from lrwr.pipeline.evaluation.variants import PRODUCT_VARIANTS

    async with AsyncExitStack() as stack:
        workshop = await stack.enter_async_context(open_eval_finders(services))
        settings = replace(services.settings, pipeline=pipeline)
        if not model:
            settings = replace(settings, model=replace(settings.model, use="off"))
        lender = _Apart(
            settings=settings,
            threads=MemoryThreadStore(),
            passages=services.passages,
            canon=services.canon,
            known=services.bible(),
            searching=workshop.finder(PRODUCT_VARIANTS[pipeline]),
        )
        words = workshop.lexical
        look = factories.create_local_reranker(settings, workshop.local, words)
        shelf = Quoting(services.passages, words, look, find_sentence_spans, pipeline)
        reach = (
            services.outward.reach(asking=asking) if model else ModelAccess(None, False)
        )
        voices = factories.create_turn_models(settings, shelf, reach)
        yield SessionAnswerer(
            factories.create_session_service(lender, voices, None, now=now), clock
        )


class SessionAnswerer:
    """Answers each question as the first of a conversation; keeps the Answerer port."""

    def __init__(
        self, session: "AvatarSessionService", clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._clock = clock

    @property
    def name(self) -> str:
        """Name the language model that answers; empty where the text speaks itself."""
        return self._session.model

    async def answer(self, question: str, as_of: str) -> "GroundedAnswer":
        """Answer from what the story tells by `as_of`; empty is all of it.

        Raises:
            NotFound: The story has no such place.
            SettingsProblem: It is no question, but a decision of the writer's.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library cannot be read.
        """
        from lrwr.core.chat.nodes import parse_canon_command
        from lrwr.core.chat.service import TurnRequest
        from lrwr.core.model.turns import Citation, PassageCited, TurnDone
        from lrwr.pipeline.evaluation.answers import build_answer_from_turn

        if parse_canon_command(question):
            raise SettingsProblem(
                f"“{question}” is no question, but decides something",
                hint="Leave out what begins with `canon:`.",
            )
        began = self._clock()
        given: list[Citation] = []
        turn = None
        async with aclosing(
            self._session.ask(TurnRequest(question, as_of=as_of))
        ) as events:
            async for event in events:
                if isinstance(event, PassageCited):
                    given.append(event.citation)
                elif isinstance(event, TurnDone):
                    turn = event.turn
        if turn is None:  # the session promises that it comes last
            raise LrwrError("The answer did not end")
        return build_answer_from_turn(turn, given, self._clock() - began)


async def load_eval_material(services: "Services") -> "SourceMaterial":
    """Return what questions are made from.

    Raises:
        NotFound: Nothing has been ingested here.
        StoreProblem: The library cannot be read.
    """
    from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans
    from lrwr.pipeline.evaluation.question_generation.source_material import (
        load_source_material,
    )

    return await load_source_material(services.bible(), find_sentence_spans)


def create_eval_lock(library: "Library") -> "FileLock":
    """Return what keeps two evaluations from running in one library at once."""
    from lrwr.core.adapters.vectors.lock import FileLock

    return FileLock(library.state_dir / "evaluations.lock")


def get_column_weights(step: "SearchVariant") -> "Mapping[Pipeline, Bm25Weights]":
    """Return what a word counts in each column that a step searches."""
    from lrwr.core.adapters.storage.sqlite.fts_index import BM25_WEIGHTS_BY_PIPELINE
    from lrwr.pipeline.evaluation.variants import SEARCHED_COLUMN_COUNT

    kept = SEARCHED_COLUMN_COUNT[step.columns]
    whole = BM25_WEIGHTS_BY_PIPELINE[Pipeline.AGENTIC]
    cut = tuple(w if n < kept else 0.0 for n, w in enumerate(whole))
    return {**BM25_WEIGHTS_BY_PIPELINE, Pipeline.AGENTIC: cut}


@dataclass(frozen=True, slots=True)
class _Apart:
    """Lends what a conversation needs, whose turns the writer never sees."""

    settings: "Settings"
    threads: "ThreadStore"
    passages: "PassageStore"
    canon: "CanonService"
    known: "BibleService"
    searching: "PassageFinder"

    def bible(self) -> "BibleService":
        """Return what is known of the story."""
        return self.known

    def finder(self) -> "PassageFinder":
        """Return what finds passages."""
        return self.searching
