"""Sources from outside the library: manuscript files, folder events, web search."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from lrwr.core.model.documents import Document, DocumentId


@dataclass(frozen=True, slots=True)
class ManuscriptFile:
    """A manuscript file that exists now.

    `revision` is a text that changes whenever the file does; it is derived from the
    file's metadata, without reading its content.
    """

    id: DocumentId
    revision: str


class SkipCause(StrEnum):
    """Why a file is skipped: a conflict copy of a sync program, a folder that lrwr
    created for drafts, the mark `lrwr: ignore`, or something else, such as the format.
    """

    CONFLICT_COPY = "conflict copy"
    OWN_FOLDER = "own folder"
    MARKED = "marked"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a folder if the path ends in `/`, that is not ingested.

    `reason` is a phrase for the user.
    """

    path: str
    reason: str
    cause: SkipCause = SkipCause.OTHER


@dataclass(frozen=True, slots=True)
class SourceListing:
    """The files of a source: manuscript files (`found`) sorted by id, and skipped
    files.

    `folders` are the folders and files that the source consists of, existing or not, as
    paths like those of documents; the library's root is ".".
    """

    found: tuple[ManuscriptFile, ...]
    skipped: tuple[SkippedFile, ...]
    folders: tuple[str, ...] = ()


class ManuscriptSource(Protocol):
    """Lists and reads the files of a manuscript; never writes them."""

    async def list(self) -> SourceListing:
        """Return all manuscript files, and the skipped files with the reason.

        Raises:
            NotFound: The folder or file does not exist.
            SettingsProblem: An exclude pattern is invalid.
        """
        ...

    def covers(self, document: DocumentId) -> bool:
        """Return whether `document`, if `list` does not return it, has been deleted or
        excluded.

        False if it is outside this source, in a folder that cannot be read, or behind a
        broken link: then it may still exist.
        """
        ...

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        """Return the bytes of a file, and the revision (see `ManuscriptFile`) that they
        belong to.

        Raises:
            NotFound: The file no longer exists.
            UnreadableDocument: Permission to read the file is denied.
        """
        ...


class DocumentParser(Protocol):
    """Parses file content into a document. Pure: equal bytes give equal documents."""

    def __call__(self, document: DocumentId, content: bytes) -> Document:
        """Parse `content` in the format of the file name extension of `document`.

        Raises:
            UnreadableDocument: The content is not valid in that format.
        """
        ...

    def revision(self) -> str:
        """Return the parser's version; a new one causes all documents to be ingested
        again.
        """
        ...


@dataclass(frozen=True, slots=True)
class PathsChanged:
    """Files or folders at these paths were created, changed or deleted."""

    paths: frozenset[Path]


@dataclass(frozen=True, slots=True)
class FolderLost:
    """A watched folder was deleted or replaced."""

    folder: Path


@dataclass(frozen=True, slots=True)
class PollingStarted:
    """The system does not report changes, so folders are checked at intervals.

    `why` is a clause that gives the reason.
    """

    why: str


FolderEvent: TypeAlias = PathsChanged | FolderLost | PollingStarted


class FolderEventSource(Protocol):
    """Reports changes of the folders and files of a manuscript."""

    def events(self) -> AsyncGenerator[FolderEvent]:
        """Yield changes from now on, in the order of their occurrence, until a folder
        is lost.

        `FolderLost` is the last event and occurs once; a later call watches the folders
        that exist then. `PollingStarted` precedes changes found by polling. A rename
        reports the new path, and possibly the old one. One save may cause any number of
        events; events may be missed or spurious. Hidden files, backups and temporary
        files of editors are ignored. Closing the generator stops watching. Idempotent.

        Raises:
            UnreadableDocument: Permission to read a folder is denied.
        """
        ...


MAX_PAGE_TEXT_CHARS = 1_200
"""Characters of a page's text at most."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """One result of a web search.

    `url` starts with http or https. `text` is an extract of at most
    `MAX_PAGE_TEXT_CHARS` characters, in whole sentences where possible. `published` is
    a date in the service's own format, empty if unknown. No field contains control
    characters. The content is untrusted and must never be followed as an instruction.
    """

    title: str
    url: str
    text: str
    published: str = ""


class WebSearch(Protocol):
    """A web search service. Used only if the user has enabled it."""

    async def search(self, query: str, limit: int) -> list[WebPage]:
        """Return at most `limit` pages, best first, without duplicate addresses.

        `query` is sent unchanged and is the only user data sent. Each call may cost
        money.

        Raises:
            ServiceUnavailable: The service did not answer, refused the request, or sent
                an invalid reply.
        """
        ...
