"""File system events of manuscript folders, through the package watchfiles."""

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
"""Milliseconds during which events are collected into one batch."""

EVENT_CHECK_MS = 20
"""Milliseconds between two checks for new system events."""

FOLDER_CHECK_MS = 1000
"""Milliseconds between two checks that the folders still exist."""

FILE_POLL_MS = 2000
"""Milliseconds between two checks of every file when polling."""

WATCH_LIMIT_REASON = "the system cannot watch so many folders ({})"

FolderInode = tuple[int, int]
"""Device and inode, which tell a folder from another with the same path."""


class WatchfilesEventSource:
    """The `FolderEventSource` port over the files and folders `targets`.

    `poll` is a clause that says why files are polled; empty to use events of the
    system. `every` is the polling interval in milliseconds.
    """

    def __init__(
        self, targets: Sequence[Path], *, poll: str = "", every: int = FILE_POLL_MS
    ) -> None:
        self._targets = tuple(dict.fromkeys(targets))
        self._poll = poll
        self._every = every

    async def events(self) -> AsyncGenerator[FolderEvent]:
        """Yield events from now on, until a watched folder disappears.

        If the system cannot watch the folders, the events end, and the next call polls
        the files instead.

        Raises:
            UnreadableDocument: A folder cannot be read.
        """
        missing = (target for target in self._targets if not target.exists())
        if (target := next(missing, None)) is not None:
            yield FolderLost(target)
            return
        inodes = {
            folder: _folder_inode(folder) for folder in map(_folder_of, self._targets)
        }
        if self._poll:
            yield PollingStarted(self._poll)
        try:
            async with aclosing(self._watch(inodes)) as events:
                async for news in events:
                    yield news
        except OSError as error:
            self._fall_back_to_polling(error, inodes)

    def _fall_back_to_polling(
        self, error: OSError, inodes: Mapping[Path, FolderInode | None]
    ) -> None:
        """Switch to polling after `error`; raise if polling failed too."""
        if self._poll and _find_lost_folder(inodes) is None:
            raise UnreadableDocument(
                f"The manuscript's folder cannot be watched: {error.strerror or error}",
                hint="Check the permissions of the folder; `lrwr ingest` works without watching.",
            ) from error
        self._poll = self._poll or WATCH_LIMIT_REASON.format(error.strerror or error)

    async def _watch(
        self, inodes: Mapping[Path, FolderInode | None]
    ) -> AsyncGenerator[FolderEvent]:
        if (lost_folder := _find_lost_folder(inodes)) is not None:
            yield FolderLost(lost_folder)
            return

        batches = awatch(
            *inodes,
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
                if (lost_folder := _find_lost_folder(inodes)) is not None:
                    yield FolderLost(lost_folder)
                    return
                paths = {Path(path) for _, path in batch}
                if changed_paths := frozenset(
                    _relevant_paths(paths, _with_real_paths(self._targets))
                ):
                    yield PathsChanged(changed_paths)


def _with_real_paths(targets: Sequence[Path]) -> list[Path]:
    """Return the targets with their real paths: some systems report the target of a
    link.
    """
    return [*targets, *(Path(os.path.realpath(target)) for target in targets)]


def _relevant_paths(paths: Collection[Path], targets: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if any(_may_matter(path, target) for target in targets):
            yield path


def _may_matter(path: Path, target: Path) -> bool:
    """Return whether a change at `path` may affect a manuscript under `target`.

    A name without a known ending may be a folder's, so its changes count.
    """
    if not path.is_relative_to(target):
        return False
    *folders, name = path.relative_to(target).parts or (target.name,)
    if any(explain_skipped_folder(folder) for folder in folders):
        return False
    return path == target or may_be_manuscript_name(name)


def _folder_of(target: Path) -> Path:
    """Return the folder to watch: a program replaces a file when it saves it."""
    return target if target.is_dir() else target.parent


def _find_lost_folder(inodes: Mapping[Path, FolderInode | None]) -> Path | None:
    """Return the first folder that disappeared or was replaced by another one."""
    lost_folders = (
        path for path, inode in inodes.items() if _folder_inode(path) != inode
    )
    return next(lost_folders, None)


def _folder_inode(path: Path) -> FolderInode | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (the inode is needed, not a path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
