"""Whole libraries for tests: every keeper of the record ports over one place."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_snapshots import SqliteStatedStore
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.adapters.storage.sqlite.fts_index import SqliteLexicalIndex
from lrwr.core.adapters.storage.sqlite.job_queue import SqliteJobQueue
from lrwr.core.adapters.storage.sqlite.knowledge_store import (
    SqliteAnalysisStore,
    SqliteCastStore,
    SqliteKnowledgeStore,
)
from lrwr.core.adapters.storage.sqlite.passage_store import (
    SqliteChangeFeed,
    SqlitePassageStore,
)
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteBiblePartStore,
    SqliteStoryStore,
)
from lrwr.core.adapters.storage.sqlite.thread_store import SqliteThreadStore
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Knowledge
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.jobs import JobQueue
from lrwr.core.ports.stores import AnalysisStore, KnowledgeStore, PassageStore
from lrwr.core.ports.story_stores import (
    BiblePartStore,
    CastStore,
    StatedStore,
    StoryStore,
)
from lrwr.core.ports.threads import ThreadStore
from tests.fakes.records import (
    Clock,
    a_document,
    remove,
    some_chunks,
    some_knowledge,
    store,
)


@dataclass(frozen=True, slots=True)
class Library:
    """One library behind its ports, on a clock of the test's own."""

    knowledge: KnowledgeStore
    passages: PassageStore
    words: LexicalIndex
    feed: SqliteChangeFeed
    queue: JobQueue
    story: StoryStore
    parts: BiblePartStore
    stated: StatedStore
    casts: CastStore
    analysis: AnalysisStore
    threads: ThreadStore
    sent: SqliteEgressLog
    clock: Clock

    async def keep(self, knowledge: Knowledge, revision: str = "r1") -> None:
        """Store what was made of one document, as a worker does."""
        await store(self.knowledge, self.queue, knowledge, revision)

    async def keep_texts(self, document: DocumentId, texts: Sequence[str]) -> None:
        """Store one document whose chunks say `texts`, each with its vector."""
        chunks = some_chunks(texts, document=document)
        about = a_document(document, "\n".join(texts))
        await self.keep(some_knowledge(chunks, document=about))

    async def remove(
        self, document: DocumentId, pipeline: Pipeline = Pipeline.NAIVE
    ) -> None:
        """Take a document away, as a worker does."""
        await remove(self.knowledge, self.queue, document, pipeline)


def over(database: SqliteDatabase, clock: Clock) -> Library:
    """A library in `database`."""
    return Library(
        knowledge=SqliteKnowledgeStore(database, now=clock),
        passages=SqlitePassageStore(database),
        words=SqliteLexicalIndex(database),
        feed=SqliteChangeFeed(database),
        queue=SqliteJobQueue(database, now=clock),
        story=SqliteStoryStore(database),
        parts=SqliteBiblePartStore(database),
        stated=SqliteStatedStore(database),
        casts=SqliteCastStore(database),
        analysis=SqliteAnalysisStore(database, now=clock),
        threads=SqliteThreadStore(database),
        sent=SqliteEgressLog(database),
        clock=clock,
    )


@asynccontextmanager
async def sqlite_library(folder: Path) -> AsyncIterator[Library]:
    """A library in a SQLite file under `folder`."""
    database = SqliteDatabase(folder / "lrwr.db")
    try:
        yield over(database, Clock())
    finally:
        await database.aclose()
