"""What a look at the manuscript means for the library. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.manuscript_source import Found
from lrwr.core.ports.record_store import Seen


@dataclass(frozen=True, slots=True)
class Changes:
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


def compare(
    seen: Sequence[Seen],
    found: Sequence[Found],
    *,
    recipe: str,
    covers: Callable[[DocumentId], bool],
    verify: bool = False,
    content_with: str = "",
    missing_too: bool = False,
) -> Changes:
    """Compare what was read with what is there.

    `covers` says which documents the look could have found. `verify` distrusts
    revisions: every document counts as changed. What was made by the recipe
    `content_with` may stay as it is, too. With `missing_too` what was never here is
    gone like all else that is not there.
    """
    before = {known.id: known for known in seen}
    changed, stale, unchanged = [], [], []
    for now in found:
        known = before.pop(now.id, None)
        if known is None or known.revision != now.revision or verify:
            changed.append(now.id)
        elif known.recipe not in (recipe, content_with):
            stale.append(now.id)
        else:
            unchanged.append(now.id)
    missed = {known for known in before.values() if covers(known.id)}
    gone = {known for known in missed if known.revision or missing_too}
    return Changes(
        tuple(sorted(changed)),
        tuple(sorted(stale)),
        tuple(sorted(known.id for known in gone)),
        tuple(sorted(unchanged)),
        tuple(sorted(known.id for known in missed - gone)),
    )


def renames(
    gone: Sequence[DocumentId],
    seen: Sequence[Seen],
    arrived: Mapping[DocumentId, str],
) -> dict[DocumentId, DocumentId]:
    """Match new documents to gone ones of the same content: new id to old id.

    `arrived` maps each new document to its content's hash.
    """
    left = set(gone)
    homes: dict[str, list[DocumentId]] = {}
    for known in sorted(seen, key=lambda known: known.id):
        if known.id in left:
            homes.setdefault(known.content, []).append(known.id)
    matched = {}
    for document, content in sorted(arrived.items()):
        if homes.get(content):
            matched[document] = homes[content].pop(0)
    return matched
