"""Other processes of one library, for tests that need more than one.

Run as `python -m tests.fakes.workers WHAT FOLDER`; each says what it did on stdout.
"""

import asyncio
import itertools
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.adapters.storage.sqlite.job_queue import SqliteJobQueue
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteKnowledgeStore
from lrwr.core.adapters.storage.sqlite.passage_store import SqliteChangeFeed
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.adapters.vectors.edge import EdgeVectorIndex, open_edge_index
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.egress import (
    OutboundRequest,
    RequestCompletion,
    RequestOutcome,
    RequestPurpose,
)
from lrwr.core.model.jobs import JobKind, JobOrder
from lrwr.core.model.turns import NarrativeState
from tests.fakes.conversations import THREAD, some_turns
from tests.fakes.records import (
    DIMENSIONS,
    SPACE,
    a_document,
    seen,
    some_chunks,
    some_knowledge,
)

FILE = "lrwr.db"


def say(word: object) -> None:
    """Write a line that the other process reads at once."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def wait_for_the_start() -> None:
    """Say that everything is imported, and wait to be told to go."""
    say("ready")
    sys.stdin.readline()


async def open_library(folder: Path) -> None:
    """Open the library at the same time as others do."""
    wait_for_the_start()
    database = SqliteDatabase(folder / FILE)
    say(await SqliteChangeFeed(database).epoch())
    await database.aclose()


async def claim_jobs(folder: Path) -> None:
    """Claim and finish jobs until none is left."""
    wait_for_the_start()
    database = SqliteDatabase(folder / FILE)
    queue = SqliteJobQueue(database, now=time.time)
    knowledge = SqliteKnowledgeStore(database, now=time.time)
    while claim := await queue.claim(str(os.getpid()), lease=60.0):
        assert await knowledge.forget(claim.order.document, claim)
        say(claim.job)
    await database.aclose()


async def keep_turns(folder: Path) -> None:
    """Keep turns of one conversation at the same time as others do."""
    wait_for_the_start()
    database = SqliteDatabase(folder / FILE)
    threads = SqliteThreadStore(database)
    for turn in some_turns(20):
        kept = await threads.save_turn(THREAD, "Tides", turn, NarrativeState())
        say(kept.turns)
    await database.aclose()


async def note_requests(folder: Path) -> None:
    """Note requests as they leave at the same time as others do."""
    wait_for_the_start()
    database = SqliteDatabase(folder / FILE)
    log = SqliteEgressLog(database)
    for size in range(20):
        about = OutboundRequest(
            "openai", "api.openai.com", RequestPurpose.READING, "m", 1.0, size
        )
        row = await log.begin(about)
        await log.end(row, RequestCompletion(RequestOutcome.ANSWERED, size))
        say(row)
    await database.aclose()


async def write_for_ever(folder: Path) -> None:
    """Store ever new versions of a few documents until somebody ends it."""
    database = SqliteDatabase(folder / FILE)
    async for turn in versions_stored(database):
        say(turn)


async def follow_for_ever(folder: Path) -> None:
    """Write as `write_for_ever` does, and follow it with the shard."""
    database = SqliteDatabase(folder / FILE)
    index = await shard_of(folder, database)
    async for _ in versions_stored(database):
        say(await index.catch_up())


async def versions_stored(database: SqliteDatabase) -> AsyncIterator[int]:
    """Store a new version of one of a few documents each time round."""
    queue = SqliteJobQueue(database, now=time.time)
    knowledge = SqliteKnowledgeStore(database, now=time.time)
    dice = random.Random(os.getpid())
    for turn in itertools.count():
        some_document = DocumentId(f"{dice.randrange(8)}.md")
        order = JobOrder(JobKind.PROCESS, some_document, Pipeline.NAIVE)
        await queue.enqueue([order])
        claim = await queue.claim(str(os.getpid()), lease=60.0)
        if claim is None:
            continue
        document = claim.order.document
        texts = [f"The frog {dice.randrange(50)} sat." for _ in range(30)]
        chunks = some_chunks(dict.fromkeys(texts), document=document)
        text = "\n".join(chunk.text for chunk in chunks)
        made = some_knowledge(chunks, document=a_document(document, text))
        assert await knowledge.replace(made, seen(document, str(turn)), claim)
        yield turn


async def hold_the_shard(folder: Path) -> None:
    """Hold the vector index until told to go."""
    database = SqliteDatabase(folder / FILE)
    index = await shard_of(folder, database)
    say(await index.catch_up())
    sys.stdin.readline()
    await index.aclose()
    await database.aclose()


async def shard_of(folder: Path, database: SqliteDatabase) -> EdgeVectorIndex:
    """Open the library's shard, which no other process may hold."""
    index = await open_edge_index(
        folder / "index",
        SqliteChangeFeed(database),
        pipeline=Pipeline.NAIVE,
        space=SPACE,
        dimensions=DIMENSIONS,
    )
    assert index is not None
    return index


WORK: dict[str, Callable[[Path], Awaitable[None]]] = {
    "open": open_library,
    "claim": claim_jobs,
    "talk": keep_turns,
    "send": note_requests,
    "write": write_for_ever,
    "hold": hold_the_shard,
    "follow": follow_for_ever,
}


async def main(what: str, folder: str) -> None:
    """Do one kind of work in `folder`."""
    await WORK[what](Path(folder))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
