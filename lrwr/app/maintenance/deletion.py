"""Deletes a library (`lrwr forget`): first on servers, then on this machine.

The manuscript, `lrwr.toml` and `lrwr.canon.toml` belong to the user and are not
deleted.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lrwr.app.egress import Keyring
from lrwr.app.maintenance.check_result import end_with_full_stop
from lrwr.app.maintenance.checks.supabase import find_project_refusal
from lrwr.app.maintenance.local_data import (
    UNFINISHED,
    LocalData,
    check_not_in_use,
    delete_empty_state_folder,
    delete_local_data,
    is_made_by_lrwr,
    scan_local_data,
)
from lrwr.app.maintenance.remote_data import (
    DeletionFailure,
    RemoteDeletion,
    RemoteIdentifiers,
    collect_remote_identifiers,
    delete_hosted_library,
    remove_collections,
    save_unfinished_deletion,
)
from lrwr.app.presenters.text import format_count
from lrwr.core.adapters.storage.sqlite.maintenance import (
    LibraryInventory,
    take_library_inventory,
)
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.consent import (
    HOSTED_SERVICES,
    MAX_CONSENT_BYTES,
    ConsentStore,
    find_consent_problem,
)
from lrwr.core.settings.library import (
    Library,
    check_state_dir,
    get_consent_folder,
    resolve_library,
)
from lrwr.core.settings.model import Settings, SettingSource
from lrwr.core.settings.service_access import parse_host

SayCallback = Callable[[str], None]

_AGAIN = "Run `lrwr forget` again."


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What `lrwr forget` would delete. Building it sends and changes nothing.

    With `everywhere`, data on servers is deleted, too: `server_data` describes it in
    sentences. `refusals` has a sentence for each server whose data stays because the
    user denied access to it. `consent_files` hold the user's consents. `unsafe` is the
    reason why the user must confirm even with `--yes`; empty if `--yes` suffices.
    """

    library: Library
    everywhere: bool
    local_data: LocalData
    inventory: LibraryInventory
    identifiers: RemoteIdentifiers
    server_data: tuple[str, ...]
    consent_files: tuple[Path, ...]
    unsafe: str = ""
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """What was deleted, one sentence each, and the data that could not be deleted.

    `failures` is empty if everything is gone.
    """

    deleted: tuple[str, ...]
    failures: tuple[DeletionFailure, ...]


def plan_deletion(settings: Settings, *, everywhere: bool) -> DeletionPlan:
    """Return what `lrwr forget` would delete; with `everywhere` also on servers.

    Raises:
        NotFound: lrwr stores nothing about this folder.
        SettingsProblem: `state_dir` names a folder that cannot be a state folder.
        StoreProblem: The state folder contains a symbolic link.
    """
    library = resolve_library(settings)
    check_state_dir(library)
    answers = _list_consent_files(library)
    if not (is_made_by_lrwr(library) or answers):
        raise NotFound(
            f"There is no library in {library.root}",
            hint="Go to the folder of your library, or to a folder inside it.",
        )
    local_data = (
        scan_local_data(library) if is_made_by_lrwr(library) else LocalData((), ())
    )
    inventory = (
        take_library_inventory(library.database)
        if library.database.exists()
        else LibraryInventory()
    )
    remote_identifiers = collect_remote_identifiers(library, inventory)
    servers = _list_servers(settings, library, remote_identifiers) if everywhere else ()
    refusals = (
        _list_refusals(settings, library, remote_identifiers) if everywhere else ()
    )
    return DeletionPlan(
        library,
        everywhere,
        local_data,
        inventory,
        remote_identifiers,
        servers,
        answers,
        _why_unsafe(settings, library),
        refusals,
    )


async def delete_local_library(
    plan: DeletionPlan, settings: Settings, env: Mapping[str, str], say: SayCallback
) -> DeletionResult:
    """Delete everything that `plan` names: on servers first, the database last.

    If a server fails, the deletion goes on; what is left there is recorded in the state
    folder and deleted by the next run, which also resumes an interrupted run. `env` has
    the environment variables. `say` is called with a sentence after each step.

    Raises:
        StoreProblem: Another process uses the library, or a file cannot be deleted.
    """
    library = plan.library
    check_not_in_use(library)
    deleted, failures, remaining = await _delete_remotely(plan, settings, env, say)
    if plan.local_data.parts:
        check_not_in_use(library)
    if remaining != RemoteIdentifiers():
        save_unfinished_deletion(library, remaining)
    else:
        (library.state_dir / UNFINISHED).unlink(missing_ok=True)
        deleted += _delete_consents(plan, say)
    for part in delete_local_data(plan.local_data):
        deleted.append(f"{part.what}: {plan.library.state_dir}")
        say(f"Deleted {part.what}.")
    delete_empty_state_folder(library)
    if plan.local_data.others:
        failures.append(_foreign_files(plan))
    return DeletionResult(tuple(deleted), tuple(failures))


async def _delete_remotely(
    plan: DeletionPlan, settings: Settings, env: Mapping[str, str], say: SayCallback
) -> tuple[list[str], list[DeletionFailure], RemoteIdentifiers]:
    """Return what was deleted on servers, what was not, and what to try again."""
    if not plan.everywhere:
        return [], _list_untouched(plan.identifiers), RemoteIdentifiers()
    deleted: list[str] = []
    failures: list[DeletionFailure] = []
    remaining = RemoteIdentifiers()
    if plan.inventory.unread and settings.supabase.url:
        failures.append(_unknown_library(settings))
    for step in _steps(plan, settings, env):
        removed = await _run_step(step)
        deleted += [f"{name}: {removed.where}" for name in removed.deleted]
        failures += removed.failures
        if removed.deleted:
            say(f"Deleted {step.describe(removed.deleted)} at {removed.where}.")
        if removed.try_again:
            remaining = _merge_identifiers(remaining, step.about)
    return deleted, failures, remaining


@dataclass(frozen=True, slots=True)
class _ServerDeletion:
    """The deletion of a library's data on one server."""

    where: str
    about: RemoteIdentifiers
    take: Callable[[], Awaitable[RemoteDeletion]]

    def describe(self, names: tuple[str, ...]) -> str:
        """Return the deleted names as text: names of libraries, a count of collections."""
        return (
            ", ".join(names)
            if self.about.hosted
            else format_count(len(names), "collection")
        )


def _steps(
    plan: DeletionPlan, settings: Settings, env: Mapping[str, str]
) -> list[_ServerDeletion]:
    steps, identifiers, library = [], plan.identifiers, plan.library
    vectors = replace(identifiers, hosted=None)
    refusal = _find_qdrant_refusal(settings, library)
    if vectors != RemoteIdentifiers() and refusal is None:
        delete = partial(remove_collections, settings, env, library, vectors)
        steps.append(_ServerDeletion("Qdrant", vectors, delete))
    elif identifiers.marks and refusal is not None:
        steps.append(_ServerDeletion("Qdrant", vectors, partial(_refuse, refusal)))
    if identifiers.hosted:
        denied = _find_supabase_refusal(settings, library)
        delete = partial(
            delete_hosted_library, settings, env, library, identifiers.hosted
        )
        delete = partial(_refuse, denied) if denied else delete
        steps.append(
            _ServerDeletion(
                "Supabase", RemoteIdentifiers(hosted=identifiers.hosted), delete
            )
        )
    return steps


async def _run_step(step: _ServerDeletion) -> RemoteDeletion:
    """Run a step; an error becomes a failure that the next run tries again."""
    try:
        return await step.take()
    except LrwrError as error:
        hosted = step.about.hosted
        names = (hosted.name,) if hosted else step.about.made
        remedy = f"{end_with_full_stop(error.hint)} {_AGAIN}" if error.hint else _AGAIN
        deletion_failure = DeletionFailure(step.where, names, str(error), remedy)
        return RemoteDeletion(step.where, failures=(deletion_failure,), try_again=True)


async def _refuse(refusal: LrwrError) -> RemoteDeletion:
    raise refusal


def _find_qdrant_refusal(settings: Settings, library: Library) -> LrwrError | None:
    return find_consent_problem(
        settings, library, "qdrant", ConsentStore(get_consent_folder())
    )


def _find_supabase_refusal(settings: Settings, library: Library) -> LrwrError | None:
    return find_project_refusal(
        Keyring(settings, library, ConsentStore(get_consent_folder()), {})
    )


def _merge_identifiers(
    remote_identifiers: RemoteIdentifiers, other: RemoteIdentifiers
) -> RemoteIdentifiers:
    return RemoteIdentifiers(
        library=remote_identifiers.library or other.library,
        named=remote_identifiers.named or other.named,
        marks={**remote_identifiers.marks, **other.marks},
        hosted=remote_identifiers.hosted or other.hosted,
    )


def _list_untouched(identifiers: RemoteIdentifiers) -> list[DeletionFailure]:
    """Return what stays on servers because of `--here`."""
    failures = []
    reason = "`--here` deletes only the data on this machine"
    if identifiers.marks:
        remedy = "Delete them in Qdrant's dashboard: lrwr cannot find them any more."
        failures.append(DeletionFailure("Qdrant", identifiers.made, reason, remedy))
    if identifiers.hosted:
        remedy = (
            "Your other machines can still use it, and `lrwr pull` downloads it again."
        )
        failures.append(
            DeletionFailure("Supabase", (identifiers.hosted.name,), reason, remedy)
        )
    return failures


def _unknown_library(settings: Settings) -> DeletionFailure:
    """Return the failure for a library in Supabase whose link was in a damaged database."""
    return DeletionFailure(
        f"Supabase at {parse_host(settings.supabase.url)}",
        (),
        "the library's database cannot be read, so lrwr cannot tell whether the project"
        " has a copy",
        "If it has one, run `lrwr pull` in an empty folder, then `lrwr forget` in that"
        " folder.",
    )


def _list_servers(
    settings: Settings, library: Library, identifiers: RemoteIdentifiers
) -> tuple[str, ...]:
    """Describe the data that would be deleted on each server."""
    servers = []
    has_vectors = replace(identifiers, hosted=None) != RemoteIdentifiers()
    may_delete_vectors = has_vectors and _find_qdrant_refusal(settings, library) is None
    if settings.vectors.keeper == "qdrant" and may_delete_vectors:
        host = HOSTED_SERVICES["qdrant"].find_host(settings)
        servers.append(f"Qdrant at {host}: the vectors of this library")
    elif identifiers.marks:
        servers.append("Qdrant: vectors of this library from earlier settings")
    if identifiers.hosted and _find_supabase_refusal(settings, library) is None:
        host, name = parse_host(identifiers.hosted.project), identifiers.hosted.name
        description = f"the library {name} with its threads and files, for all machines"
        servers.append(f"Supabase at {host}: {description}")
    return tuple(servers)


def _list_refusals(
    settings: Settings, library: Library, identifiers: RemoteIdentifiers
) -> tuple[str, ...]:
    """Return, one sentence each, what stays in a project to which access is denied."""
    refusal = _find_supabase_refusal(settings, library) if identifiers.hosted else None
    if refusal is None or identifiers.hosted is None:
        return ()
    host = parse_host(identifiers.hosted.project)
    library_text = f"The library {identifiers.hosted.name} stays at {host}."
    return (f"{library_text} {end_with_full_stop(str(refusal))} {refusal.hint}",)


def _list_consent_files(library: Library) -> tuple[Path, ...]:
    """Return the files with the user's consents for this folder."""
    folder, files = get_consent_folder(), []
    if not folder.is_dir():
        return ()
    for path in sorted(folder.glob("*.json")):
        consent: object = None
        with suppress(OSError, ValueError), path.open("rb") as file:
            consent = parse_json(file.read(MAX_CONSENT_BYTES))
        if isinstance(consent, dict) and consent.get("folder") == str(library.root):
            files.append(path)
    return tuple(files)


def _delete_consents(plan: DeletionPlan, say: SayCallback) -> list[str]:
    try:
        for path in plan.consent_files:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreProblem(
            f"{error.filename} cannot be deleted: {error.strerror}",
            hint=f"Check its permissions. {_AGAIN}",
        ) from error
    if not plan.consent_files:
        return []
    say("Deleted your consents for this folder.")
    return [f"your consents: {plan.consent_files[0].parent}"]


def _foreign_files(plan: DeletionPlan) -> DeletionFailure:
    return DeletionFailure(
        str(plan.library.state_dir),
        plan.local_data.others,
        "lrwr did not create them",
        "Delete them yourself if you do not need them.",
    )


def _why_unsafe(settings: Settings, library: Library) -> str:
    """Return why `--yes` is not enough: the folder's own settings name a folder elsewhere."""
    theirs = settings.origin("state_dir").source is SettingSource.LIBRARY
    if not theirs or library.state_dir.is_relative_to(library.root):
        return ""
    origin = settings.origin("state_dir").where
    return f"{origin} sets `state_dir` to {library.state_dir}, outside this folder"
