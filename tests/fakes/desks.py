"""A writer's desk for tests: a folder, its library, and services over both."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.adapters.vectors.numpy_index import NumpyVectorIndex
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.jobs import IngestEvent
from lrwr.core.ports.indexes import VectorIndex
from lrwr.core.ports.models import Embedder, Reranker
from lrwr.core.ports.sources import DocumentParser, ManuscriptSource
from lrwr.core.ports.stores import ChunkChange
from lrwr.core.retrieval.confidence import SHIPPED_CALIBRATIONS, CalibrationTable
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story_search import StorySearch
from lrwr.pipeline.recipes import NaiveRecipe, Recipe, RecipeTools
from lrwr.pipeline.report import IngestReport
from lrwr.pipeline.service import DocumentProcessingService
from lrwr.pipeline.speaker_attribution import StoryAttributor
from tests.fakes.embedder import WordEmbedder, count_words
from tests.fakes.libraries import Library, sqlite_library

SIZE = 64


@dataclass(slots=True)
class Desk:
    """A manuscript folder, its library, and what was seen of the work on it."""

    folder: Path
    library: Library
    embedder: WordEmbedder | None = field(default_factory=WordEmbedder)
    events: list[IngestEvent] = field(default_factory=list)
    parse: DocumentParser = field(default_factory=ManuscriptParser)

    def write(self, name: str, text: str | bytes) -> Path:
        """Save a file, making its folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def service(
        self,
        *targets: str,
        size: int = SIZE,
        embedder: Embedder | None = None,
        worker: str = "worker",
        source: ManuscriptSource | None = None,
        forget_missing: bool = False,
    ) -> DocumentProcessingService:
        """A service over `targets`, the whole folder by default."""
        return DocumentProcessingService(
            source=source
            or FolderSource(self.folder, [self.folder / t for t in targets or "."]),
            parse=self.parse,
            recipe=self.recipe(size),
            tools=RecipeTools(
                count=count_words,
                embedder=embedder or self.embedder,
                known=self.library.knowledge.known_vectors,
            ),
            store=self.library.knowledge,
            jobs=self.library.queue,
            worker=worker,
            attributor=self.weaver(),
            pause=self.pause,
            forget_missing=forget_missing,
        )

    @property
    def pipeline(self) -> Pipeline:
        """The collection that is worked on."""
        return Pipeline.NAIVE

    def recipe(self, size: int) -> Recipe:
        """How documents become knowledge."""
        return NaiveRecipe(size=size, overlap=size // 8)

    def weaver(self) -> StoryAttributor | None:
        """What makes the cast, where there is one."""
        return None

    def story_search(self) -> StorySearch | None:
        """What brings the story to bear on a search, where it is known."""
        return None

    async def pause(self) -> None:
        """Let others work, and a second pass on the library's clock."""
        await asyncio.sleep(0)
        self.library.clock.time += 1

    async def ingest(
        self,
        *targets: str,
        size: int = SIZE,
        dry_run: bool = False,
        verify: bool = False,
        forget_missing: bool = False,
    ) -> IngestReport:
        """Bring the library up to date, as `lrwr ingest` does."""
        service = self.service(*targets, size=size, forget_missing=forget_missing)
        return await service.process(self.events.append, dry_run=dry_run, verify=verify)

    async def told(self) -> list[str]:
        """Return the text of every chunk, by document and place."""
        feed = await self.changes()
        chunks = await self.library.passages.chunks(
            list(dict.fromkeys(change.chunk for change in feed))
        )
        chunks.sort(key=lambda chunk: (chunk.document, chunk.ordinal))
        return [chunk.text for chunk in chunks]

    async def changes(self) -> list[ChunkChange]:
        """Return the whole change feed, with a vector for what is embedded now."""
        space = self.embedder.space if self.embedder else ""
        return await self.library.feed.changes(
            self.pipeline, space, after=0, limit=100_000
        )

    async def written(self) -> list[tuple[int, str]]:
        """Return all that was ever written, in order."""
        return [(change.seq, change.chunk) for change in await self.changes()]

    def finder(
        self,
        *,
        reranker: Reranker | None = None,
        embedder: Embedder | None = None,
        candidates: int = 20,
        order: Sequence[str] = (),
        calibrations: CalibrationTable = SHIPPED_CALIBRATIONS,
        dense_factors: Mapping[str, float] | None = None,
    ) -> PassageFinder:
        """What finds passages in the library, by an exact scan."""
        lent = embedder or self.embedder
        scan: VectorIndex | None = None
        if lent:
            scan = NumpyVectorIndex(
                self.library.feed,
                pipeline=self.pipeline,
                space=lent.space,
                dimensions=lent.dimensions,
            )

        async def vectors() -> VectorIndex | None:
            return scan

        return PassageFinder(
            store=self.library.passages,
            lexical=self.library.words,
            embedder=lent,
            vectors=vectors,
            reranker=reranker,
            candidates=candidates,
            order_patterns=order,
            story=self.story_search(),
            calibrations=calibrations,
            dense_factors=dense_factors,
        )


@asynccontextmanager
async def a_desk(place: Path) -> AsyncIterator[Desk]:
    """An empty manuscript folder beside an empty library, both under `place`."""
    folder = place / "book"
    folder.mkdir()
    async with sqlite_library(place / "state") as library:
        yield Desk(folder, library)
