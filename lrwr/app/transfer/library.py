"""A library on its way to a project, or from there."""

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
    """What a push did. `begun` says that the library was not there before."""

    host: str
    name: str
    begun: bool
    records: PushResult
    files: FileTransferResult = field(default_factory=FileTransferResult)


@dataclass(frozen=True, slots=True)
class LibraryPullResult:
    """What a pull did."""

    host: str
    name: str
    records: PullResult
    files: FileTransferResult = field(default_factory=FileTransferResult)


@asynccontextmanager
async def open_transfer(
    workspace: Workspace, report_progress: PushProgressCallback
) -> AsyncIterator["LibraryTransfer"]:
    """Lend out what moves a library, and close it on the way out.

    `report_progress` gets what is being done, how far it is, and of how much (0: unknown).
    """
    async with AsyncExitStack() as stack:
        yield LibraryTransfer(workspace, stack, report_progress)


class LibraryTransfer:
    """Takes a library to a project, and brings it from there."""

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
        """The machine that the library goes to or comes from.

        Raises:
            SettingsProblem: No project is set, or no key for it.
        """
        return self._project.sign_in.project.host

    async def begin(self) -> Account:
        """Return who is signed in, once it is clear that the project is ready.

        Raises:
            LrwrError: Nobody is signed in; the project lacks tables of lrwr's, refuses
                or does not answer.
        """
        if self._account is not None:
            return self._account
        self._check_leave()
        account = await self._project.sign_in.auth.account()
        if account is None:
            raise LrwrError(
                f"Nobody is signed in at {self.host}", hint="Sign in: lrwr login"
            )
        missing_migrations = find_missing_migrations(
            await list_applied_migrations(self._project.rpc)
        )
        if missing_migrations:
            raise StoreProblem(
                f"The project at {self.host} has not all of lrwr's tables:"
                f" {', '.join(migration.name for migration in missing_migrations)} was not run there",
                hint="Run in its SQL editor what `lrwr doctor --sql` prints.",
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
        """Take everything there that is not there yet.

        A `new` library is begun even where one is kept there; `over` puts what is here
        in the place of what others changed there. Killed, it goes on the next time.

        Raises:
            LrwrError: Nobody is signed in; the library belongs elsewhere, or is another
                there; the project refuses or does not answer.
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
        """Bring everything here that is not here yet.

        Raw files are kept in the state folder, and with `into` also written to a folder
        under their names; none that is there is written over.

        Raises:
            LrwrError: Nobody is signed in; there is no such library, or another one
                here; the project refuses or does not answer.
        """
        account = await self.begin()
        prepare_state_dir(self._library)
        link = await self._database.read(read_library_link)
        if link is None:
            link = await self._find_library(account, name)
        self._check(link, account)
        if name and name != link.name:
            raise StoreProblem(
                f"What is here is the library {link.name!r}, not {name!r}",
                hint=f"Pull {name!r} into a folder of its own.",
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

    def _check_leave(self) -> None:
        """Make sure that the writer has not denied it, whatever keeps the records."""
        refusal = self._egress.consent_refusal(SUPABASE_SERVICE)
        if refusal is None and self._egress.consents.find_answer(
            self._library, SUPABASE_SERVICE
        ) in (
            None,
            True,
        ):
            return
        raise refusal or SettingsProblem(
            "You denied Supabase for this folder: nothing was sent",
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
                f"You have a library {name!r} at {self.host} already",
                hint=f"Bring it here: lrwr pull {name!r} in an empty folder. Or take"
                " this one there under another name: lrwr push --new --name NAME",
            )
        # Until all of it is there, the project does not know what is here.
        return await self._link_library(
            account, library_id, name, has_local_changes=True
        )

    async def _find_library(self, account: Account, name: str) -> LibraryLink:
        has_records = await self._database.read(
            lambda connection: connection.execute(_READ_HERE).fetchone()[0]
        )
        if has_records:
            raise StoreProblem(
                f"There is a library in {self._library.root} already, which is none"
                f" from {self.host}",
                hint="Pull into an empty folder; or take this one there: lrwr push",
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
                f"This library is kept at {link.project}, not at {self.host}",
                hint="Set `supabase.url` to it; or begin it anew here: lrwr push --new",
            )
        if link.account != account.id:
            raise StoreProblem(
                f"This library belongs to another account at {self.host} than"
                f" {account.email}",
                hint="Sign in with that account; or begin it anew: lrwr push --new",
            )


def _is_empty(library: RemoteLibrary) -> bool:
    """Say whether nothing was ever kept in it: a push that was killed made it."""
    return not (library.version or library.documents or library.threads)


def _select_library(
    remote_libraries: list[RemoteLibrary], name: str, folder: str, host: str
) -> RemoteLibrary:
    """Return the library of that name, else that of the folder's, else the only one."""
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
            hint="Take one there: lrwr push, where it is.",
        )
    if name:
        raise NotFound(
            f"You have no library {name!r} at {host}", hint=f"There are: {names}."
        )
    raise NotFound(
        f"You have {len(remote_libraries)} libraries at {host}",
        hint=f"Say which: lrwr pull NAME. There are: {names}.",
    )
