"""Manuscript folders, watched with what the system offers."""

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from watchfiles import awatch

from lrwr.core.adapters.source.folder import (
    explain_skipped_folder,
    may_be_manuscript_name,
)
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.ports.sources import (
    FolderEvent,
    FolderLost,
    PathsChanged,
    PollingStarted,
)

EVENT_BATCH_MS = 50
"""Milliseconds in which what happens is told together."""

EVENT_CHECK_MS = 20
"""Milliseconds between two looks at what the system has told."""

FOLDER_CHECK_MS = 1000
"""Milliseconds between two looks whether the folders are still there."""

FILE_POLL_MS = 2000
"""Milliseconds between two looks at every file, where the system does not tell."""

WATCH_LIMIT_REASON = "the system cannot watch so many folders ({})"

FolderInode = tuple[int, int]
"""What tells a folder from another of the same name: its device and number."""


class WatchfilesEventSource:
    """Keeps the `FolderEventSource` port over folders and files.

    `poll` says in a clause why the system's own word is not trusted here; empty where
    it is. `every` are the milliseconds between two looks where it is not.
    """

    def __init__(
        self, targets: Sequence[Path], *, poll: str = "", every: int = FILE_POLL_MS
    ) -> None:
        self._targets = tuple(dict.fromkeys(targets))
        self._poll = poll
        self._every = every

    async def news(self) -> AsyncGenerator[FolderEvent]:
        """Yield what happens from now on, until a folder is lost.

        Raises:
            UnreadableDocument: A folder may not be looked into.
        """
        missing = (target for target in self._targets if not target.exists())
        if (target := next(missing, None)) is not None:
            yield FolderLost(target)
            return
        places = {folder: _place(folder) for folder in map(_folder_of, self._targets)}
        if self._poll:
            yield PollingStarted(self._poll)
        try:
            async with aclosing(self._watched(places)) as watched:
                async for news in watched:
                    yield news
        except OSError as error:
            self._cannot(error, places)

    def _cannot(
        self, error: OSError, places: Mapping[Path, FolderInode | None]
    ) -> None:
        """Look for changes from now on, if the system will not tell of them."""
        if self._poll and _lost(places) is None:
            raise UnreadableDocument(
                f"The manuscript's folder cannot be watched: {error.strerror or error}",
                hint="Check your rights there; `lrwr ingest` reads without watching.",
            ) from error
        self._poll = self._poll or WATCH_LIMIT_REASON.format(error.strerror or error)

    async def _watched(
        self, places: Mapping[Path, FolderInode | None]
    ) -> AsyncGenerator[FolderEvent]:
        if (lost_folder := _lost(places)) is not None:
            yield FolderLost(lost_folder)
            return

        batches = awatch(
            *places,
            watch_filter=None,
            debounce=EVENT_BATCH_MS,
            step=EVENT_CHECK_MS,
            stop_event=asyncio.Event(),
            rust_timeout=FOLDER_CHECK_MS,
            yield_on_timeout=True,
            force_polling=bool(self._poll) or None,
            poll_delay_ms=self._every,
            recursive=any(target.is_dir() for target in self._targets),
            ignore_permission_denied=True,
        )
        async with aclosing(batches) as opened:
            async for batch in opened:
                if (lost_folder := _lost(places)) is not None:
                    yield FolderLost(lost_folder)
                    return
                paths = {Path(path) for _, path in batch}
                if changed_paths := frozenset(_wanted(paths, _as_told(self._targets))):
                    yield PathsChanged(changed_paths)


def _as_told(targets: Sequence[Path]) -> list[Path]:
    """Return targets by all their names: some systems tell where a link leads to."""
    return [*targets, *(Path(os.path.realpath(target)) for target in targets)]


def _wanted(paths: Collection[Path], targets: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if any(_may_matter(path, target) for target in targets):
            yield path


def _may_matter(path: Path, target: Path) -> bool:
    """Say whether what happened at `path` may concern a manuscript under `target`.

    A name without an ending that is read may be a folder's, and then matters.
    """
    if not path.is_relative_to(target):
        return False
    *folders, name = path.relative_to(target).parts or (target.name,)
    if any(explain_skipped_folder(folder) for folder in folders):
        return False
    return path == target or may_be_manuscript_name(name)


def _folder_of(target: Path) -> Path:
    """Return what is watched for a target: a file is swapped at each save."""
    return target if target.is_dir() else target.parent


def _lost(places: Mapping[Path, FolderInode | None]) -> Path | None:
    """Return the first folder that is gone, or has another in its place."""
    lost_folders = (path for path, place in places.items() if _place(path) != place)
    return next(lost_folders, None)


def _place(path: Path) -> FolderInode | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (a number is wanted, not a path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
