"""Resolution of document names that the user types, and decisions about missing
documents.
"""

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from lrwr.core.canon.model import Canon, normalize_canon_path
from lrwr.core.canon.reducer import list_decided_documents
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound

_NUMBER_NAME = re.compile(r"(?:ch|chap|chapter|scene)?[\W_]*\d+")
"""The name of a file that is only a number, without folder and ending."""


@dataclass(frozen=True, slots=True)
class OrphanedDecisions:
    """A missing document that decisions are about, and the kinds of these decisions.

    `decisions` are some of "type", "order" and "point of view". `perhaps` is the
    document that it may have been renamed to: one of the same file name, else the most
    similar path; None if there is none.
    """

    document: DocumentId
    decisions: tuple[str, ...]
    perhaps: DocumentId | None


def resolve_document(
    text: str,
    *,
    document_ids: Sequence[DocumentId],
    root: Path,
    working_directory: Path,
) -> DocumentId:
    """Return the document that the user calls `text`.

    `text` is a path from `working_directory`, a path from the library's `root`, or the
    end of the path of exactly one document. `document_ids` are the library's documents,
    in Unicode NFC. An existing file that is not in the library yet is accepted.

    Raises:
        NotFound: There is no such document, or more than one; the hint suggests some.
    """
    path = Path(os.path.abspath(working_directory / text))  # noqa: PTH100 (links stay as they are)
    from_directory = _relative_id(path, root)
    name = normalize_canon_path(text.replace("\\", "/"))
    for document_id in document_ids:
        if document_id in (from_directory, name):
            return document_id
    fits = [
        document_id for document_id in document_ids if document_id.endswith(f"/{name}")
    ]
    if len(fits) == 1:
        return fits[0]
    if not fits and path.is_file():
        return from_directory
    raise _no_such_document(
        text, fits or find_similar_documents(name, document_ids), several=bool(fits)
    )


def resolve_decided_document(canon: Canon, text: str) -> DocumentId:
    """Return the document of `canon` whose complete path is `text`.

    The document has decisions; its file may be missing.

    Raises:
        NotFound: No decision is about it; the hint suggests similar documents.
    """
    decided, name = (
        list_decided_documents(canon),
        normalize_canon_path(text.replace("\\", "/")),
    )
    if name in decided:
        return name
    similar_documents = " or ".join(find_similar_documents(text, decided))
    hint = (
        f"Did you mean {similar_documents}?"
        if similar_documents
        else "Run `lrwr canon` to list all decisions."
    )
    raise NotFound(f"There is no decision about {text}", hint=hint)


def find_orphaned_decisions(
    canon: Canon,
    *,
    document_ids: Sequence[DocumentId],
    is_there: Callable[[DocumentId], bool],
) -> tuple[OrphanedDecisions, ...]:
    """Return the documents that decisions are about and for which `is_there` is false.

    `document_ids` are the library's documents; those without decisions are candidates
    for the new path of a renamed document.
    """
    decided = list_decided_documents(canon)
    undecided_documents = [
        document_id for document_id in document_ids if document_id not in decided
    ]
    return tuple(
        OrphanedDecisions(
            document, words, _likely_new_path(document, undecided_documents)
        )
        for document, words in decided.items()
        if not is_there(document)
    )


def _relative_id(path: Path, root: Path) -> DocumentId:
    try:
        return normalize_canon_path(Path(os.path.relpath(path, root)).as_posix())
    except ValueError:  # another drive
        return normalize_canon_path(path.as_posix())


def _likely_new_path(
    document: DocumentId, undecided_documents: Collection[DocumentId]
) -> DocumentId | None:
    name = PurePosixPath(document).name
    same_name_documents = [
        document_id
        for document_id in undecided_documents
        if PurePosixPath(document_id).name == name
    ]
    candidates = same_name_documents or find_similar_documents(
        document, undecided_documents
    )
    return candidates[0] if candidates else None


def find_similar_documents(
    text: str, document_ids: Collection[DocumentId]
) -> list[DocumentId]:
    """Return up to three documents with a path or name similar to `text`, best first.

    If the name of `text` is only a number, as in `chapters/07.md` or `ch7`, documents
    with that number are returned instead, if there are any. Among similar names, those
    with the same number come first.
    """
    stem = _NUMBER_NAME.fullmatch(_stem(text))
    numbered = [d for d in document_ids if _number(d) == _number(text)]
    if stem and numbered:
        folder = PurePosixPath(text).parent
        return sorted(numbered, key=lambda d: PurePosixPath(d).parent != folder)[:3]
    similar = _find_similar_names(text, document_ids)
    return sorted(similar, key=lambda document: document not in numbered)


def _find_similar_names(
    text: str, document_ids: Collection[DocumentId]
) -> list[DocumentId]:
    by_word: dict[str, list[DocumentId]] = {}
    for document_id in document_ids:
        for word in {document_id.lower(), _stem(document_id)}:
            by_word.setdefault(word, []).append(document_id)
    words = [
        *get_close_matches(text.lower(), by_word, n=3),
        *get_close_matches(_stem(text), by_word, n=3),
    ]
    nearest_documents = dict.fromkeys(
        document_id for word in words for document_id in by_word[word]
    )
    return list(nearest_documents)[:3]


def _number(text: str) -> int | None:
    """Return the first number in the name of a document; None if it has none."""
    digits = re.search(r"\d+", _stem(text))
    return int(digits[0]) if digits else None


def _stem(text: str) -> str:
    return PurePosixPath(text).stem.lower()


def _no_such_document(
    text: str, offers: Sequence[DocumentId], *, several: bool
) -> NotFound:
    problem = "More than one document" if several else "No document"
    if not offers:
        return NotFound(
            f"{problem} is called {text}",
            hint="Check the path, or run `lrwr ingest` first.",
        )
    names = " or ".join(offers)
    return NotFound(f"{problem} is called {text}", hint=f"Did you mean {names}?")
