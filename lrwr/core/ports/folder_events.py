"""What happens in folders, told as it happens."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias


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
