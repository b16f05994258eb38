"""After any sequence of edits, the finder finds what is found in the whole story."""

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.bible.service import BibleService
from lrwr.core.canon.decision import (
    Decision,
    DocumentTypeSet,
    NameIgnored,
    NamesMerged,
    StoryOrderSet,
)
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.finder import ContradictionFinder
from lrwr.core.continuity.statements import Contradiction
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.threads import RecordedGap
from tests.fakes.canons import a_service
from tests.fakes.story_desks import StoryDesk, a_story_desk

SAID = "“Ten,” said {0}. “Ten,” said {0}. “Quick, {0}!” said {1}."
PEOPLE = SAID.format("Nell Tallow", "Corin Vale") + SAID.format("Corin Vale", "Nell")
PARAGRAPHS = [
    PEOPLE,
    "Nell Tallow's eyes were grey. Nell Tallow was thirty years old.",
    "Nell Tallow's eyes were brown. Nell Tallow was twenty years old.",
    "Corin Vale's eyes were brown. Corin Vale was Nell Tallow's brother.",
    "Corin Vale was Nell Tallow's father. Corin had grey eyes.",
    "Ten years later it rained. People said that Nell's eyes were green.",
    "The tower has forty steps. Nell Tallow died that night.",
    "The tower has sixty steps. Nell Tallov waited, and so did Corin Vale.",
    "Nell Tallow, Nell Tallow, Nell Tallow and Nell Tallow: nobody came.",
    "It rained. The lamp burned low.",
]
NOTES = [
    "---\ntype: character\nname: Nell Tallow\naliases: [Wren]\n---\nEyes: green\n",
    "---\ntype: character\nname: Nell Tallow\n---\nEyes: grey\n\nAge: 30\n",
    "# The Tower\n\nThe tower has forty steps.",
]
SCENES = ["1.md", "2.md", "3.md"]
DECISIONS: list[Decision] = [
    NamesMerged(("Nell Tallow", "Corin Vale")),
    NameIgnored("Corin Vale"),
    DocumentTypeSet(DocumentId("2.md"), DocumentType.SETTING),
    StoryOrderSet((DocumentId("3.md"), DocumentId("1.md"))),
]
texts = st.lists(st.sampled_from(PARAGRAPHS), min_size=1, max_size=5).map(
    lambda parts: "# A Part\n\n" + "\n\n".join(parts) + "\n"
)
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(SCENES), texts),
    st.tuples(st.just("write"), st.sampled_from(SCENES), texts),
    st.tuples(st.just("write"), st.just("notes/n.md"), st.sampled_from(NOTES)),
    st.tuples(st.just("delete"), st.sampled_from([*SCENES, "notes/n.md"]), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(SCENES), st.sampled_from(SCENES)),
    st.tuples(st.just("decide"), st.sampled_from(DECISIONS), st.none()),
)


def a_finder(desk: StoryDesk) -> ContradictionFinder:
    return ContradictionFinder(
        stated=desk.library.stated,
        stories=desk.library.story,
        patterns=(),
        canon=desk.canon,
    )


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as desk:
        yield desk


async def found_in_all(desk: StoryDesk) -> tuple[Contradiction, ...]:
    async def flagged_gaps() -> list[RecordedGap]:
        return []

    bible = BibleService(
        stories=desk.library.story,
        passages=desk.library.passages,
        parts=desk.library.parts,
        patterns=(),
        canon=desk.canon,
        flagged_gaps=flagged_gaps,
    )
    return find_contradictions(await bible.knowledge())


def act(desk: StoryDesk, step: tuple[Any, ...]) -> None:
    kind, first, second = step
    if kind == "write":
        desk.write(first, second)
    elif kind == "delete":
        (desk.folder / first).unlink(missing_ok=True)
    elif kind == "rename" and (desk.folder / first).exists():
        (desk.folder / first).replace(desk.folder / second)
    elif kind == "decide":
        try:
            a_service(desk.folder).decide(first)
        except LrwrError:
            return  # it contradicts an earlier decision


async def check_sequence(place: Path, sequence: list[tuple[Any, ...]]) -> None:
    async with a_story_desk(place) as desk:
        finder = a_finder(desk)
        for name in SCENES[:2]:
            desk.write(name, "\n\n".join(["# One", *PARAGRAPHS]))
        for step in (("none", "", ""), *sequence):
            act(desk, step)
            await desk.ingest(forget_missing=True)
            assert await finder.find() == await found_in_all(desk)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequence=st.lists(steps, min_size=1, max_size=8))
@pytest.mark.timeout(300)
def test_any_sequence_of_edits_ends_in_the_contradictions_of_the_whole_story(
    sequence: list[tuple[Any, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check_sequence(Path(folder), sequence))


async def test_each_save_is_compared_with_everything_else(story: StoryDesk) -> None:
    finder = a_finder(story)
    story.write("1.md", f"# One\n\n{PARAGRAPHS[0]}\n\n{PARAGRAPHS[1]}\n")
    story.write("2.md", f"# Two\n\n{PARAGRAPHS[0]}\n\n{PARAGRAPHS[6]}\n")
    await story.ingest()
    assert await finder.find() == ()
    story.write("2.md", f"# Two\n\n{PARAGRAPHS[0]}\n\n{PARAGRAPHS[2]}\n")
    await story.ingest()
    found = await finder.find()
    assert {one.attribute for one in found} == {"eyes", "age"}
    assert found == await found_in_all(story)


async def test_a_damaged_document_counts_again_once_it_is_repaired(
    story: StoryDesk, tmp_path: Path
) -> None:
    finder = a_finder(story)
    for name, text in (("1.md", PARAGRAPHS[1]), ("2.md", PARAGRAPHS[2])):
        story.write(name, f"# A Part\n\n{PARAGRAPHS[0]}\n\n{text}\n")
    await story.ingest()
    (path,) = await asyncio.to_thread(lambda: list(tmp_path.rglob("*.db")))
    damages = (
        "update fact set crc = crc + {}",
        "update document_check set text = text + {}",
    )
    for damage in damages:
        for by in (1, -1):
            with closing(sqlite3.connect(path)) as connection:
                connection.execute(damage.format(by))
                connection.commit()
            found = await a_finder(story).find() if by > 0 else await finder.find()
            assert bool(found) is (by < 0)
            assert found == await found_in_all(story)
