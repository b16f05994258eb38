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
from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.auth.supabase import Account, create_supabase_sign_in
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    load_library_link,
)
from lrwr.core.adapters.storage.supabase.records import RemoteLibraryState as Stand
from lrwr.core.adapters.storage.supabase.records import (
    SupabaseRecords,
    find_missing_migrations,
    list_applied_migrations,
    list_supabase_migrations,
)
from lrwr.core.adapters.storage.supabase.rpc import SupabaseRpc
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
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Ask the project who is signed in, which scripts it has run, and for the library.

    Without `request_logger` nothing is noted: there is no library here yet. No text is sent.
    """
    is_record_store = settings.records.keeper == SUPABASE_SERVICE
    try:
        refusal = find_project_refusal(keyring)
        if refusal is not None:
            return HealthFinding(
                PART, HealthState.OFF, end_with_full_stop(str(refusal)), refusal.hint
            )
        return await _check_project(settings, keyring, request_logger)
    except ServiceUnavailable as error:
        if error.retryable:
            return HealthFinding(
                PART,
                HealthState.WARNING,
                _describe_outage(error, is_record_store=is_record_store),
                error.hint,
            )
        return _failed(error, is_record_store=is_record_store)
    except LrwrError as error:
        return _failed(error, is_record_store=is_record_store)


def describe_working_copy(
    link: LibraryLink, remote_state: Stand, *, is_record_store: bool
) -> HealthFinding:
    """Say how a working copy stands to the library that it is bound to.

    `is_record_store` says whether the project keeps it by now, or is only pushed to.
    """
    pending_changes = max(0, remote_state.version - link.cursor)
    library_text = f"{link.name} is there"
    if is_record_store and link.apart:
        detail = f"{library_text}; something was read here that the project does not know yet."
        return HealthFinding(
            PART, HealthState.BROKEN, detail, "Take it there: lrwr push"
        )
    if link.apart:
        others_note = (
            ", and others have changed it there" if remote_state.others else ""
        )
        detail = f"{library_text}, a copy: something was read here since{others_note}."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} `lrwr push` takes it there."
        )
    if pending_changes and is_record_store:
        detail = f"{library_text}; this copy is {pluralize(pending_changes, 'change')} behind."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} The next command that reads it catches up."
        )
    if pending_changes:
        detail = (
            f"{library_text}, {pluralize(pending_changes, 'change')} ahead of here."
        )
        return HealthFinding(PART, HealthState.OK, f"{detail} `lrwr pull` brings them.")
    return HealthFinding(
        PART, HealthState.OK, f"{library_text}, and all of it is here."
    )


def find_project_refusal(keyring: Keyring) -> LrwrError | None:
    """Return why nothing may be asked: a denial holds for a project that is only set."""
    refusal = keyring.consent_refusal(SUPABASE_SERVICE)
    if refusal is not None:
        return refusal
    if keyring.consents.find_answer(keyring.library, SUPABASE_SERVICE) is not False:
        return None
    title = HOSTED_SERVICES[SUPABASE_SERVICE].title
    return SettingsProblem(
        f"You denied {title} for this folder: it is not asked",
        hint=f"To allow it, run `lrwr privacy allow {SUPABASE_SERVICE}`.",
    )


async def _check_project(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    supabase_settings = settings.supabase
    impatient_settings = replace(
        supabase_settings, timeout=min(supabase_settings.timeout, _LONGEST)
    )
    sign_in = create_supabase_sign_in(
        replace(settings, supabase=impatient_settings), keyring.env
    )
    account = await sign_in.auth.account()
    is_record_store = settings.records.keeper == SUPABASE_SERVICE
    if account is None:
        state = HealthState.BROKEN if is_record_store else HealthState.OFF
        detail = f"Nobody is signed in at {sign_in.project.host}."
        return HealthFinding(PART, state, detail, "Sign in: lrwr login")
    async with aclosing(
        SupabaseRpc(sign_in.project, sign_in.auth.token, request_logger)
    ) as hosted:
        await _check_tables(hosted, sign_in.project)
        link = load_library_link(keyring.library.database)
        if link is None:
            finding = _not_there(is_record_store=is_record_store)
        else:
            _check_home(link, sign_in.project, account)
            finding = describe_working_copy(
                link, await _stand(hosted, link), is_record_store=is_record_store
            )
    detail = f"{account.email} at {sign_in.project.host}. {finding.detail}"
    return replace(finding, detail=detail)


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
    missing_names = [
        missing_migration.name for missing_migration in find_missing_migrations(run)
    ]
    if missing_names:
        raise StoreProblem(
            f"{project.host} lacks some of lrwr's tables: {', '.join(missing_names)} was not"
            " run there",
            hint=hint,
        )


def _check_home(
    link: LibraryLink, project: SupabaseConnection, account: Account
) -> None:
    """Make sure that it is this project and this account that have the library.

    Raises:
        StoreProblem: Another has.
    """
    if link.project != project.url:
        raise StoreProblem(
            f"{link.name} is kept at {link.project}, and `supabase.url` leads to"
            f" {project.url}",
            hint="Set `supabase.url` back, or take the library there: lrwr push --new",
        )
    if link.account != account.id:
        raise StoreProblem(
            f"{link.name} belongs to another account at {project.host} than"
            f" {account.email}",
            hint="Sign in with that account: lrwr login",
        )


async def _stand(hosted: SupabaseRpc, link: LibraryLink) -> Stand:
    """Return where the library stands there.

    Raises:
        NotFound: It is not there any more.
        LrwrError: The project refuses, or does not answer.
    """
    records = SupabaseRecords(hosted, link.library, link.writer)
    try:
        return await records.state(link.cursor)
    except NotFound as error:
        raise NotFound(
            f"{link.name} is not there any more",
            hint="Take it there anew: lrwr push --new",
        ) from error


def _not_there(*, is_record_store: bool) -> HealthFinding:
    detail = "This library is not kept there"
    if is_record_store:
        remedy = "Take it there with `lrwr push`, or bring one here with `lrwr pull`."
        return HealthFinding(PART, HealthState.BROKEN, f"{detail} yet.", remedy)
    return HealthFinding(
        PART, HealthState.OK, f"{detail}; `lrwr push` would take it there."
    )


def _describe_outage(error: LrwrError, *, is_record_store: bool) -> str:
    read_only_note = (
        " What is here is read meanwhile; nothing can be changed."
        if is_record_store
        else ""
    )
    return f"{end_with_full_stop(str(error))}{read_only_note}"


def _failed(error: LrwrError, *, is_record_store: bool) -> HealthFinding:
    """Return what a failure says: nothing is broken while nothing is kept there."""
    if is_record_store:
        return finding_from_error(PART, error)
    return HealthFinding(
        PART, HealthState.WARNING, end_with_full_stop(str(error)), error.hint
    )
