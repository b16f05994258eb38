"""A title that somebody bears in one chapter, and who speaks in another."""

from tests.fakes.story_desks import StoryDesk

BRIDGE = (
    "# One\n\nNell Tallow stood on the bridge. Nell Tallow waited.\n\n"
    "“Who goes there?” asked the captain.\n\n“A friend,” said Nell Tallow.\n"
)
HARBOUR = (
    "# Two\n\nCaptain Orrin Gale came in. “Cast off,” said Captain Orrin Gale.\n\n"
    "Captain Orrin Gale went out. Captain Orrin Gale sang.\n"
)
Told = list[tuple[str, str, int]]


async def said(desk: StoryDesk) -> Told:
    """Who says what, by document and place."""
    return [
        (one.document, one.quotation.speaker, one.quotation.spans[0].start)
        for one in await desk.library.story.quotations()
    ]


async def told_when(desk: StoryDesk, first: dict[str, str]) -> Told:
    """Who says what if these files are read before the others."""
    for name, text in first.items():
        desk.write(name, text)
    await desk.ingest()
    desk.write("1.md", BRIDGE)
    desk.write("2.md", HARBOUR)
    await desk.ingest()
    return await said(desk)


async def test_a_new_captain_elsewhere_says_nothing_of_a_chapter_that_names_none(
    story: StoryDesk,
) -> None:
    told = await told_when(story, {"1.md": BRIDGE})
    assert ("Captain Orrin Gale", "2.md") in {(who, where) for where, who, _ in told}
    assert "Captain Orrin Gale" not in {
        who for where, who, _ in told if where == "1.md"
    }
    for name in ("1.md", "2.md"):
        (story.folder / name).unlink()
        await story.ingest()
    assert await told_when(story, {}) == told
    (story.folder / "1.md").unlink()
    await story.ingest()
    assert await told_when(story, {"2.md": HARBOUR}) == told
