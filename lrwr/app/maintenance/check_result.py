"""Results of the checks of `lrwr doctor`, and formatting of numbers in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.errors import LrwrError


class HealthState(StrEnum):
    """The state of what a check tested. Only `BROKEN` makes `lrwr doctor` fail.

    `WARNING` works with limits; `OFF` is not configured or not allowed; `NOT_CHECKED`
    could not be tested.
    """

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"
    OFF = "off"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """The result of one check of `lrwr doctor`.

    `part` names what was checked ("database"). `detail` says what was found, `remedy`
    what the user can do; both are sentences. `remedy` is empty if there is nothing to
    do. `technical` is a message of SQLite, which only `--json` prints.
    """

    part: str
    state: HealthState
    detail: str
    remedy: str = ""
    technical: str = ""


def finding_from_error(part: str, error: LrwrError) -> HealthFinding:
    """Return the result that `part` is `BROKEN`.

    The message of `error` becomes the detail, its hint the remedy.
    """
    return HealthFinding(
        part, HealthState.BROKEN, end_with_full_stop(str(error)), error.hint
    )


def end_with_full_stop(text: str) -> str:
    """Return `text`, with "." added unless it ends with ".", "!" or "?"."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def is_healthy(findings: Iterable[HealthFinding]) -> bool:
    """Return whether none of `findings` is `BROKEN`; True without findings."""
    return all(finding.state is not HealthState.BROKEN for finding in findings)


def format_size(number: int) -> str:
    """Return a number of bytes as "812 bytes" or with one decimal, such as "1.4 MB".

    1 KB is 1,000 bytes.
    """
    size = float(number)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
