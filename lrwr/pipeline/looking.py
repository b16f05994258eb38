"""Which of the files that seem to have changed say anything else than before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.manuscript_source import Listing, ManuscriptSource
from lrwr.core.ports.record_store import Seen
from lrwr.pipeline.changes import Changes, renames


@dataclass(frozen=True, slots=True)
class Look:
    """What is there, what was read before, and what that seems to mean."""

    listing: Listing
    seen: Sequence[Seen]
    changes: Changes


@dataclass(frozen=True, slots=True)
class ToDo:
    """The documents to read, sorted.

    `renamed` maps new ids to old ones. `touched` documents say what they said before;
    `moved` has those of them that were written since, with their new revision.
    """

    documents: tuple[DocumentId, ...]
    renamed: Mapping[DocumentId, DocumentId]
    touched: int
    moved: tuple[Seen, ...]


async def to_do(look: Look, recipe: str, source: ManuscriptSource) -> ToDo:
    """Return what is to be read by the recipe of that name; files are compared."""
    changes, before = look.changes, {known.id: known for known in look.seen}
    todo, touched, arrived = list(changes.stale), list[Seen](), {}
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
    return ToDo(
        documents=tuple(sorted(todo)),
        renamed=renames(changes.gone, look.seen, arrived),
        touched=len(touched),
        moved=tuple(one for one in touched if one != before[one.id]),
    )
