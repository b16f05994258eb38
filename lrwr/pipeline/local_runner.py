"""Reading documents in this process: what every runner does in the end."""

import asyncio
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.events import StageStarted
from lrwr.core.model.jobs import JobStage
from lrwr.core.ports.job_runner import JobProgressCallback, JobResult
from lrwr.core.ports.manuscript_source import DocumentParser
from lrwr.pipeline.recipes import Recipe, RecipeTools

WORKERS = 3
"""Documents in work at once: one is read or stored while others are embedded."""


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Keeps the JobRunner port: parses and learns on this machine."""

    parse: DocumentParser
    recipe: Recipe
    tools: RecipeTools

    @property
    def places(self) -> int:
        """Return how many documents may be in work at once."""
        return WORKERS

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Return the knowledge of a file's bytes.

        Raises:
            UnreadableDocument: The bytes are not what the ending says.
        """
        parsed = await asyncio.to_thread(self.parse, document, content)
        await report(StageStarted(document, JobStage.SPLIT))
        try:
            return JobResult(await self.recipe.learn(parsed, self.tools, report))
        except ServiceUnavailable as error:
            return JobResult(await self.recipe.draft(parsed, self.tools), error)

    async def stored(self, document: DocumentId) -> None:
        """Nothing was kept for it."""
        del document

    async def aclose(self) -> None:
        """Nothing is held open."""


def build_recipe_name(parse: DocumentParser, recipe: Recipe, tools: RecipeTools) -> str:
    """Name everything that knowledge depends on besides the document."""
    return f"{parse.revision()}/{recipe.name(tools.embedder)}"
