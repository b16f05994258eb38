"""What a look at one part of lrwr found."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.errors import LrwrError


class State(StrEnum):
    """How a part is. Only `BROKEN` makes lrwr unhealthy."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"
    OFF = "off"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it is, what was seen, and what to do about it.

    `detail` and `remedy` are sentences; `remedy` is empty when nothing need be done.
    """

    part: str
    state: State
    detail: str
    remedy: str = ""


def broken(part: str, error: LrwrError) -> Finding:
    """Return what a failure says about `part`."""
    return Finding(part, State.BROKEN, sentence(str(error)), error.hint)


def sentence(text: str) -> str:
    """Return `text` with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def healthy(findings: Iterable[Finding]) -> bool:
    """Say whether nothing is broken."""
    return all(finding.state is not State.BROKEN for finding in findings)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun, such as "1 passage" and "2 passages"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size_of(number: int) -> str:
    """Return a number of bytes as people say it, such as "1.4 MB"."""
    size = float(number)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
