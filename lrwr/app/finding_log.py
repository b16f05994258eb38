"""When `lrwr check` first reported each contradiction, in `.lrwr/findings.json`."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import format_age, format_count
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.library import Library, write_private_file

if TYPE_CHECKING:
    from lrwr.core.continuity.statements import Contradiction

LOG_FILE_NAME = "findings.json"
"""The log's name in the state folder."""

KEEP_SECONDS = 86_400
"""How long the time of a contradiction that is gone is kept: it may come back when a
damaged file is read again, or an edit is undone."""

_AGE = re.compile(r"(?:(\d{1,3})|an?|last) ?(day|week)s?(?: ago)?")


@dataclass(frozen=True, slots=True)
class LoggedFinding:
    """When a contradiction was first reported, in seconds since 1970.

    `intended` is whether the user had marked it so at the last check, `by_model`
    whether a language model found it.
    """

    first: float
    intended: bool = False
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class GoneFinding:
    """When a contradiction was first reported, and when a check first did not report it,
    both in seconds since 1970.
    """

    first: float
    gone: float


@dataclass(frozen=True, slots=True)
class FindingLog:
    """The contradictions of the last check of the whole story, by their id.

    `checked` is when that was, in seconds since 1970; 0 if never. `gone` has those that
    an earlier check reported, for `KEEP_SECONDS`.
    """

    checked: float = 0.0
    findings: dict[str, LoggedFinding] = field(default_factory=dict)
    gone: dict[str, GoneFinding] = field(default_factory=dict)

    def first_report(self, id_: str, now: float) -> float:
        """Return when a contradiction was first reported; `now` if that is not known."""
        if id_ in self.findings:
            return self.findings[id_].first
        gone = self.gone.get(id_)
        return gone.first if gone and now - gone.gone < KEEP_SECONDS else now

    def list_gone(self, ids: Collection[str], now: float) -> dict[str, GoneFinding]:
        """Return the contradictions that are gone, by id; those of `ids` are reported."""
        newly = {id_: GoneFinding(f.first, now) for id_, f in self.findings.items()}
        gone = {**newly, **self.gone}
        return {
            id_: finding
            for id_, finding in gone.items()
            if id_ not in ids and now - finding.gone < KEEP_SECONDS
        }

    @property
    def open_ids(self) -> list[str]:
        """The ids of the contradictions that are not intended."""
        return [id_ for id_, logged in self.findings.items() if not logged.intended]

    def list_since(self, since: float) -> list[str]:
        """Return the ids of the open contradictions first reported at `since` or later."""
        return [id_ for id_ in self.open_ids if self.findings[id_].first >= since]

    def describe(self, now: datetime) -> str:
        """Return a sentence with the numbers of open contradictions, and of new ones."""
        age = format_age(now.timestamp() - self.checked)
        new = len(self.list_since(parse_since("yesterday", now)))
        since = f", {new:,} of them new since yesterday" if new else ""
        number = format_count(len(self.open_ids), "open contradiction")
        return f"Last check {age}: {number}{since}."


def load_finding_log(library: Library) -> FindingLog:
    """Return the log of a library; an empty one if there is none, or it is damaged."""
    with suppress(OSError, InvalidData):
        content = (library.state_dir / LOG_FILE_NAME).read_bytes()
        return decode_json(content, FindingLog)
    return FindingLog()


def log_findings(
    library: Library,
    contradictions: "Sequence[Contradiction]",
    now: float,
    *,
    is_whole: bool = True,
    with_model: bool = True,
) -> Mapping[str, float]:
    """Record which contradictions a check reported, and return when each was first.

    The times are in seconds since 1970, by id. A contradiction that a check of the
    whole story no longer reports is removed: if it comes back after `KEEP_SECONDS`, it
    is new. Without `with_model`, those of a language model were not looked for and stay.
    In a library that cannot be written, the times are returned but not recorded.
    """
    before = load_finding_log(library)
    reported = {
        finding.id: LoggedFinding(
            before.first_report(finding.id, now),
            finding.intended,
            bool(finding.judge),
        )
        for finding in contradictions
    }
    others = {
        id_: logged
        for id_, logged in before.findings.items()
        if not is_whole or (logged.by_model and not with_model)
    }
    findings = {**others, **reported}
    gone = before.list_gone(findings, now)
    log = FindingLog(now if is_whole else before.checked, findings, gone)
    with suppress(OSError):
        write_private_file(library.state_dir / LOG_FILE_NAME, encode_json(log))
    return MappingProxyType({id_: logged.first for id_, logged in reported.items()})


def parse_since(text: str, now: datetime) -> float:
    """Return the time that `text` names, in seconds since 1970.

    Understood are "today", "yesterday", "3 days ago", "2 weeks", and dates such as
    "2026-11-20". Each means the beginning of that day, in the zone of `now`.

    Raises:
        SettingsProblem: It is none of these.
    """
    words = " ".join(text.casefold().split()).removeprefix("since ")
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = {"today": 0, "yesterday": 1}.get(words)
    if (age := _AGE.fullmatch(words)) is not None:
        days = int(age[1] or 1) * (7 if age[2] == "week" else 1)
    if days is not None:
        return (midnight - timedelta(days=days)).timestamp()
    with suppress(ValueError):
        day = datetime.strptime(words, "%Y-%m-%d").replace(tzinfo=now.tzinfo)
        return day.timestamp()
    raise SettingsProblem(
        f"“{text}” is no day",
        hint="Write today, yesterday, 3 days ago, 2 weeks ago or a date such as"
        " 2026-11-20.",
    )


def is_day(text: str) -> bool:
    """Return whether `parse_since` understands `text`."""
    try:
        parse_since(text, datetime.now().astimezone())
    except SettingsProblem:
        return False
    return True


def describe_first_report(first: float, now: datetime) -> str:
    """Return "first reported today", "… yesterday" or "… on 2026-11-20"."""
    day = datetime.fromtimestamp(first, now.tzinfo).date()
    names = {now.date(): "today", now.date() - timedelta(days=1): "yesterday"}
    return f"first reported {names.get(day, f'on {day.isoformat()}')}"


def describe_new_findings(
    reported: Mapping[str, float], now: datetime | None = None
) -> dict[str, str]:
    """Return a note on each finding that was first reported since yesterday, by id.

    `reported` has the times of all findings. Without an older one, none is singled out.
    """
    now = now or datetime.now().astimezone()
    since = parse_since("yesterday", now)
    new = {id_: first for id_, first in reported.items() if first >= since}
    if len(new) == len(reported):
        return {}
    return {id_: describe_first_report(first, now) for id_, first in new.items()}
