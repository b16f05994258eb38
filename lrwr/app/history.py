"""What was before: when `lrwr check` first reported each contradiction, and the texts
that recent ingestions replaced. Both are files in `.lrwr/`.
"""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING
from uuid import uuid4

from lrwr.app.presenters.text import format_age, format_count
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.codec import InvalidData, decode_json, encode_json
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.ports.sources import ManuscriptFile, SourceListing
from lrwr.core.settings.library import Library, write_private_file

if TYPE_CHECKING:
    from lrwr.core.continuity.statements import Contradiction
    from lrwr.core.model.chunks import Knowledge, TextHash
    from lrwr.core.model.jobs import JobClaim
    from lrwr.core.ports.stores import DocumentVersion, KnowledgeStore, PassageStore

LOG_FILE_NAME = "findings.json"
"""The name of the log of contradictions in the state folder."""

TEXTS_FILE_NAME = "earlier-texts.jsonl"
"""The name of the file of earlier texts in the state folder."""

PREVIOUS = "previous ingest"
"""The name of the state before the last ingestion that changed a text."""

PACKED_REMARK = (
    "Only words, not facts, are compared in Word files: their earlier files are not"
    " stored."
)

KEEP_TEXTS_SECONDS = 14 * 86_400
"""How long the texts that an ingestion replaced are kept; those of the last one stay."""

MAX_TEXTS_BYTES = 20_000_000
"""Size of the file of earlier texts above which old ones are deleted early."""

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


@dataclass(frozen=True, slots=True)
class EarlierText:
    """The text of a document before an ingestion replaced or deleted it.

    `text` is None if the document was new. `ingestion` identifies the ingestion, `time`
    is when it stored the document, in seconds since 1970.
    """

    ingestion: str
    time: float
    document: DocumentId
    text: str | None


class EarlierTexts:
    """The texts that recent ingestions of a library replaced, oldest first."""

    def __init__(self, library: Library) -> None:
        self._path = library.state_dir / TEXTS_FILE_NAME

    def load(self) -> list[EarlierText]:
        """Return all entries; damaged lines, and a file that cannot be read, are skipped."""
        entries: list[EarlierText] = []
        with suppress(OSError):
            for line in self._path.read_bytes().splitlines():
                with suppress(InvalidData):
                    entries.append(decode_json(line, EarlierText))
        return entries

    def select(self, since: float | None = None) -> Mapping[DocumentId, str | None]:
        """Return the texts that ingestions replaced since `since`, in seconds since 1970,
        by document, as they were then; with None, those of the last ingestion.
        """
        entries = self.load()
        texts: dict[DocumentId, str | None] = {}
        for entry in entries:
            is_last = entry.ingestion == entries[-1].ingestion
            if is_last if since is None else entry.time >= since:
                texts.setdefault(entry.document, entry.text)
        return MappingProxyType(texts)

    def append(self, entry: EarlierText) -> None:
        """Add an entry; in a library that cannot be written, nothing happens."""
        with suppress(OSError):
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8", newline="\n") as file:
                file.write(encode_json(entry) + "\n")

    def prune(self, now: float) -> None:
        """Delete the entries that are too old, except those of the last ingestion."""
        entries = self.load()
        recent = [e for e in entries if now - e.time < KEEP_TEXTS_SECONDS]
        with suppress(OSError):
            is_large = self._path.stat().st_size > MAX_TEXTS_BYTES
            if is_large or len(recent) < len(entries):
                last = [e for e in entries if e.ingestion == entries[-1].ingestion]
                lines = [
                    encode_json(e) + "\n"
                    for e in (last if is_large else recent or last)
                ]
                write_private_file(self._path, "".join(lines))


class HistoryKnowledgeStore:
    """A `KnowledgeStore` that records the texts that it replaces and deletes.

    `store` stores, `passages` reads the texts before, `texts` records them. `clock`
    returns seconds since 1970. One object is used for one ingestion. Of the first one,
    which has nothing before it, nothing is recorded.
    """

    def __init__(
        self,
        store: "KnowledgeStore",
        passages: "PassageStore",
        texts: EarlierTexts,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._passages = store, passages
        self._texts, self._clock = texts, clock
        self._ingestion = ""
        self._has_documents = False

    async def document_versions(self, pipeline: Pipeline) -> "list[DocumentVersion]":
        """Return the versions that `pipeline` has ingested, ordered by document id."""
        versions = await self._store.document_versions(pipeline)
        self._has_documents = self._has_documents or bool(versions)
        return versions

    async def known_vectors(
        self, space: str, texts: "Collection[TextHash]", *, with_states: bool = False
    ) -> "set[TextHash]":
        """Return those of the hashes `texts` that have a vector in `space`."""
        return await self._store.known_vectors(space, texts, with_states=with_states)

    async def replace(
        self,
        knowledge: "Knowledge",
        document_version: "DocumentVersion",
        claim: "JobClaim",
    ) -> bool:
        """Replace what is stored of a document, and record its text if that changes."""
        document = knowledge.document.id
        before = await self._passages.texts([document])
        is_stored = await self._store.replace(knowledge, document_version, claim)
        text = before[document].text if document in before else None
        if is_stored and text != knowledge.document.text:
            self._record(document, text)
        return is_stored

    async def forget(self, document: DocumentId, claim: "JobClaim") -> bool:
        """Delete what is stored of a document, and record its text."""
        before = await self._passages.texts([document])
        is_deleted = await self._store.forget(document, claim)
        if is_deleted and document in before:
            self._record(document, before[document].text)
        return is_deleted

    async def touch(
        self,
        pipeline: Pipeline,
        document_versions: "Sequence[DocumentVersion]",
        claim: "JobClaim | None" = None,
    ) -> int:
        """Update the stored file revisions of documents whose content is unchanged."""
        return await self._store.touch(pipeline, document_versions, claim)

    def _record(self, document: DocumentId, text: str | None) -> None:
        now = self._clock()
        if not self._has_documents:
            return
        if not self._ingestion:
            self._ingestion = uuid4().hex[:12]
            self._texts.prune(now)
        self._texts.append(EarlierText(self._ingestion, now, document, text))


class EarlierSource:
    """The manuscript as it was before some ingestions; keeps `ManuscriptSource`.

    `versions` are those in the library, `texts` what `EarlierTexts` selects. Only
    documents in plain text are as they were; others are unchanged.
    """

    def __init__(
        self,
        versions: "Sequence[DocumentVersion]",
        texts: Mapping[DocumentId, str | None],
    ) -> None:
        self._revisions = {version.id: version.revision for version in versions}
        self._texts = {d: text for d, text in texts.items() if is_plain_text(d)}

    async def list(self) -> SourceListing:
        """Return the files that the manuscript had."""
        documents = sorted({*self._revisions, *self._texts})
        files = (
            ManuscriptFile(document, self._find_revision(document))
            for document in documents
            if self._texts.get(document, "") is not None
        )
        return SourceListing(tuple(files), ())

    def covers(self, document: DocumentId) -> bool:
        """Return whether `document`, if it is not listed, did not exist."""
        return document in self._texts

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the bytes that a file had, and their revision.

        Raises:
            NotFound: The text is not recorded.
        """
        text = self._texts.get(document)
        if text is None:
            raise NotFound(f"No earlier text of {document} is recorded")
        return text.encode(), self._find_revision(document)

    def _find_revision(self, document: DocumentId) -> str:
        text = self._texts.get(document)
        if text is None:
            return self._revisions.get(document, "")
        return f"earlier {sha256(text.encode()).hexdigest()}"


def is_plain_text(document: DocumentId) -> bool:
    """Return whether the text of a document is the content of its file."""
    return PurePosixPath(document).suffix.lower() in {".md", ".markdown", ".txt"}
