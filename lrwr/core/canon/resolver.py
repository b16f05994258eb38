"""Which document the writer means, and which decisions have lost theirs."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from lrwr.core.canon.model import Canon, normalize_canon_path
from lrwr.core.canon.reducer import list_decided_documents
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class OrphanedDecisions:
    """A document that is not there, and what was decided about it, in a word each.

    `perhaps` is the document that it may have become.
    """

    document: DocumentId
    decisions: tuple[str, ...]
    perhaps: DocumentId | None


def resolve_document(
    text: str, *, known: Sequence[DocumentId], root: Path, here: Path
) -> DocumentId:
    """Return the document that the writer calls `text`.

    It is a path from `here`, one from the library's `root`, or the end of one that
    no other document shares; `known` are the library's documents, in NFC. A file that is not
    in the library yet will do.

    Raises:
        NotFound: There is no such document, or more than one; the hint offers some.
    """
    path = Path(os.path.abspath(here / text))  # noqa: PTH100 (links stay as they are)
    from_here = _id_of(path, root)
    name = normalize_canon_path(text.replace("\\", "/"))
    for one in known:
        if one in (from_here, name):
            return one
    fits = [document_id for document_id in known if document_id.endswith(f"/{name}")]
    if len(fits) == 1:
        return fits[0]
    if not fits and path.is_file():
        return from_here
    raise _no_such_document(text, fits or _nearest(name, known), several=bool(fits))


def resolve_decided_document(canon: Canon, text: str) -> DocumentId:
    """Return the document called `text` that something was decided about.

    Raises:
        NotFound: Nothing was; the hint offers the nearest.
    """
    decided, name = (
        list_decided_documents(canon),
        normalize_canon_path(text.replace("\\", "/")),
    )
    if name in decided:
        return name
    near = " or ".join(_nearest(text, decided))
    hint = f"Did you mean {near}?" if near else "See `lrwr canon` for what was decided."
    raise NotFound(f"Nothing is decided about {text}", hint=hint)


def find_orphaned_decisions(
    canon: Canon,
    *,
    known: Sequence[DocumentId],
    is_there: Callable[[DocumentId], bool],
) -> tuple[OrphanedDecisions, ...]:
    """Return what was decided about documents that are not there."""
    decided = list_decided_documents(canon)
    free = [document_id for document_id in known if document_id not in decided]
    return tuple(
        OrphanedDecisions(document, words, _heir(document, free))
        for document, words in decided.items()
        if not is_there(document)
    )


def _id_of(path: Path, root: Path) -> DocumentId:
    try:
        return normalize_canon_path(Path(os.path.relpath(path, root)).as_posix())
    except ValueError:  # another drive
        return normalize_canon_path(path.as_posix())


def _heir(document: DocumentId, free: Collection[DocumentId]) -> DocumentId | None:
    name = PurePosixPath(document).name
    same = [
        document_id for document_id in free if PurePosixPath(document_id).name == name
    ]
    near = same or _nearest(document, free)
    return near[0] if near else None


def _nearest(text: str, known: Collection[DocumentId]) -> list[DocumentId]:
    """Return up to three documents whose path or name is most like `text`."""
    by_word: dict[str, list[DocumentId]] = {}
    for document_id in known:
        for word in {document_id.lower(), _stem(document_id)}:
            by_word.setdefault(word, []).append(document_id)
    words = [
        *get_close_matches(text.lower(), by_word, n=3),
        *get_close_matches(_stem(text), by_word, n=3),
    ]
    found = dict.fromkeys(one for word in words for one in by_word[word])
    return list(found)[:3]


def _stem(text: str) -> str:
    return PurePosixPath(text).stem.lower()


def _no_such_document(
    text: str, offers: Sequence[DocumentId], *, several: bool
) -> NotFound:
    what = "More than one document" if several else "No document"
    if not offers:
        return NotFound(
            f"{what} is called {text}",
            hint="Check the path, or run `lrwr ingest` first.",
        )
    names = " or ".join(offers)
    return NotFound(f"{what} is called {text}", hint=f"Did you mean {names}?")
