"""Where a library's records, jobs and threads are stored: locally or in Supabase."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from lrwr.app.egress import ExternalAccess
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.job_queue import SqliteJobQueue
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteKnowledgeStore
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteAnalysisStore,
    SqliteCastStore,
)
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore

if TYPE_CHECKING:
    from lrwr.core.ports.jobs import JobQueue
    from lrwr.core.ports.stores import (
        AnalysisStore,
        FileStore,
        KnowledgeStore,
        ThreadStore,
    )
    from lrwr.core.ports.story_stores import CastStore


class Stores(Protocol):
    """The stores that lrwr writes to. Everything is read from `database`."""

    @property
    def database(self) -> SqliteDatabase:
        """The library's file on this machine."""
        ...

    @property
    def knowledge(self) -> "KnowledgeStore":
        """What an ingestion extracts from documents."""
        ...

    @property
    def casts(self) -> "CastStore":
        """The cast of the story and who speaks each quotation."""
        ...

    @property
    def analysis(self) -> "AnalysisStore":
        """Cached replies of language models."""
        ...

    @property
    def jobs(self) -> "JobQueue":
        """The queue of documents to process."""
        ...

    @property
    def threads(self) -> "ThreadStore":
        """The conversations."""
        ...

    @property
    def files(self) -> "FileStore | None":
        """The archive of manuscript files; None where only their folder has them."""
        ...

    @property
    def pause(self) -> Callable[[], Awaitable[None]] | None:
        """Waits between two checks of jobs that others hold; None where checks are cheap."""
        ...


class LocalStores:
    """Stores everything in the library's SQLite file."""

    def __init__(self, database: SqliteDatabase, now: Callable[[], float]) -> None:
        self.database = database
        self.pause = None
        self.files = None
        self._now = now

    @cached_property
    def knowledge(self) -> "KnowledgeStore":
        """What an ingestion extracts from documents."""
        return SqliteKnowledgeStore(self.database, now=self._now)

    @cached_property
    def casts(self) -> "CastStore":
        """The cast of the story and who speaks each quotation."""
        return SqliteCastStore(self.database)

    @cached_property
    def analysis(self) -> "AnalysisStore":
        """Cached replies of language models."""
        return SqliteAnalysisStore(self.database, now=self._now)

    @cached_property
    def jobs(self) -> "JobQueue":
        """The queue of documents to process."""
        return SqliteJobQueue(self.database, now=self._now)

    @cached_property
    def threads(self) -> "ThreadStore":
        """The conversations."""
        return SqliteThreadStore(self.database)


def open_stores(
    egress: ExternalAccess,
    stack: AsyncExitStack,
    now: Callable[[], float],
    say: Callable[[str], None] | None,
    *,
    brief: bool = True,
) -> Stores:
    """Return the stores that the settings select.

    A `brief` process does not listen for changes made on other machines.

    Raises:
        SettingsProblem: A project is configured that does not have the library yet.
    """
    if egress.settings.records.keeper == "embedded":
        return LocalStores(egress.database, now)
    from lrwr.app.supabase_project import open_supabase_stores

    return open_supabase_stores(egress, stack, now, say, brief=brief)
