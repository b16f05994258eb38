"""Looking after the shards of large libraries: what is there, and taking it away."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lrwr.core.adapters.vectors.lock import FileLock
from lrwr.core.adapters.vectors.shard import EdgeShard, EdgeShardCursor, ShardCorruption
from lrwr.core.model.errors import StoreProblem


class ShardState(StrEnum):
    """How a shard was found."""

    MISSING = "missing"
    HELD = "held"
    """Another process has it, or the folder may not be written."""
    BROKEN = "broken"
    OPENED = "opened"


@dataclass(frozen=True, slots=True)
class ShardReport:
    """One shard: `cursor` says how far it has come, where it could be opened."""

    name: str
    state: ShardState
    cursor: EdgeShardCursor | None = None


@dataclass(frozen=True, slots=True)
class ShardCleanup:
    """Shards that were taken away, and those that another process holds."""

    gone: tuple[str, ...]
    held: tuple[str, ...]


def list_shards(index: Path) -> list[str]:
    """Return the names of the shards under `index`, sorted. Links are not followed."""
    if index.is_symlink() or not index.is_dir():
        return []
    with os.scandir(index) as entries:
        return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))


def inspect_shard(index: Path, name: str, dimensions: int) -> ShardReport:
    """Open a shard and say how it is."""
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


def clear_shards(index: Path) -> ShardCleanup:
    """Take every shard under `index` away that no process holds.

    Locks stay: a lock that is deleted could be had twice.

    Raises:
        StoreProblem: A shard cannot be deleted, or `index` leads elsewhere.
    """
    if index.is_symlink():
        raise StoreProblem(
            f"{index} is a link to another folder.",
            hint="Delete the link: the vector index is made again without it.",
        )
    deleted: list[str] = []
    locked: list[str] = []
    for name in list_shards(index):
        with _held(index, name) as is_acquired:
            if is_acquired:
                _delete(index / name)
            (deleted if is_acquired else locked).append(name)
    return ShardCleanup(tuple(deleted), tuple(locked))


@contextmanager
def _held(index: Path, name: str) -> Iterator[bool]:
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
            f"{folder} cannot be deleted: {error.strerror}.",
            hint="Close other programs that use it, or delete the folder by hand.",
        ) from error
