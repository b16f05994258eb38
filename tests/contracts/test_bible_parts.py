"""What a question reads of the story bible, from a library and from memory."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from lrwr.core.model.cast import Cast, Quotation
from lrwr.core.ports.story_stores import AppearanceRole, BiblePartStore
from tests.contracts.test_story_store import NELL, SAID, learned, woven
from tests.fakes.libraries import Library
from tests.fakes.records import ONE, TWO
from tests.fakes.stories import Book, Stories

Open = Callable[[], Awaitable[BiblePartStore]]
"""Returns the store with the present content of the library."""


@pytest.fixture(params=["library", "memory"])
def parts(request: pytest.FixtureRequest, library: Library) -> Open:
    stories = Stories(Book({}))

    async def refresh() -> BiblePartStore:
        if request.param == "library":
            return library.parts
        stories.people = await library.story.cast()
        stories.known = await library.story.facts()
        stories.said = await library.story.quotations()
        stories.there = await library.story.appearances()
        return stories

    return refresh


async def test_the_version_changes_with_the_story_alone(
    parts: Open, library: Library
) -> None:
    seen = [await (await parts()).content_version()]
    await (await parts()).save_index("key", "index")
    assert await (await parts()).content_version() == seen[0]
    knowledge = learned()

    async def look() -> None:
        version = await (await parts()).content_version()
        assert version > seen[-1]
        assert await (await parts()).content_version() == version
        seen.append(version)

    await library.keep(knowledge)
    await look()
    assert await library.casts.save_attribution(woven(knowledge))
    await look()
    await library.casts.save_cast(Cast((NELL,)))
    await look()


async def test_an_index_comes_back_until_another_is_saved(parts: Open) -> None:
    store = await parts()
    assert await store.load_index("one") == ""
    await store.save_index("one", "first")
    assert await store.load_index("one") == "first"
    assert await store.load_index("two") == ""
    await store.save_index("two", "second")
    assert await store.load_index("one") == ""
    assert await store.load_index("two") == "second"


async def test_parts_are_found_by_people_or_by_documents_in_text_order(
    parts: Open, library: Library
) -> None:
    said_by_hob: Quotation = replace(SAID, speaker="Hob", addressee="Nell")
    for document, quotation in ((TWO, SAID), (ONE, said_by_hob)):
        knowledge = learned(document)
        await library.keep(knowledge)
        attribution = replace(woven(knowledge), quotations=(quotation,))
        assert await library.casts.save_attribution(attribution)
    store = await parts()

    async def said(*by: str, at: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        documents = [each for each in (ONE, TWO) if each in at]
        found = await store.quotations_of(by, documents)
        return [(each.document, each.quotation.speaker) for each in found]

    assert await said() == []
    assert await said("Nell") == [(TWO, "Nell")]
    assert await said("Nell", "Hob") == [(ONE, "Hob"), (TWO, "Nell")]
    assert await said("Nell", at=(TWO,)) == [(TWO, "Nell")]
    assert await said("Nell", at=(ONE,)) == [(ONE, "Hob"), (TWO, "Nell")]
    there = await store.appearances_of(["Hob"], [TWO])
    assert [(each.document, each.character, each.role) for each in there] == [
        (ONE, "Hob", AppearanceRole.HEARS),
        (TWO, "Nell", AppearanceRole.PRESENT),
        (TWO, "Hob", AppearanceRole.HEARS),
        (TWO, "Nell", AppearanceRole.SPEAKS),
    ]
    everything = await library.story.appearances()
    assert await store.appearances_of(["Nell", "Hob"], []) == everything
    assert await store.appearances_of([], []) == []
