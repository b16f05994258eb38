"""The workspace: all stores and services of one library, built from the settings."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.embed.local import Embedders
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.job_queue import SqliteJobQueue
from lrwr.core.adapters.storage.sqlite.knowledge_store import (
    SqliteAnalysisStore,
    SqliteCastStore,
    SqliteKnowledgeStore,
)
from lrwr.core.adapters.storage.sqlite.passage_store import SqlitePassageStore
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteBiblePartStore,
    SqliteStoryStore,
)
from lrwr.core.canon.file import CANON_HISTORY_FILE_NAME, CanonFile
from lrwr.core.canon.service import CanonService
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.settings.consent import ConsentStore, find_consent_problem
from lrwr.core.settings.files import FileLock
from lrwr.core.settings.library import (
    CANON_FILE_NAME,
    Library,
    check_state_dir,
    get_consent_folder,
    list_manuscript_folders,
    prepare_state_dir,
    resolve_library,
    restrict_state_dir,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lrwr.app.egress import ExternalAccess
    from lrwr.app.retrieval import RetrievalComponents
    from lrwr.core.bible.service import BibleService
    from lrwr.core.canon.decision import CanonChange, Decision
    from lrwr.core.chat.generation.avatars import TurnCompanion
    from lrwr.core.chat.service import AvatarSessionService
    from lrwr.core.ports.jobs import JobQueue
    from lrwr.core.ports.stores import (
        AnalysisStore,
        FileStore,
        KnowledgeStore,
        PassageStore,
    )
    from lrwr.core.ports.story_stores import CastStore, StoryStore
    from lrwr.core.ports.threads import ThreadStore
    from lrwr.core.retrieval.service import PassageFinder
    from lrwr.core.settings.model import Settings


class Stores(Protocol):
    """The stores that lrwr writes to, locally or in a Supabase project.

    All reads use `database`; with Supabase that is a local replica.
    """

    @property
    def database(self) -> SqliteDatabase:
        """The SQLite file on this machine from which everything is read."""
        ...

    @property
    def knowledge(self) -> "KnowledgeStore":
        """The store of chunks, vectors and facts, which ingestions extract."""
        ...

    @property
    def casts(self) -> "CastStore":
        """The store of characters, and of who speaks each quotation."""
        ...

    @property
    def analysis(self) -> "AnalysisStore":
        """The cache of language models' replies, so that none is requested twice."""
        ...

    @property
    def jobs(self) -> "JobQueue":
        """The queue of documents to ingest, shared with other processes."""
        ...

    @property
    def threads(self) -> "ThreadStore":
        """The threads (saved conversations)."""
        ...

    @property
    def files(self) -> "FileStore | None":
        """The archive of ingested manuscript files; None if none are copied."""
        ...

    @property
    def pause(self) -> Callable[[], Awaitable[None]] | None:
        """Waits between two checks whether other processes have finished documents.

        None for the default wait of an ingestion.
        """
        ...


class LocalStores:
    """The stores of a library that has everything in its SQLite file.

    `now` returns seconds since 1970.
    """

    def __init__(self, database: SqliteDatabase, now: Callable[[], float]) -> None:
        self.database = database
        self.pause = None
        self.files = None
        self._now = now

    @cached_property
    def knowledge(self) -> "KnowledgeStore":
        """The store of chunks, vectors and facts, which ingestions extract."""
        return SqliteKnowledgeStore(self.database, now=self._now)

    @cached_property
    def casts(self) -> "CastStore":
        """The store of characters, and of who speaks each quotation."""
        return SqliteCastStore(self.database)

    @cached_property
    def analysis(self) -> "AnalysisStore":
        """The cache of language models' replies, so that none is requested twice."""
        return SqliteAnalysisStore(self.database, now=self._now)

    @cached_property
    def jobs(self) -> "JobQueue":
        """The queue of documents to ingest, shared with other processes."""
        return SqliteJobQueue(self.database, now=self._now)

    @cached_property
    def threads(self) -> "ThreadStore":
        """The threads (saved conversations)."""
        from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore

        return SqliteThreadStore(self.database)


@asynccontextmanager
async def open_workspace(
    settings: "Settings", *, say: Callable[[str], None] | None = None
) -> "AsyncIterator[Workspace]":
    """Yield the workspace of the configured library; close what it opened on exit.

    `say` receives notices for the user, from any thread; None discards them.
    """
    async with AsyncExitStack() as stack:
        yield Workspace(settings, stack, time.time, say)


class Workspace:
    """The stores and services of one library, each built once, on first use.

    Services that read the library raise `NotFound` if nothing was ingested. `stack`
    closes what is opened. `now` returns seconds since 1970. `say` receives notices for
    the user.
    """

    def __init__(
        self,
        settings: "Settings",
        stack: AsyncExitStack,
        now: Callable[[], float],
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.library: Library = resolve_library(settings)
        check_state_dir(self.library)
        restrict_state_dir(self.library)
        self.now = now
        self.notify = say
        self._stack = stack
        self._session: AvatarSessionService | None = None
        self._has_warned = False

    @property
    def is_ingested(self) -> bool:
        """Whether the library exists, because something was ingested or downloaded."""
        return self.library.database.exists()

    def require_library(self) -> None:
        """Raise an error unless the library exists.

        Raises:
            NotFound: Nothing was ingested here.
        """
        if not self.is_ingested:
            refusal = self.consent_refusal("supabase")
            raise _missing_library_error(self.settings, self.library, refusal)

    async def require_text(self) -> None:
        """Raise an error unless the library has text; warn once of documents without.

        After a repair or an interrupted ingestion, text is missing until the next one.

        Raises:
            NotFound: Nothing was ingested here, or it must be ingested again.
        """
        counts = [await self.passages.counts(pipeline) for pipeline in Pipeline]
        if not any(count.documents for count in counts):
            folder = "" if self.manuscript(named=True) else " FOLDER"
            raise NotFound(
                f"The library in {self.library.root} contains no text of a manuscript",
                hint=f"Run `lrwr ingest{folder}` to ingest your manuscript.",
            )
        waiting = counts[0].waiting
        if waiting and not self._has_warned and self.notify is not None:
            self._has_warned = True
            self.notify(
                f"{format_count(waiting, 'document')} not ingested yet: what is shown"
                " lacks this text, and chapter numbers may be off. Run `lrwr ingest`."
            )

    def manuscript(self, *, named: bool = False) -> "tuple[Path, ...]":
        """Return the absolute paths of the manuscript's folders and files.

        They come from `manuscript.folders`, else from earlier ingestions; empty without
        either. With `named`, because the user named paths, refused ones are left out.

        Raises:
            SettingsProblem: The `lrwr.toml` of the library's folder names a path
                outside of that folder; only without `named`.
        """
        try:
            return list_manuscript_folders(self.settings, self.library)
        except SettingsProblem:
            if named:
                return ()
            raise

    # Stores

    @cached_property
    def stores(self) -> "Stores":
        """The stores of the library: a local file, or a Supabase project.

        Raises:
            SettingsProblem: The configured Supabase project does not have the library.
        """
        if self.settings.records.keeper == "embedded":
            return LocalStores(self._library_file, self.now)
        from lrwr.app.supabase_project import open_supabase_stores

        return open_supabase_stores(self.egress, self._stack, self.now, self.notify)

    @property
    def database(self) -> SqliteDatabase:
        """The SQLite file on this machine from which everything is read."""
        if self.settings.records.keeper == "embedded":
            return self._library_file
        return self.stores.database

    @cached_property
    def _library_file(self) -> SqliteDatabase:
        database = SqliteDatabase(self.library.database, say=self.notify)
        self._stack.push_async_callback(database.aclose)
        return database

    @cached_property
    def passages(self) -> "PassageStore":
        """The ingested text of the manuscript, as documents and passages.

        Raises:
            NotFound: Nothing was ingested here.
        """
        self.require_library()
        return SqlitePassageStore(self.database)

    @cached_property
    def threads(self) -> "ThreadStore":
        """The threads (saved conversations).

        Raises:
            NotFound: Nothing was ingested here.
        """
        self.require_library()
        return self.stores.threads

    @cached_property
    def stories(self) -> "StoryStore":
        """The facts and the cast extracted from the manuscript."""
        return SqliteStoryStore(self.database)

    @property
    def versions(self) -> "KnowledgeStore":
        """The versions of the documents that were ingested, on this machine."""
        return SqliteKnowledgeStore(self.database, now=self.now)

    @cached_property
    def jobs(self) -> "JobQueue":
        """The queue of documents to ingest, shared with other processes."""
        return self.stores.jobs

    # Services

    @cached_property
    def egress(self) -> "ExternalAccess":
        """The clients of external services, with consents, API keys and send log."""
        # The clients take as long to import as all that `lrwr status` needs.
        from lrwr.app.egress import ExternalAccess

        return ExternalAccess(
            self.settings,
            self.library,
            self._stack,
            self._library_file,
            self.now,
            self.notify,
        )

    def consent_refusal(self, service: str) -> LrwrError | None:
        """Return the error that says why a configured service may not be used.

        `service` is a key of `CONSENT_SERVICES`. None if the service may be used, or if
        the settings do not turn it on.
        """
        consents = ConsentStore(get_consent_folder())
        return find_consent_problem(self.settings, self.library, service, consents)

    @property
    def canon_file(self) -> CanonFile:
        """The file with the user's decisions, `lrwr.canon.toml`."""
        return CanonFile(self.library.root / CANON_FILE_NAME)

    @cached_property
    def canon(self) -> "CanonService":
        """The service that records the user's decisions."""
        state = self.library.state_dir
        return CanonService(
            self.library.root / CANON_FILE_NAME,
            history=state / CANON_HISTORY_FILE_NAME,
            lock=partial(FileLock, state / "canon.lock"),
            prepare=partial(prepare_state_dir, self.library),
            now=self.now,
        )

    @cached_property
    def embedders(self) -> Embedders:
        """The embedding models, on this machine and on servers."""
        return Embedders(
            self.settings.embedding,
            self.library,
            lambda count: self.egress.hosted_embedder(count),
            self._stack,
        )

    @cached_property
    def retrieval(self) -> "RetrievalComponents":
        """What search uses: indexes, embedding model, reranker and calibrations.

        Raises:
            NotFound: Nothing was ingested here.
        """
        from lrwr.app.retrieval import IndexedRecords, RetrievalComponents

        records = IndexedRecords(
            self.database,
            self.passages,
            self.stories,
            self.canon_file.load,
            lambda: self.stores.analysis,
        )
        return RetrievalComponents(
            records, self.embedders, self.egress, self._stack, self.notify
        )

    def finder(self) -> "PassageFinder":
        """Return the service that finds the passages for a question.

        Raises:
            NotFound: Nothing was ingested here.
        """
        return self.retrieval.finder()

    def bible(self) -> "BibleService":
        """Return the service that builds the story bible from the library.

        Raises:
            NotFound: Nothing was ingested here.
        """
        from lrwr.core.bible.service import BibleService

        return BibleService(
            stories=self.stories,
            passages=self.passages,
            parts=SqliteBiblePartStore(self.database),
            patterns=self.settings.manuscript.order,
            canon=self.canon_file.load,
            flagged_gaps=self.threads.gaps,
        )

    def sessions(
        self, *, may_ask: bool = True, companion: "TurnCompanion | None" = None
    ) -> "AvatarSessionService":
        """Return the service that answers questions and stores threads.

        With `may_ask` False it contacts no external service and needs no API key. A
        `companion` answers about a book that is read.

        Raises:
            NotFound: Nothing was ingested here.
            SettingsProblem: The configured language model has no key or no name.
        """
        if not may_ask or companion is not None:
            return self._create_sessions(may_ask, companion)
        if self._session is None:
            self._session = self._create_sessions(may_ask=True)
        return self._session

    def reset_sessions(self) -> None:
        """Discard the session service, so that a changed consent takes effect.

        The next call of `sessions` builds a new one.
        """
        self._session = None

    def _create_sessions(
        self, may_ask: bool, companion: "TurnCompanion | None" = None
    ) -> "AvatarSessionService":
        from lrwr.app.sessions import SessionDependencies, create_session_service

        parts = SessionDependencies(
            settings=self.settings,
            bible=self.bible(),
            finder=self.retrieval.finder(may_ask=may_ask),
            ranker=self.retrieval.ranker if may_ask else None,
            passages=self.passages,
            lexical_index=self.retrieval.lexical_index,
            reranker=self.retrieval.local_reranker,
            threads=self.threads,
            decide=self._decide,
            now=self.now,
        )
        return create_session_service(
            parts,
            self.egress.model_access(may_ask=may_ask, is_interactive=True),
            web=self.egress.web_search() if may_ask else None,
            tracer=self.egress.tracer if may_ask else None,
            companion=companion,
        )

    def _decide(self, decision: "Decision") -> "CanonChange":
        return self.canon.decide(decision)


def _missing_library_error(
    settings: "Settings", library: Library, refusal: LrwrError | None
) -> NotFound:
    """Return the error; `refusal` says why the Supabase project may not be contacted."""
    if settings.records.keeper != "embedded":
        first = f"{refusal.hint} Then download" if refusal else "Download"
        return NotFound(
            f"There is no library in {library.root}",
            hint=f"{first} one with `lrwr pull`, or create one with `lrwr push`.",
        )
    backups = sorted((library.state_dir / "backups").glob("????-??-??.jsonl.*"))
    if backups:
        day = backups[-1].name.partition(".")[0]
        return NotFound(
            f"The library in {library.root} has no database, but an automatic backup"
            f" of {day}",
            hint="Run `lrwr restore --latest` to bring back the saved conversations in"
            " it, then `lrwr ingest`.",
        )
    return NotFound(
        f"Nothing has been ingested in {library.root}",
        hint="Run `lrwr ingest FOLDER` with the folder of your manuscript, or first"
        " `cd` to the folder in which you ran `lrwr ingest`.",
    )
