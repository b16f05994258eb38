"""The way to the Supabase project that keeps a library. Nothing is sent on making it."""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from lrwr.app.egress import ExternalAccess
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from lrwr.core.adapters.auth.factory import SupabaseSignIn
    from lrwr.core.adapters.files.supabase import SupabaseFileStore
    from lrwr.core.adapters.http.egress_log import EgressLogger
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.supabase.library_link import LibraryLink
    from lrwr.core.adapters.storage.supabase.realtime import RealtimeListener
    from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
    from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
    from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
    from lrwr.core.ports.file_store import FileStore

SUPABASE_SERVICE = "supabase"


class SupabaseProject:
    """The way to the project that the settings name. Nothing is sent yet.

    What is opened on it is closed with `stack`.
    """

    def __init__(
        self, settings: Settings, outward: ExternalAccess, stack: "AsyncExitStack"
    ) -> None:
        self._settings = settings
        self._outward = outward
        self._stack = stack
        self.library: Library = outward.library

    @cached_property
    def signing(self) -> "SupabaseSignIn":
        """Who is signed in.

        Raises:
            SettingsProblem: No project is set, or no key for it.
            ServiceUnavailable: The keyring is locked.
        """
        from lrwr.core.adapters.auth.factory import create_supabase_sign_in

        return create_supabase_sign_in(self._settings, os.environ)

    @cached_property
    def hosted(self) -> "SupabaseRpc":
        """The project's functions, asked in the name of who is signed in."""
        from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc

        hosted = SupabaseRpc(self.signing.project, self.token, self.noting)
        self._stack.push_async_callback(hosted.aclose)
        return hosted

    @property
    def noting(self) -> "EgressLogger | None":
        """How requests are noted; None where the project is on this machine."""
        return None if self.signing.project.own else self._outward.noting

    async def token(self) -> str:
        """Return what proves who asks.

        Raises:
            ServiceUnavailable: The writer has not allowed it.
            LrwrError: Nobody is signed in.
        """
        refused = self._outward.refusal(SUPABASE_SERVICE)
        if refused is not None:
            raise ServiceUnavailable(str(refused), hint=refused.hint)
        return await self.signing.auth.token()

    def records(self, bound: "LibraryLink") -> "SupabaseRecords":
        """Return the records of a library there."""
        from lrwr.core.adapters.storage.supabase.records import SupabaseRecords

        return SupabaseRecords(self.hosted, bound.library, bound.writer)

    def copy(
        self, plain: "SqliteDatabase", bound: "LibraryLink", now: Callable[[], float]
    ) -> "SupabaseReplica":
        """Return the working copy of a library there."""
        from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica

        return SupabaseReplica(plain, self.records(bound), now)

    def files(self, bound: "LibraryLink") -> "FileStore | None":
        """Return the files of a library there; None where they are to be kept out."""
        if not self._settings.records.files:
            return None
        files = self.shelf(bound)
        self._stack.push_async_callback(files.aclose)
        return files

    def shelf(self, bound: "LibraryLink") -> "SupabaseFileStore":
        """Return the files of a library there, whatever the settings say. Close it."""
        from lrwr.core.adapters.files.supabase import SupabaseFileStore

        project, noting = self.signing.project, self.noting
        return SupabaseFileStore(
            project, self.token, bound.account, bound.library, noting
        )

    def waking(
        self, bound: "LibraryLink", came: Callable[[], None]
    ) -> "RealtimeListener":
        """Return what hears of changes of a library there, and ends with all else."""
        from lrwr.core.adapters.storage.supabase.realtime import RealtimeListener

        project, noting = self.signing.project, self.noting
        waking = RealtimeListener(
            project, bound.library, self.token, came, noting=noting
        )
        self._stack.push_async_callback(waking.aclose)
        return waking

    def lent(self, database: "SqliteDatabase") -> "SqliteDatabase":
        """Return a file that is closed with everything else."""
        self._stack.push_async_callback(database.aclose)
        return database
