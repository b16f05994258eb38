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
            one.name,
            StyledText(str(one.leave), _TONES[one.leave]),
            StyledText(one.where, "place"),
            one.key,
            one.host if one.leave is not ConsentState.OFF else "",
        ]
        for one in services
    ]
    output.table(["Service", "Now", "Set in", "Key", "Sent to"], rows)
    for one in services:
        hosted = HOSTED_SERVICES.get(one.name)
        if hosted is not None and one.leave is not ConsentState.OFF:
            output.answer(_in_words(hosted, one))


def show_sent_report(
    report: EgressReport, output: Output, *, since: float | None
) -> None:
    """Show what left: totals, then the newest requests."""
    if not report.totals:
        after = f" since {format_local_time(since)}" if since is not None else ""
        output.answer(f"{NOTHING_SENT[:-1]}{after}.")
    else:
        headings = ["To", "For", "Requests", "Sent", "Came back", "Price"]
        rows = [_total(one) for one in report.totals]
        output.table(headings, rows, right={"Requests", "Sent", "Came back", "Price"})
        output.answer()
        headings = ["When", "To", "For", "Model", "Sent", "Came back", "Price", "Came"]
        newest = [_entry(one) for one in report.newest]
        output.table(headings, newest, right={"Sent", "Came back", "Price"})
    if report.began is not None:
        told = f"The list begins on {format_local_time(report.began)}."
        output.answer(StyledText(f"{told} What left before is not in it.", "faint"))


def services_as_json(services: Sequence[ServiceStatus]) -> list[dict[str, object]]:
    """Return what may leave now, for scripts."""
    return [
        {
            "service": one.name,
            "state": one.leave,
            "may_leave": one.leave.may,
            "set_in": one.where,
            "key": one.key,
            "host": one.host,
        }
        for one in services
    ]


def sent_report_as_json(report: EgressReport) -> dict[str, object]:
    """Return what left, for scripts; times are in seconds since 1970."""
    return {
        "began": report.began,
        "totals": list(report.totals),
        "newest": list(report.newest),
    }


def _in_words(hosted: HostedService, one: ServiceStatus) -> str:
    if one.leave.may:
        return f"{hosted.title} is sent {one.what}."
    change = f"To allow it: lrwr privacy allow {hosted.name}"
    return f"{hosted.title} is sent nothing from here. {change}"


def _total(one: EgressTotal) -> list[LinePiece]:
    price = format_dollars(one.price)
    if one.unpriced:
        unknown = f"{format_count(one.unpriced, 'price')} unknown"
        price = f"{price}, {unknown}" if one.price else unknown
    return [
        one.host,
        str(one.purpose),
        f"{one.requests:,}",
        _size(one.sent_bytes),
        _size(one.received_bytes),
        price,
    ]


def _entry(one: OutboundRequest) -> list[LinePiece]:
    left = one.outcome is not RequestOutcome.UNREACHED
    return [
        StyledText(format_local_time(one.when), "faint"),
        one.host,
        str(one.purpose),
        one.model,
        _size(one.sent_bytes) if left else "",
        _size(one.received_bytes),
        format_dollars(one.price) if one.price is not None else "",
        StyledText(str(one.outcome), "faint" if one.succeeded else "bad"),
    ]


def _size(number: int | None) -> str:
    """Return bytes as people say them; nothing where nobody knows."""
    return "" if number is None else format_size(number)
