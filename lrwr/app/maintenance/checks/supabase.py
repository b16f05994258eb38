"""The Supabase project that is set: whether it is ready, and has this library.

It is asked only where the writer has not forbidden it. A project that is merely set,
and keeps nothing yet, makes nothing broken.
"""

from contextlib import aclosing
from dataclasses import replace

from lrwr.app.egress import Keyring
from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
    pluralize,
)
from lrwr.app.supabase_project import SUPABASE_SERVICE
from lrwr.core.adapters.auth.factory import create_supabase_sign_in
from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    load_library_link,
)
from lrwr.core.adapters.storage.supabase.migrator import (
    find_missing_migrations,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.records import RemoteLibraryState as Stand
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    list_applied_migrations,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
from lrwr.core.model.accounts import Account
from lrwr.core.model.errors import (
    LrwrError,
    NotFound,
    ServiceUnavailable,
    SettingsProblem,
    StoreProblem,
)
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.core.settings.model import Settings

PART = "records"

_LONGEST = 10
"""Seconds that a project is given to answer."""


def is_project_configured(settings: Settings) -> bool:
    """Say whether there is a project to be looked at."""
    return settings.records.keeper == SUPABASE_SERVICE or bool(
        settings.supabase.url.strip()
    )


async def check_supabase(
    settings: Settings, keyring: Keyring, noting: EgressLogger | None
) -> HealthFinding:
    """Ask the project who is signed in, which scripts it has run, and for the library.

    Without `noting` nothing is noted: there is no library here yet. No text is sent.
    """
    kept = settings.records.keeper == SUPABASE_SERVICE
    try:
        refused = find_project_refusal(keyring)
        if refused is not None:
            return HealthFinding(
                PART, HealthState.OFF, end_with_full_stop(str(refused)), refused.hint
            )
        return await _looked_at(settings, keyring, noting)
    except ServiceUnavailable as error:
        if error.retryable:
            return HealthFinding(
                PART, HealthState.WARNING, _meanwhile(error, kept=kept), error.hint
            )
        return _failed(error, kept=kept)
    except LrwrError as error:
        return _failed(error, kept=kept)


def describe_working_copy(
    bound: LibraryLink, stand: Stand, *, kept: bool
) -> HealthFinding:
    """Say how a working copy stands to the library that it is bound to.

    `kept` says whether the project keeps it by now, or is only pushed to.
    """
    behind = max(0, stand.version - bound.cursor)
    there = f"{bound.name} is there"
    if kept and bound.apart:
        detail = f"{there}; something was read here that the project does not know yet."
        return HealthFinding(
            PART, HealthState.BROKEN, detail, "Take it there: lrwr push"
        )
    if bound.apart:
        also = ", and others have changed it there" if stand.others else ""
        detail = f"{there}, a copy: something was read here since{also}."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} `lrwr push` takes it there."
        )
    if behind and kept:
        detail = f"{there}; this copy is {pluralize(behind, 'change')} behind."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} The next command that reads it catches up."
        )
    if behind:
        detail = f"{there}, {pluralize(behind, 'change')} ahead of here."
        return HealthFinding(PART, HealthState.OK, f"{detail} `lrwr pull` brings them.")
    return HealthFinding(PART, HealthState.OK, f"{there}, and all of it is here.")


def find_project_refusal(keyring: Keyring) -> LrwrError | None:
    """Return why nothing may be asked: a denial holds for a project that is only set."""
    refused = keyring.consent_refusal(SUPABASE_SERVICE)
    if refused is not None:
        return refused
    if keyring.consents.answer(keyring.library, SUPABASE_SERVICE) is not False:
        return None
    title = HOSTED_SERVICES[SUPABASE_SERVICE].title
    return SettingsProblem(
        f"You denied {title} for this folder: it is not asked",
        hint=f"To allow it: lrwr privacy allow {SUPABASE_SERVICE}",
    )


async def _looked_at(
    settings: Settings, keyring: Keyring, noting: EgressLogger | None
) -> HealthFinding:
    about = settings.supabase
    quick = replace(about, timeout=min(about.timeout, _LONGEST))
    way = create_supabase_sign_in(replace(settings, supabase=quick), keyring.env)
    account = await way.auth.account()
    kept = settings.records.keeper == SUPABASE_SERVICE
    if account is None:
        state = HealthState.BROKEN if kept else HealthState.OFF
        detail = f"Nobody is signed in at {way.project.host}."
        return HealthFinding(PART, state, detail, "Sign in: lrwr login")
    async with aclosing(SupabaseRpc(way.project, way.auth.token, noting)) as hosted:
        await _check_tables(hosted, way.project)
        bound = load_library_link(keyring.library.database)
        if bound is None:
            found = _not_there(kept=kept)
        else:
            _check_home(bound, way.project, account)
            found = describe_working_copy(bound, await _stand(hosted, bound), kept=kept)
    detail = f"{account.email} at {way.project.host}. {found.detail}"
    return replace(found, detail=detail)


async def _check_tables(hosted: SupabaseRpc, project: SupabaseConnection) -> None:
    """Make sure that the project has run every script.

    Raises:
        StoreProblem: It has not.
    """
    hint = "Run in the project's SQL editor what `lrwr doctor --sql` prints."
    try:
        run = await list_applied_migrations(hosted)
    except StoreProblem as error:
        names = f"{list_supabase_migrations()[0].name} to {list_supabase_migrations()[-1].name}"
        raise StoreProblem(
            f"{project.host} has none of lrwr's tables: {names} were not run there",
            hint=hint,
        ) from error
    lacking = [
        missing_migration.name for missing_migration in find_missing_migrations(run)
    ]
    if lacking:
        raise StoreProblem(
            f"{project.host} lacks some of lrwr's tables: {', '.join(lacking)} was not"
            " run there",
            hint=hint,
        )


def _check_home(
    bound: LibraryLink, project: SupabaseConnection, account: Account
) -> None:
    """Make sure that it is this project and this account that have the library.

    Raises:
        StoreProblem: Another has.
    """
    if bound.project != project.url:
        raise StoreProblem(
            f"{bound.name} is kept at {bound.project}, and `supabase.url` leads to"
            f" {project.url}",
            hint="Set `supabase.url` back, or take the library there: lrwr push --new",
        )
    if bound.account != account.id:
        raise StoreProblem(
            f"{bound.name} belongs to another account at {project.host} than"
            f" {account.email}",
            hint="Sign in with that account: lrwr login",
        )


async def _stand(hosted: SupabaseRpc, bound: LibraryLink) -> Stand:
    """Return where the library stands there.

    Raises:
        NotFound: It is not there any more.
        LrwrError: The project refuses, or does not answer.
    """
    records = SupabaseRecords(hosted, bound.library, bound.writer)
    try:
        return await records.state(bound.cursor)
    except NotFound as error:
        raise NotFound(
            f"{bound.name} is not there any more",
            hint="Take it there anew: lrwr push --new",
        ) from error


def _not_there(*, kept: bool) -> HealthFinding:
    detail = "This library is not kept there"
    if kept:
        remedy = "Take it there with `lrwr push`, or bring one here with `lrwr pull`."
        return HealthFinding(PART, HealthState.BROKEN, f"{detail} yet.", remedy)
    return HealthFinding(
        PART, HealthState.OK, f"{detail}; `lrwr push` would take it there."
    )


def _meanwhile(error: LrwrError, *, kept: bool) -> str:
    what = " What is here is read meanwhile; nothing can be changed." if kept else ""
    return f"{end_with_full_stop(str(error))}{what}"


def _failed(error: LrwrError, *, kept: bool) -> HealthFinding:
    """Return what a failure says: nothing is broken while nothing is kept there."""
    if kept:
        return finding_from_error(PART, error)
    return HealthFinding(
        PART, HealthState.WARNING, end_with_full_stop(str(error)), error.hint
    )
