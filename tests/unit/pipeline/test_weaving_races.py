"""What another run reads or forgets while the story is woven."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from lrwr.core.ports.story_stores import CastStore, DocumentEvidence
from lrwr.pipeline.speaker_attribution import StoryAttributor
from tests.fakes.canons import a_service
from tests.fakes.short_story import LAMP, LEDGER, ROAD, STORY
from tests.fakes.story_desks import StoryDesk


class Interrupted:
    """A cast store that lets something happen once the documents are looked at."""

    def __init__(self, store: CastStore, then: Callable[[], Awaitable[object]]) -> None:
        self._store = store
        self._then = then

    async def name_evidence(self) -> list[DocumentEvidence]:
        found = await self._store.name_evidence()
        await self._then()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def weave(desk: StoryDesk, meanwhile: Callable[[], Awaitable[object]]) -> None:
    weaver = StoryAttributor(
        store=cast(CastStore, Interrupted(desk.library.casts, meanwhile)),
        passages=desk.library.passages,
        patterns=(),
        canon=a_service(desk.folder).load,
    )
    await weaver.attribute_all()


async def read(desk: StoryDesk) -> None:
    """Read what is new, and weave nothing."""
    await desk.service().read(desk.events.append)


async def said(desk: StoryDesk) -> list[tuple[str, str, str]]:
    """Who says what and where, with the words as the text has them."""
    return [
        (
            one.document,
            one.quotation.speaker,
            await desk.words(one.document, one.quotation.spans[0]),
        )
        for one in await desk.library.story.quotations(None)
    ]


async def test_a_document_that_is_forgotten_meanwhile_is_passed_over(
    story: StoryDesk,
) -> None:
    for name, text in STORY.items():
        story.write(name, text)
    await read(story)

    async def meanwhile() -> None:
        (story.folder / "2.md").unlink()
        await read(story)

    await weave(story, meanwhile)
    assert {document for document, *_ in await said(story)} == {"1.md"}
    await story.ingest()
    assert set(await story.people()) == {"Nell", "Corin", "Mrs. Gannet"}


async def test_a_document_that_is_read_anew_meanwhile_is_woven_as_it_is_then(
    story: StoryDesk,
) -> None:
    story.write("1.md", LEDGER)
    await read(story)

    async def meanwhile() -> None:
        story.write("1.md", f"{ROAD}\n\n{LAMP}")
        await read(story)

    await weave(story, meanwhile)
    await story.ingest()
    before = await said(story)
    assert ("1.md", "Orla Finch", "Left,") in before
    story.write("1.md", LEDGER)
    await story.ingest()
    story.write("1.md", f"{ROAD}\n\n{LAMP}")
    await story.ingest()
    assert await said(story) == before
