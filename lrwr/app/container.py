"""Composition root: settings in, services out. The only module that builds adapters."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app import factories, ingestion, stores
from lrwr.app.egress import ExternalAccess
from lrwr.core.settings.library import (
    Library,
    check_state_dir,
    list_manuscript_folders,
    prepare_state_dir,
    resolve_library,
)
from lrwr.core.settings.model import Settings
from lrwr.core.settings.places import CANON_FILE_NAME

if TYPE_CHECKING:
    from lrwr.app.stores import Stores
    from lrwr.core.adapters.embed.local import LocalEmbedder
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.bible.service import BibleService
    from lrwr.core.canon.file import CanonFile
    from lrwr.core.canon.service import CanonService
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.continuity.judge import PairJudge
    from lrwr.core.ports.embedder import Embedder
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.lexical_index import LexicalIndex
    from lrwr.core.ports.record_store import PassageStore
    from lrwr.core.ports.reranker import Reranker
    from lrwr.core.ports.snapshot_store import DocumentSnapshotStore
    from lrwr.core.ports.story_store import StoryStore
    from lrwr.core.ports.thread_store import ThreadStore
    from lrwr.core.ports.vector_index import VectorIndex
    from lrwr.core.retrieval.confidence import CalibrationTable
    from lrwr.core.retrieval.freshness import FreshnessService
    from lrwr.core.retrieval.service import PassageFinder
    from lrwr.pipeline.service import DocumentProcessingService


@asynccontextmanager
async def open_services(
    settings: Settings,
    *,
    now: Callable[[], float] = time.time,
    say: Callable[[str], None] | None = None,
    brief: bool = True,
) -> "AsyncIterator[Services]":
    """Lend out services, and close whatever they opened on the way out.

    `say` is told, from any thread, what a service did unasked. What goes on for long is
    not `brief`: it hears of changes that were made elsewhere.
    """
    async with AsyncExitStack() as stack:
        yield Services(settings, stack, now, say, brief)


class Services:
    """Services, each built when it is asked for, and then the same one every time."""

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        now: Callable[[], float],
        say: Callable[[str], None] | None = None,
        brief: bool = True,
    ) -> None:
        self.settings = settings
        self.library: Library = resolve_library(settings)
        check_state_dir(self.library)
        self._stack, self._now, self._say, self._brief = stack, now, say, brief
        self._opening = asyncio.Lock()
        self._index: VectorIndex | None = None

    def processing(
        self,
        targets: Sequence[Path],
        *,
        asking: bool = True,
        bounds: ingestion.IngestLimits = ingestion.UNBOUNDED,
    ) -> "DocumentProcessingService":
        """Return the service that reads the manuscript under `targets`.

        Without `asking` it may look and estimate, and needs no key of a model.

        Raises:
            StoreProblem: The state folder cannot be made.
            SettingsProblem: A language model is set that cannot be asked.
        """
        prepare_state_dir(self.library)
        return ingestion.create_processing_service(
            self,
            ingestion.IngestDependencies(
                self.stores, self._local, self._embedder, self._now
            ),
            targets,
            reach=self.outward.reach(asking=asking),
            canon=self._canon_file().load,
            bounds=bounds,
        )

    @cached_property
    def holdings(self) -> "DocumentSnapshotStore":
        """What the library holds of single documents."""
        from lrwr.core.adapters.storage.sqlite.document_snapshots import (
            SqliteSnapshotStore,
        )

        return SqliteSnapshotStore(self.stores.database)

    def manuscript(self) -> tuple[Path, ...]:
        """Return the folders and files that hold the manuscript, absolute.

        Those in the settings, else those that were ingested before; empty if none.

        Raises:
            SettingsProblem: The library's own file leads out of the library's folder.
        """
        return list_manuscript_folders(self.settings, self.library)

    def finder(self) -> "PassageFinder":
        """Return the service that finds passages.

        Raises:
            NotFound: Nothing has been ingested here.
        """
        from lrwr.core.retrieval.service import PassageFinder
        from lrwr.core.retrieval.story_search import StorySearch

        return PassageFinder(
            store=self.passages,
            lexical=self._lexical,
            embedder=self._embedder,
            vectors=self._vectors,
            reranker=self.reranker,
            candidates=self.settings.rerank.looked_at,
            order_patterns=self.settings.manuscript.order,
            canon=self._canon_file().load,
            story=StorySearch(self.stories),
            calibrations=self.calibrations(),
        )

    def calibrations(self) -> "CalibrationTable":
        """Return what signals of a search mean here: as shipped, or as fitted here."""
        from lrwr.core.retrieval.confidence import (
            SHIPPED_CALIBRATIONS,
            get_calibration_path,
            index_calibrations,
            load_calibrations,
        )

        kept, problem = load_calibrations(get_calibration_path(self.library))
        if problem and self._say is not None:
            self._say(problem)
        return {**SHIPPED_CALIBRATIONS, **index_calibrations(kept)}

    @cached_property
    def stories(self) -> "StoryStore":
        """What is known of the story, as it is kept."""
        from lrwr.core.adapters.storage.sqlite.story_store import SqliteStoryStore

        return SqliteStoryStore(self.stores.database)

    def bible(self) -> "BibleService":
        """Return the service that reads what is known of the story.

        Raises:
            NotFound: Nothing has been ingested here.
        """
        from lrwr.core.bible.service import BibleService

        return BibleService(
            stories=self.stories,
            passages=self.passages,
            patterns=self.settings.manuscript.order,
            canon=self._canon_file().load,
            wondered=self.threads.gaps,
        )

    def judge(self, *, asking: bool = True, calls: int = 0) -> "PairJudge | None":
        """Return who judges what rules cannot compare: see `factories.judge`."""
        reach = self.outward.reach(asking=asking)
        return factories.create_pair_judge(
            self.settings, self.stores.analysis, reach, calls
        )

    def _canon_file(self) -> "CanonFile":
        from lrwr.core.canon.file import CanonFile

        return CanonFile(self.library.root / CANON_FILE_NAME)

    @cached_property
    def canon(self) -> "CanonService":
        """The writer's decisions."""
        prepare = partial(prepare_state_dir, self.library)
        return factories.create_canon_service(self.library, prepare, self._now)

    def sessions(self, *, asking: bool = True) -> "AvatarSessionService":
        """Return the service that answers questions and keeps conversations.

        Unless `asking`, no language model is asked, and none needs a key.

        Raises:
            NotFound: Nothing has been ingested here.
            SettingsProblem: The language model that is set has no key or no name.
        """
        from lrwr.core.adapters.source.sentence_splitter import find_sentence_spans
        from lrwr.core.chat.extractive.sentence_ranking import PassageSource

        store, pipeline = self.passages, self.settings.pipeline
        shelf = PassageSource(
            store, self._lexical, self._closer_look, find_sentence_spans, pipeline
        )
        reach = self.outward.reach(asking=asking, waited=True)
        voices = factories.create_turn_models(self.settings, shelf, reach)
        web = self.outward.web(asking=asking)
        tracer = self.outward.tracer(asking=asking)
        return factories.create_session_service(
            self, voices, web, now=self._now, tracer=tracer
        )

    @cached_property
    def outward(self) -> ExternalAccess:
        """What may leave this machine, what left it, and the way there."""
        given = self.settings, self.library, self._stack, self._plain, self._now
        return ExternalAccess(*given, say=self._say)

    @cached_property
    def passages(self) -> "PassageStore":
        """What answering reads; `NotFound` where nothing has been ingested."""
        from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore

        self.require_library()
        return SqlitePassageStore(self.stores.database)

    @cached_property
    def freshness(self) -> "FreshnessService":
        """Whether answers still rest on the text; `NotFound` as for `passages`."""
        from lrwr.core.retrieval.freshness import FreshnessService

        return FreshnessService(self.passages)

    @cached_property
    def threads(self) -> "ThreadStore":
        """Conversations; `NotFound` where nothing has been ingested."""
        self.require_library()
        return self.stores.threads

    @cached_property
    def jobs(self) -> "JobQueue":
        """The work that waits, runs and is done."""
        return self.stores.jobs

    @cached_property
    def reranker(self) -> "Reranker | None":
        """The second look at candidates; None when it is turned off or cannot be."""
        return self.outward.reranker() or self._closer_look

    @cached_property
    def _closer_look(self) -> "Reranker | None":
        """What looks closely on this machine: no sentence is sent to be weighed."""
        return factories.create_local_reranker(
            self.settings, self._local, self._lexical
        )

    def require_library(self) -> None:
        """Make sure that there is something to read.

        Raises:
            NotFound: Nothing has been ingested here.
        """
        if not self.library.database.exists():
            raise stores.missing_library_error(self.settings, self.library)

    @cached_property
    def stores(self) -> "Stores":
        """Who keeps what is written: a file here, or a project.

        Raises:
            SettingsProblem: A project is to keep it, and does not yet.
        """
        given = self.settings, self.outward, self._stack, self._now, self._say
        return stores.choose_stores(*given, brief=self._brief)

    @cached_property
    def _plain(self) -> "SqliteDatabase":
        from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase

        database = SqliteDatabase(self.library.database, say=self._say)
        self._stack.push_async_callback(database.aclose)
        return database

    @cached_property
    def _lexical(self) -> "LexicalIndex":
        from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex

        return SqliteLexicalIndex(self.stores.database)

    @cached_property
    def _local(self) -> "LocalEmbedder":
        embedder = factories.create_local_embedder(self.settings, self.library)
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def _embedder(self) -> "Embedder | None":
        if self.settings.embedding.model == "off":
            return None
        return self.outward.embedder(self._local.count_tokens) or self._local

    async def _vectors(self) -> "VectorIndex | None":
        async with self._opening:
            if self._index is None and self._embedder is not None:
                opened = await factories.open_configured_vectors(
                    self.settings, self.passages, self._embedder, self.outward
                )
                if opened is not None:
                    self._stack.push_async_callback(opened.aclose)
                self._index = opened
            return self._index
