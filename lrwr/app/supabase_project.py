"""Stores in a Supabase project with a local replica, and the connection to the
project.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from lrwr.app.egress import ExternalAccess
from lrwr.core.adapters.auth.supabase import SupabaseSignIn, create_supabase_sign_in
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.supabase.job_queue import SupabaseJobQueue
from lrwr.core.adapters.storage.supabase.knowledge_store import (
    SupabaseAnalysisStore,
    SupabaseCastStore,
    SupabaseKnowledgeStore,
)
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    load_library_link,
)
from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
from lrwr.core.adapters.storage.supabase.replica import (
    ReplicaRefresher,
    SupabaseReplica,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.storage.supabase.thread_store import (
    SupabaseThreadStore,
    ThreadReplica,
)
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.settings.library import Library

if TYPE_CHECKING:
    from lrwr.core.adapters.http.egress_log import EgressLogger
    from lrwr.core.ports.stores import AnalysisStore, FileStore, KnowledgeStore
    from lrwr.core.ports.story_stores import CastStore
    from lrwr.core.ports.threads import ThreadStore

SUPABASE_SERVICE = "supabase"

JOB_CHECK_INTERVAL = 2.0
"""Seconds between two checks of a project's jobs of other processes."""


class SupabaseProject:
    """The connection to the configured Supabase project.

    Nothing is sent before the first use. `stack` closes what is opened.
    """

    def __init__(self, egress: ExternalAccess, stack: AsyncExitStack) -> None:
        self._egress = egress
        self._stack = stack
        self.library: Library = egress.library

    @cached_property
    def sign_in(self) -> SupabaseSignIn:
        """The Supabase project's address and key, with the signed-in account.

        Raises:
            SettingsProblem: No project is configured, or its key is missing.
            ServiceUnavailable: The system keyring is locked.
        """
        return create_supabase_sign_in(self._egress.settings, os.environ)

    @cached_property
    def rpc(self) -> SupabaseRpc:
        """The client of the database functions in the Supabase project.

        It calls them as the signed-in account.

        Raises:
            SettingsProblem: No project is configured, or its key is missing.
            ServiceUnavailable: The system keyring is locked.
        """
        rpc = SupabaseRpc(self.sign_in.project, self.token, self.request_logger)
        self._stack.push_async_callback(rpc.aclose)
        return rpc

    @property
    def request_logger(self) -> "EgressLogger | None":
        """Records requests in the send log; None if Supabase runs on this machine."""
        return None if self.sign_in.project.own else self._egress.request_logger

    async def token(self) -> str:
        """Return an access token of the signed-in account, renewed if it expires soon.

        Raises:
            ServiceUnavailable: The user has not allowed Supabase, it did not answer, or
                the system keyring is locked.
            LrwrError: No account is signed in, or the session has expired.
        """
        refusal = self._egress.consent_refusal(SUPABASE_SERVICE)
        if refusal is not None:
            raise ServiceUnavailable(str(refusal), hint=refusal.hint)
        return await self.sign_in.auth.token()

    def records(self, link: LibraryLink) -> SupabaseRecords:
        """Return the client of a library's rows in the Supabase project.

        `link` has the id that the library has there.
        """
        return SupabaseRecords(self.rpc, link.library, link.writer)

    def replica(
        self, database: SqliteDatabase, link: LibraryLink, now: Callable[[], float]
    ) -> SupabaseReplica:
        """Return the local replica of a library in the Supabase project.

        `database` holds it. `now` returns seconds since 1970.
        """
        return SupabaseReplica(database, self.records(link), now)

    def files(self, link: LibraryLink) -> "FileStore | None":
        """Return the store of a library's files in the Supabase project.

        It is closed with the connection. None if `records.files` is off.
        """
        if not self._egress.settings.records.files:
            return None
        files = self.file_store(link)
        self._stack.push_async_callback(files.aclose)
        return files

    def file_store(self, link: LibraryLink) -> SupabaseFileStore:
        """Return the store of a library's files in the Supabase project.

        `records.files` is ignored. The caller closes the store.
        """
        return SupabaseFileStore(
            self.sign_in.project,
            self.token,
            link.account,
            link.library,
            self.request_logger,
        )

    def own(self, database: SqliteDatabase) -> SqliteDatabase:
        """Close `database` together with this connection; return it unchanged."""
        self._stack.push_async_callback(database.aclose)
        return database


class SupabaseStores:
    """The stores of a library that has everything in a Supabase project.

    The local file is a replica, updated from the Supabase project before it is read;
    `say` receives a notice when that fails. `now` returns seconds since 1970.
    """

    def __init__(
        self,
        local: SqliteDatabase,
        project: SupabaseProject,
        link: LibraryLink,
        now: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        self._local = local
        self._project = project
        self._link = link
        self._now = now
        self._say = say

    @cached_property
    def database(self) -> SqliteDatabase:
        """The local replica, updated from the Supabase project before each read."""
        path = self._project.library.database
        return self._project.own(SqliteDatabase(path, first=self._refresher))

    @cached_property
    def knowledge(self) -> "KnowledgeStore":
        """The store of chunks, vectors and facts, which ingestions extract."""
        return SupabaseKnowledgeStore(
            self.database,
            self._replica,
            self._records,
            self.jobs,
            self.files,
            now=self._now,
        )

    @cached_property
    def casts(self) -> "CastStore":
        """The store of characters, and of who speaks each quotation."""
        return SupabaseCastStore(self.database, self._replica, self._records)

    @cached_property
    def analysis(self) -> "AnalysisStore":
        """The cache of language models' replies, so that none is requested twice."""
        return SupabaseAnalysisStore(self.database, self._records, now=self._now)

    @cached_property
    def jobs(self) -> SupabaseJobQueue:
        """The queue of documents to ingest, shared with other machines."""
        return SupabaseJobQueue(self._project.rpc, self._link.library)

    @cached_property
    def files(self) -> "FileStore | None":
        """The store of manuscript files in Supabase; None if `records.files` is off."""
        return self._project.files(self._link)

    @cached_property
    def threads(self) -> "ThreadStore":
        """The threads (saved conversations)."""
        return SupabaseThreadStore(
            self.database,
            self._thread_replica,
            self._records.threads,
            self._say,
            away=lambda: self._refresher.away,
        )

    async def pause(self) -> None:
        """Wait `JOB_CHECK_INTERVAL` seconds until the jobs are checked again."""
        await asyncio.sleep(JOB_CHECK_INTERVAL)

    @cached_property
    def _refresher(self) -> ReplicaRefresher:
        return ReplicaRefresher(self._replica.catch_up, self._say)

    @cached_property
    def _records(self) -> SupabaseRecords:
        return self._project.records(self._link)

    @cached_property
    def _replica(self) -> SupabaseReplica:
        return SupabaseReplica(
            self._local, self._records, self._now, self._thread_replica
        )

    @cached_property
    def _thread_replica(self) -> ThreadReplica:
        return ThreadReplica(self._local, self._records.threads)


def open_supabase_stores(
    egress: ExternalAccess,
    stack: AsyncExitStack,
    now: Callable[[], float],
    say: Callable[[str], None] | None,
) -> SupabaseStores:
    """Return the stores of the library in the configured Supabase project.

    `stack` closes them. `now` returns seconds since 1970. `say` receives notices for
    the user; None discards them.

    Raises:
        SettingsProblem: The library was not uploaded to this project, or has local
            changes that were not uploaded.
    """
    project = SupabaseProject(egress, stack)
    link = load_library_link(egress.library.database)
    if link is None:
        raise SettingsProblem(
            f"This library is not at {project.sign_in.project.host} yet",
            hint="Upload it with `lrwr push`, or download one with `lrwr pull`.",
        )
    if link.project != project.sign_in.project.url:
        raise SettingsProblem(
            f"This library is at {link.project}, but `supabase.url` is"
            f" {project.sign_in.project.url}",
            hint="Set `supabase.url` back, or upload the library with `lrwr push --new`.",
        )
    if link.apart:
        raise SettingsProblem(
            "Documents that were ingested here have not been uploaded yet",
            hint="Upload them with `lrwr push`.",
        )
    return SupabaseStores(egress.database, project, link, now, say or _ignore_notice)


def _ignore_notice(sentence: str) -> None:
    del sentence
