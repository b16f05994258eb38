"""The check of the configured Supabase project: its tables, the account and the
library.

It is contacted unless the user denied it. A problem is a warning only, unless
`[records] keeper` is "supabase".
"""

from contextlib import aclosing
from dataclasses import replace

from lrwr.app.egress import Keyring
from lrwr.app.maintenance.check_result import (
    HealthFinding,
    HealthState,
    end_with_full_stop,
    finding_from_error,
)
from lrwr.app.presenters.text import format_count
from lrwr.app.supabase_project import SUPABASE_SERVICE
from lrwr.core.adapters.auth.project import SupabaseConnection
from lrwr.core.adapters.auth.supabase import Account, create_supabase_sign_in
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.storage.supabase.library_link import (
    LibraryLink,
    load_library_link,
)
from lrwr.core.adapters.storage.supabase.records import (
    RemoteLibraryState,
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

_TIMEOUT = 10
"""Seconds to wait for an answer, if the settings do not say less."""


def is_project_configured(settings: Settings) -> bool:
    """Return whether the settings name a Supabase project."""
    return settings.records.keeper == SUPABASE_SERVICE or bool(
        settings.supabase.url.strip()
    )


async def check_supabase(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    """Check the sign-in, the Supabase project's tables, and its copy of the library.

    Requests are recorded with `request_logger`, None if there is no library yet. No
    text of the user is sent.
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
    link: LibraryLink, remote_state: RemoteLibraryState, *, is_record_store: bool
) -> HealthFinding:
    """Report whether the library here and its copy in the Supabase project are equal.

    `link` has the state of this machine, `remote_state` that of the project. With
    `is_record_store`, the project is the primary store; otherwise it is a copy for
    `lrwr push` and `lrwr pull`.
    """
    pending_changes = max(0, remote_state.version - link.cursor)
    library_text = f"The project has the library {link.name}"
    if is_record_store and link.apart:
        detail = (
            f"{library_text}, but documents ingested here have not been uploaded yet."
        )
        return HealthFinding(
            PART, HealthState.BROKEN, detail, "Upload them with `lrwr push`."
        )
    if link.apart:
        others_note = (
            ", and another machine has changed the library"
            if remote_state.others
            else ""
        )
        detail = (
            f"{library_text}. Since the last upload, documents have been ingested on this"
            f" machine{others_note}."
        )
        return HealthFinding(
            PART, HealthState.OK, f"{detail} `lrwr push` uploads them."
        )
    if pending_changes and is_record_store:
        detail = f"{library_text}; this machine is {format_count(pending_changes, 'change')} behind."
        return HealthFinding(
            PART, HealthState.OK, f"{detail} The next command downloads them."
        )
    if pending_changes:
        detail = (
            f"{library_text}, which is {format_count(pending_changes, 'change')} ahead of"
            " this machine."
        )
        return HealthFinding(
            PART, HealthState.OK, f"{detail} `lrwr pull` downloads them."
        )
    return HealthFinding(PART, HealthState.OK, f"{library_text}, which is up to date.")


def find_project_refusal(keyring: Keyring) -> LrwrError | None:
    """Return the error that forbids contacting the Supabase project; None if allowed.

    If the project is only a copy of the library, no consent is needed, but a denial
    counts.
    """
    refusal = keyring.consent_refusal(SUPABASE_SERVICE)
    if refusal is not None:
        return refusal
    if keyring.consents.find_answer(keyring.library, SUPABASE_SERVICE) is not False:
        return None
    title = HOSTED_SERVICES[SUPABASE_SERVICE].title
    return SettingsProblem(
        f"You denied {title} for this folder, so it is not contacted",
        hint=f"To allow it, run `lrwr privacy allow {SUPABASE_SERVICE}`.",
    )


async def _check_project(
    settings: Settings, keyring: Keyring, request_logger: EgressLogger | None
) -> HealthFinding:
    supabase_settings = settings.supabase
    impatient_settings = replace(
        supabase_settings, timeout=min(supabase_settings.timeout, _TIMEOUT)
    )
    sign_in = create_supabase_sign_in(
        replace(settings, supabase=impatient_settings), keyring.env
    )
    account = await sign_in.auth.account()
    is_record_store = settings.records.keeper == SUPABASE_SERVICE
    if account is None:
        state = HealthState.BROKEN if is_record_store else HealthState.OFF
        detail = f"You are not signed in at {sign_in.project.host}."
        return HealthFinding(PART, state, detail, "Sign in with `lrwr login`.")
    async with aclosing(
        SupabaseRpc(sign_in.project, sign_in.auth.token, request_logger)
    ) as hosted:
        optional = await _check_tables(hosted, sign_in.project)
        link = load_library_link(keyring.library.database)
        if link is None:
            finding = _describe_missing_copy(is_record_store=is_record_store)
        else:
            _check_home(link, sign_in.project, account)
            finding = describe_working_copy(
                link, await _fetch_state(hosted, link), is_record_store=is_record_store
            )
    detail = f"{account.email} at {sign_in.project.host}. {finding.detail}"
    if optional:
        detail += f" Optional scripts, which remove unneeded permissions, were not run: {optional}."
    if optional and finding.state is HealthState.OK:
        return replace(
            finding, state=HealthState.WARNING, detail=detail, remedy=_RUN_SCRIPTS
        )
    return replace(finding, detail=detail)


_RUN_SCRIPTS = "Run the output of `lrwr doctor --sql` in the project's SQL editor."


async def _check_tables(hosted: SupabaseRpc, project: SupabaseConnection) -> str:
    """Check that the project has run all migrations; return the names of the missing
    ones that lrwr does not require.

    Raises:
        StoreProblem: A required one is missing.
    """
    try:
        run = await list_applied_migrations(hosted)
    except StoreProblem as error:
        names = f"{list_supabase_migrations()[0].name} to {list_supabase_migrations()[-1].name}"
        raise StoreProblem(
            f"{project.host} has no tables for lrwr: the migrations {names} have not"
            " been run there",
            hint=_RUN_SCRIPTS,
        ) from error
    missing = find_missing_migrations(run)
    names = ", ".join(migration.name for migration in missing)
    if any(migration.is_required for migration in missing):
        raise StoreProblem(
            f"{project.host} has an older version of lrwr's tables. Missing: {names}",
            hint=_RUN_SCRIPTS,
        )
    return names


def _check_home(
    link: LibraryLink, project: SupabaseConnection, account: Account
) -> None:
    """Check that the library belongs to this project and this account.

    Raises:
        StoreProblem: It belongs to another.
    """
    if link.project != project.url:
        raise StoreProblem(
            f"The library {link.name} is at {link.project}, but `supabase.url` is"
            f" {project.url}",
            hint="Set `supabase.url` back, or upload the library with `lrwr push --new`.",
        )
    if link.account != account.id:
        raise StoreProblem(
            f"The library {link.name} at {project.host} belongs to a different"
            f" account, not to {account.email}",
            hint="Sign in with the library's account: `lrwr login`.",
        )


async def _fetch_state(hosted: SupabaseRpc, link: LibraryLink) -> RemoteLibraryState:
    """Return the state of the library in the project.

    Raises:
        NotFound: It was deleted there.
        LrwrError: The project did not answer or refused.
    """
    records = SupabaseRecords(hosted, link.library, link.writer)
    try:
        return await records.state(link.cursor)
    except NotFound as error:
        raise NotFound(
            f"The library {link.name} was deleted from the project",
            hint="Upload it again with `lrwr push --new`.",
        ) from error


def _describe_missing_copy(*, is_record_store: bool) -> HealthFinding:
    detail = "This library has not been uploaded to the project"
    if is_record_store:
        remedy = "Upload it with `lrwr push`, or download one with `lrwr pull`."
        return HealthFinding(PART, HealthState.BROKEN, f"{detail} yet.", remedy)
    return HealthFinding(PART, HealthState.OK, f"{detail}; `lrwr push` uploads it.")


def _describe_outage(error: LrwrError, *, is_record_store: bool) -> str:
    read_only_note = (
        " Until then, the library can be read but not changed."
        if is_record_store
        else ""
    )
    return f"{end_with_full_stop(str(error))}{read_only_note}"


def _failed(error: LrwrError, *, is_record_store: bool) -> HealthFinding:
    """Return the finding of an error: only a primary store can be broken."""
    if is_record_store:
        return finding_from_error(PART, error)
    return HealthFinding(
        PART, HealthState.WARNING, end_with_full_stop(str(error)), error.hint
    )
