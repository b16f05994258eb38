"""Uploads a library to a Supabase project, and downloads it from there."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.app.supabase_project import SUPABASE_SERVICE, SupabaseProject
from lrwr.app.transfer.files import FileTransferResult, download_files, upload_files
from lrwr.core.adapters.auth.supabase import Account
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    create_library_link,
    read_library_link,
    store_library_link,
)
from lrwr.core.adapters.storage.supabase.library_transfer import (
    LibraryPush,
    PullResult,
    PushProgressCallback,
    PushResult,
    pull_remote_changes,
)
from lrwr.core.adapters.storage.supabase.records import (
    RemoteLibrary,
    create_remote_library,
    find_missing_migrations,
    list_applied_migrations,
    list_remote_libraries,
)
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem, StoreProblem
from lrwr.core.settings.library import prepare_state_dir

_READ_HERE = "select count(*) from processed"


@dataclass(frozen=True, slots=True)
class LibraryPushResult:
    """The result of an upload to the library called `name` at `host`.

    `begun` says that the library was created there. `records` and `files` count what
    was sent.
    """

    host: str
    name: str
    begun: bool
    records: PushResult
    files: FileTransferResult = field(default_factory=FileTransferResult)


@dataclass(frozen=True, slots=True)
class LibraryPullResult:
    """The result of a download of the library called `name` from `host`.

    `records` and `files` count what was received.
    """

    host: str
    name: str
    records: PullResult
    files: FileTransferResult = field(default_factory=FileTransferResult)


@asynccontextmanager
async def open_transfer(
    workspace: Workspace, report_progress: PushProgressCallback
) -> AsyncIterator["LibraryTransfer"]:
    """Yield the object that uploads and downloads a library; close it on exit.

    `report_progress` receives the name of the current step, the number of finished
    items and the total (0 if unknown).
    """
    async with AsyncExitStack() as stack:
        yield LibraryTransfer(workspace, stack, report_progress)


class LibraryTransfer:
    """Uploads and downloads one library.

    `stack` closes the connections. `report_progress` receives the name of the current
    step, the number of finished items and the total (0 if unknown).
    """

    def __init__(
        self,
        workspace: Workspace,
        stack: AsyncExitStack,
        report_progress: PushProgressCallback,
    ) -> None:
        self._library = workspace.library
        self._egress = workspace.egress
        self._database = workspace.egress.database
        self._targets = workspace.manuscript
        self._project = SupabaseProject(workspace.egress, stack)
        self._report_progress = report_progress
        self._account: Account | None = None

    @property
    def host(self) -> str:
        """The host name of the Supabase project.

        Raises:
            SettingsProblem: No project is configured, or its key is missing.
        """
        return self._project.sign_in.project.host

    async def begin(self) -> Account:
        """Check that the Supabase project can be used; return the signed-in account.

        Raises:
            LrwrError: No account is signed in, the user denied Supabase, tables are
                missing, or Supabase did not answer.
        """
        if self._account is not None:
            return self._account
        self._check_consent()
        account = await self._project.sign_in.auth.account()
        if account is None:
            raise LrwrError(
                f"You are not signed in at {self.host}",
                hint="Sign in with `lrwr login`.",
            )
        applied = await list_applied_migrations(self._project.rpc)
        missing_migrations = [
            migration
            for migration in find_missing_migrations(applied)
            if migration.is_required
        ]
        if missing_migrations:
            raise StoreProblem(
                f"The project at {self.host} lacks some of lrwr's tables. Missing:"
                f" {', '.join(migration.name for migration in missing_migrations)}",
                hint="Run the output of `lrwr doctor --sql` in the project's SQL editor.",
            )
        self._account = account
        return account

    async def push(
        self,
        name: str = "",
        *,
        new: bool = False,
        over: bool = False,
        files: bool = True,
    ) -> LibraryPushResult:
        """Upload what the Supabase project does not have yet.

        A library that was not uploaded before is created there, with `new` another one;
        `name` is its name, by default that of its folder. With `over`, local data
        replaces changes of other machines. An interrupted upload continues at the next
        call. With `files` False, manuscript files are not uploaded.

        Raises:
            LrwrError: As `begin`; or the library belongs to another project or account,
                or was changed by another machine and not `over`.
        """
        account = await self.begin()
        prepare_state_dir(self._library)
        link = await self._database.read(read_library_link)
        is_new = link is None or new
        if link is None or new:
            link = await self._create_library(account, name or self._library.root.name)
        self._check(link, account)
        records = self._project.records(link)
        push_result = await LibraryPush(
            self._database, records, link, self._report_progress
        ).run(over=over)
        file_result = FileTransferResult()
        if files:
            root, targets = self._library.root, self._targets()
            async with aclosing(self._project.file_store(link)) as remote_files:
                file_result = await upload_files(
                    self._database,
                    root,
                    targets,
                    remote_files,
                    records,
                    self._report_progress,
                )
        return LibraryPushResult(self.host, link.name, is_new, push_result, file_result)

    async def pull(
        self, name: str = "", *, into: Path | None = None, files: bool = True
    ) -> LibraryPullResult:
        """Download what this machine does not have yet.

        `name` selects a library of the account; if empty, the one that this folder
        already has, else the one called like the folder, else the only one. With
        `files` or `into`, manuscript files are stored in the state folder, and with
        `into` also copied to that folder under their names; existing files are never
        overwritten.

        Raises:
            LrwrError: As `begin`; or the project does not have the library, or this
                folder has a different one.
        """
        account = await self.begin()
        prepare_state_dir(self._library)
        link = await self._database.read(read_library_link)
        if link is None:
            link = await self._find_library(account, name)
        self._check(link, account)
        if name and name != link.name:
            raise StoreProblem(
                f"This folder has the library {link.name!r}, not {name!r}",
                hint=f"Run `lrwr pull {name!r}` in another folder.",
            )
        records = self._project.records(link)
        copy = self._project.replica(self._database, link, time.time)
        pull_result = await pull_remote_changes(
            self._database, copy, records, self._report_progress
        )
        file_result = FileTransferResult()
        if files or into is not None:
            state = self._library.state_dir
            async with aclosing(self._project.file_store(link)) as remote_files:
                file_result = await download_files(
                    self._database, state, remote_files, into, self._report_progress
                )
        return LibraryPullResult(self.host, link.name, pull_result, file_result)

    def _check_consent(self) -> None:
        """Check that the user has not denied Supabase, even if it is only a copy."""
        refusal = self._egress.consent_refusal(SUPABASE_SERVICE)
        if refusal is None and self._egress.consents.find_answer(
            self._library, SUPABASE_SERVICE
        ) in (
            None,
            True,
        ):
            return
        raise refusal or SettingsProblem(
            "You denied Supabase for this folder, so nothing was sent",
            hint=f"To allow it, run `lrwr privacy allow {SUPABASE_SERVICE}`.",
        )

    async def _create_library(self, account: Account, name: str) -> LibraryLink:
        library_id = await create_remote_library(self._project.rpc, name)
        if library_id is None:
            library_id = next(
                (
                    remote_library.id
                    for remote_library in await list_remote_libraries(self._project.rpc)
                    if remote_library.name == name and _is_empty(remote_library)
                ),
                None,
            )
        if library_id is None:
            raise StoreProblem(
                f"You already have a library {name!r} at {self.host}",
                hint=f"Run `lrwr pull {name!r}` in an empty folder to download it, or upload"
                " this library under another name with `lrwr push --new --name NAME`.",
            )
        # Until the upload is complete, this machine has changes that the project lacks.
        return await self._link_library(
            account, library_id, name, has_local_changes=True
        )

    async def _find_library(self, account: Account, name: str) -> LibraryLink:
        has_records = await self._database.read(
            lambda connection: connection.execute(_READ_HERE).fetchone()[0]
        )
        if has_records:
            raise StoreProblem(
                f"{self._library.root} already has a library that is not from"
                f" {self.host}",
                hint="Run `lrwr pull` in an empty folder, or upload this library with"
                " `lrwr push`.",
            )
        remote_libraries = await list_remote_libraries(self._project.rpc)
        remote_library = _select_library(
            remote_libraries, name, self._library.root.name, self.host
        )
        return await self._link_library(account, remote_library.id, remote_library.name)

    async def _link_library(
        self,
        account: Account,
        library: str,
        name: str,
        *,
        has_local_changes: bool = False,
    ) -> LibraryLink:
        url = self._project.sign_in.project.url
        link = replace(
            create_library_link(url, account.id, library, name), apart=has_local_changes
        )
        await self._database.write(
            lambda connection: store_library_link(connection, link)
        )
        return link

    def _check(self, link: LibraryLink, account: Account) -> None:
        if link.project != self._project.sign_in.project.url:
            raise StoreProblem(
                f"This library is at {link.project}, not at {self.host}",
                hint="Set `supabase.url` to that address, or create a new copy with"
                " `lrwr push --new`.",
            )
        if link.account != account.id:
            raise StoreProblem(
                f"This library at {self.host} belongs to a different account, not to"
                f" {account.email}",
                hint="Sign in with the library's account, or create a new copy with `lrwr push --new`.",
            )


def _is_empty(library: RemoteLibrary) -> bool:
    """Return whether a library was never filled: an interrupted upload created it."""
    return not (library.version or library.documents or library.threads)


def _select_library(
    remote_libraries: list[RemoteLibrary], name: str, folder: str, host: str
) -> RemoteLibrary:
    """Return the library called `name`.

    If `name` is empty: the one called like the folder, else the only one.
    """
    by_name = {
        remote_library.name: remote_library for remote_library in remote_libraries
    }
    if name and name in by_name:
        return by_name[name]
    if not name and folder in by_name:
        return by_name[folder]
    if not name and len(remote_libraries) == 1:
        return remote_libraries[0]
    names = ", ".join(by_name)
    if not remote_libraries:
        raise NotFound(
            f"You have no library at {host}",
            hint="Run `lrwr push` in the folder of a library to upload it.",
        )
    if name:
        raise NotFound(
            f"You have no library {name!r} at {host}", hint=f"Choose one of: {names}."
        )
    raise NotFound(
        f"You have {len(remote_libraries)} libraries at {host}",
        hint=f"Choose one with `lrwr pull NAME`: {names}.",
    )
