"""Where a library's records, jobs and conversations are kept: here, or in a project."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from lrwr.app.egress import ExternalAccess
from lrwr.app.supabase_project import SUPABASE_SERVICE, SupabaseProject
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.supabase.freshness import ReplicaRefresher
    from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
    from lrwr.core.adapters.storage.supabase.library_link import LibraryLink
    from lrwr.core.adapters.storage.supabase.realtime import (
        ChangeSignal,
        RealtimeListener,
    )
    from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
    from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
    from lrwr.core.adapters.storage.supabase.thread_replica import ThreadReplica
    from lrwr.core.ports.analysis_store import AnalysisStore
    from lrwr.core.ports.cast_store import CastStore
    from lrwr.core.ports.file_store import FileStore
    from lrwr.core.ports.job_queue import JobQueue
    from lrwr.core.ports.record_store import KnowledgeStore
    from lrwr.core.ports.thread_store import ThreadStore

LEAST_PAUSE, MOST_PAUSE = 0.25, 2.0
"""Seconds between two looks at a project's jobs that another run holds."""


class Stores(Protocol):
    """Who keeps what is written. What is read is read from `database`."""

    @property
    def database(self) -> "SqliteDatabase":
        """The library's file on this machine."""
        ...

    @property
    def knowledge(self) -> "KnowledgeStore":
        """What ingestion writes."""
        ...

    @property
    def casts(self) -> "CastStore":
        """What weaving writes."""
        ...

    @property
    def analysis(self) -> "AnalysisStore":
        """What was worked out and paid for."""
        ...

    @property
    def jobs(self) -> "JobQueue":
        """The work that waits."""
        ...

    @property
    def threads(self) -> "ThreadStore":
        """Conversations."""
        ...

    @property
    def files(self) -> "FileStore | None":
        """What keeps each file that is read; None where nothing but its folder does."""
        ...

    @property
    def pause(self) -> Callable[[], Awaitable[None]] | None:
        """What waits between two looks at others' jobs; None where a look is cheap."""
        ...


class LocalStores:
    """Everything in the file on this machine."""

    def __init__(self, database: "SqliteDatabase", now: Callable[[], float]) -> None:
        self.database = database
        self.pause = None
        self.files = None
        self._now = now

    @cached_property
    def knowledge(self) -> "KnowledgeStore":
        """What ingestion writes."""
        from lrwr.core.adapters.storage.sqlite.knowledge_store import (
            SqliteKnowledgeStore,
        )

        return SqliteKnowledgeStore(self.database, now=self._now)

    @cached_property
    def casts(self) -> "CastStore":
        """What weaving writes."""
        from lrwr.core.adapters.storage.sqlite.story_store import SqliteCastStore

        return SqliteCastStore(self.database)

    @cached_property
    def analysis(self) -> "AnalysisStore":
        """What was worked out and paid for."""
        from lrwr.core.adapters.storage.sqlite.story_store import SqliteAnalysisStore

        return SqliteAnalysisStore(self.database, now=self._now)

    @cached_property
    def jobs(self) -> "JobQueue":
        """The work that waits."""
        from lrwr.core.adapters.storage.sqlite.job_queue import SqliteJobQueue

        return SqliteJobQueue(self.database, now=self._now)

    @cached_property
    def threads(self) -> "ThreadStore":
        """Conversations."""
        from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore

        return SqliteThreadStore(self.database)


class SupabaseStores:
    """Everything in a Supabase project, and a working copy in the file here.

    Before the file is read it catches up with the project; `say` is told where it
    cannot. Unless it is `brief`, the project is listened to from the first reading on.
    """

    def __init__(
        self,
        plain: "SqliteDatabase",
        way: "SupabaseProject",
        bound: "LibraryLink",
        now: Callable[[], float],
        say: Callable[[str], None],
        *,
        brief: bool = True,
    ) -> None:
        self._plain = plain
        self._way = way
        self._bound = bound
        self._now = now
        self._say = say
        self._brief = brief

    @cached_property
    def database(self) -> "SqliteDatabase":
        """The file, which catches up before it is read."""
        from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase

        first = self._fresh if self._brief else self._awake
        return self._way.lent(SqliteDatabase(self._way.library.database, first=first))

    @cached_property
    def knowledge(self) -> "KnowledgeStore":
        """What ingestion writes."""
        from lrwr.core.adapters.storage.supabase.knowledge_store import (
            SupabaseKnowledgeStore,
        )

        return SupabaseKnowledgeStore(
            self.database,
            self._copy,
            self._records,
            self.jobs,
            self.files,
            now=self._now,
        )

    @cached_property
    def casts(self) -> "CastStore":
        """What weaving writes."""
        from lrwr.core.adapters.storage.supabase.story_store import SupabaseCastStore

        return SupabaseCastStore(self.database, self._copy, self._records)

    @cached_property
    def analysis(self) -> "AnalysisStore":
        """What was worked out and paid for."""
        from lrwr.core.adapters.storage.supabase.story_store import (
            SupabaseAnalysisStore,
        )

        return SupabaseAnalysisStore(self.database, self._records, now=self._now)

    @cached_property
    def jobs(self) -> "SupabaseJobQueue":
        """The work that waits."""
        from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue

        return SupabaseJobQueue(self._way.hosted, self._bound.library)

    @cached_property
    def files(self) -> "FileStore | None":
        """The files in the project's storage; None where the writer keeps them out."""
        return self._way.files(self._bound)

    @cached_property
    def threads(self) -> "ThreadStore":
        """Conversations."""
        from lrwr.core.adapters.storage.supabase.thread_store import SupabaseThreadStore

        return SupabaseThreadStore(
            self.database,
            self._threads_copy,
            self._records.threads,
            self._say,
            away=lambda: self._fresh.away,
        )

    async def pause(self) -> None:
        """Wait a while, less where something is heard to have changed."""
        await self._news.wait(LEAST_PAUSE, MOST_PAUSE)

    async def _awake(self) -> None:
        self._waking.begin()
        await self._fresh()

    def _came(self) -> None:
        self._fresh.due()
        self._news.came()

    @cached_property
    def _fresh(self) -> "ReplicaRefresher":
        from lrwr.core.adapters.storage.supabase.freshness import ReplicaRefresher

        return ReplicaRefresher(self._copy.catch_up, self._say)

    @cached_property
    def _waking(self) -> "RealtimeListener":
        return self._way.waking(self._bound, self._came)

    @cached_property
    def _news(self) -> "ChangeSignal":
        from lrwr.core.adapters.storage.supabase.realtime import ChangeSignal

        return ChangeSignal()

    @cached_property
    def _records(self) -> "SupabaseRecords":
        return self._way.records(self._bound)

    @cached_property
    def _copy(self) -> "SupabaseReplica":
        from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica

        return SupabaseReplica(
            self._plain, self._records, self._now, self._threads_copy
        )

    @cached_property
    def _threads_copy(self) -> "ThreadReplica":
        from lrwr.core.adapters.storage.supabase.thread_replica import ThreadReplica

        return ThreadReplica(self._plain, self._records.threads)


def choose_stores(
    settings: Settings,
    outward: ExternalAccess,
    stack: "AsyncExitStack",
    now: Callable[[], float],
    say: Callable[[str], None] | None,
    *,
    brief: bool = True,
) -> Stores:
    """Return who keeps the library, as the settings say.

    `brief` is for a command that is soon over: it does not listen for changes.

    Raises:
        SettingsProblem: It is to be kept in a project, and is not there yet.
    """
    if settings.records.keeper == "embedded":
        return LocalStores(outward.database, now)
    from lrwr.core.adapters.storage.supabase.library_link import load_library_link

    way = SupabaseProject(settings, outward, stack)
    bound = load_library_link(outward.library.database)
    if bound is None:
        raise _not_there_yet(way)
    if bound.project != way.signing.project.url:
        raise SettingsProblem(
            f"This library is kept at {bound.project}, and `supabase.url` leads to"
            f" {way.signing.project.url}",
            hint="Set `supabase.url` back, or take the library there: lrwr push --new",
        )
    if bound.apart:
        raise SettingsProblem(
            "Something was read here that the project does not know yet",
            hint="Take it there: lrwr push",
        )
    return SupabaseStores(
        outward.database, way, bound, now, say or _unsaid, brief=brief
    )


def missing_library_error(settings: Settings, library: Library) -> NotFound:
    """Say that there is no library here, and how there will be one."""
    if settings.records.keeper == SUPABASE_SERVICE:
        return NotFound(
            f"There is no library in {library.root} yet",
            hint="Bring one here with `lrwr pull`, or begin one with `lrwr push`.",
        )
    return NotFound(
        f"Nothing has been ingested in {library.root}",
        hint="Run `lrwr ingest FOLDER` with the folder of your manuscript, or go to"
        " where you ran it.",
    )


def _not_there_yet(way: SupabaseProject) -> SettingsProblem:
    return SettingsProblem(
        f"This library is not kept at {way.signing.project.host} yet",
        hint="Take it there with `lrwr push`, or bring one from there with `lrwr pull`.",
    )


def _unsaid(sentence: str) -> None:
    del sentence
