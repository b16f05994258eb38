"""What every runner promises: the same knowledge of the same bytes, wherever."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from lrwr.app import ingestion
from lrwr.app.modal_worker import read_document
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.modal.calls import (
    ModalCallLedger,
    ModalConnection,
    ModalFunctionClient,
    ModalToken,
)
from lrwr.core.adapters.modal.factory import select_remote_settings
from lrwr.core.adapters.modal.runner import ModalRunner, ModalRunOptions
from lrwr.core.adapters.modal.wire import encode_job_result
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.chunks import ChunkId, Knowledge, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.jobs import ChunksEmbedded, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.jobs import JobResult, JobRunner, RunnerUnavailable
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.pipeline.recipes import Recipe, RecipeTools
from lrwr.pipeline.remote_jobs import create_remote_input
from lrwr.pipeline.service import LocalRunner, build_recipe_name
from tests.fakes.invented import chapter
from tests.fakes.modal_server import TOKEN_ID, TOKEN_SECRET, ModalServer
from tests.fakes.remote_desks import until

DOCUMENT = DocumentId("01.md")
CHAPTER = chapter(1, 6).encode()
NOTE = b"# Nell Tallow\n\n- age: 34\n- eyes: grey\n\nNell keeps the lamp.\n"


class NothingKept:
    """Keeps the AnalysisStore port for a library that knows nothing."""

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return none."""
        return {}

    async def replies(self, keys: object) -> Mapping[str, str]:
        """Return none."""
        return {}

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Keep none."""


async def nothing_known(space: str, texts: set[TextHash]) -> set[TextHash]:
    return set()


@dataclass
class Desk:
    """Both ways to read with the same settings."""

    settings: Settings
    folder: Path
    server: ModalServer
    local: LocalEmbedder = field(default_factory=lambda: LocalEmbedder(None, threads=2))

    @property
    def tools(self) -> RecipeTools:
        return RecipeTools(self.local.count_tokens, self.local, nothing_known)

    @property
    def recipe(self) -> Recipe:
        return ingestion.create_recipe(self.settings, NothingKept(), None)

    def here(self) -> LocalRunner:
        return LocalRunner(ManuscriptParser(), self.recipe, self.tools)

    def there(self, poll: float = 1.0, timeout: float = 10.0) -> ModalRunner:
        connection = ModalConnection("lrwr", self.server.address, timeout, poll)
        ledger = ModalCallLedger(self.folder / "calls")
        calls = ModalFunctionClient(
            connection, lambda: ModalToken(TOKEN_ID, TOKEN_SECRET), ledger
        )
        recipe, tools = self.recipe, self.tools
        task = ModalRunOptions(
            select_remote_settings(self.settings),
            build_recipe_name(ManuscriptParser(), recipe, tools),
            recipe.pipeline,
            tools.space,
            self.local.dimensions,
            4,
        )
        return ModalRunner(
            task,
            ManuscriptParser(),
            create_remote_input(recipe, tools, NothingKept()),
            calls,
        )


@pytest.fixture(params=["a", "b"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    flags = {"pipeline": request.param}
    user = tmp_path / "none.toml"
    settings = load_settings(tmp_path, {}, flags, user=user)
    with ModalServer() as server:
        yield Desk(settings, tmp_path, server)


@pytest.fixture(params=["here", "there"])
async def runner(
    request: pytest.FixtureRequest, desk: Desk
) -> AsyncIterator[JobRunner]:
    async with AsyncExitStack() as stack:
        made: JobRunner = desk.here() if request.param == "here" else desk.there()
        stack.push_async_callback(made.aclose)
        yield made


async def unheard(event: StageStarted | ChunksEmbedded) -> None:
    """Hear nothing."""


def told(knowledge: Knowledge) -> tuple[Knowledge, dict[TextHash, bytes]]:
    """Return all of it, in what can be compared."""
    vectors = {key: row.tobytes() for key, row in knowledge.vectors.items()}
    return replace(knowledge, vectors={}), vectors


@pytest.mark.parametrize(
    "content", [CHAPTER, NOTE, b"", "\ufeffL\u2019été.\r\n".encode()]
)
async def test_every_runner_knows_what_reading_here_knows(
    desk: Desk, runner: JobRunner, content: bytes
) -> None:
    expected = await desk.here().run(DOCUMENT, content, unheard)
    read = await runner.run(DOCUMENT, content, unheard)
    assert told(read.knowledge) == told(expected.knowledge)
    assert read.words_only is None
    assert all(row.dtype == np.float32 for row in read.knowledge.vectors.values())


async def test_every_runner_says_what_it_is_at(runner: JobRunner) -> None:
    heard: list[StageStarted | ChunksEmbedded] = []

    async def hear(event: StageStarted | ChunksEmbedded) -> None:
        heard.append(event)

    await runner.run(DOCUMENT, CHAPTER, hear)
    assert any(isinstance(event, StageStarted) for event in heard)
    assert sum(event.chunks for event in heard if isinstance(event, ChunksEmbedded)) > 1


async def test_every_runner_refuses_what_cannot_be_read_and_goes_on(
    runner: JobRunner,
) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        await runner.run(DocumentId("a.docx"), b"this is no zip file", unheard)
    assert caught.value.hint
    assert (await runner.run(DOCUMENT, CHAPTER, unheard)).knowledge.chunks
    await runner.stored(DOCUMENT)
    await runner.stored(DOCUMENT)


async def test_many_documents_are_read_at_once(runner: JobRunner) -> None:
    assert runner.places > 1
    names = [DocumentId(f"{n}.md") for n in range(runner.places)]
    reads = await asyncio.gather(*(runner.run(n, CHAPTER, unheard) for n in names))
    assert [one.knowledge.document.id for one in reads] == names


@pytest.mark.exhaustive
async def test_a_control_plane_that_dies_in_the_middle_is_told_of(desk: Desk) -> None:
    there = desk.there(poll=0.1, timeout=2.0)
    await there.run(DOCUMENT, CHAPTER, unheard)
    desk.server.hold()

    async def die() -> None:
        await asyncio.to_thread(until, lambda: len(desk.server.calls) == 2)
        desk.server.silent = True

    dying = asyncio.create_task(die())
    with pytest.raises(RunnerUnavailable, match=r"did not answer within 2 seconds"):
        await there.run(DOCUMENT, NOTE, unheard)
    await dying
    with pytest.raises(RunnerUnavailable):
        await there.run(DocumentId("02.md"), CHAPTER, unheard)
    assert len(desk.server.calls) == 2
    await there.aclose()


async def test_what_was_paid_for_is_taken_up_by_the_next_runner(desk: Desk) -> None:
    first, second = desk.there(), desk.there()
    read = await first.run(DOCUMENT, CHAPTER, unheard)
    again = await second.run(DOCUMENT, CHAPTER, unheard)
    assert told(again.knowledge) == told(read.knowledge)
    assert len(desk.server.calls) == 1
    await second.stored(DOCUMENT)
    await second.run(DOCUMENT, CHAPTER, unheard)
    assert len(desk.server.calls) == 2
    await first.aclose()
    await second.aclose()


def changed(read: JobResult, **fields: object) -> bytes:
    whole = replace(read.knowledge, **fields)  # type: ignore[arg-type]
    return encode_job_result(replace(read, knowledge=whole))


async def test_knowledge_that_does_not_fit_the_file_is_refused(desk: Desk) -> None:
    there = desk.there()
    good = await desk.here().run(DOCUMENT, CHAPTER, unheard)
    other = await desk.here().run(DOCUMENT, NOTE, unheard)
    chunk, *rest = good.knowledge.chunks
    longer = {key: row * 2 for key, row in good.knowledge.vectors.items()}
    shorter = {key: row[:-1] for key, row in good.knowledge.vectors.items()}
    moved = replace(chunk, span=replace(chunk.span, start=chunk.span.start + 1))
    for body in (
        encode_job_result(other),
        changed(good, vectors={}),
        changed(good, vectors=longer),
        changed(good, vectors=shorter),
        changed(good, vectors=other.knowledge.vectors),
        changed(good, chunks=(moved, *rest)),
        changed(good, chunks=(replace(chunk, id=ChunkId("x")), *rest)),
        changed(good, space="another"),
        b"",
        b"lrwr",
    ):
        desk.server.function = lambda _, body=body: body
        with pytest.raises(UnreadableDocument, match="does not match the file"):
            await there.run(DOCUMENT, CHAPTER, unheard)
    desk.server.function = read_document
    assert (await there.run(DOCUMENT, CHAPTER, unheard)).knowledge.chunks
    await there.aclose()


async def test_another_lrwr_over_there_is_told_of_once_for_all(desk: Desk) -> None:
    there = desk.there()
    there._options = replace(there._options, recipe="parser-0/another")
    for name in ("01.md", "02.md"):
        with pytest.raises(
            RunnerUnavailable, match="version or the settings"
        ) as caught:
            await there.run(DocumentId(name), CHAPTER, unheard)
        assert "lrwr deploy modal" in caught.value.hint
    assert len(desk.server.calls) == 1
    await there.aclose()


async def test_a_deployment_with_an_older_wire_format_is_to_be_deployed_again(
    desk: Desk,
) -> None:
    there = desk.there()
    desk.server.function = lambda _: b"lrwr\x01" + read_document(b"")[5:]
    with pytest.raises(RunnerUnavailable, match="version or the settings") as caught:
        await there.run(DOCUMENT, CHAPTER, unheard)
    assert "lrwr deploy modal" in caught.value.hint
    await there.aclose()
