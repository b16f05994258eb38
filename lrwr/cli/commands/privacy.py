"""`lrwr privacy`: consent for services, and the log of requests that were sent."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

from lrwr.app.container import open_workspace
from lrwr.app.egress import describe_data_leaving
from lrwr.app.maintenance.automatic_backup import drop_send_log_from_backups
from lrwr.app.maintenance.check_result import format_size
from lrwr.app.presenters.text import (
    LinePiece,
    StyledText,
    Tone,
    format_count,
    format_dollars,
)
from lrwr.app.presenters.threads import format_local_time
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, declare_limit
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.model.egress import (
    EgressReport,
    EgressTotal,
    OutboundRequest,
    RequestOutcome,
    RequestPurpose,
)
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem
from lrwr.core.settings.consent import (
    CONSENT_SERVICES,
    HOSTED_SERVICES,
    OWN_SERVERS,
    ConsentState,
    ConsentStore,
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
from lrwr.core.settings.service_access import (
    HostedService,
    is_loopback_host,
    locate_key,
    parse_host,
)

_NOTHING_SENT = "Nothing was sent from this machine"

_PURPOSES: Mapping[RequestPurpose, str] = {
    RequestPurpose.READING: "analysing",
    RequestPurpose.RERANKING: "reranking",
    RequestPurpose.RECORDS: "library",
}
_OUTCOMES: Mapping[RequestOutcome, str] = {
    RequestOutcome.UNSEEN: "no reply",
    RequestOutcome.CUT: "incomplete reply",
}
"""Labels of values that the send log stores under another name."""

_TONES: dict[ConsentState, Tone] = {
    ConsentState.OFF: "faint",
    ConsentState.GIVEN: "good",
    ConsentState.ALLOWED: "good",
    ConsentState.DENIED: "bad",
    ConsentState.UNASKED: "strong",
}

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
        help="openai, openai-embeddings, huggingface, cohere, qdrant, modal, supabase,"
        " tavily, langsmith, model-server or embedding-server.",
    ),
]


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """A service that may receive data, and whether the user consents (`leave`).

    `host` receives the data `what`. `where` names the file or other source of the
    setting that turns the service on. `key` says where the API key is stored, never the
    key itself.
    """

    name: str
    leave: ConsentState
    host: str
    where: str
    key: str
    what: str = ""


app = typer.Typer(name="privacy", invoke_without_command=True, epilog=EPILOG)


@app.callback()
def privacy_command(
    context: typer.Context,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="7d|DATE",
            help="Show only what was sent in this period or since this date.",
        ),
    ] = None,
    limit: Annotated[
        int,
        declare_limit("requests", most=1000, least=0),
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show which services may receive data, and what was sent.

    Every request is logged before it is sent: time, service, size and price, but not its
    content.
    """
    if context.invoked_subcommand is not None:
        return

    settings, output = start_session(context)
    began = _parse_since(since, time.time()) if since is not None else None
    library = resolve_library(settings)
    services = _services(settings, library, os.environ)
    report = run_async(_report(settings, library, output, began or 0.0, limit))
    if as_json:
        output.json(
            {
                "services": services_as_json(services),
                **sent_report_as_json(report),
            }
        )
        return
    with output.paged():
        _show_services(services, output)
        if _uses_local_model(settings):
            output.answer(
                "The language model runs on this machine; requests to it are not listed."
            )
        output.answer()
        _show_sent_report(report, output, since=began)


@app.command("allow", epilog=ALLOW_EPILOG)
def privacy_allow_command(context: typer.Context, service: ServiceNameArgument) -> None:
    """Allow a service that this folder's lrwr.toml turns on.

    The consent applies to this folder only, and to the address that its lrwr.toml names.
    """
    settings, output, consents, library = _store_consent(context, service, allowed=True)
    hosted = _hosted(service)
    output.answer(
        f"{hosted.capitalized_title} may now receive data from {library.root}. Other folders need"
        " their own consent."
    )
    if hosted.is_on(settings) and not hosted.key:
        output.info(f"It is at {hosted.describe_server(settings)}.")
    elif hosted.is_on(settings):
        output.answer(describe_data_leaving(hosted, settings))
        consents.store_notice(library, hosted.name)
    elif settings.value(hosted.setting) == hosted.value:
        output.info("It runs on this machine and needs no consent.")
    else:
        output.info(
            f'It is not in use: to use it, set `{hosted.setting}` to "{hosted.value}".'
        )


@app.command("deny", epilog=DENY_EPILOG)
def privacy_deny_command(context: typer.Context, service: ServiceNameArgument) -> None:
    """Deny a service in this folder, even if other settings turn it on."""
    _, output, _, library = _store_consent(context, service, allowed=False)
    output.answer(
        f"{_hosted(service).capitalized_title} receives nothing from {library.root}."
    )


@app.command("clear", epilog=CLEAR_EPILOG)
def privacy_clear_command(
    context: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Confirm the deletion.")
    ] = False,
) -> None:
    """Delete the send log of this library, also from the automatic backups.

    The time of deletion is recorded.
    """
    settings, output = start_session(context)
    if not force:
        raise SettingsProblem(
            "This would delete the send log permanently",
            hint="To delete it, run `lrwr privacy clear --force`.",
        )

    async def run() -> int:
        async with open_workspace(settings, say=output.info) as workspace:
            workspace.require_library()
            count = await workspace.egress.log.clear(time.time())
            drop_send_log_from_backups(workspace.library)
            return count

    output.answer(f"Deleted {format_count(run_async(run()), 'request')} from the log.")


def _uses_local_model(settings: Settings) -> bool:
    """Return whether the language model is on and its server runs on this machine."""
    base_url = settings.model.base_url
    is_here = not base_url or is_loopback_host(parse_host(base_url))
    return settings.model.use == "local" and is_here


def _show_services(services: Sequence[ServiceStatus], output: Output) -> None:
    rows: list[list[LinePiece]] = [
        [
            service.name,
            StyledText(str(service.leave), _TONES[service.leave]),
            StyledText(service.where, "place"),
            service.key,
            service.host if service.leave is not ConsentState.OFF else "",
        ]
        for service in services
    ]
    output.table(["Service", "State", "Set in", "Key", "Sent to"], rows)
    for status in services:
        hosted = CONSENT_SERVICES.get(status.name)
        if hosted is not None and status.leave is not ConsentState.OFF:
            output.answer(_describe_service(hosted, status))


def _show_sent_report(
    report: EgressReport, output: Output, *, since: float | None
) -> None:
    if not report.totals:
        after = f" since {format_local_time(since)}" if since is not None else ""
        output.answer(f"{_NOTHING_SENT}{after}.")
    else:
        headings = ["To", "For", "Requests", "Sent", "Received", "Price"]
        rows = [_total(total) for total in report.totals]
        output.table(headings, rows, right={"Requests", "Sent", "Received", "Price"})
        output.answer()
        headings = [
            "When",
            "To",
            "For",
            "Model",
            "Sent",
            "Received",
            "Price",
            "Outcome",
        ]
        newest = [_entry(entry) for entry in report.newest]
        output.table(headings, newest, right={"Sent", "Received", "Price"})
    if report.began is not None:
        period = f"Log started {format_local_time(report.began)}."
        output.answer(StyledText(period, "faint"))


def services_as_json(services: Sequence[ServiceStatus]) -> list[dict[str, object]]:
    """Return a JSON object for each of `services`, in their order.

    `state` is the consent; `may_leave` says whether data may be sent. `set_in` names
    the source of the setting, `key` the location of the API key, never the key itself.
    """
    return [
        {
            "service": service.name,
            "state": service.leave,
            "may_leave": service.leave.allows_sending,
            "set_in": service.where,
            "key": service.key,
            "host": service.host,
        }
        for service in services
    ]


def sent_report_as_json(report: EgressReport) -> dict[str, object]:
    """Return the send log (requests that left the machine) as JSON.

    `totals` are by host and purpose; `newest` are requests, newest first. `began` is
    when the log was started or cleared, None without a log. Times are in seconds since
    1970, sizes in bytes, prices in US dollars.
    """
    return {
        "began": report.began,
        "totals": list(report.totals),
        "newest": list(report.newest),
    }


def _describe_service(hosted: HostedService, service_status: ServiceStatus) -> str:
    title = hosted.capitalized_title
    if service_status.leave.allows_sending:
        return f"{title} receives {service_status.what}."
    change = f"To allow it: `lrwr privacy allow {hosted.name}`."
    return f"{title} receives nothing from this folder. {change}"


def _total(egress_total: EgressTotal) -> list[LinePiece]:
    price = format_dollars(egress_total.price)
    if egress_total.unpriced:
        unknown = f"{format_count(egress_total.unpriced, 'price')} unknown"
        price = f"{price}, {unknown}" if egress_total.price else unknown
    return [
        egress_total.host,
        _PURPOSES.get(egress_total.purpose, egress_total.purpose),
        f"{egress_total.requests:,}",
        _size(egress_total.sent_bytes),
        _size(egress_total.received_bytes),
        price,
    ]


def _entry(outbound_request: OutboundRequest) -> list[LinePiece]:
    was_sent = outbound_request.outcome is not RequestOutcome.UNREACHED
    return [
        StyledText(format_local_time(outbound_request.when), "faint"),
        outbound_request.host,
        _PURPOSES.get(outbound_request.purpose, outbound_request.purpose),
        outbound_request.model,
        _size(outbound_request.sent_bytes) if was_sent else "",
        _size(outbound_request.received_bytes),
        format_dollars(outbound_request.price)
        if outbound_request.price is not None
        else "",
        StyledText(
            _OUTCOMES.get(outbound_request.outcome, outbound_request.outcome),
            "faint" if outbound_request.succeeded else "bad",
        ),
    ]


def _size(number: int | None) -> str:
    return "" if number is None else format_size(number)


async def _report(
    settings: Settings,
    library: Library,
    output: Output,
    since: float,
    limit: int,
) -> EgressReport:
    if not library.database.exists():
        return EgressReport()
    async with open_workspace(settings, say=output.info) as workspace:
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
    return [*statuses, *_own_servers(settings, library, consents)]


def _own_servers(
    settings: Settings, library: Library, consents: ConsentStore
) -> list[ServiceStatus]:
    # A server on this machine that the user's own settings name is not listed.
    statuses = [
        ServiceStatus(
            name=own.name,
            leave=resolve_consent(settings, library, own.name, consents),
            host=own.find_host(settings),
            where=_where(settings, own.address)
            if settings.value(own.address)
            else _where(settings, own.setting),
            key="none needed",
            what=own.describe_sent(settings),
        )
        for own in OWN_SERVERS.values()
    ]
    return [status for status in statuses if status.leave is not ConsentState.OFF]


def _key(variable: str, env: Mapping[str, str]) -> str:
    if not variable:
        return "none needed"
    try:
        return str(locate_key(variable, env))
    except ServiceUnavailable:
        return "unknown: the keyring is locked"


def _where(settings: Settings, key: str) -> str:
    origin = settings.origin(key)
    origin_text = origin.where or str(origin.source)
    return origin_text.removeprefix(f"{settings.root}{os.sep}")


def _parse_since(text: str, now: float) -> float:
    """Return the start of a period like "7d" before `now`, or of an ISO date.

    Times are in seconds since 1970.

    Raises:
        SettingsProblem: `text` is neither a period nor a date.
    """
    period_match = re.fullmatch(r"(\d{1,4})\s*([hdw])", text.strip().lower())
    if period_match:
        return now - int(period_match[1]) * _SECONDS[period_match[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise SettingsProblem(
            f"{text!r} is not a valid value for `--since`",
            hint="Use a period or a date, such as 7d, 24h or 2026-11-01.",
        ) from None


def _store_consent(
    context: typer.Context, service: str, *, allowed: bool
) -> tuple[Settings, Output, ConsentStore, Library]:
    hosted = _hosted(service)
    settings, output = start_session(context)
    library = resolve_library(settings)
    check_state_dir(library)
    prepare_state_dir(library)
    consents = ConsentStore(get_consent_folder())
    address = hosted.find_folder_address(settings)
    consents.store_answer(library, hosted.name, allowed=allowed, address=address)
    return settings, output, consents, library


def _hosted(service: str) -> HostedService:
    return find_hosted_service(service)
