"""What reading documents would come to, worked out without writing anything."""

import asyncio
from collections.abc import Sequence

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.sources import DocumentParser, ManuscriptSource
from lrwr.pipeline.recipes import Recipe, RecipeTools
from lrwr.pipeline.report import IngestReport, count_knowledge, problem_from_error


async def estimate_ingestion(
    documents: Sequence[DocumentId],
    source: ManuscriptSource,
    parse: DocumentParser,
    recipe: Recipe,
    tools: RecipeTools,
    report: IngestReport,
) -> None:
    """Add to `report` the cost of ingesting `documents`, and those that cannot be read."""
    for document in documents:
        try:
            content, _ = await source.read(document)
            parsed = await asyncio.to_thread(parse, document, content)
        except LrwrError as error:
            report.problems.append(problem_from_error(document, error))
            continue
        knowledge = await recipe.draft(parsed, tools)
        report.usage += await recipe.estimate(knowledge)
        texts = {chunk.text_hash for chunk in knowledge.chunks}
        stored_hashes = texts
        if tools.embedder is not None:
            stored_hashes = await tools.known(knowledge.space, texts)
        count_knowledge(report, knowledge, stored_hashes)
