"""What may leave this machine and what left it: in words, and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.app.maintenance.check_result import format_size
from lrwr.app.presenters.text import (
    LinePiece,
    StyledText,
    Tone,
    format_count,
    format_dollars,
)
from lrwr.app.presenters.threads import format_local_time
from lrwr.cli.runtime.output import Output
from lrwr.core.model.egress import (
    EgressReport,
    EgressTotal,
    OutboundRequest,
    RequestOutcome,
)
from lrwr.core.settings.consent import HOSTED_SERVICES, ConsentState, HostedService

NOTHING_SENT = "Nothing has left this machine."

_TONES: dict[ConsentState, Tone] = {
    ConsentState.OFF: "faint",
    ConsentState.GIVEN: "good",
    ConsentState.ALLOWED: "good",
    ConsentState.DENIED: "bad",
    ConsentState.UNASKED: "strong",
}


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What a service may get now: whether it may, who says so, whether there is a key.

    `key` says where it is, never what it is; `what` is what the service is sent.
    """

    name: str
    leave: ConsentState
    host: str
    where: str
    key: str
    what: str = ""


def show_services(services: Sequence[ServiceStatus], output: Output) -> None:
    """Show what may leave now."""
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
    output.table(["Service", "Now", "Set in", "Key", "Sent to"], rows)
    for status in services:
        hosted = HOSTED_SERVICES.get(status.name)
        if hosted is not None and status.leave is not ConsentState.OFF:
            output.answer(_in_words(hosted, status))


def show_sent_report(
    report: EgressReport, output: Output, *, since: float | None
) -> None:
    """Show what left: totals, then the newest requests."""
    if not report.totals:
        after = f" since {format_local_time(since)}" if since is not None else ""
        output.answer(f"{NOTHING_SENT[:-1]}{after}.")
    else:
        headings = ["To", "For", "Requests", "Sent", "Came back", "Price"]
        rows = [_total(total) for total in report.totals]
        output.table(headings, rows, right={"Requests", "Sent", "Came back", "Price"})
        output.answer()
        headings = ["When", "To", "For", "Model", "Sent", "Came back", "Price", "Came"]
        newest = [_entry(entry) for entry in report.newest]
        output.table(headings, newest, right={"Sent", "Came back", "Price"})
    if report.began is not None:
        period = f"The list begins on {format_local_time(report.began)}."
        output.answer(StyledText(f"{period} What left before is not in it.", "faint"))


def services_as_json(services: Sequence[ServiceStatus]) -> list[dict[str, object]]:
    """Return what may leave now, for scripts."""
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
    """Return what left, for scripts; times are in seconds since 1970."""
    return {
        "began": report.began,
        "totals": list(report.totals),
        "newest": list(report.newest),
    }


def _in_words(hosted: HostedService, service_status: ServiceStatus) -> str:
    if service_status.leave.allows_sending:
        return f"{hosted.title} is sent {service_status.what}."
    change = f"To allow it, run `lrwr privacy allow {hosted.name}`."
    return f"{hosted.title} is sent nothing from here. {change}"


def _total(egress_total: EgressTotal) -> list[LinePiece]:
    price = format_dollars(egress_total.price)
    if egress_total.unpriced:
        unknown = f"{format_count(egress_total.unpriced, 'price')} unknown"
        price = f"{price}, {unknown}" if egress_total.price else unknown
    return [
        egress_total.host,
        str(egress_total.purpose),
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
        str(outbound_request.purpose),
        outbound_request.model,
        _size(outbound_request.sent_bytes) if was_sent else "",
        _size(outbound_request.received_bytes),
        format_dollars(outbound_request.price)
        if outbound_request.price is not None
        else "",
        StyledText(
            str(outbound_request.outcome),
            "faint" if outbound_request.succeeded else "bad",
        ),
    ]


def _size(number: int | None) -> str:
    """Return bytes as people say them; nothing where nobody knows."""
    return "" if number is None else format_size(number)
