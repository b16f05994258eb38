"""What a look at the manuscript means for the library. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.manuscript_source import (
    ManuscriptFile,
    ManuscriptSource,
    SourceListing,
)
from lrwr.core.ports.record_store import DocumentVersion


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
    """Compare what was read with what is there.

    `covers` says which documents the look could have found. `verify` distrusts
    revisions: every document counts as changed. What was made by the recipe
    `content_with` may stay as it is, too. With `missing_too` what was never here is
    gone like all else that is not there.
    """
    before = {
        document_version.id: document_version for document_version in document_versions
    }
    changed, stale, unchanged = [], [], []
    for now in manuscript_files:
        known = before.pop(now.id, None)
        if known is None or known.revision != now.revision or verify:
            changed.append(now.id)
        elif known.recipe not in (recipe, content_with):
            stale.append(now.id)
        else:
            unchanged.append(now.id)
    missed = {known for known in before.values() if covers(known.id)}
    gone = {known for known in missed if known.revision or missing_too}
    return DocumentChanges(
        tuple(sorted(changed)),
        tuple(sorted(stale)),
        tuple(sorted(known.id for known in gone)),
        tuple(sorted(unchanged)),
        tuple(sorted(known.id for known in missed - gone)),
    )


def match_renames(
    gone: Sequence[DocumentId],
    document_versions: Sequence[DocumentVersion],
    arrived: Mapping[DocumentId, str],
) -> dict[DocumentId, DocumentId]:
    """Match new documents to gone ones of the same content: new id to old id.

    `arrived` maps each new document to its content's hash.
    """
    left = set(gone)
    homes: dict[str, list[DocumentId]] = {}
    for document_version in sorted(document_versions, key=lambda known: known.id):
        if document_version.id in left:
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
    """Return what is to be read by the recipe of that name; files are compared."""
    changes, before = look.changes, {known.id: known for known in look.seen}
    todo, touched, arrived = list(changes.stale), list[DocumentVersion](), {}
    for document in changes.changed:
        known = before.get(document)
        if known is None and not changes.gone:
            todo.append(document)
            continue
        try:
            content, revision = await source.read(document)
        except LrwrError:
            todo.append(document)  # its job will say what is wrong
            continue
        digest = sha256(content).hexdigest()
        if known and (known.content, known.recipe) == (digest, recipe):
            touched.append(replace(known, revision=revision))
            continue
        todo.append(document)
        if known is None:
            arrived[document] = digest
    return IngestPlan(
        documents=tuple(sorted(todo)),
        renamed=match_renames(changes.gone, look.seen, arrived),
        touched=len(touched),
        moved=tuple(one for one in touched if one != before[one.id]),
    )
