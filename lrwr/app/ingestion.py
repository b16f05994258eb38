"""The service that reads the manuscript, fitted as the settings say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from lrwr.app import factories
from lrwr.app.egress import (
    ExternalAccess,
    ModelAccess,
    create_price_lookup,
    describe_refusal,
)
from lrwr.core.model.chunks import Pipeline
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.app.stores import Stores
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.adapters.modal.calls import ModalFunctionClient
    from lrwr.core.canon.model import Canon
    from lrwr.core.model.chunks import TextHash
    from lrwr.core.ports.analysis_store import AnalysisStore
    from lrwr.core.ports.embedder import Embedder
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.job_runner import JobRunner
    from lrwr.core.ports.manuscript_source import ManuscriptSource
    from lrwr.pipeline.analysis import CachingAnalyst
    from lrwr.pipeline.recipes import Recipe, RecipeTools
    from lrwr.pipeline.service import DocumentProcessingService
    from lrwr.pipeline.speaker_attribution import StoryAttributor


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """What one ingestion may do: `calls` of a model at most, 0 for any number.

    Unless `complete`, what an earlier one left unfinished stays so. `jobs` are taken
    instead of the library's own queue, `source` instead of the folders named. Without
    `vectors` passages are cut as ever, and not embedded: they are not to be searched.
    Only where `elsewhere` may documents be read on other machines, if the settings say so.
    With `missing_too` what was never a file of this machine is forgotten as well.
    """

    calls: int = 0
    complete: bool = True
    jobs: "JobQueue | None" = None
    source: "ManuscriptSource | None" = None
    vectors: bool = True
    elsewhere: bool = False
    missing_too: bool = False


UNBOUNDED = IngestLimits()
"""As `lrwr ingest` reads."""


@dataclass(frozen=True, slots=True)
class IngestDependencies:
    """What reading needs at hand; `embedder` is None where nothing is embedded."""

    stores: "Stores"
    local: "LocalEmbedder"
    embedder: "Embedder | None"
    now: Callable[[], float]


class Reads(Protocol):
    """What a service that reads the manuscript is made from."""

    @property
    def settings(self) -> Settings:
        """The settings that hold."""
        ...

    @property
    def library(self) -> Library:
        """Where the library is."""
        ...

    @property
    def jobs(self) -> "JobQueue":
        """The work that waits, runs and is done."""
        ...

    @property
    def outward(self) -> ExternalAccess:
        """What may leave this machine."""
        ...


def create_processing_service(
    lender: Reads,
    desk: IngestDependencies,
    targets: Sequence[Path],
    *,
    reach: ModelAccess,
    canon: "Callable[[], Canon]",
    bounds: IngestLimits = UNBOUNDED,
) -> "DocumentProcessingService":
    """Return the service that reads the manuscript under `targets`.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.app.telemetry.ingestion import TracedProcessingService
    from lrwr.core.adapters.source.folder import FolderSource
    from lrwr.core.adapters.source.parser import ManuscriptParser
    from lrwr.core.adapters.storage.worker_liveness import build_worker_name
    from lrwr.pipeline.recipes import RecipeTools
    from lrwr.pipeline.service import LocalRunner

    settings, now = lender.settings, desk.now
    store, analyses = desk.stores.knowledge, desk.stores.analysis
    known = store.known_vectors if bounds.vectors else _all_known
    folders = FolderSource(lender.library.root, targets, settings.manuscript.exclude)
    tools = RecipeTools(desk.local.count_tokens, desk.embedder, known)
    calls = lender.outward.modal() if bounds.elsewhere and reach.asking else None
    if calls is not None:
        reach = replace(reach, asking=False)  # a model is asked elsewhere, too
    close = create_caching_analyst(settings, analyses, reach, bounds.calls)
    chosen, parse = create_recipe(settings, analyses, close), ManuscriptParser()
    runner: JobRunner = LocalRunner(parse, chosen, tools)
    if calls is not None:
        runner = _elsewhere(settings, chosen, tools, analyses, calls)
    made = TracedProcessingService(
        source=bounds.source or folders,
        parse=parse,
        recipe=chosen,
        tools=tools,
        store=store,
        jobs=bounds.jobs or lender.jobs,
        worker=build_worker_name(uuid4().hex[:8]),
        weaver=create_story_attributor(settings, desk.stores, canon),
        pause=desk.stores.pause,
        complete=bounds.complete,
        missing_too=bounds.missing_too,
        runner=_filing(runner, desk.stores),
    )
    asking = reach.asking or calls is not None
    return made.traced(lender.outward.tracer(asking=asking), now)


def _filing(runner: "JobRunner", stores: "Stores") -> "JobRunner":
    """Have every file that is read kept as well, where somebody keeps files."""
    from lrwr.pipeline.file_archive import ArchivingRunner

    return runner if stores.files is None else ArchivingRunner(runner, stores.files)


async def _all_known(space: str, texts: "set[TextHash]") -> "set[TextHash]":
    del space
    return texts


def create_recipe(
    settings: Settings, store: "AnalysisStore", close: "CachingAnalyst | None"
) -> "Recipe":
    """Return how the pipeline that is set makes knowledge of a document.

    `close` is who reads with a language model, None where nobody does.
    """
    from lrwr.pipeline.recipes import NaiveRecipe

    chunk = settings.chunk
    if settings.pipeline is Pipeline.NAIVE:
        return NaiveRecipe(size=chunk.size, overlap=chunk.overlap)
    from lrwr.core.adapters.analyst.rules import RulesAnalyst
    from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans
    from lrwr.pipeline.agentic_recipe import AgenticRecipe
    from lrwr.pipeline.stages.semantic_splitter import ChunkLimits

    return AgenticRecipe(
        limits=ChunkLimits(least=chunk.smallest, most=chunk.largest),
        split=find_sentence_spans,
        rules=RulesAnalyst(find_sentence_spans),
        store=store,
        reading=close,
    )


def _elsewhere(
    settings: Settings,
    recipe: "Recipe",
    tools: "RecipeTools",
    store: "AnalysisStore",
    calls: "ModalFunctionClient",
) -> "JobRunner":
    """Return who has documents read at Modal; nothing is opened yet.

    Raises:
        SettingsProblem: A setting names what only this machine can reach.
    """
    from lrwr.core.adapters.modal.factory import select_remote_settings
    from lrwr.core.adapters.modal.runner import ModalRunner, ModalRunOptions
    from lrwr.core.adapters.source.parser import ManuscriptParser
    from lrwr.pipeline.remote_input import create_remote_input
    from lrwr.pipeline.service import build_recipe_name

    parse, embedder = ManuscriptParser(), tools.embedder
    task = ModalRunOptions(
        settings=select_remote_settings(settings),
        recipe=build_recipe_name(parse, recipe, tools),
        pipeline=recipe.pipeline,
        space=tools.space,
        dimensions=embedder.dimensions if embedder else 0,
        places=settings.ingest.containers,
    )
    return ModalRunner(task, parse, create_remote_input(recipe, tools, store), calls)


def create_story_attributor(
    settings: Settings, stores: "Stores", canon: "Callable[[], Canon]"
) -> "StoryAttributor | None":
    """Return what makes the cast; None in pipeline a, which knows nobody."""
    if settings.pipeline is Pipeline.NAIVE:
        return None
    from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore
    from lrwr.pipeline.speaker_attribution import StoryAttributor

    return StoryAttributor(
        store=stores.casts,
        passages=SqlitePassageStore(stores.database),
        patterns=settings.manuscript.order,
        canon=canon,
    )


def create_caching_analyst(
    settings: Settings, store: "AnalysisStore", reach: ModelAccess, calls: int = 0
) -> "CachingAnalyst | None":
    """Return who reads with the language model that is set; None where none is.

    Where the writer has not allowed it, what the model said before is still told.
    `calls` bounds what it is asked; 0 does not.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.core.adapters.chat.factory import ModelRole

    if settings.pipeline is Pipeline.NAIVE:
        return None
    chat = factories.create_chat_model(settings, ModelRole.ANALYST, reach)
    if chat is None:
        return None
    from lrwr.core.adapters.analyst.model import ModelAnalyst
    from lrwr.pipeline.analysis import CachingAnalyst
    from lrwr.pipeline.budget import ModelBudget

    price, name = create_price_lookup(settings), chat.name
    budget = settings.model.budget
    meter = ModelBudget(lambda usage: price(usage, name), budget, most_calls=calls)
    if reach.refused is not None:
        meter.stop(describe_refusal(reach.refused))
    return CachingAnalyst(ModelAnalyst(chat), store, meter)
