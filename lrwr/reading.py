"""The service that reads the manuscript, fitted as the settings say."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from lrwr import fitting
from lrwr.core.model.chunks import Pipeline
from lrwr.core.settings.library import Library
from lrwr.core.settings.values import Settings
from lrwr.outward import Outward, Reach, priced, told

if TYPE_CHECKING:
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.adapters.records.sqlite.database import Database
    from lrwr.core.canon.model import Canon
    from lrwr.core.model.chunks import TextHash
    from lrwr.core.ports.analysis_store import AnalysisStore
    from lrwr.core.ports.embedder import Embedder
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.manuscript_source import ManuscriptSource
    from lrwr.pipeline.analysis import CloseReading
    from lrwr.pipeline.recipes import Recipe
    from lrwr.pipeline.service import DocumentProcessingService
    from lrwr.pipeline.weaving import StoryWeaver


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one ingestion may do: `calls` of a model at most, 0 for any number.

    Unless `complete`, what an earlier one left unfinished stays so. `jobs` are taken
    instead of the library's own queue, `source` instead of the folders named. Without
    `vectors` passages are cut as ever, and not embedded: they are not to be searched.
    """

    calls: int = 0
    complete: bool = True
    jobs: "JobQueue | None" = None
    source: "ManuscriptSource | None" = None
    vectors: bool = True


UNBOUNDED = Bounds()
"""As `lrwr ingest` reads."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What reading needs at hand; `embedder` is None where nothing is embedded."""

    database: "Database"
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
    def outward(self) -> Outward:
        """What may leave this machine."""
        ...


def processing(
    lender: Reads,
    desk: Desk,
    targets: Sequence[Path],
    *,
    reach: Reach,
    canon: "Callable[[], Canon]",
    bounds: Bounds = UNBOUNDED,
) -> "DocumentProcessingService":
    """Return the service that reads the manuscript under `targets`.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.core.adapters.records.sqlite.knowledge import SqliteKnowledgeStore
    from lrwr.core.adapters.source.folder import FolderSource
    from lrwr.core.adapters.source.parser import Parser
    from lrwr.pipeline.recipes import Tools
    from lrwr.tracing.readings import TracedProcessing

    settings, now = lender.settings, desk.now
    store = SqliteKnowledgeStore(desk.database, now=now)
    known = store.known_vectors if bounds.vectors else _all_known
    folders = FolderSource(lender.library.root, targets, settings.manuscript.exclude)
    made = TracedProcessing(
        source=bounds.source or folders,
        parse=Parser(),
        recipe=recipe(settings, desk.database, now, reach, calls=bounds.calls),
        tools=Tools(desk.local.count_tokens, desk.embedder, known),
        store=store,
        jobs=bounds.jobs or lender.jobs,
        worker=f"{platform.node()}/{os.getpid()}/{uuid4().hex[:8]}",
        weaver=weaver(settings, desk.database, canon),
        complete=bounds.complete,
    )
    return made.traced(lender.outward.tracer(asking=reach.asking), now)


async def _all_known(space: str, texts: "set[TextHash]") -> "set[TextHash]":
    del space
    return texts


def recipe(
    settings: Settings,
    database: "Database",
    now: Callable[[], float],
    reach: Reach,
    *,
    calls: int = 0,
) -> "Recipe":
    """Return how the pipeline that is set makes knowledge of a document.

    `calls` bounds what a language model is asked; 0 does not.

    Raises:
        SettingsProblem: The language model that is set has no key or no name.
    """
    from lrwr.pipeline.recipes import NaiveRecipe

    chunk = settings.chunk
    if settings.pipeline is Pipeline.NAIVE:
        return NaiveRecipe(size=chunk.size, overlap=chunk.overlap)
    from lrwr.core.adapters.analyst.rules import RulesAnalyst
    from lrwr.core.adapters.records.sqlite.story import SqliteAnalysisStore
    from lrwr.core.adapters.sentences import sentence_spans
    from lrwr.pipeline.agentic import AgenticRecipe
    from lrwr.pipeline.stages.semantic import Limits

    store = SqliteAnalysisStore(database, now=now)
    return AgenticRecipe(
        limits=Limits(least=chunk.smallest, most=chunk.largest),
        split=sentence_spans,
        rules=RulesAnalyst(sentence_spans),
        store=store,
        reading=_reading(settings, store, reach, calls),
    )


def weaver(
    settings: Settings, database: "Database", canon: "Callable[[], Canon]"
) -> "StoryWeaver | None":
    """Return what makes the cast; None in pipeline a, which knows nobody."""
    if settings.pipeline is Pipeline.NAIVE:
        return None
    from lrwr.core.adapters.records.sqlite.passages import SqlitePassageStore
    from lrwr.core.adapters.records.sqlite.story import SqliteCastStore
    from lrwr.pipeline.weaving import StoryWeaver

    return StoryWeaver(
        store=SqliteCastStore(database),
        passages=SqlitePassageStore(database),
        patterns=settings.manuscript.order,
        canon=canon,
    )


def _reading(
    settings: Settings, store: "AnalysisStore", reach: Reach, calls: int
) -> "CloseReading | None":
    """Return who reads with the language model that is set; None where none is.

    Where the writer has not allowed it, what the model said before is still told.
    """
    from lrwr.core.adapters.chat.choose import Role

    chat = fitting.chat(settings, Role.ANALYST, reach)
    if chat is None:
        return None
    from lrwr.core.adapters.analyst.model import ModelAnalyst
    from lrwr.pipeline.analysis import CloseReading
    from lrwr.pipeline.metering import Meter

    price, name = priced(settings), chat.name
    budget = settings.model.budget
    meter = Meter(lambda usage: price(usage, name), budget, most_calls=calls)
    if reach.refused is not None:
        meter.stop(told(reach.refused))
    return CloseReading(ModelAnalyst(chat), store, meter)
