import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from lrwr.core.adapters.source.parser import ManuscriptParser, parse_document
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.jobs import JobState
from lrwr.core.ports.models import EmbeddingRole
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Vectors


class Stumbling(ManuscriptParser):
    def __call__(self, document: DocumentId, content: bytes) -> Document:
        if document == "01.md":
            raise ValueError("The frog sat by the lamp.")
        return parse_document(document, content)


async def test_an_error_that_nobody_foresaw_in_one_file_costs_that_file_alone(
    desk: Desk,
) -> None:
    desk.write("01.md", "# Chapter 1\n\nThe frog sat by the lamp.")
    desk.write("02.md", "# Chapter 2\n\nMags opened the ledger.")
    desk.parse = Stumbling()
    report = await desk.ingest()
    (problem,) = report.problems
    assert problem.document == "01.md"
    assert "ValueError" in problem.message
    assert "frog" not in problem.message
    seen = await desk.library.knowledge.document_versions(Pipeline.NAIVE)
    assert [one.id for one in seen] == ["02.md"]
    desk.parse = ManuscriptParser()
    assert (await desk.ingest()).problems == []
    seen = await desk.library.knowledge.document_versions(Pipeline.NAIVE)
    assert [one.id for one in seen] == ["01.md", "02.md"]


async def test_a_run_that_is_stopped_holds_nothing_back(desk: Desk) -> None:
    desk.write("01.md", "# Chapter 1\n\nThe frog sat by the lamp.")
    desk.embedder = Sleeper()
    running = asyncio.create_task(desk.ingest())
    await desk.embedder.asleep.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await desk.library.queue.jobs(limit=9, state=JobState.RUNNING) == []
    desk.embedder, began = WordEmbedder(), desk.library.clock.time
    await desk.ingest()
    assert [
        one.id for one in await desk.library.knowledge.document_versions(Pipeline.NAIVE)
    ] == ["01.md"]
    assert desk.library.clock.time == began


class Sleeper(WordEmbedder):
    """Falls asleep over the first text."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep = asyncio.Event()

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Never return."""
        self.asleep.set()
        await asyncio.Event().wait()
        return await super().embed(texts, role)
