"""A writer's desk for tests where pipeline b reads: who and what is in the story."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.canon.decision import CanonChange, Decision
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Character
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Analyst
from lrwr.core.ports.story_stores import Appearance
from lrwr.core.retrieval.story_search import StorySearch
from lrwr.pipeline.analysis import CachingAnalyst, ModelBudget
from lrwr.pipeline.recipes import AgenticRecipe
from lrwr.pipeline.speaker_attribution import StoryAttributor
from lrwr.pipeline.stages.semantic_splitter import ChunkLimits
from tests.fakes.canons import a_service
from tests.fakes.desks import Desk
from tests.fakes.libraries import sqlite_library

SMALL = ChunkLimits(least=12, most=40, overlap=25)


def unpriced(usage: Usage) -> None:
    """The price of a model that nobody knows."""


@dataclass(slots=True)
class StoryDesk(Desk):
    """A desk whose passages end where the meaning turns.

    `attributor`, if there is one, works in each ingestion, as in `lrwr watch`.
    `analyst` reads beside the rules. What it may cost is bounded anew in each
    ingestion: by `budget`, at the price that `price` says.
    """

    limits: ChunkLimits = SMALL
    analyst: Analyst | None = None
    price: Callable[[Usage], float | None] = unpriced
    budget: float = 0.0
    meters: list[ModelBudget] = field(default_factory=list)
    attributor: StoryAttributor | None = None

    @property
    def pipeline(self) -> Pipeline:
        """The collection that is worked on."""
        return Pipeline.AGENTIC

    def recipe(self, size: int) -> AgenticRecipe:
        """How documents become knowledge."""
        return AgenticRecipe(
            limits=self.limits,
            split=find_sentence_spans,
            rules=RulesAnalyst(find_sentence_spans),
            store=self.library.analysis,
            reading=self.reading(),
            find_cast=self.weaver().find_cast,
        )

    def reading(self) -> CachingAnalyst | None:
        """Who reads beside the rules, with a meter of their own."""
        if self.analyst is None:
            return None
        meter = ModelBudget(price=self.price, budget=self.budget)
        self.meters.append(meter)
        return CachingAnalyst(self.analyst, self.library.analysis, meter)

    def weaver(self) -> StoryAttributor:
        """What makes the cast."""
        return self.attributor or StoryAttributor(
            store=self.library.casts,
            passages=self.library.passages,
            patterns=(),
            canon=a_service(self.folder).load,
        )

    def story_search(self) -> StorySearch:
        """What brings the story to bear on a search."""
        return StorySearch(self.library.story)

    def decide(self, decision: Decision) -> CanonChange:
        """Write a decision into the canon file."""
        return a_service(self.folder).decide(decision)

    def canon(self) -> Canon:
        """Return what is decided."""
        return a_service(self.folder).load()

    async def chunks(self, name: str = "") -> list[Chunk]:
        """Return the passages of one document, or all, by document and place."""
        kept = {change.chunk for change in await self.changes() if change.document}
        found = await self.library.passages.chunks(sorted(kept))
        found = [chunk for chunk in found if name in ("", chunk.document)]
        return sorted(found, key=lambda chunk: (chunk.document, chunk.ordinal))

    async def words(self, name: str, span: Span) -> str:
        """Return what a document says at `span`."""
        kept = await self.library.passages.text(DocumentId(name))
        return kept.text[span.start : span.end]

    async def people(self) -> dict[str, Character]:
        """Return the cast by name."""
        return {one.name: one for one in (await self.library.story.cast()).characters}

    async def present(self, name: str) -> list[Appearance]:
        """Return where a character appears."""
        return await self.library.story.appearances([name])


@asynccontextmanager
async def a_story_desk(place: Path) -> AsyncIterator[StoryDesk]:
    """An empty manuscript folder beside an empty library, both under `place`."""
    folder = place / "book"
    folder.mkdir()
    async with sqlite_library(place / "state") as library:
        yield StoryDesk(folder, library)
