"""Builds the ingestion service from the settings, and runs it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.app.container import Workspace
from lrwr.app.egress import (
    ModelAccess,
    create_chat_model,
    create_price_lookup,
    describe_refusal,
)
from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.chat.factory import ModelRole
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.sqlite.job_queue import build_worker_name
from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore
from lrwr.core.canon.decision import NameDecision
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import NotFound
from lrwr.core.settings.library import (
    prepare_state_dir,
    resolve_targets,
    store_ingested_paths,
)
from lrwr.core.settings.model import Settings
from lrwr.pipeline.analysis import CachingAnalyst, ModelBudget
from lrwr.pipeline.recipes import AgenticRecipe, NaiveRecipe, Recipe, RecipeTools
from lrwr.pipeline.remote_jobs import ArchivingRunner, create_remote_input
from lrwr.pipeline.service import (
    DocumentProcessingService,
    LocalRunner,
    build_recipe_name,
)
from lrwr.pipeline.speaker_attribution import StoryAttributor
from lrwr.pipeline.stages.semantic_splitter import ChunkLimits

if TYPE_CHECKING:
    from lrwr.core.adapters.modal.calls import ModalFunctionClient
    from lrwr.core.model.chunks import TextHash
    from lrwr.core.ports.jobs import JobQueue, JobRunner
    from lrwr.core.ports.sources import ManuscriptSource
    from lrwr.core.ports.stores import AnalysisStore
    from lrwr.pipeline.report import EmitIngestEvent, IngestReport


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Options of one ingestion.

    `calls` limits the requests to a language model; 0 means no limit. With
    `attribute_now` False, the cast and the speakers of quotations may stay outdated.
    `jobs` replaces the library's queue and `source` the manuscript's folders, unless
    None. With `vectors` False, chunks are not embedded. With `run_remotely`, documents
    are processed at Modal if the settings say so. With `delete_missing`, documents that
    another machine ingested and this one does not have are deleted, too.
    """

    calls: int = 0
    attribute_now: bool = True
    jobs: "JobQueue | None" = None
    source: "ManuscriptSource | None" = None
    vectors: bool = True
    run_remotely: bool = False
    delete_missing: bool = False


UNBOUNDED = IngestLimits()
"""The options of `lrwr ingest` without flags."""


def create_processing_service(
    workspace: Workspace,
    targets: Sequence[Path],
    *,
    may_ask: bool = True,
    limits: IngestLimits = UNBOUNDED,
) -> DocumentProcessingService:
    """Return the service that ingests the files and folders `targets` (absolute paths).

    With `may_ask` False, no service is contacted, and no API key is needed.

    Raises:
        StoreProblem: The state folder cannot be created.
        SettingsProblem: The configured language model has no key or no name.
    """
    prepare_state_dir(workspace.library)
    settings, stores, egress = workspace.settings, workspace.stores, workspace.egress
    access = egress.model_access(may_ask=may_ask)
    calls = egress.modal_calls() if limits.run_remotely and may_ask else None
    if calls is not None:
        access = replace(access, may_ask=False)  # models are asked from Modal, too
    find_known_vectors = (
        stores.knowledge.known_vectors if limits.vectors else _claim_all_known
    )
    embedders = workspace.embedders
    tools = RecipeTools(
        embedders.local.count_tokens, embedders.configured, find_known_vectors
    )
    analyst = create_caching_analyst(settings, stores.analysis, access, limits.calls)
    recipe = create_recipe(settings, stores.analysis, analyst)
    parse = ManuscriptParser()
    runner: JobRunner = LocalRunner(parse, recipe, tools)
    if calls is not None:
        runner = _create_modal_runner(settings, recipe, tools, stores.analysis, calls)
    if stores.files is not None:
        runner = ArchivingRunner(runner, stores.files)
    root, exclude = workspace.library.root, settings.manuscript.exclude
    return _select_service(workspace, may_trace=may_ask)(
        source=limits.source or FolderSource(root, targets, exclude),
        parse=parse,
        recipe=recipe,
        tools=tools,
        store=stores.knowledge,
        jobs=limits.jobs or workspace.jobs,
        worker=build_worker_name(uuid4().hex[:8]),
        attributor=_create_story_attributor(workspace),
        pause=stores.pause,
        complete=limits.attribute_now,
        missing_too=limits.delete_missing,
        runner=runner,
    )


def _select_service(
    workspace: Workspace, *, may_trace: bool
) -> Callable[..., DocumentProcessingService]:
    """Return the class of the service; if traces are on, the one that sends traces."""
    tracer = workspace.egress.tracer if may_trace else None
    if tracer is None:
        return DocumentProcessingService
    from lrwr.app.telemetry.ingestion import TracedProcessingService

    return partial(TracedProcessingService, tracer, workspace.now)


async def ingest_manuscript(
    workspace: Workspace, targets: Sequence[Path], emit: "EmitIngestEvent"
) -> "IngestReport":
    """Ingest the files and folders `targets`; if empty, those of earlier ingestions.

    New targets are stored for later ingestions unless `manuscript.folders` is set.
    `emit` receives progress events.

    Raises:
        NotFound: No target is known, or one does not exist.
        StoreProblem: The state folder cannot be written.
    """
    resolved = resolve_targets(targets or workspace.manuscript())
    service = create_processing_service(workspace, resolved)
    if targets and not workspace.settings.manuscript.folders:
        store_ingested_paths(workspace.library, resolved)
    return await service.process(emit)


async def count_unread(workspace: Workspace) -> int:
    """Return the number of files that the next ingestion would process or delete.

    They were changed, added or deleted, or were ingested with other settings. Contents
    are not compared, only sizes and times. Files in a missing folder are not counted.
    0 if nothing was ingested yet.
    """
    targets = [target for target in workspace.manuscript() if target.exists()]
    if not workspace.is_ingested or not targets:
        return 0
    changes = await create_processing_service(workspace, targets, may_ask=False).scan()
    return len(changes.changed) + len(changes.stale) + len(changes.gone)


async def _claim_all_known(space: str, texts: "set[TextHash]") -> "set[TextHash]":
    del space
    return texts


def create_recipe(
    settings: Settings, store: "AnalysisStore", analyst: CachingAnalyst | None
) -> Recipe:
    """Return how the configured pipeline splits and analyses documents (its recipe).

    `analyst` uses a language model; with None documents are analysed by rules only.
    """
    chunk = settings.chunk
    if settings.pipeline is Pipeline.NAIVE:
        return NaiveRecipe(size=chunk.size, overlap=chunk.overlap)
    return AgenticRecipe(
        limits=ChunkLimits(least=chunk.smallest, most=chunk.largest),
        split=find_sentence_spans,
        rules=RulesAnalyst(find_sentence_spans),
        store=store,
        reading=analyst,
    )


def _create_modal_runner(
    settings: Settings,
    recipe: Recipe,
    tools: RecipeTools,
    store: "AnalysisStore",
    calls: "ModalFunctionClient",
) -> "JobRunner":
    """Return the runner that processes documents at Modal; nothing is sent yet.

    Raises:
        SettingsProblem: A setting names what only this machine can reach.
    """
    from lrwr.core.adapters.modal import factory, runner

    parse, embedder = ManuscriptParser(), tools.embedder
    options = runner.ModalRunOptions(
        settings=factory.select_remote_settings(settings),
        recipe=build_recipe_name(parse, recipe, tools),
        pipeline=recipe.pipeline,
        space=tools.space,
        dimensions=embedder.dimensions if embedder else 0,
        places=settings.ingest.containers,
    )
    remote_input = create_remote_input(recipe, tools, store)
    return runner.ModalRunner(options, parse, remote_input, calls)


async def count_pending_documents(workspace: Workspace) -> int:
    """Return how many documents the next ingestion would process or delete.

    Found by file times and sizes; no document is read. 0 if the folder is missing.

    Raises:
        StoreProblem: The library cannot be read.
    """
    folders = workspace.manuscript()
    if not folders:
        return 0
    try:
        service = create_processing_service(workspace, folders, may_ask=False)
        changes = await service.scan()
    except NotFound:
        return 0
    return len(changes.changed) + len(changes.stale) + len(changes.gone)


async def has_pending_names(workspace: Workspace) -> bool:
    """Return whether a decision about names, or its undoing, waits for an ingestion.

    The cast is inferred again and compared with the stored one; nothing is stored and
    no service is contacted. False in pipeline a and for a library in a Supabase project.
    """
    embedded = workspace.settings.records.keeper == "embedded"
    attributor = _create_story_attributor(workspace) if embedded else None
    history = workspace.canon.history()
    if attributor is None or not any(
        isinstance(record.decision, NameDecision) for record in history
    ):
        return False
    return await attributor.infer_cast() != await workspace.stories.cast()


def _create_story_attributor(workspace: Workspace) -> StoryAttributor | None:
    """Return the speaker attribution; None in pipeline a, which has no characters."""
    if workspace.settings.pipeline is Pipeline.NAIVE:
        return None
    return StoryAttributor(
        store=workspace.stores.casts,
        passages=SqlitePassageStore(workspace.database),
        patterns=workspace.settings.manuscript.order,
        canon=workspace.canon_file.load,
    )


def create_caching_analyst(
    settings: Settings, store: "AnalysisStore", access: ModelAccess, calls: int = 0
) -> CachingAnalyst | None:
    """Return what extracts facts with a language model and caches the model's replies.

    None if no model is configured, or in pipeline a. Without consent it returns facts
    from cached replies only. `calls` limits its requests; 0 means no limit.

    Raises:
        SettingsProblem: The configured language model has no key or no name.
    """
    if settings.pipeline is Pipeline.NAIVE:
        return None
    chat = create_chat_model(settings, ModelRole.ANALYST, access)
    if chat is None:
        return None
    from lrwr.core.adapters.analyst.model import ModelAnalyst

    price, name = create_price_lookup(settings), chat.name
    budget = settings.model.budget
    meter = ModelBudget(lambda usage: price(usage, name), budget, most_calls=calls)
    if access.refusal is not None:
        meter.stop(describe_refusal(access.refusal))
    return CachingAnalyst(ModelAnalyst(chat), store, meter)
