"""What happens in folders, told as it happens."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Touched:
    """Something happened at these paths, which may be files or folders, or gone."""

    paths: frozenset[Path]


@dataclass(frozen=True, slots=True)
class Lost:
    """A folder that is watched is gone, or another is in its place."""

    folder: Path


@dataclass(frozen=True, slots=True)
class Polling:
    """The system does not tell of changes; they are looked for. `why` is a clause."""

    why: str


FolderNews: TypeAlias = Touched | Lost | Polling


class FolderEvents(Protocol):
    """The folders and files of a manuscript, watched."""

    def news(self) -> AsyncGenerator[FolderNews]:
        """Yield what happens from now on, in order, until a folder is lost.

        `Lost` is the last, and told once. Whenever it ends it may be asked again, and
        watches the folders that are there then. `Polling` comes before what is found
        by it. Of a rename the new path is told, and the old one may be.
        Nothing is promised about how many events a save makes, and an event may be
        missed or come for nothing. Paths that no manuscript can have are left out:
        hidden ones, backups, an editor's temporary files. Closing the generator ends
        the watching; closing it twice is the same as once.

        Raises:
            UnreadableDocument: A folder may not be looked into.
        """
        ...
