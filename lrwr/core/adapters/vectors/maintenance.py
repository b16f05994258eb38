"""Inspection and deletion of a library's shards, the local vector indexes of Qdrant
Edge.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lrwr.core.adapters.vectors.base import EdgeShardCursor
from lrwr.core.adapters.vectors.edge import EdgeShard, ShardCorruption
from lrwr.core.model.errors import StoreProblem
from lrwr.core.ports.stores import ChunkChange
from lrwr.core.settings.files import FileLock


class ShardState(StrEnum):
    """What inspecting a shard, a local vector index of Qdrant Edge, found.

    It is missing, held by another process (or in a folder that cannot be written),
    broken, was opened, or differs from the library.
    """

    MISSING = "missing"
    HELD = "held"
    """Another process holds the shard, or the folder cannot be written."""
    BROKEN = "broken"
    OPENED = "opened"
    DIFFERENT = "different"
    """It was opened, and has other vectors than the library."""


@dataclass(frozen=True, slots=True)
class ShardReport:
    """Name and state of one shard (a local vector index).

    `cursor` says how far the shard follows the library's change feed; None unless it
    could be opened.
    """

    name: str
    state: ShardState
    cursor: EdgeShardCursor | None = None


@dataclass(frozen=True, slots=True)
class ShardCleanup:
    """Names of the shards (local vector indexes) that were deleted, and of those that
    another process uses.
    """

    deleted: tuple[str, ...]
    in_use: tuple[str, ...]


def list_shards(index: Path) -> list[str]:
    """Return the names of the shards (local vector indexes) in the folder `index`,
    sorted.

    Links are left out. Empty if there is no such folder.
    """
    if index.is_symlink() or not index.is_dir():
        return []
    with os.scandir(index) as entries:
        return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))


def inspect_shard(index: Path, name: str, dimensions: int) -> ShardReport:
    """Open the shard (local vector index) `name` in the folder `index`, close it, and
    return its state.

    `dimensions` is the expected length of a vector; with another length, the shard
    counts as broken. No error is raised for a missing or damaged shard.
    """
    if name not in list_shards(index):
        return ShardReport(name, ShardState.MISSING)
    with _held(index, name) as is_acquired:
        if not is_acquired:
            return ShardReport(name, ShardState.HELD)
        try:
            shard = EdgeShard.load(index / name, dimensions)
            cursor = shard.cursor
            shard.close()
        except ShardCorruption:
            return ShardReport(name, ShardState.BROKEN)
        return ShardReport(name, ShardState.OPENED, cursor)


def verify_shard(
    index: Path, name: str, dimensions: int, chunks: Sequence[ChunkChange]
) -> ShardReport:
    """Open the shard (local vector index) `name`, and compare it with the library.

    `chunks` are all chunks that the library would store in it. The shard must have
    applied all changes of the library. No error is raised for a damaged shard.
    """
    with _held(index, name) as is_acquired:
        if not is_acquired:
            return ShardReport(name, ShardState.HELD)
        try:
            shard = EdgeShard.load(index / name, dimensions)
            cursor, is_equal = shard.cursor, shard.contains(chunks)
            shard.close()
        except ShardCorruption:
            return ShardReport(name, ShardState.BROKEN)
    state = ShardState.OPENED if is_equal else ShardState.DIFFERENT
    return ShardReport(name, state, cursor)


def clear_shards(index: Path) -> ShardCleanup:
    """Delete every shard (local vector index) in the folder `index` that no process
    holds.

    Lock files are not deleted: two processes could hold a lock file that was deleted
    and created again.

    Raises:
        StoreProblem: A shard cannot be deleted, or `index` is a link.
    """
    if index.is_symlink():
        raise StoreProblem(
            f"{index} is a link to another folder",
            hint="Delete the link; lrwr builds the vector index again without it.",
        )
    deleted: list[str] = []
    in_use: list[str] = []
    for name in list_shards(index):
        with _held(index, name) as is_acquired:
            if is_acquired:
                _delete(index / name)
            (deleted if is_acquired else in_use).append(name)
    return ShardCleanup(tuple(deleted), tuple(in_use))


@contextmanager
def _held(index: Path, name: str) -> Iterator[bool]:
    """Hold the lock of a shard; yield False if another process holds it."""
    lock = FileLock(index / f"{name}.lock")
    try:
        is_acquired = lock.acquire()
    except OSError:
        is_acquired = False
    try:
        yield is_acquired
    finally:
        lock.release()


def _delete(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise StoreProblem(
            f"{folder} cannot be deleted: {error.strerror}",
            hint="Close other programs that use it, or delete the folder by hand.",
        ) from error
