"""`lrwr privacy`: what may leave this machine, and what left it."""

import os
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.egress import describe_data_leaving
from lrwr.app.presenters.text import format_count
from lrwr.cli.presenters.privacy import (
    ServiceStatus,
    sent_report_as_json,
    services_as_json,
    show_sent_report,
    show_services,
)
from lrwr.cli.runtime.async_runner import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output
from lrwr.cli.runtime.session import start_session
from lrwr.core.adapters.chat.factory import is_chat_remote
from lrwr.core.adapters.embed.connection import is_embedding_remote
from lrwr.core.model.egress import EgressReport
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.settings.consent import (
    HOSTED_SERVICES,
    ConsentState,
    ConsentStore,
    HostedService,
    find_hosted_service,
    resolve_consent,
)
from lrwr.core.settings.library import (
    Library,
    check_state_dir,
    get_consent_folder,
    prepare_state_dir,
    resolve_library,
)
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import locate_key, parse_host

EPILOG = (
    "Examples: lrwr privacy · lrwr privacy --since 7d · lrwr privacy --since 2026-11-01"
    " --json · lrwr privacy allow openai"
)
ALLOW_EPILOG = "Example: lrwr privacy allow openai"
DENY_EPILOG = "Example: lrwr privacy deny openai"
CLEAR_EPILOG = "Example: lrwr privacy clear --force"

_SECONDS = {"h": 3_600.0, "d": 86_400.0, "w": 604_800.0}

ServiceNameArgument = Annotated[
    str,
    typer.Argument(
        metavar="SERVICE",
        help="openai, openai-embeddings, cohere, qdrant, modal, supabase, tavily"
        " or langsmith.",
    ),
]


app = typer.Typer(name="privacy", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def privacy_command(
    context: typer.Context,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="7d|DATE", help="Only what left then or later."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=1000, help="How many requests.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Say what may leave this machine, and what left it: when, to whom, how much.

    Every request is noted before it leaves. Nothing of what it said is kept here.
    """
    if context.invoked_subcommand is not None:
        return

    settings, output = start_session(context)
    began = _parse_since(since, time.time()) if since is not None else None
    library = resolve_library(settings)
    workspace = _services(settings, library, os.environ)
    report = run_async(_report(settings, library, output, began or 0.0, limit))
    if as_json:
        output.json(
            {
                "services": services_as_json(workspace),
                **sent_report_as_json(report),
            }
        )
        return
    with output.paged():
        show_services(workspace, output)
        output.answer()
        show_sent_report(report, output, since=began)


@app.command("allow", epilog=ALLOW_EPILOG)
def privacy_allow_command(context: typer.Context, service: ServiceNameArgument) -> None:
    """Allow a service that this folder's own lrwr.toml turns on; for this folder."""
    settings, output, consents, library = _store_consent(context, service, allowed=True)
    hosted = _hosted(service)
    output.answer(
        f"{hosted.title} is allowed in {library.root}, and in no other folder."
    )
    if hosted.is_on(settings):
        output.answer(describe_data_leaving(hosted, settings))
        consents.store_notice(library, hosted.name)
    elif settings.value(hosted.setting) == hosted.value:
        output.story("It runs on this machine: for that nobody's leave is needed.")
    else:
        output.story(
            f'It is off: set `{hosted.setting}` to "{hosted.value}" to use it.'
        )


@app.command("deny", epilog=DENY_EPILOG)
def privacy_deny_command(context: typer.Context, service: ServiceNameArgument) -> None:
    """Deny a service in this folder, whoever turned it on."""
    _, output, _, library = _store_consent(context, service, allowed=False)
    output.answer(f"{_hosted(service).title} is sent nothing from {library.root}.")


@app.command("clear", epilog=CLEAR_EPILOG)
def privacy_clear_command(
    context: typer.Context,
    force: Annotated[bool, typer.Option("--force", help="Yes, forget it.")] = False,
) -> None:
    """Forget what left this machine from here. When that was done is kept."""
    settings, output = start_session(context)
    if not force:
        raise SettingsProblem(
            "This would forget what left this machine, for good",
            hint="If you want that: lrwr privacy clear --force",
        )

    async def run() -> int:
        async with open_workspace(settings, say=output.story) as workspace:
            workspace.require_library()
            return await workspace.egress.log.clear(time.time())

    output.answer(f"{format_count(run_async(run()), 'request')} forgotten.")


async def _report(
    settings: Settings,
    library: Library,
    output: Output,
    since: float,
    limit: int,
) -> EgressReport:
    if not library.database.exists():
        return EgressReport()
    async with open_workspace(settings, say=output.story) as workspace:
        return await workspace.egress.log.report(since=since, limit=limit)


def _services(
    settings: Settings, library: Library, env: Mapping[str, str]
) -> list[ServiceStatus]:
    consents = ConsentStore(get_consent_folder())
    statuses = [
        ServiceStatus(
            name=hosted.name,
            leave=resolve_consent(settings, library, hosted.name, consents),
            host=hosted.find_host(settings),
            where=_where(settings, hosted.setting),
            key=_key(hosted.key, env),
            what=hosted.describe_sent(settings),
        )
        for hosted in HOSTED_SERVICES.values()
    ]
    return [*statuses, *_own_servers(settings)]


def _own_servers(settings: Settings) -> list[ServiceStatus]:
    """Return the writer's own model servers, where they are on another machine."""
    address_settings = {}
    if settings.model.use == "local" and is_chat_remote(settings):
        address_settings["local"] = "model.base_url"
    if settings.embedding.model == "server" and is_embedding_remote(settings):
        address_settings["server"] = "embedding.base_url"
    return [
        ServiceStatus(
            name,
            ConsentState.GIVEN,
            parse_host(str(settings.value(key))),
            _where(settings, key),
            "none needed",
        )
        for name, key in address_settings.items()
    ]


def _key(variable: str, env: Mapping[str, str]) -> str:
    """Return where a key is, as far as anybody can tell; never the key."""
    try:
        return str(locate_key(variable, env))
    except ServiceUnavailable:
        return "not known: the keyring is locked"


def _where(settings: Settings, key: str) -> str:
    origin = settings.origin(key)
    origin_text = origin.where or str(origin.source)
    return origin_text.removeprefix(f"{settings.root}{os.sep}")


def _parse_since(text: str, now: float) -> float:
    """Return the moment that the writer means, in seconds since 1970.

    Raises:
        SettingsProblem: It is neither a stretch of time nor a date.
    """
    stretch = re.fullmatch(r"(\d{1,4})\s*([hdw])", text.strip().lower())
    if stretch:
        return now - int(stretch[1]) * _SECONDS[stretch[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise SettingsProblem(
            f"`--since` is {text!r}, which is no time",
            hint="Write it like 7d, 24h or 2026-11-01.",
        ) from None


def _store_consent(
    context: typer.Context, service: str, *, allowed: bool
) -> tuple[Settings, Output, ConsentStore, Library]:
    """Keep the writer's answer about a service."""
    hosted = _hosted(service)
    settings, output = start_session(context)
    library = resolve_library(settings)
    check_state_dir(library)
    prepare_state_dir(library)
    consents = ConsentStore(get_consent_folder())
    consents.store_answer(library, hosted.name, allowed=allowed)
    return settings, output, consents, library


def _hosted(service: str) -> HostedService:
    return find_hosted_service(service)
