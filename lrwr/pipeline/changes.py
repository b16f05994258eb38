"""Changes between the manuscript's files and the library, and the ingestion plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.sources import ManuscriptFile, ManuscriptSource, SourceListing
from lrwr.core.ports.stores import DocumentVersion


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """Documents by the action they need; each tuple is sorted by id.

    `changed` documents are new or have a new file revision: their content must be
    compared. `stale` documents are unchanged but were ingested with another recipe
    (parser, splitter or embedding model). `gone` documents were ingested and their
    files are missing. `never_here` documents were ingested on another machine and never
    had a file on this one.
    """

    changed: tuple[DocumentId, ...]
    stale: tuple[DocumentId, ...]
    gone: tuple[DocumentId, ...]
    unchanged: tuple[DocumentId, ...]
    never_here: tuple[DocumentId, ...] = ()


def detect_changes(
    document_versions: Sequence[DocumentVersion],
    manuscript_files: Sequence[ManuscriptFile],
    *,
    recipe: str,
    covers: Callable[[DocumentId], bool],
    verify: bool = False,
    content_with: str = "",
    missing_too: bool = False,
) -> DocumentChanges:
    """Compare the ingested document versions with the manuscript's files; reads no
    file.

    Args:
        recipe: Name of the current recipe; a document of another recipe is stale.
        covers: Returns whether the source decides if a document exists.
        verify: Ignore file revisions: treat every existing file as changed.
        content_with: A second recipe name that counts as current.
        missing_too: Treat documents that never had a file on this machine as gone.
    """
    before = {
        document_version.id: document_version for document_version in document_versions
    }
    changed, stale, unchanged = [], [], []
    for file in manuscript_files:
        version = before.pop(file.id, None)
        if version is None or version.revision != file.revision or verify:
            changed.append(file.id)
        elif version.recipe not in (recipe, content_with):
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

    `renamed` maps new ids to old ones. `touched` counts files that were written again
    with the same content. `moved` are the versions with a new revision to store for
    them.
    """

    documents: tuple[DocumentId, ...]
    renamed: Mapping[DocumentId, DocumentId]
    touched: int
    moved: tuple[DocumentVersion, ...]


async def plan_ingestion(
    scan: ManuscriptScan, recipe: str, source: ManuscriptSource
) -> IngestPlan:
    """Return the plan of an ingestion with the recipe called `recipe`.

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
        if version and (version.content, version.recipe) == (digest, recipe):
            touched.append(replace(version, revision=revision))
            continue
        documents.append(document)
        if version is None:
            arrived[document] = digest
    return IngestPlan(
        documents=tuple(sorted(documents)),
        renamed=match_renames(changes.gone, scan.seen, arrived),
        touched=len(touched),
        moved=tuple(version for version in touched if version != before[version.id]),
    )
