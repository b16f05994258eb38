"""Following the change feed: what every keeper of vectors does alike."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lrwr.core.model.chunks import ChunkId, Pipeline
from lrwr.core.ports.record_store import Change, ChangeFeed


@dataclass(frozen=True, slots=True)
class Settled:
    """What a run of changes comes to: chunks to keep, with their vectors, and others.

    `gone` are chunks that are not to be found, whether they ever were or not.
    """

    kept: tuple[Change, ...]
    gone: tuple[ChunkId, ...]


def settled(changes: Sequence[Change]) -> Settled:
    """Return what `changes`, oldest first, come to: of each chunk the last one counts."""
    last = {change.chunk: change for change in changes}
    kept = tuple(change for change in last.values() if change.vector is not None)
    gone = tuple(chunk for chunk, change in last.items() if change.vector is None)
    return Settled(kept, gone)


async def follow(
    feed: ChangeFeed,
    pipeline: Pipeline,
    space: str,
    apply: Callable[[Sequence[Change]], Awaitable[None]],
    *,
    after: int,
    limit: int,
) -> int:
    """Apply what came after `after`, at most `limit` changes at once; return how much.

    Raises:
        StoreProblem: The records cannot be read.
    """
    applied = 0
    while page := await feed.changes(pipeline, space, after=after, limit=limit):
        await apply(page)
        after = page[-1].seq
        applied += len(page)
    return applied
