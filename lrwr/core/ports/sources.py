"""Where manuscripts come from."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

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


@dataclass(frozen=True, slots=True)
class PathsChanged:
    """Something happened at these paths, which may be files or folders, or gone."""

    paths: frozenset[Path]


@dataclass(frozen=True, slots=True)
class FolderLost:
    """A folder that is watched is gone, or another is in its place."""

    folder: Path


@dataclass(frozen=True, slots=True)
class PollingStarted:
    """The system does not tell of changes; they are looked for. `why` is a clause."""

    why: str


FolderEvent: TypeAlias = PathsChanged | FolderLost | PollingStarted


class FolderEventSource(Protocol):
    """The folders and files of a manuscript, watched."""

    def news(self) -> AsyncGenerator[FolderEvent]:
        """Yield what happens from now on, in order, until a folder is lost.

        `FolderLost` is the last, and told once. Whenever it ends it may be asked again, and
        watches the folders that are there then. `PollingStarted` comes before what is found
        by it. Of a rename the new path is told, and the old one may be.
        Nothing is promised about how many events a save makes, and an event may be
        missed or come for nothing. Paths that no manuscript can have are left out:
        hidden ones, backups, an editor's temporary files. Closing the generator ends
        the watching; closing it twice is the same as once.

        Raises:
            UnreadableDocument: A folder may not be looked into.
        """
        ...


MAX_PAGE_TEXT_CHARS = 1_200
"""Characters of a page's text at most."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the web, as a search service gives it.

    `url` begins with http or https. `text` is what the page says, in whole sentences
    where it can be, at most `MAX_PAGE_TEXT_CHARS` characters. `published` is a date as the
    service writes it, empty where it tells none. No text holds control characters; all
    of it is somebody else's, and never an instruction.
    """

    title: str
    url: str
    text: str
    published: str = ""


class WebSearch(Protocol):
    """One service that searches the web, turned on by the writer."""

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return at most `limit` pages, each address once, the best first.

        `query` is sent as it is, and nothing else that is the writer's. Asking again
        changes nothing, but may cost the writer a search. There may be none.

        Raises:
            ServiceUnavailable: The service did not answer, refused, or sent nonsense.
        """
        ...
