"""What a look at one part of lrwr found."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.errors import LrwrError


class HealthState(StrEnum):
    """How a part is. Only `BROKEN` makes lrwr unhealthy."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"
    OFF = "off"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One part: how it is, what was seen, and what to do about it.

    `detail` and `remedy` are sentences; `remedy` is empty when nothing need be done.
    """

    part: str
    state: HealthState
    detail: str
    remedy: str = ""


def finding_from_error(part: str, error: LrwrError) -> HealthFinding:
    """Return what a failure says about `part`."""
    return HealthFinding(
        part, HealthState.BROKEN, end_with_full_stop(str(error)), error.hint
    )


def end_with_full_stop(text: str) -> str:
    """Return `text` with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def is_healthy(findings: Iterable[HealthFinding]) -> bool:
    """Say whether nothing is broken."""
    return all(finding.state is not HealthState.BROKEN for finding in findings)


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun, such as "1 passage" and "2 passages"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_size(number: int) -> str:
    """Return a number of bytes as people say it, such as "1.4 MB"."""
    size = float(number)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
