"""Evaluation of one library: what it compares, its answerer and its lock.

An arm is one way to search, such as a pipeline with or without the reranker; an
evaluation compares the arms on the same questions.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.app.egress import ModelAccess
from lrwr.app.retrieval import (
    IndexedRecords,
    LazyVectorIndex,
    RetrievalComponents,
)
from lrwr.app.sessions import SessionDependencies, create_session_service
from lrwr.core.adapters.embed.local import Embedders
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.memory_thread_store import MemoryThreadStore
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.fts_index import (
    BM25_WEIGHTS_BY_PIPELINE,
    SqliteLexicalIndex,
)
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteKnowledgeStore
from lrwr.core.bible.gaps import parse_canon_command
from lrwr.core.chat.service import AvatarSessionService, TurnRequest
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError, SettingsProblem
from lrwr.core.model.turns import Citation, PassageCited, TurnDone
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story_search import StorySearch
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import Library
from lrwr.pipeline.evaluation.answers import build_answer_from_turn
from lrwr.pipeline.evaluation.outcomes import choose_token_counter
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SourceMaterial,
    load_source_material,
)
from lrwr.pipeline.evaluation.variants import (
    PRODUCT_VARIANTS,
    IndexedLibrary,
    LibraryFingerprint,
    SearchArm,
    SearchVariant,
    WholeTextArm,
    check_pipelines_comparable,
    select_possible_variants,
)

if TYPE_CHECKING:
    from lrwr.core.ports.models import Answerer, GroundedAnswer, Reranker
    from lrwr.pipeline.evaluation.outcomes import Arm

LIMIT = 100
"""Passages that an arm retrieves, unless the budgets need more."""

SMALL = 20
"""Tokens of a small passage: budget / SMALL passages fill any budget."""


@dataclass(frozen=True, slots=True)
class ArmSet:
    """The ways to search one library that an evaluation compares (arms).

    All search `indexed_library`. `library` is a hash of the ingested documents, their
    order and the decisions. `models` has the names of the embedding model (key
    "meaning") and of the reranker ("the second look"), empty if off. `remarks` are
    sentences on arms that are missing or restricted.
    """

    arms: "tuple[Arm, ...]"
    indexed_library: IndexedLibrary
    library: str
    models: Mapping[str, str]
    remarks: tuple[str, ...]


class EvalFinderFactory:
    """Creates the services that find passages, one for each variant of search.

    All search the same library and share the same models.
    """

    def __init__(self, workspace: Workspace, parts: RetrievalComponents) -> None:
        self.workspace = workspace
        self.settings = workspace.settings
        self.parts = parts
        self.embedder = parts.embedders.configured
        self._indexes: dict[Pipeline, LazyVectorIndex] = {}

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The reranker of all variants that rerank; None if reranking is off.

        A reranker on this machine uses the word frequencies of pipeline b.
        """
        local = self.parts.create_local_reranker(Pipeline.AGENTIC)
        return self.workspace.egress.hosted_reranker() or local

    def finder(self, variant: SearchVariant) -> PassageFinder:
        """Return a service that finds passages in the way that `variant` describes."""
        records, pipeline = self.parts.records, variant.pipeline
        if pipeline not in self._indexes:
            self._indexes[pipeline] = self.parts.open_vector_index(pipeline)
        return PassageFinder(
            store=records.passages,
            lexical=SqliteLexicalIndex(records.database),
            embedder=self.embedder,
            vectors=self._indexes[pipeline].open,
            reranker=self.reranker if variant.rerank else None,
            candidates=self.settings.rerank.candidate_count,
            order_patterns=self.settings.manuscript.order,
            canon=records.load_canon,
            story=StorySearch(records.stories) if variant.uses_story else None,
            calibrations=self.parts.calibrations(),
            dense_factors=self.parts.dense_factors(),
        )


@asynccontextmanager
async def open_eval_finders(workspace: Workspace) -> AsyncIterator[EvalFinderFactory]:
    """Yield a factory of passage finders that uses its own connection to the library.

    The connection is closed on exit.

    Raises:
        NotFound: The library is empty.
    """
    workspace.require_library()
    async with AsyncExitStack() as stack:
        database = SqliteDatabase(workspace.library.database)
        stack.push_async_callback(database.aclose)
        records = IndexedRecords(
            database,
            workspace.passages,
            workspace.stories,
            workspace.canon_file.load,
        )
        embedders = Embedders(
            workspace.settings.embedding,
            workspace.library,
            workspace.egress.hosted_embedder,
            stack,
        )
        parts = RetrievalComponents(
            records, embedders, workspace.egress, stack, workspace.notify
        )
        yield EvalFinderFactory(workspace, parts)


@asynccontextmanager
async def open_arms(
    workspace: Workspace,
    steps: Sequence[SearchVariant],
    budgets: Sequence[int],
    *,
    whole: bool = True,
) -> AsyncIterator[ArmSet]:
    """Yield the arms (ways to search) that an evaluation compares.

    There is one for each of `steps`, in their order; one that uses a model which is off
    searches without it. With `whole`, the whole text is one more arm if it fits the
    largest of `budgets`, in tokens.

    Raises:
        NotFound: A pipeline has ingested nothing.
        LrwrError: The pipelines have ingested different states of the manuscript.
        StoreProblem: The library cannot be read.
    """
    async with open_eval_finders(workspace) as factory:
        yield await _build_arms(factory, steps, budgets, with_whole_text=whole)


async def _build_arms(
    factory: EvalFinderFactory,
    steps: Sequence[SearchVariant],
    budgets: Sequence[int],
    *,
    with_whole_text: bool,
) -> ArmSet:
    passages, embedder = factory.workspace.passages, factory.embedder
    fingerprint = await _build_fingerprint(
        factory, steps, max(LIMIT, max(budgets) // SMALL)
    )
    possible_steps, remarks = select_possible_variants(
        steps, embeds=embedder is not None, reranks=factory.reranker is not None
    )
    count, estimated = choose_token_counter(factory.parts.embedders.local.count_tokens)
    order = await factory.finder(steps[0]).story_order()
    indexed_library = IndexedLibrary(passages, order, count, time.perf_counter)
    arms: list[Arm] = []
    for step in possible_steps:
        recipe = fingerprint.recipe(step, BM25_WEIGHTS_BY_PIPELINE[step.pipeline])
        arms.append(
            SearchArm(
                step, factory.finder(step), indexed_library, fingerprint.limit, recipe
            )
        )
    if with_whole_text:
        text_arms, problem = await _build_whole_text_arm(
            indexed_library, fingerprint, max(budgets)
        )
        arms += text_arms
        remarks += problem
    models = {"meaning": fingerprint.embedder, "the second look": fingerprint.reranker}
    return ArmSet(
        tuple(arms), indexed_library, fingerprint.library(), models, remarks + estimated
    )


async def _build_whole_text_arm(
    indexed_library: IndexedLibrary, fingerprint: LibraryFingerprint, token_limit: int
) -> "tuple[list[Arm], tuple[str, ...]]":
    """Return the arm of the whole text if it fits, else a remark."""
    recipe = fingerprint.recipe_of_passages(Pipeline.AGENTIC)
    if not recipe:
        return [], ()
    arm = WholeTextArm(indexed_library, recipe)
    tokens = await arm.tokens()
    if tokens <= token_limit:
        return [arm], ()
    return [], (
        f"The arm “{arm.name}” is left out: the text has {tokens:,} tokens, more than the"
        f" largest budget of {token_limit:,}.",
    )


async def _build_fingerprint(
    factory: EvalFinderFactory, steps: Sequence[SearchVariant], limit: int
) -> LibraryFingerprint:
    workspace, settings = factory.workspace, factory.settings
    store = SqliteKnowledgeStore(factory.parts.records.database, now=time.time)
    pipelines = dict.fromkeys(step.pipeline for step in steps)
    seen_documents = {
        pipeline: await store.document_versions(pipeline) for pipeline in pipelines
    }
    check_pipelines_comparable(seen_documents)
    knows = any(step.uses_story for step in steps)
    canon = workspace.canon_file.path
    reranker = factory.reranker
    return LibraryFingerprint(
        seen=seen_documents,
        facts=await workspace.stories.facts() if knows else [],
        embedder=factory.embedder.space if factory.embedder else "",
        reranker=reranker.name if reranker else "",
        candidates=settings.rerank.candidate_count,
        limit=limit,
        patterns=settings.manuscript.order,
        canon=await asyncio.to_thread(canon.read_bytes) if canon.is_file() else b"",
    )


@asynccontextmanager
async def open_answerer(
    workspace: Workspace,
    pipeline: Pipeline,
    *,
    model: bool = True,
    may_ask: bool = True,
) -> "AsyncIterator[Answerer]":
    """Yield an answerer that works as `lrwr ask` does, over the passages of `pipeline`.

    Threads are stored in memory only, and the web is not searched. With `model` False,
    answers quote the text, whatever is configured. With `may_ask` False, the model has
    only its name and is never called.

    Raises:
        NotFound: The library is empty.
        SettingsProblem: The configured language model has no key or no name.
    """
    async with open_eval_finders(workspace) as factory:
        settings = replace(workspace.settings, pipeline=pipeline)
        access = ModelAccess(None, may_ask=False)
        if model:
            access = workspace.egress.model_access(may_ask=may_ask)
        else:
            settings = replace(settings, model=replace(settings.model, use="off"))
        dependencies = SessionDependencies(
            settings=settings,
            bible=workspace.bible(),
            finder=factory.finder(PRODUCT_VARIANTS[pipeline]),
            passages=workspace.passages,
            lexical_index=factory.parts.lexical_index,
            reranker=factory.parts.create_local_reranker(pipeline),
            threads=MemoryThreadStore(),
            decide=workspace.canon.decide,
            now=time.time,
        )
        yield SessionAnswerer(
            create_session_service(dependencies, access), time.perf_counter
        )


class SessionAnswerer:
    """An `Answerer` that asks each question as the first of a new thread.

    `clock` returns seconds and measures the duration of answers.
    """

    def __init__(
        self, session: AvatarSessionService, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._clock = clock

    @property
    def name(self) -> str:
        """The name of the language model; empty if answers quote the text."""
        return self._session.model

    async def answer(self, question: str, as_of: str) -> "GroundedAnswer":
        """Return the answer to `question`, using the story up to `as_of` ("ch3").

        An empty `as_of` means the whole story.

        Raises:
            NotFound: The story has no such chapter or scene.
            SettingsProblem: The text is a `canon:` decision, not a question.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library cannot be read.
        """
        if parse_canon_command(question):
            raise SettingsProblem(
                f"“{question}” is a decision, not a question",
                hint="Leave out questions that begin with `canon:`.",
            )
        began = self._clock()
        citations: list[Citation] = []
        turn = None
        async with aclosing(
            self._session.ask(TurnRequest(question, as_of=as_of))
        ) as events:
            async for event in events:
                if isinstance(event, PassageCited):
                    citations.append(event.citation)
                elif isinstance(event, TurnDone):
                    turn = event.turn
        if turn is None:  # cannot happen: the session ends with TurnDone
            raise LrwrError("Internal error: the answer did not finish")
        return build_answer_from_turn(turn, citations, self._clock() - began)


async def load_eval_material(workspace: Workspace) -> SourceMaterial:
    """Return the facts and sentences from which test questions are generated.

    Raises:
        NotFound: The library is empty.
        StoreProblem: The library cannot be read.
    """
    return await load_source_material(workspace.bible(), find_sentence_spans)


def create_eval_lock(library: Library) -> FileLock:
    """Return the lock file that lets only one evaluation of a library run at a time.

    It is not acquired yet.
    """
    return FileLock(library.state_dir / "evaluations.lock")
