"""Where manuscripts come from."""

from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.documents import Document, DocumentId


@dataclass(frozen=True, slots=True)
class ManuscriptFile:
    """A manuscript file that is there now.

    `revision` changes whenever the file does; comparing it costs no reading.
    """

    id: DocumentId
    revision: str


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was passed over, and why, in the writer's words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceListing:
    """What a source holds: manuscripts sorted by id, and what was passed over."""

    found: tuple[ManuscriptFile, ...]
    skipped: tuple[SkippedFile, ...]


class ManuscriptSource(Protocol):
    """Files that a writer owns: listed and read, never written."""

    async def list(self) -> SourceListing:
        """Return every manuscript file there is.

        Raises:
            NotFound: The folder or file is not there.
        """
        ...

    def covers(self, document: DocumentId) -> bool:
        """Say whether `document` would be listed here, if it existed.

        Only what a source covers can be missed by it: a document that is covered, was
        seen before and is not listed now, is gone.
        """
        ...

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the file's bytes and the revision that they belong to.

        Raises:
            NotFound: The file is gone.
            UnreadableDocument: The file may not be read.
        """
        ...


class DocumentParser(Protocol):
    """Bytes in, a document out. Pure: the same bytes make the same document."""

    def __call__(self, document: DocumentId, content: bytes) -> Document:
        """Parse `content`; the format is told by the ending of `document`.

        Raises:
            UnreadableDocument: The bytes are not what the ending says.
        """
        ...

    def revision(self) -> str:
        """Name the parser's version; when it changes, documents are read again."""
        ...
