"""Changes between the manuscript's files and the library, and the ingestion plan.

Many missing files at once are taken for an accident: their documents are not deleted.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePosixPath

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.jobs import JobState
from lrwr.core.model.text import find_merge_conflict
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.sources import ManuscriptFile, ManuscriptSource, SourceListing
from lrwr.core.ports.stores import DocumentVersion

LEAST_MISSING = 3
"""Fewer missing documents are deleted, unless they are all of a manuscript folder."""
SHOWN = 3
"""Number of missing documents that a message names."""

MOST_JOBS = 100_000
"""Maximum number of jobs that are read to find unfinished and failed ones."""

DecisionOf = Callable[[DocumentId], str]
"""Returns what the user decided on how a document is read; empty if nothing."""


def add_decision(
    recipe: str, document: DocumentId, decision_of: DecisionOf | None
) -> str:
    """Return the name of the recipe for `document`: `recipe`, and the user's decision
    on how it is read, if there is one.
    """
    decision = decision_of(document) if recipe and decision_of else ""
    return f"{recipe}/{decision}" if decision else recipe


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """Documents by the action they need; each tuple is sorted by id.

    `changed` documents are new or have a new file revision: their content must be
    compared. `stale` documents are unchanged but were ingested with another recipe
    (parser, splitter or embedding model). `gone` documents were ingested and their
    files are missing. `never_here` documents were ingested on another machine and never
    had a file on this one. `missing` documents have no file either, but are too many to
    delete them without confirmation. `conflicted` documents have git conflict markers,
    so they cannot be ingested; only `compare_contents` finds them.
    """

    changed: tuple[DocumentId, ...]
    stale: tuple[DocumentId, ...]
    gone: tuple[DocumentId, ...]
    unchanged: tuple[DocumentId, ...]
    never_here: tuple[DocumentId, ...] = ()
    missing: tuple[DocumentId, ...] = ()
    conflicted: tuple[DocumentId, ...] = ()

    @property
    def need_action(self) -> bool:
        """Whether an ingestion has something to do, or to warn of."""
        return bool(self.changed or self.stale or self.gone or self.missing)

    @property
    def is_emptied(self) -> bool:
        """Whether documents were ingested, and none of the manuscript has a file."""
        present = self.changed or self.stale or self.unchanged or self.conflicted
        return bool(self.gone or self.missing) and not present


def detect_changes(
    document_versions: Sequence[DocumentVersion],
    manuscript_files: Sequence[ManuscriptFile],
    *,
    recipes: Collection[str],
    covers: Callable[[DocumentId], bool],
    verify: bool = False,
    missing_too: bool = False,
    decision_of: DecisionOf | None = None,
) -> DocumentChanges:
    """Compare the ingested document versions with the manuscript's files; reads no
    file. `missing` of the result is empty.

    Args:
        recipes: Names of the current recipes; a document of another one is stale.
        covers: Returns whether the source decides if a document exists.
        verify: Ignore file revisions: treat every existing file as changed.
        missing_too: Treat documents that never had a file on this machine as gone.
        decision_of: Returns the decision that is part of a document's recipe.
    """
    before = {
        document_version.id: document_version for document_version in document_versions
    }
    changed, stale, unchanged = [], [], []
    for file in manuscript_files:
        version = before.pop(file.id, None)
        if version is None or version.revision != file.revision or verify:
            changed.append(file.id)
        elif version.recipe not in _add_decisions(recipes, file.id, decision_of):
            stale.append(file.id)
        else:
            unchanged.append(file.id)
    missed = {version for version in before.values() if covers(version.id)}
    gone = {version for version in missed if version.revision or missing_too}
    return DocumentChanges(
        tuple(sorted(changed)),
        tuple(sorted(stale)),
        tuple(sorted(version.id for version in gone)),
        tuple(sorted(unchanged)),
        tuple(sorted(version.id for version in missed - gone)),
    )


def _add_decisions(
    recipes: Collection[str], document: DocumentId, decision_of: DecisionOf | None
) -> set[str]:
    return {add_decision(name, document, decision_of) for name in recipes}


def match_renames(
    gone: Sequence[DocumentId],
    document_versions: Sequence[DocumentVersion],
    arrived: Mapping[DocumentId, str],
) -> dict[DocumentId, DocumentId]:
    """Return the renamed documents: each new id, with the id of a deleted document that
    had the same content.

    `gone` are the ids of deleted documents, `document_versions` the stored versions,
    theirs included. `arrived` maps the id of each new document to the SHA-256 of its
    content, in hex. An old id is used once; of several with equal content the first by
    id.
    """
    unmatched = set(gone)
    deleted_by_content: dict[str, list[DocumentId]] = {}
    for document_version in sorted(document_versions, key=lambda version: version.id):
        if document_version.id in unmatched:
            deleted_by_content.setdefault(document_version.content, []).append(
                document_version.id
            )
    matched = {}
    for document, content in sorted(arrived.items()):
        if deleted_by_content.get(content):
            matched[document] = deleted_by_content[content].pop(0)
    return matched


@dataclass(frozen=True, slots=True)
class ManuscriptScan:
    """The manuscript's files (`listing`), the ingested versions (`seen`), and what
    differs between them (`changes`).
    """

    listing: SourceListing
    seen: Sequence[DocumentVersion]
    changes: DocumentChanges


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """The documents to process, sorted by id, and those that only need a new file
    revision.

    `renamed` maps new ids to old ones. `touched` files were written again with the same
    content. `moved` are the versions with a new revision to store for
    them.
    """

    documents: tuple[DocumentId, ...]
    renamed: Mapping[DocumentId, DocumentId]
    touched: tuple[DocumentId, ...]
    moved: tuple[DocumentVersion, ...]


async def plan_ingestion(
    scan: ManuscriptScan,
    recipes: Collection[str],
    source: ManuscriptSource,
    decision_of: DecisionOf | None = None,
) -> IngestPlan:
    """Return the plan of an ingestion; `recipes` are the names of the current ones.

    Reads changed files from `source` to compare their content hashes. A file that
    cannot be read is among the documents to process: its job reports the error.
    """
    changes, before = scan.changes, {version.id: version for version in scan.seen}
    documents, touched, arrived = list(changes.stale), list[DocumentVersion](), {}
    for document in changes.changed:
        version = before.get(document)
        if version is None and not changes.gone:
            documents.append(document)
            continue
        try:
            content, revision = await source.read(document)
        except LrwrError:
            documents.append(document)  # its job will report the error
            continue
        digest = sha256(content).hexdigest()
        current = _add_decisions(recipes, document, decision_of)
        if version and version.content == digest and version.recipe in current:
            touched.append(replace(version, revision=revision))
            continue
        documents.append(document)
        if version is None:
            arrived[document] = digest
    return IngestPlan(
        documents=tuple(sorted(documents)),
        renamed=match_renames(changes.gone, scan.seen, arrived),
        touched=tuple(version.id for version in touched),
        moved=tuple(version for version in touched if version != before[version.id]),
    )


async def compare_contents(
    scan: ManuscriptScan,
    recipes: Collection[str],
    source: ManuscriptSource,
    decision_of: DecisionOf | None = None,
) -> DocumentChanges:
    """Return the changes of `scan`, after reading the changed files from `source`.

    A file with the stored content is unchanged, whatever its revision: a copied library
    or another git branch gives files new revisions. It is stale if it was ingested with
    a recipe that is not one of `recipes`. Files with git conflict markers are `conflicted`.
    """
    before = {version.id: version for version in scan.seen}
    changed, stale = list[DocumentId](), list[DocumentId]()
    unchanged, conflicted = list[DocumentId](), list[DocumentId]()
    for document in scan.changes.changed:
        version, group = before.get(document), changed
        with suppress(LrwrError):  # the ingestion will report the error
            content, _ = await source.read(document)
            if version and version.content == sha256(content).hexdigest():
                current = _add_decisions(recipes, document, decision_of)
                group = unchanged if version.recipe in current else stale
            elif _has_merge_conflict(content):
                group = conflicted
        group.append(document)
    return replace(
        scan.changes,
        changed=tuple(changed),
        stale=tuple(sorted((*scan.changes.stale, *stale))),
        unchanged=tuple(sorted((*scan.changes.unchanged, *unchanged))),
        conflicted=tuple(conflicted),
    )


def _has_merge_conflict(content: bytes) -> bool:
    if b"<<<<<<<" not in content:
        return False
    text = content.replace(b"\r\n", b"\n").decode(errors="replace")
    return find_merge_conflict(text) is not None


async def find_failed(
    jobs: JobQueue, pipeline: Pipeline, unchanged: Collection[DocumentId]
) -> list[DocumentId]:
    """Return those of `unchanged` whose last job in `pipeline` failed, sorted.

    Their files were changed and then restored; a new job shows that all is well.
    """
    failed = {
        job.order.document
        for job in await jobs.jobs(limit=MOST_JOBS, state=JobState.FAILED)
        if job.order.pipeline == pipeline
    }.intersection(unchanged)
    last_states: dict[DocumentId, JobState] = {}
    for job in await jobs.jobs(limit=MOST_JOBS) if failed else ():  # newest first
        if job.order.pipeline == pipeline:
            last_states.setdefault(job.order.document, job.state)
    return sorted(d for d in failed if last_states[d] is JobState.FAILED)


def find_withheld_deletions(
    missing: Collection[DocumentId],
    stored: Collection[DocumentId],
    *,
    folders: Sequence[str],
    existing: Collection[DocumentId],
) -> tuple[DocumentId, ...]:
    """Return the documents that must not be deleted without confirmation, sorted.

    These are all of `missing` or none. All, if a manuscript folder has lost every
    document and has no other file, or if at least `LEAST_MISSING` documents are missing
    that are more than a third of `stored`, or all that any one folder had: an unmounted
    drive, another git branch or a moved folder looks like this.

    Args:
        missing: Stored documents whose file does not exist, without moved ones.
        stored: All stored documents of the manuscript, `missing` included.
        folders: The manuscript's folders, as paths relative to the library's root.
        existing: The manuscript's files that exist now.
    """
    missing = set(missing)
    is_mass_deletion = (
        any(_is_emptied(folder, missing, stored, existing) for folder in folders)
        or (len(missing) >= LEAST_MISSING and 3 * len(missing) > len(stored))
        or _has_lost_folder(missing, stored)
    )
    return tuple(sorted(missing)) if is_mass_deletion else ()


def is_in_folder(document: DocumentId, folder: str) -> bool:
    """Return whether `document` is `folder` or inside it; both are relative to the
    library's root, which is ".".
    """
    if folder == ".":
        return not (document.startswith("../") or PurePosixPath(document).is_absolute())
    return document == folder or document.startswith(f"{folder}/")


def _is_emptied(
    folder: str,
    missing: Collection[DocumentId],
    stored: Collection[DocumentId],
    existing: Collection[DocumentId],
) -> bool:
    documents = {document for document in stored if is_in_folder(document, folder)}
    return bool(
        documents
        and documents <= set(missing)
        and not any(is_in_folder(document, folder) for document in existing)
    )


def _has_lost_folder(
    missing: Collection[DocumentId], stored: Collection[DocumentId]
) -> bool:
    """Return whether a folder that had at least `LEAST_MISSING` documents has none."""
    stored_counts = _count_by_folder(stored)
    return any(
        count >= LEAST_MISSING and count == stored_counts[folder]
        for folder, count in _count_by_folder(missing).items()
    )


def _count_by_folder(documents: Collection[DocumentId]) -> Counter[str]:
    """Return the number of documents in each folder, its subfolders included."""
    counts = Counter[str]()
    for folder, count in Counter(d.rpartition("/")[0] for d in documents).items():
        for parent in (PurePosixPath(folder), *PurePosixPath(folder).parents):
            counts[parent.as_posix()] += count
    return counts


async def withhold_deletions(
    changes: DocumentChanges,
    document_versions: Sequence[DocumentVersion],
    listing: SourceListing,
    source: ManuscriptSource,
) -> DocumentChanges:
    """Return `changes` with mass deletions moved from `gone` to `missing`.

    A document is not missing if its content stands at another path, or if its file is
    skipped by the user's settings: it stays in `gone`. Only if a mass deletion seems
    possible, new and changed files are read to find moved content.
    """
    missing = [
        document for document in changes.gone if not _is_skipped(document, listing)
    ]
    before = {version.id: version for version in document_versions}
    if not _find_mass_deletion(changes, missing, before, listing):
        return changes
    contents = {
        before[document].content for document in (*changes.unchanged, *changes.stale)
    } | await _hash_files(changes.changed, source)
    withheld = _find_mass_deletion(
        changes,
        [document for document in missing if before[document].content not in contents],
        before,
        listing,
    )
    gone = tuple(document for document in changes.gone if document not in set(withheld))
    return replace(changes, gone=gone, missing=withheld)


def withhold_vanished(vanished: Collection[DocumentId], scan: ManuscriptScan) -> bool:
    """Return whether documents whose files vanished since the scan must not be deleted.

    They count together with those that were missing then; moved ones count, too.
    """
    changes, before = scan.changes, {version.id for version in scan.seen}
    missing = {*changes.gone, *changes.missing, *vanished}
    return bool(vanished) and bool(
        _find_mass_deletion(changes, missing, before, scan.listing)
    )


def _find_mass_deletion(
    changes: DocumentChanges,
    missing: Collection[DocumentId],
    before: Collection[DocumentId],
    listing: SourceListing,
) -> tuple[DocumentId, ...]:
    """Return those of `missing` that must not be deleted without confirmation.

    `before` are the documents of the library; see `find_withheld_deletions`.
    """
    stored = {
        *changes.stale,
        *changes.unchanged,
        *(document for document in changes.changed if document in before),
        *changes.gone,
        *changes.missing,
    }
    existing = {file.id for file in listing.found} - set(missing)
    return find_withheld_deletions(
        missing, stored, folders=listing.folders, existing=existing
    )


def _is_skipped(document: DocumentId, listing: SourceListing) -> bool:
    return any(
        document == skipped.path
        or (skipped.path.endswith("/") and document.startswith(skipped.path))
        for skipped in listing.skipped
    )


async def _hash_files(
    documents: Sequence[DocumentId], source: ManuscriptSource
) -> set[str]:
    """Return the SHA-256 of the content of each file that can be read, in hex."""
    digests = set[str]()
    for document in documents:
        try:
            content, _ = await source.read(document)
        except LrwrError:
            continue  # the ingestion will report the error
        digests.add(sha256(content).hexdigest())
    return digests


def describe_missing_documents(documents: Sequence[DocumentId]) -> str:
    """Return a remark about `documents`, at least one, which are missing and were not
    deleted: how many, where, the first names, possible reasons, and what to do.
    """
    count, is_one = len(documents), len(documents) == 1
    names = ", ".join(documents[:SHOWN])
    more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
    return (
        f"{count:,} {'document is' if is_one else 'documents are'} missing{_where(documents)}"
        f" and {'was' if is_one else 'were'} not deleted: {names}{more}. A drive may be"
        " unmounted, git on another branch, or a folder moved. Bring the files back and"
        " run `lrwr ingest` again, or run `lrwr ingest --forget-missing` to remove"
        f" {'this document' if is_one else 'these documents'} from the library."
    )


def describe_conflicted_documents(documents: Sequence[DocumentId]) -> str:
    """Return a remark about `documents`, at least one, with git conflict markers."""
    return (
        f"{name_conflicted_documents(documents)}. Resolve the conflict and save the"
        f" file{'' if len(documents) == 1 else 's'}; until then lrwr uses what it has"
        " read before."
    )


def name_conflicted_documents(documents: Sequence[DocumentId]) -> str:
    """Return the clause that `documents`, at least one, have git conflict markers."""
    names, count = ", ".join(documents[:SHOWN]), len(documents)
    more = f" and {count - SHOWN:,} more" if count > SHOWN else ""
    return f"{names}{more} {'has' if count == 1 else 'have'} git conflict markers"


def _where(documents: Sequence[DocumentId]) -> str:
    """Return " from FOLDER", the innermost folder that held all; empty for the root."""
    parents = [set(PurePosixPath(document).parents) for document in documents]
    shared = set.intersection(*parents)
    folder = max(shared, key=lambda path: len(path.parts), default=PurePosixPath())
    return "" if folder.as_posix() in (".", "/") else f" from {folder}"
