"""A library's data on servers (Qdrant and Supabase): how to identify and delete it."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lrwr.app.container import open_workspace
from lrwr.app.maintenance.local_data import UNFINISHED
from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.auth.supabase import SupabaseSignIn, create_supabase_sign_in
from lrwr.core.adapters.files.supabase import SupabaseFileStore
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.sqlite.maintenance import LibraryInventory
from lrwr.core.adapters.storage.supabase.records import delete_remote_library
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.adapters.vectors.maintenance import list_shards
from lrwr.core.adapters.vectors.qdrant_http import (
    QdrantHttpClient,
    build_collection_name,
    build_library_key,
    build_qdrant_connection,
    delete_collection,
    fetch_collection_mark,
    is_lrwr_collection,
    list_lrwr_collections,
    read_local_mark,
)
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.library import Library, write_private_file
from lrwr.core.settings.model import Settings

_MAX_UNFINISHED_BYTES = 1_000_000

NOT_SET = (
    'Set `[vectors] keeper = "qdrant"` and its `url` and run `lrwr forget` again, or'
    " delete them in Qdrant's dashboard."
)


@dataclass(frozen=True, slots=True)
class DeletionFailure:
    """Data that could not be deleted from a server.

    `where` is the server, `what` the names of the data, `why` the reason, and `remedy`
    a sentence on what the user can do.
    """

    where: str
    what: tuple[str, ...]
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class HostedLocation:
    """Where a library is in Supabase: URL of the project, ids of account and library.

    `name` is the library's name there.
    """

    project: str
    account: str
    library: str
    name: str


@dataclass(frozen=True, slots=True)
class RemoteIdentifiers:
    """Identifiers of a library's data on servers.

    `library` is the library's random id. `named` are the names that its Qdrant
    collections have, if they exist: one for each pipeline and embedding model. `marks`
    maps names of collections to random texts that this machine stored in them. A
    collection belongs to the library if its name is in `named` or its mark is equal.
    `hosted` is the library's copy in Supabase, None if there is none.
    """

    library: str = ""
    named: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    hosted: HostedLocation | None = None

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the Qdrant collections that this machine created.

        If none are recorded, all names that they could have.
        """
        return tuple(sorted(self.marks)) or self.named


@dataclass(frozen=True, slots=True)
class RemoteDeletion:
    """The names of the data that was deleted from the server `where`, and the failures.

    `try_again` says that the next run should repeat the deletion.
    """

    where: str
    deleted: tuple[str, ...] = ()
    failures: tuple[DeletionFailure, ...] = ()
    try_again: bool = False


def collect_remote_identifiers(
    library: Library, inventory: LibraryInventory
) -> RemoteIdentifiers:
    """Return the identifiers of a library's data on servers; nothing is sent.

    They come from the database (`inventory`) and from files in the state folder, and
    include what an earlier run could not delete.
    """
    before = load_unfinished_deletion(library)
    library_key = build_library_key(library.root, inventory.library)
    collection_names = {
        build_collection_name(library_key, pipeline, space)
        for pipeline in Pipeline
        for space in inventory.spaces
    }
    marks = {
        name: mark
        for name in list_shards(library.index_dir)
        if is_lrwr_collection(name)
        and (mark := read_local_mark(library.index_dir, name))
    }
    link = inventory.hosted
    hosted = link and HostedLocation(
        link.project, link.account, link.library, link.name
    )
    return RemoteIdentifiers(
        library=inventory.library or before.library,
        named=tuple(sorted(collection_names | set(before.named))),
        marks={**before.marks, **marks},
        hosted=hosted or before.hosted,
    )


async def remove_collections(
    settings: Settings,
    env: Mapping[str, str],
    library: Library,
    identifiers: RemoteIdentifiers,
) -> RemoteDeletion:
    """Delete the library's collections from the configured Qdrant server.

    `env` has the environment variables. Requests are recorded in the send log as long
    as the library exists.

    Raises:
        SettingsProblem: The server's address is invalid or not allowed.
        ServiceUnavailable: The server did not answer or refused.
    """
    connection = build_qdrant_connection(settings, env)
    if connection is None:
        reason = "no Qdrant server is configured any more"
        failures = (
            (DeletionFailure("Qdrant", identifiers.made, reason, NOT_SET),)
            if identifiers.marks
            else ()
        )
        return RemoteDeletion("Qdrant", failures=failures, try_again=bool(failures))
    server = f"Qdrant at {connection.host}"
    async with (
        _open_request_logger(
            settings, library, is_local=connection.own
        ) as request_logger,
        aclosing(QdrantHttpClient(connection, request_logger=request_logger)) as wire,
    ):
        own_collections, possible_collections = await _find_collections(
            wire, identifiers
        )
        deleted = [
            name for name in own_collections if await delete_collection(wire, name)
        ]
    failures = (
        (_unconfirmed_collections(server, possible_collections),)
        if possible_collections
        else ()
    )
    return RemoteDeletion(server, tuple(deleted), failures)


async def delete_hosted_library(
    settings: Settings, env: Mapping[str, str], library: Library, home: HostedLocation
) -> RemoteDeletion:
    """Delete the library at `home` from Supabase: its files first, then all rows.

    `env` has the environment variables. Requests are recorded in the send log as long
    as the library exists, except those that check the sign-in.

    Raises:
        LrwrError: The configured project or the signed-in account is not the library's,
            or Supabase did not answer.
    """
    sign_in = create_supabase_sign_in(settings, env)
    await _check_home(sign_in, home)
    async with _open_request_logger(
        settings, library, is_local=sign_in.project.own
    ) as request_logger:
        return await delete_from_project(sign_in, home, request_logger)


async def delete_from_project(
    sign_in: SupabaseSignIn, home: HostedLocation, request_logger: EgressLogger | None
) -> RemoteDeletion:
    """Delete the library at `home` from its Supabase project, as the signed-in account.

    Requests are recorded with `request_logger`; None records nothing.

    Raises:
        LrwrError: The project did not answer or refused.
    """
    project, token = sign_in.project, sign_in.auth.token
    files = SupabaseFileStore(
        project, token, home.account, home.library, request_logger
    )
    async with (
        aclosing(files),
        aclosing(SupabaseRpc(project, token, request_logger)) as hosted,
    ):
        removed = await files.remove(await files.stored_names())
        is_deleted = await delete_remote_library(hosted, home.library)
    names = [home.name] if is_deleted else []
    files_gone = [format_count(removed, "file")] if removed else []
    return RemoteDeletion(f"Supabase at {project.host}", (*files_gone, *names))


async def _check_home(sign_in: SupabaseSignIn, home: HostedLocation) -> None:
    """Check that the project and the account are those of the library."""
    if sign_in.project.url != home.project:
        raise SettingsProblem(
            f"the library is at {home.project}, but `supabase.url` names another project",
            hint=f"Set `supabase.url` to {home.project}.",
        )
    account = await sign_in.auth.account()
    if account is None or account.id != home.account:
        reason = f", not to {account.email}" if account else "; no account is signed in"
        raise SettingsProblem(
            f"the library belongs to {'a different' if account else 'an'} account{reason}",
            hint="Sign in with the library's account: `lrwr login`.",
        )


def load_unfinished_deletion(library: Library) -> RemoteIdentifiers:
    """Return the identifiers of data that an earlier run could not delete.

    All are empty if there was none, or the file with them cannot be read.
    """
    document: object = None
    file = library.state_dir / UNFINISHED
    with suppress(OSError, ValueError), file.open("rb") as unfinished:
        document = parse_json(unfinished.read(_MAX_UNFINISHED_BYTES))
    if not isinstance(document, dict):
        return RemoteIdentifiers()
    collection_names, marks = document.get("named"), document.get("marks")
    return RemoteIdentifiers(
        library=str(document.get("library", "")),
        named=tuple(map(str, collection_names))
        if isinstance(collection_names, list)
        else (),
        marks={str(name): str(mark) for name, mark in marks.items()}
        if isinstance(marks, dict)
        else {},
        hosted=_home(document.get("hosted")),
    )


def _home(document: object) -> HostedLocation | None:
    match document:
        case {
            "project": str() as project,
            "account": str() as account,
            "library": str() as library,
            "name": str() as name,
        }:
            return HostedLocation(project, account, library, name)
    return None


def save_unfinished_deletion(library: Library, identifiers: RemoteIdentifiers) -> Path:
    """Record the data that could not be deleted, for the next run; return the file.

    Raises:
        StoreProblem: The file cannot be written.
    """
    file = library.state_dir / UNFINISHED
    try:
        write_private_file(file, json.dumps(asdict(identifiers), indent=2) + "\n")
    except OSError as error:
        raise StoreProblem(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the free disk space and the permissions of `.lrwr`."
            " Nothing was deleted here yet.",
        ) from error
    return file


async def _find_collections(
    wire: QdrantHttpClient, identifiers: RemoteIdentifiers
) -> tuple[list[str], list[str]]:
    """Return the collections that belong to the library, and those that may belong to it.

    A key that may not list collections can still delete those with known names.
    """
    try:
        lrwr_collections = await list_lrwr_collections(wire)
    except ServiceUnavailable as error:
        if error.retryable:
            raise
        return list(identifiers.named), []
    own_collections = [name for name in lrwr_collections if name in identifiers.named]
    possible_collections = []
    for name in (name for name in lrwr_collections if name not in identifiers.named):
        mark, owner = await fetch_collection_mark(wire, name)
        if mark and identifiers.marks.get(name) == mark:
            own_collections.append(name)
        elif owner and owner == identifiers.library:
            possible_collections.append(name)
    return own_collections, possible_collections


def _unconfirmed_collections(server: str, names: Sequence[str]) -> DeletionFailure:
    return DeletionFailure(
        server,
        tuple(names),
        "a copy of this library in another folder may use them, or this library used them"
        " before its folder was moved",
        "Delete them in Qdrant's dashboard unless you have such a copy.",
    )


@asynccontextmanager
async def _open_request_logger(
    settings: Settings, library: Library, *, is_local: bool
) -> AsyncIterator[EgressLogger | None]:
    """Yield the send log's writer; None for a server on this machine."""
    if is_local or not library.database.exists():
        yield None
        return
    async with open_workspace(settings) as workspace:
        yield workspace.egress.request_logger
