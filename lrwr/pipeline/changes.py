"""What a look at the manuscript means for the library. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.sources import ManuscriptFile, ManuscriptSource, SourceListing
from lrwr.core.ports.stores import DocumentVersion


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """Documents by what must be done about them, each sorted by id.

    `changed` have a new revision and must be read to know whether their content is
    new; `stale` have the old one but were made by another recipe; `gone` were seen
    before and are no longer there. `never_here` were read on another machine, and
    their files have never been on this one.
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
    """Compare the ingested document versions with the manuscript's files.

    `covers` says whether the scan could have listed a document. `verify` ignores
    revisions: every document counts as changed. Documents ingested with the recipe
    `content_with` count as unchanged, too. With `missing_too`, documents that were never
    on this machine count as gone as well.
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
    """Map each new document's id to the id of a deleted one with the same content.

    `arrived` maps each new document to its content's hash.
    """
    unmatched = set(gone)
    homes: dict[str, list[DocumentId]] = {}
    for document_version in sorted(document_versions, key=lambda version: version.id):
        if document_version.id in unmatched:
            homes.setdefault(document_version.content, []).append(document_version.id)
    matched = {}
    for document, content in sorted(arrived.items()):
        if homes.get(content):
            matched[document] = homes[content].pop(0)
    return matched


@dataclass(frozen=True, slots=True)
class ManuscriptScan:
    """What is there, what was read before, and what that seems to mean."""

    listing: SourceListing
    seen: Sequence[DocumentVersion]
    changes: DocumentChanges


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """The documents to read, sorted.

    `renamed` maps new ids to old ones. `touched` documents say what they said before;
    `moved` has those of them that were written since, with their new revision.
    """

    documents: tuple[DocumentId, ...]
    renamed: Mapping[DocumentId, DocumentId]
    touched: int
    moved: tuple[DocumentVersion, ...]


async def plan_ingestion(
    look: ManuscriptScan, recipe: str, source: ManuscriptSource
) -> IngestPlan:
    """Return what to ingest with the recipe of that name; compares file contents."""
    changes, before = look.changes, {version.id: version for version in look.seen}
    todo, touched, arrived = list(changes.stale), list[DocumentVersion](), {}
    for document in changes.changed:
        version = before.get(document)
        if version is None and not changes.gone:
            todo.append(document)
            continue
        try:
            content, revision = await source.read(document)
        except LrwrError:
            todo.append(document)  # its job will say what is wrong
            continue
        digest = sha256(content).hexdigest()
        if version and (version.content, version.recipe) == (digest, recipe):
            touched.append(replace(version, revision=revision))
            continue
        todo.append(document)
        if version is None:
            arrived[document] = digest
    return IngestPlan(
        documents=tuple(sorted(todo)),
        renamed=match_renames(changes.gone, look.seen, arrived),
        touched=len(touched),
        moved=tuple(version for version in touched if version != before[version.id]),
    )
