"""Builds the ingestion service from the settings, and runs it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.app.container import Workspace
from lrwr.app.egress import (
    ModelAccess,
    create_chat_model,
    create_price_lookup,
    describe_refusal,
)
from lrwr.app.history import EarlierTexts, HistoryKnowledgeStore
from lrwr.app.maintenance.automatic_backup import back_up_if_due
from lrwr.app.pending_changes import (
    IngestTargets,
    load_type_decisions,
    may_complete,
)
from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import (
    ManuscriptParser,
    infer_type_from_folder,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.sqlite.fts_index import merge_fts_segments
from lrwr.core.adapters.storage.sqlite.job_queue import build_worker_name
from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.settings.chat_models import ModelRole
from lrwr.core.settings.library import (
    drop_ingested_paths,
    prepare_state_dir,
    replace_ingested_paths,
    resolve_targets,
    store_ingested_paths,
)
from lrwr.core.settings.model import Settings
from lrwr.pipeline.analysis import CachingAnalyst, ModelBudget
from lrwr.pipeline.changes import is_in_folder
from lrwr.pipeline.recipes import AgenticRecipe, NaiveRecipe, Recipe, RecipeTools
from lrwr.pipeline.remote_jobs import (
    ArchivingRunner,
    DecidedRunner,
    create_remote_input,
)
from lrwr.pipeline.report import describe_documents_outside
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
    from lrwr.core.ports.stores import (
        AnalysisStore,
        DocumentVersion,
        KnowledgeStore,
    )
    from lrwr.pipeline.report import EmitIngestEvent, IngestReport


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Options of one ingestion.

    `calls` limits the requests to a language model; 0 means no limit. With
    `attribute_now` False, the cast and the speakers of quotations may stay outdated.
    `jobs` replaces the library's queue and `source` the manuscript's folders, unless
    None. With `vectors` False, chunks are not embedded. With `run_remotely`, documents
    are processed at Modal if the settings say so. With `forget_missing`, all documents
    without a file are deleted: also many at once, and those that another machine
    ingested. `absent` are the manuscript's paths that do not exist; their documents
    count as missing. `attributor` is reused if it is not None. A library with
    `prepared_from` passages or more gets the indexes that its first question would build
    when at least a tenth of its documents was processed.
    """

    calls: int = 0
    attribute_now: bool = True
    jobs: "JobQueue | None" = None
    source: "ManuscriptSource | None" = None
    vectors: bool = True
    run_remotely: bool = False
    forget_missing: bool = False
    absent: Sequence[Path] = ()
    attributor: StoryAttributor | None = None
    prepared_from: int = 20_000


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
    embedders = workspace.embedders
    has_states = embedders.has_token_states
    find_known = partial(stores.knowledge.known_vectors, with_states=has_states)
    known = find_known if limits.vectors else _claim_all_known
    tools = RecipeTools(embedders.local.count_tokens, embedders.configured, known)
    analyst = create_caching_analyst(settings, stores.analysis, access, limits.calls)
    attributor = limits.attributor or create_story_attributor(workspace)
    recipe = create_recipe(settings, stores.analysis, analyst, attributor)
    parse = ManuscriptParser(find_type=(find_type := load_type_decisions(workspace)))
    runner: JobRunner = LocalRunner(parse, recipe, tools)
    if calls is not None:
        remote = _create_modal_runner(workspace, recipe, tools, calls)
        runner = DecidedRunner(runner, remote, find_type)
    if stores.files is not None:
        runner = ArchivingRunner(runner, stores.files)
    root, exclude = workspace.library.root, settings.manuscript.exclude
    return _select_service(workspace, may_trace=may_ask)(
        source=limits.source or FolderSource(root, targets, exclude, limits.absent),
        parse=parse,
        recipe=recipe,
        tools=tools,
        store=_select_store(workspace, limits),
        jobs=limits.jobs or workspace.jobs,
        worker=build_worker_name(uuid4().hex[:8]),
        attributor=attributor,
        pause=stores.pause,
        complete=limits.attribute_now and may_complete(workspace),
        forget_missing=limits.forget_missing,
        runner=runner,
        decision_of=lambda document: find_type(document) or "",
        is_note=_is_in_note_folder if analyst else None,
    )


def _select_store(workspace: Workspace, limits: IngestLimits) -> "KnowledgeStore":
    """Return the store of the library; it records what it replaces, unless the source
    is not the manuscript or the library is hosted.
    """
    store = workspace.stores.knowledge
    if limits.source is not None or workspace.settings.records.keeper != "embedded":
        return store
    passages, library = SqlitePassageStore(workspace.database), workspace.library
    return HistoryKnowledgeStore(store, passages, EarlierTexts(library), workspace.now)


def _is_in_note_folder(document: DocumentId) -> bool:
    folder_type = infer_type_from_folder(PurePosixPath(document))
    return folder_type not in (None, DocumentType.SCENE)


def _select_service(
    workspace: Workspace, *, may_trace: bool
) -> Callable[..., DocumentProcessingService]:
    """Return the class of the service; if traces are on, the one that sends traces."""
    tracer = workspace.egress.tracer if may_trace else None
    if tracer is None:
        return DocumentProcessingService
    from lrwr.app.telemetry.ingestion import TracedProcessingService

    return partial(TracedProcessingService, tracer, workspace.now)


def resolve_manuscript(workspace: Workspace) -> list[Path]:
    """Return the absolute paths of the manuscript's folders and files, which exist.

    Raises:
        NotFound: No folder is known, or one does not exist.
    """
    folders = workspace.manuscript()
    return resolve_targets(folders, folders)


async def check_named_targets(
    workspace: Workspace, targets: IngestTargets
) -> IngestTargets:
    """Return `targets` without named folders that hold no document, now or before.

    Raises:
        NotFound: None of the named folders holds a document. Nothing was stored.
    """
    if not targets.named:
        return targets
    library, name_of = workspace.library, workspace.library.name_of_document
    versions = await _load_versions(workspace) if workspace.is_ingested else ()
    stored = [version.id for version in versions]
    if all(
        any(is_in_folder(document, name_of(target)) for document in stored)
        for target in targets.existing
    ):
        return targets
    exclude = workspace.settings.manuscript.exclude
    listing = await FolderSource(library.root, targets.existing, exclude).list()
    document_ids = [*stored, *(file.id for file in listing.found)]
    used = tuple(
        target
        for target in targets.existing
        if any(is_in_folder(document, name_of(target)) for document in document_ids)
    )
    if not used:
        names = " and ".join(map(str, targets.existing))
        skipped = listing.skipped[0] if listing.skipped else None
        example = (
            f", only files such as {skipped.path}: {skipped.reason}" if skipped else ""
        )
        raise NotFound(
            f"No .md, .docx or .txt files found in {names}{example}",
            hint="Run `lrwr ingest FOLDER` with the folder of your chapters. The library"
            " was not changed.",
        )
    return replace(targets, existing=used)


async def find_documents_outside(
    workspace: Workspace, targets: IngestTargets
) -> list[DocumentId]:
    """Return the documents that are in no folder of the manuscript any more, sorted.

    Empty without a library. A document that only another machine ingested is left out.
    """
    if not workspace.is_ingested:
        return []
    folders = [
        workspace.library.name_of_document(folder)
        for folder in (*targets.existing, *workspace.manuscript(named=targets.named))
    ]
    return [
        version.id
        for version in await _load_versions(workspace)
        if version.revision
        and not any(is_in_folder(version.id, folder) for folder in folders)
    ]


async def _load_versions(workspace: Workspace) -> "Sequence[DocumentVersion]":
    pipeline = workspace.settings.pipeline
    return await workspace.stores.knowledge.document_versions(pipeline)


def _back_up(workspace: Workspace) -> None:
    failure = back_up_if_due(workspace.library, now=workspace.now())
    if failure and workspace.notify is not None:
        workspace.notify(failure)


def record_targets(workspace: Workspace, targets: IngestTargets) -> None:
    """Store the named targets for later ingestions, unless `manuscript.folders` is set.

    Raises:
        StoreProblem: The list of folders cannot be written.
    """
    if targets.named and not workspace.settings.manuscript.folders:
        store_ingested_paths(workspace.library, targets.existing)


def _settle_absent_targets(
    workspace: Workspace, targets: IngestTargets, report: "IngestReport"
) -> None:
    """Remove absent folders from the list of later ingestions, except those whose
    documents are still in the library; remark on those that the settings name.
    """
    name_of = workspace.library.name_of_document
    settled = [
        folder
        for folder in targets.absent
        if not any(is_in_folder(d, name_of(folder)) for d in report.missing)
    ]
    if workspace.settings.manuscript.folders:
        report.remarks += [
            f"There is no file or folder {folder}, which `manuscript.folders` names."
            for folder in settled
        ]
    elif settled and not report.dry_run:
        drop_ingested_paths(workspace.library, settled)


async def _find_absent(
    workspace: Workspace, targets: IngestTargets, limits: IngestLimits
) -> tuple[list[DocumentId], tuple[Path, ...]]:
    """Return the documents that have a file in no folder of the manuscript any more, and
    the paths whose documents count as missing.
    """
    outside = await find_documents_outside(workspace, targets)
    root = workspace.library.root
    lost = [document for document in outside if not (root / document).exists()]
    dropped = [] if targets.named else [d for d in outside if d not in lost]
    forgotten = dropped if limits.forget_missing else []
    paths = (root / document for document in (*lost, *forgotten))
    return dropped, (*targets.absent, *paths)


async def find_deletions(
    workspace: Workspace, targets: IngestTargets
) -> tuple[DocumentId, ...]:
    """Return the documents that an ingestion with `forget_missing` deletes, sorted.

    Renamed documents are included under their old names.
    """
    limits = IngestLimits(forget_missing=True)
    _, absent = await _find_absent(workspace, targets, limits)
    service = create_processing_service(
        workspace,
        targets.existing,
        may_ask=False,
        limits=replace(limits, absent=absent),
    )
    return (await service.scan()).gone


async def ingest_manuscript(
    workspace: Workspace,
    targets: IngestTargets,
    emit: "EmitIngestEvent",
    limits: IngestLimits = UNBOUNDED,
    *,
    dry_run: bool = False,
    verify: bool = False,
) -> "IngestReport":
    """Ingest `targets`; store named ones for later ingestions.

    `emit` receives progress events. With `dry_run`, nothing is stored; `verify` reads
    every file.

    Raises:
        StoreProblem: The state folder cannot be written.
        SettingsProblem: The configured language model has no key or no name.
    """
    dropped, absent = await _find_absent(workspace, targets, limits)
    forgotten = dropped if limits.forget_missing else []
    limits = replace(limits, absent=absent)
    service = create_processing_service(
        workspace, targets.existing, may_ask=not dry_run, limits=limits
    )
    if not dry_run:
        record_targets(workspace, targets)  # before the work, which may be interrupted
    report = await service.process(emit, dry_run=dry_run, verify=verify)
    if dropped and not forgotten:
        report.remarks.append(describe_documents_outside(dropped))
    _settle_absent_targets(workspace, targets, report)
    if forgotten and not dry_run:
        replace_ingested_paths(workspace.library, targets.existing)
    if not dry_run:
        if report.processed:
            await merge_fts_segments(workspace.database)
            await _prepare_questions(workspace, report, limits.prepared_from)
        _back_up(workspace)
    return report


async def _prepare_questions(
    workspace: Workspace, report: "IngestReport", least: int
) -> None:
    """Build the indexes of names and vectors after most of a large library was read.

    With 100,000 passages they take 20 s and 640 MB, too much for a question.
    """
    settings = workspace.settings
    counts = await workspace.passages.counts(settings.pipeline)
    if counts.chunks < least or 10 * report.processed < counts.documents:
        return
    with suppress(LrwrError):  # the question tells it that needs them
        if settings.pipeline is Pipeline.AGENTIC:
            await workspace.bible().names()
        if settings.vectors.keeper != "qdrant":
            index = await workspace.retrieval.vector_index.open()
            if index is not None:
                await index.catch_up()


async def _claim_all_known(_space: str, texts: "set[TextHash]") -> "set[TextHash]":
    return texts


def name_model_analysis(workspace: Workspace) -> str:
    """Return the revision of the analysis by the configured language model; empty if
    there is none.
    """
    access = workspace.egress.model_access(may_ask=False)
    store = workspace.stores.analysis
    analyst = create_caching_analyst(workspace.settings, store, access)
    return analyst.revision if analyst else ""


def create_recipe(
    settings: Settings,
    store: "AnalysisStore",
    analyst: CachingAnalyst | None,
    attributor: StoryAttributor | None = None,
) -> Recipe:
    """Return how the configured pipeline splits and analyses documents (its recipe).

    `analyst` uses a language model, with None rules only; it is shown the characters
    that `attributor` infers.
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
        find_cast=attributor.find_cast if attributor else None,
    )


def _create_modal_runner(
    workspace: Workspace,
    recipe: Recipe,
    tools: RecipeTools,
    calls: "ModalFunctionClient",
) -> "JobRunner":
    """Return the runner that processes documents at Modal; nothing is sent yet.

    Raises:
        SettingsProblem: A setting names what only this machine can reach.
    """
    from lrwr.core.adapters.modal import factory, runner

    settings, store = workspace.settings, workspace.stores.analysis
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


def create_story_attributor(workspace: Workspace) -> StoryAttributor | None:
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
