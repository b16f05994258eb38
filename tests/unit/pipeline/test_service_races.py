"""Two runs at once, stopped where it matters."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.documents import Document, DocumentId
from tests.fakes.desks import Desk

GREY = "# One\n\nNell Tallow's eyes were grey.\n"
BROWN = GREY.replace("grey", "brown")
PATIENCE = 20.0
"""Seconds after which a test goes on whatever happens."""


class SlowParser:
    """Begins when it is told to."""

    def __init__(self) -> None:
        self._parse = ManuscriptParser()
        self.asked, self.may = threading.Event(), threading.Event()

    def __call__(self, document: DocumentId, content: bytes) -> Document:
        self.asked.set()
        self.may.wait(PATIENCE)
        return self._parse(document, content)

    def revision(self) -> str:
        return self._parse.revision()


class SlowSource(FolderSource):
    """Goes on with what it has read when it is told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [folder])
        self.has_read, self.may = asyncio.Event(), asyncio.Event()

    async def read(self, document: DocumentId) -> tuple[bytes, str]:
        found = await super().read(document)
        self.has_read.set()
        await self.may.wait()
        return found


@asynccontextmanager
async def an_edit_that_is_being_read(
    desk: Desk, parser: SlowParser
) -> AsyncIterator["asyncio.Task[object]"]:
    """A run that goes no further than having read the file."""
    desk.parse = parser
    run = asyncio.create_task(desk.service(worker="one").process(desk.events.append))
    await asyncio.to_thread(parser.asked.wait, PATIENCE)
    desk.parse = ManuscriptParser()
    try:
        yield run
    finally:
        parser.may.set()
        await run


async def test_an_undo_is_not_lost_to_a_run_that_stores_the_edit_meanwhile(
    desk: Desk,
) -> None:
    desk.write("1.md", GREY)
    await desk.ingest()
    desk.write("1.md", BROWN)
    parser, source = SlowParser(), SlowSource(desk.folder)
    async with an_edit_that_is_being_read(desk, parser) as one:
        desk.write("1.md", GREY)
        service = desk.service(worker="other", source=source)
        other = asyncio.create_task(service.process(desk.events.append))
        await source.has_read.wait()  # and it is what was known until now
        parser.may.set()
        await one
        source.may.set()
        await other
    await desk.ingest()
    assert await desk.told() == [GREY.strip()]


async def test_what_another_run_has_read_meanwhile_is_not_read_again(
    desk: Desk,
) -> None:
    desk.write("1.md", GREY)
    parser = SlowParser()
    async with an_edit_that_is_being_read(desk, parser) as one:
        service = desk.service(worker="other")
        await service.scan()  # what is changed is what this run will queue
        parser.may.set()
        await one
        before = await desk.written()
        report = await service.process(desk.events.append)
    assert (report.processed, report.unchanged) == (0, 1)
    assert await desk.written() == before
