"""Forgetting a library: what lrwr keeps of it goes, wherever it is, records last.

The manuscript, `lrwr.toml` and `lrwr.canon.toml` are the writer's and stay.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lrwr.app.egress import Keyring
from lrwr.app.maintenance.check_result import end_with_full_stop, pluralize
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
from lrwr.core.adapters.storage.sqlite.maintenance import (
    LibraryInventory,
    take_library_inventory,
)
from lrwr.core.model.errors import LrwrError, NotFound, StoreProblem
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
    """What would go. Nothing is asked or changed to find that out.

    `asked` are the servers that would be asked to remove something; `refused` says,
    a sentence each, what stays since the writer does not let a server be asked. `unsafe`
    says why a yes beforehand does not count; empty where it does.
    """

    library: Library
    everywhere: bool
    kept: LocalData
    weight: LibraryInventory
    known: RemoteIdentifiers
    asked: tuple[str, ...]
    answers: tuple[Path, ...]
    unsafe: str = ""
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """What is gone, a sentence each, and what is left."""

    gone: tuple[str, ...]
    left: tuple[DeletionFailure, ...]


def plan_deletion(settings: Settings, *, everywhere: bool) -> DeletionPlan:
    """Return what forgetting the library would remove.

    Raises:
        NotFound: lrwr keeps nothing of this folder.
        SettingsProblem: The settings name a folder that cannot be the library's.
        StoreProblem: There is a link in the state folder.
    """
    library = resolve_library(settings)
    check_state_dir(library)
    answers = _list_consent_files(library)
    if not (is_made_by_lrwr(library) or answers):
        raise NotFound(
            f"lrwr keeps nothing of {library.root}",
            hint="Go to the library's folder, or to one below it.",
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
    """Remove what `plan` names: on servers, then here, and the records last.

    A server that does not do its part stops nothing: what is left there is remembered
    in the state folder, and goes with the next run. So is the rest of a run that was
    ended. `say` is told of each thing that is gone.

    Raises:
        StoreProblem: Another process uses the library, or a file cannot be deleted.
    """
    library = plan.library
    check_not_in_use(library)
    deleted, failures, remaining = await _delete_remotely(plan, settings, env, say)
    if plan.kept.parts:
        check_not_in_use(library)
    if remaining != RemoteIdentifiers():
        save_unfinished_deletion(library, remaining)
    else:
        (library.state_dir / UNFINISHED).unlink(missing_ok=True)
        deleted += _delete_consents(plan, say)
    for part in delete_local_data(plan.kept):
        deleted.append(f"{part.what}: {plan.library.state_dir}")
        say(f"Gone: {part.what}.")
    delete_empty_state_folder(library)
    if plan.kept.others:
        failures.append(_foreign_files(plan))
    return DeletionResult(tuple(deleted), tuple(failures))


async def _delete_remotely(
    plan: DeletionPlan, settings: Settings, env: Mapping[str, str], say: SayCallback
) -> tuple[list[str], list[DeletionFailure], RemoteIdentifiers]:
    """Remove what servers keep; return what is gone, what is left, and what to try."""
    if not plan.everywhere:
        return [], _list_untouched(plan.known), RemoteIdentifiers()
    deleted: list[str] = []
    failures: list[DeletionFailure] = []
    remaining = RemoteIdentifiers()
    if plan.weight.unread and settings.supabase.url:
        failures.append(_unknown_library(settings))
    for step in _steps(plan, settings, env):
        removed = await _run_step(step)
        deleted += [f"{name}: {removed.where}" for name in removed.gone]
        failures += removed.left
        if removed.gone:
            say(f"Gone: {step.describe(removed.gone)} at {removed.where}.")
        if removed.again:
            remaining = _merge_identifiers(remaining, step.about)
    return deleted, failures, remaining


@dataclass(frozen=True, slots=True)
class _ServerDeletion:
    """One server: what it may keep of the library, and what removes it there."""

    where: str
    about: RemoteIdentifiers
    take: Callable[[], Awaitable[RemoteDeletion]]

    def describe(self, names: tuple[str, ...]) -> str:
        """Say what is gone."""
        return (
            ", ".join(names)
            if self.about.hosted
            else pluralize(len(names), "collection")
        )


def _steps(
    plan: DeletionPlan, settings: Settings, env: Mapping[str, str]
) -> list[_ServerDeletion]:
    steps, identifiers, library = [], plan.known, plan.library
    vectors = replace(identifiers, hosted=None)
    refusal = _refusal(settings, library)
    if vectors != RemoteIdentifiers() and refusal is None:
        delete = partial(remove_collections, settings, env, library, vectors)
        steps.append(_ServerDeletion("Qdrant", vectors, delete))
    elif identifiers.marks and refusal is not None:
        steps.append(_ServerDeletion("Qdrant", vectors, partial(_refuse, refusal)))
    if identifiers.hosted:
        denied = _refusal_of_project(settings, library)
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
    """Take a step; a failure is what is left, to be tried again."""
    try:
        return await step.take()
    except LrwrError as error:
        hosted = step.about.hosted
        names = (hosted.name,) if hosted else step.about.made
        remedy = f"{end_with_full_stop(error.hint)} {_AGAIN}" if error.hint else _AGAIN
        deletion_failure = DeletionFailure(step.where, names, str(error), remedy)
        return RemoteDeletion(step.where, left=(deletion_failure,), again=True)


async def _refuse(refusal: LrwrError) -> RemoteDeletion:
    raise refusal


def _refusal(settings: Settings, library: Library) -> LrwrError | None:
    return find_consent_problem(
        settings, library, "qdrant", ConsentStore(get_consent_folder())
    )


def _refusal_of_project(settings: Settings, library: Library) -> LrwrError | None:
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
    """Say what was left alone because only this machine was meant."""
    failures = []
    reason = "you said `--here`"
    if identifiers.marks:
        remedy = "Delete them in Qdrant's dashboard: lrwr does not know them any more."
        failures.append(DeletionFailure("Qdrant", identifiers.made, reason, remedy))
    if identifiers.hosted:
        remedy = "It is there for your other machines, and for `lrwr pull`."
        failures.append(
            DeletionFailure("Supabase", (identifiers.hosted.name,), reason, remedy)
        )
    return failures


def _unknown_library(settings: Settings) -> DeletionFailure:
    """Say that a project may keep the library, and nobody knows any more which it is."""
    return DeletionFailure(
        f"Supabase at {parse_host(settings.supabase.url)}",
        (),
        "the library's file cannot be read, which said what is kept there",
        "If it is kept there: `lrwr pull` it into an empty folder, and `lrwr forget` in"
        " that.",
    )


def _list_servers(
    settings: Settings, library: Library, identifiers: RemoteIdentifiers
) -> tuple[str, ...]:
    """Name the servers that would be asked."""
    servers = []
    has_vectors = replace(identifiers, hosted=None) != RemoteIdentifiers()
    may_delete_vectors = has_vectors and _refusal(settings, library) is None
    if settings.vectors.keeper == "qdrant" and may_delete_vectors:
        host = HOSTED_SERVICES["qdrant"].find_host(settings)
        servers.append(f"Qdrant at {host}: the vectors of this library")
    elif identifiers.marks:
        servers.append("Qdrant: vectors of this library that were kept there before")
    if identifiers.hosted and _refusal_of_project(settings, library) is None:
        host, name = parse_host(identifiers.hosted.project), identifiers.hosted.name
        description = (
            f"the library {name}, with its conversations and files, for all machines"
        )
        servers.append(f"Supabase at {host}: {description}")
    return tuple(servers)


def _list_refusals(
    settings: Settings, library: Library, identifiers: RemoteIdentifiers
) -> tuple[str, ...]:
    """Say what stays in a project that may not be asked, and what to do about it."""
    refusal = _refusal_of_project(settings, library) if identifiers.hosted else None
    if refusal is None or identifiers.hosted is None:
        return ()
    library_text = f"At {parse_host(identifiers.hosted.project)} the library {identifiers.hosted.name} stays."
    return (f"{library_text} {end_with_full_stop(str(refusal))} {refusal.hint}",)


def _list_consent_files(library: Library) -> tuple[Path, ...]:
    """Return the files that keep what the writer answered and was told of this folder."""
    folder, files = get_consent_folder(), []
    if not folder.is_dir():
        return ()
    for path in sorted(folder.glob("*.json")):
        consent: object = None
        with suppress(OSError, ValueError, RecursionError), path.open("rb") as file:
            consent = json.loads(file.read(MAX_CONSENT_BYTES))
        if isinstance(consent, dict) and consent.get("folder") == str(library.root):
            files.append(path)
    return tuple(files)


def _delete_consents(plan: DeletionPlan, say: SayCallback) -> list[str]:
    try:
        for path in plan.answers:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreProblem(
            f"{error.filename} cannot be deleted: {error.strerror}.",
            hint=f"Check your rights there. {_AGAIN}",
        ) from error
    if not plan.answers:
        return []
    say("Gone: your answers about services for this folder.")
    return [f"your answers about services: {plan.answers[0].parent}"]


def _foreign_files(plan: DeletionPlan) -> DeletionFailure:
    return DeletionFailure(
        str(plan.library.state_dir),
        plan.kept.others,
        "lrwr did not make them",
        "Look at them, and delete them by hand.",
    )


def _why_unsafe(settings: Settings, library: Library) -> str:
    """Say why a yes that was given beforehand does not count."""
    theirs = settings.origin("state_dir").source is SettingSource.LIBRARY
    if not theirs or library.state_dir.is_relative_to(library.root):
        return ""
    origin = settings.origin("state_dir").where
    return f"{origin} names {library.state_dir}, outside of this folder"
